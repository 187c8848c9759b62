import {
  allow,
  type CallFacts,
  clear,
  definePolicy,
  deny,
  type KeyedState,
  type Operation,
  type PlaceView,
  type Policy,
  upsert,
} from '@holdfast/core';
import type { Command } from '@holdfast/core/types';
import { type CommandRule, denyWithoutFacts, isAllowedBy, matchRule, quote } from '@holdfast/facts/rules';
import { idleOptions } from './known-commands.ts';

export interface ReleaseRule extends CommandRule {
  /** Checks that must all succeed before it; `undefined`: any one check. */
  readonly needs: readonly CommandRule[] | undefined;
}

export interface ChecksFirstOptions {
  readonly releases: readonly ReleaseRule[];
  readonly checks: readonly CommandRule[];
}

/**
 * Lets a release run only after its checks: in the same worktree, with no writes since, and with known success. Within one call that
 * requires `npm test && git push`; in an earlier call the check's exit status must decide the call's success.
 *
 * State: keyed by worktree, a line break and the check, `true` for every check that has succeeded and counts; by a line break and the
 * call, for a call that failed or is in doubt and may have changed files, after which no earlier check counts.
 */
export function checksFirst({ releases, checks }: ChecksFirstOptions): Policy<KeyedState<true>> {
  return definePolicy<true>({
    name: 'checks-first',
    stateKind: 'keyed',
    check({ facts, tool }, { state, place }) {
      if (facts === undefined || place === undefined)
        return tool.effects === 'external' ? denyWithoutFacts('checks-first') : allow;
      const changed = describeChange(facts, place);
      for (const command of facts.runs) {
        const release = findRelease(releases, command);
        if (release === undefined || release.needs?.length === 0) continue;
        const root = worktreeOf(command, place);
        const before = command.after.flatMap((position) => facts.runs[position] ?? []);
        const isDone = (check: CommandRule): boolean =>
          root !== undefined &&
          changed === undefined &&
          ((state.has(keyOf(root, check)) && !isStale(state)) ||
            before.some((earlier) => isCheck(check, earlier, facts) && worktreeOf(earlier, place) === root));
        const missing = release.needs?.filter((check) => !isDone(check)) ?? (checks.some(isDone) ? [] : undefined);
        if (missing?.length !== 0) return deny(describeMissing(release, missing, changed));
      }
      return allow;
    },
    onResult({ facts }, { touched }, { state, place }): readonly Operation[] {
      if (facts === undefined || place === undefined) return [];
      const wrote = (touched.get('filesystem')?.writes.length ?? 0) > 0;
      // The call may have written after its checks.
      if (wrote || describeChange(facts, place) !== undefined) return state.size > 0 ? [clear] : [];
      const stale = isStale(state);
      const succeeded = facts.runs.flatMap((command) => {
        const root = worktreeOf(command, place);
        if (root === undefined || !command.decides || command.background) return [];
        return checks
          .filter((check) => isCheck(check, command, facts) && (stale || !state.has(keyOf(root, check))))
          .map((check) => upsert(keyOf(root, check), true as const));
      });
      return stale && succeeded.length > 0 ? [clear, ...succeeded] : succeeded;
    },
    countsFailures: true,
    reserve({ facts, tool }, { callKey, place }) {
      // Nothing of its failure stays.
      if (tool.effects !== 'external' || tool.repeat === 'safe') return [];
      const changes = facts === undefined || place === undefined || describeChange(facts, place) !== undefined;
      return changes ? upsert(`\n${callKey}`, true as const) : [];
    },
  });
}

/** A call may have changed files, and no check has succeeded since. */
function isStale(state: KeyedState<true>): boolean {
  return [...state].some(([key]) => key.startsWith('\n'));
}

export function findRelease<Rule extends CommandRule>(releases: readonly Rule[], command: Command): Rule | undefined {
  return releases.find((rule) => matchRule(rule, command) !== 'no');
}

/** True if the command is the check in a form that can fail. */
function isCheck(rule: CommandRule, command: Command, { unclear }: CallFacts): boolean {
  if (!isAllowedBy(rule, command) || command.written) return false;
  if (command.arguments.some((word) => word === null || idleOptions.has(word) || word.startsWith('-Dmaven.')))
    return false;
  // Such a call may run another program.
  return !unclear.some(({ kind }) => kind === 'environment' || kind === 'syntax' || kind === 'limit');
}

/** The change that a call makes or may make in the workspace; writes elsewhere do not matter. */
function describeChange({ writes, deletes, unclear }: CallFacts, { workspace }: PlaceView): string | undefined {
  const place = [...writes, ...deletes].find(({ inside }) => inside);
  if (place !== undefined) return `it changes ${quote(place.path.slice(workspace.length + 1))}`;
  const open = unclear.find(
    ({ kind, use }) =>
      kind !== 'project' && kind !== 'link' && (kind !== 'words' || use === 'writes' || use === 'deletes'),
  );
  return open && `it may change files: ${open.reason}`;
}

/** The folder with `.git` in which a command runs; `undefined` if unknown. */
function worktreeOf({ folder }: Command, place: PlaceView): string | undefined {
  if (folder === undefined) return undefined;
  for (let at = folder; at !== '' && at !== place.workspace; at = at.slice(0, at.lastIndexOf('/'))) {
    if (place.disk === undefined || place.disk.look(`${at}/.git`).type !== 'missing') return at;
  }
  return folder.startsWith(place.workspace) ? place.workspace : undefined;
}

function keyOf(root: string, { text }: CommandRule): string {
  return `${root}\n${text}`;
}

function describeMissing(
  { text }: CommandRule,
  missing: readonly CommandRule[] | undefined,
  changed: string | undefined,
): string {
  const since = 'in this worktree since its last change';
  const what =
    missing === undefined
      ? `no check has succeeded ${since}: run one first, such as \`npm test\`. If the checks have other names, a person can list them in \`checks\``
      : `${missing.map((check) => `\`${check.text}\``).join(', ')} must have succeeded ${since}`;
  const why = changed === undefined ? '' : ` Checks in this call do not count, because ${changed}.`;
  return `\`${text}\` is a release, and ${what}.${why}`;
}
