import { allow, ask, definePack, definePolicy, type Pack, type Policy } from '@holdfast/core';
import { commandRulePattern, readCommandRule } from '@holdfast/facts/rules';
import { readBeforeWrite } from '@holdfast/policy';
import * as v from 'valibot';
import manifest from '../package.json' with { type: 'json' };
import { checksFirst, findRelease, type ReleaseRule } from './checks-first.ts';
import { knownChecks, knownReleases } from './known-commands.ts';

/** The options of `releaseOrder`. A command is written by its first words: `npm publish`, `make test`. */
export interface ReleaseOrderOptions {
  /**
   * Required checks by release: `{ 'npm publish': ['npm test', 'npm run build'] }`; an empty list requires none. Releases not listed here
   * need any one of `checks`. Default: empty.
   */
  readonly order?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Commands that publish. Default: `npm publish`, `git push`, `docker push`, `terraform apply` and similar. */
  readonly releases?: readonly string[] | undefined;
  /** Commands that check the work. Default: `npm test`, `pytest`, `cargo test`, `make check` and similar. */
  readonly checks?: readonly string[] | undefined;
  /** True if releases also need approval. Default false. */
  readonly ask?: boolean | undefined;
}

const command = v.pipe(v.string(), v.regex(commandRulePattern, 'must be a command: `npm publish`'), v.maxLength(200));
const former = (instead: string) => v.optional(v.never(`is no longer an option: ${instead}`));

const configSchema: v.GenericSchema<ReleaseOrderOptions> = v.strictObject({
  order: v.optional(v.record(command, v.array(command))),
  releases: v.optional(v.array(command)),
  checks: v.optional(v.array(command)),
  ask: v.optional(v.boolean()),
  fresh: former('checks before a change of files never count'),
  writers: former('calls are judged by their facts; pass `fileFacts({ tools: … })` to `createFacts`'),
});

/**
 * Lets releases run only after their checks, and prevents overwriting unread files (`readBeforeWrite`). Releases and checks are commands
 * in the facts (`call.facts`), whichever tool runs them.
 */
export const releaseOrder: Pack<ReleaseOrderOptions> = definePack<ReleaseOrderOptions, ReleaseOrderOptions>({
  name: 'release-order',
  version: manifest.version,
  description: 'Requires checks before releases, and prevents overwriting unread files.',
  configSchema,
  presets: {
    recommended: { description: 'Requires checks in the same worktree, with no changes since.', config: {} },
    strict: { description: 'Requires checks, and approval of releases.', config: { ask: true } },
  },
  policies({ order = {}, releases = knownReleases, checks = knownChecks, ask: asking = false }) {
    const rules = [
      ...Object.entries(order).map(
        ([text, needs]): ReleaseRule => ({ ...readCommandRule(text), needs: needs.map(readCommandRule) }),
      ),
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
      return found === undefined ? allow : ask(`\`${found.text}\` is a release, which needs approval.`);
    },
  });
}
