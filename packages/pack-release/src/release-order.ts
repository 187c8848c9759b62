import {
  allow,
  ask,
  checkToolName,
  definePack,
  definePolicy,
  type KeyedState,
  type Pack,
  type Policy,
} from '@holdfast/core';
import { type PathArguments, readBeforeWrite, sequentialDependency } from '@holdfast/policy';
import * as v from 'valibot';
import manifest from '../package.json' with { type: 'json' };
import { checksFirst } from './checks-first.ts';
import { type IsRelease, releaseNames } from './release-names.ts';

/** The options of `releaseOrder`. A tool that one of them names has to be there. */
export interface ReleaseOrderOptions {
  /**
   * By the tool, what has to succeed before it: `{ deploy: ['test', 'build'], build: ['lint'] }`; an empty list is nothing. A release of
   * which it says nothing needs some check: a tool by a name such as `test`, `run_tests`, `check_types` or `verify`. Default: empty.
   */
  readonly order?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * Tools that put something out. Default: those that do not only read and have `deploy`, `publish`, `release`, `rollout`, `ship` or
   * `promote` as a word in their name (or create a `deployment`), but for those that begin with a word for looking: `get_release`.
   */
  readonly releases?: readonly string[] | undefined;
  /** Whether a check counts only until a file is changed. Default false. */
  readonly fresh?: boolean | undefined;
  /** Whether a person has to say yes to a release. Default false. */
  readonly ask?: boolean | undefined;
  /** Tools that write files, by the argument that holds the path, beside `write_file`, `edit_file` and `delete_file`. */
  readonly writers?: PathArguments | undefined;
}

const toolName = v.pipe(v.string(), v.check(isToolName, 'must be the name of a tool'));

const configSchema = v.object({
  order: v.optional(
    v.pipe(
      v.record(toolName, v.array(toolName)),
      v.check(isOrder, 'must be an order that can be kept, without a cycle'),
    ),
  ),
  releases: v.optional(v.array(toolName)),
  fresh: v.optional(v.boolean()),
  ask: v.optional(v.boolean()),
  writers: v.optional(v.record(toolName, v.pipe(v.string(), v.minLength(1)))),
});

/**
 * Releases come after their checks, and no file is overwritten unseen (`readBeforeWrite`).
 *
 * Of a check it counts that it succeeded in this session. Under `fresh` a success that wrote a file through the resource `filesystem`, or
 * of a tool that `writers` names, puts all checks back; what checks write themselves does not.
 */
export const releaseOrder: Pack<ReleaseOrderOptions> = definePack<ReleaseOrderOptions, ReleaseOrderOptions>({
  name: 'release-order',
  version: manifest.version,
  description: 'Releases come after their checks, and no file is overwritten unseen.',
  configSchema,
  presets: {
    recommended: { description: 'Checks come first.', config: {} },
    strict: {
      description: 'Checks come after the last change of a file, and a person says yes to a release.',
      config: { fresh: true, ask: true },
    },
  },
  policies: ({ order = {}, releases, fresh = false, ask: asking = false, writers = {} }) => {
    const isRelease = releaseNames(releases);
    const named = { writers: Object.keys(writers), releases: releases ?? [] };
    return [
      checksFirst({ order, isRelease, fresh, ...named }),
      ...(asking ? [releaseApproval(isRelease)] : []),
      seenFiles(writers),
    ];
  },
});

function releaseApproval(isRelease: IsRelease): Policy<undefined> {
  return definePolicy({
    name: 'release-approval',
    check: ({ tool }) =>
      isRelease(tool) ? ask(`\`${tool.name}\` is a release, which a person has to agree to.`) : allow,
  });
}

/** `readBeforeWrite`, which would want every tool to exist that it is told of; the file tools are only those that a host has. */
function seenFiles(writers: PathArguments): Policy<KeyedState<string>> {
  const all = { write_file: 'path', edit_file: 'path', delete_file: 'path', ...writers };
  const { name, check, onResult } = readBeforeWrite({ writers: all });
  const learning = onResult === undefined ? {} : { onResult };
  return definePolicy<string>({ name, tools: Object.keys(writers), stateKind: 'keyed', check, ...learning });
}

function isToolName(name: string): boolean {
  try {
    checkToolName(name);
    return true;
  } catch {
    // Whoever asks says what is wrong, with the place in the options.
    return false;
  }
}

function isOrder(order: { [tool: string]: string[] }): boolean {
  try {
    sequentialDependency(order);
    return true;
  } catch {
    // As above.
    return false;
  }
}
