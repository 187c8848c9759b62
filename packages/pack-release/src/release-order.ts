import { allow, ask, definePack, definePolicy, type Pack, type Policy } from '@holdfast/core';
import { commandRulePattern, readCommandRule } from '@holdfast/facts/rules';
import { readBeforeWrite } from '@holdfast/policy';
import * as v from 'valibot';
import manifest from '../package.json' with { type: 'json' };
import { checksFirst, findRelease, type ReleaseRule } from './checks-first.ts';
import { knownChecks, knownReleases } from './known-commands.ts';

/** The options of `releaseOrder`. A command is written as its words begin: `npm publish`, `make test`. */
export interface ReleaseOrderOptions {
  /**
   * By the release, the checks that have to succeed before it: `{ 'npm publish': ['npm test', 'npm run build'] }`; an empty list is
   * nothing. A release of which it says nothing needs any one of `checks`. Default: empty.
   */
  readonly order?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Commands that put something out. Default: `npm publish`, `git push`, `docker push`, `terraform apply` and their like. */
  readonly releases?: readonly string[] | undefined;
  /** Commands that check the work. Default: `npm test`, `pytest`, `cargo test`, `make check` and their like. */
  readonly checks?: readonly string[] | undefined;
  /** Whether a person has to say yes to a release. Default false. */
  readonly ask?: boolean | undefined;
}

const command = v.pipe(v.string(), v.regex(commandRulePattern, 'must be a command: `npm publish`'), v.maxLength(200));
const former = (instead: string) => v.optional(v.never(`is no option any more: ${instead}`));

const configSchema: v.GenericSchema<ReleaseOrderOptions> = v.strictObject({
  order: v.optional(v.record(command, v.array(command))),
  releases: v.optional(v.array(command)),
  checks: v.optional(v.array(command)),
  ask: v.optional(v.boolean()),
  fresh: former('what succeeded before a file was changed never counts'),
  writers: former('a call is judged by its facts, so hand `fileFacts({ tools: … })` to `createFacts`'),
});

/**
 * Releases come after their checks, and no file is overwritten unseen (`readBeforeWrite`). Releases and checks are commands of the facts
 * (`call.facts`), whatever tool runs them.
 */
export const releaseOrder: Pack<ReleaseOrderOptions> = definePack<ReleaseOrderOptions, ReleaseOrderOptions>({
  name: 'release-order',
  version: manifest.version,
  description: 'Releases come after their checks, and no file is overwritten unseen.',
  configSchema,
  presets: {
    recommended: { description: 'Checks come first, in the same worktree, with nothing written since.', config: {} },
    strict: { description: 'Checks come first, and a person says yes to a release.', config: { ask: true } },
  },
  policies({ order = {}, releases = knownReleases, checks = knownChecks, ask: asking = false }) {
    const rules = [
      ...Object.entries(order).map(([text, needs]): ReleaseRule => ({ ...readCommandRule(text), needs: needs.map(readCommandRule) })),
      ...releases.map((text): ReleaseRule => ({ ...readCommandRule(text), needs: undefined })),
    ];
    const all = [...new Set([...checks, ...Object.values(order).flat()])].map(readCommandRule);
    return [
      checksFirst({ releases: rules, checks: all }),
      ...(asking ? [releaseApproval(rules)] : []),
      readBeforeWrite(),
    ];
  },
});

function releaseApproval(releases: readonly ReleaseRule[]): Policy {
  return definePolicy({
    name: 'release-approval',
    check({ facts }) {
      const found = facts?.runs.flatMap((run) => findRelease(releases, run) ?? [])[0];
      return found === undefined ? allow : ask(`\`${found.text}\` is a release, which a person has to agree to.`);
    },
  });
}
