import {
  allow,
  clear,
  definePolicy,
  deny,
  type KeyedState,
  type Operation,
  type Policy,
  type PolicyResult,
  type Tool,
  upsert,
} from '@holdfast/core';
import { sequentialDependency } from '@holdfast/policy';
import { hasCheckName, type IsRelease } from './release-names.ts';

export interface ChecksFirstOptions {
  /** By the tool, what has to succeed before it. */
  readonly order: Readonly<Record<string, readonly string[]>>;
  readonly isRelease: IsRelease;
  /** Whether a check counts only until a file is changed. */
  readonly fresh: boolean;
  /** Tools that the host has named as writers, and as releases. */
  readonly writers: readonly string[];
  readonly releases: readonly string[];
}

/**
 * Lets a tool run only after what `order` says of it, and a release of which it says nothing only after some check.
 *
 * State: keyed by tool name, `true` for every check that has succeeded and counts.
 */
export function checksFirst({
  order,
  isRelease,
  fresh,
  writers,
  releases,
}: ChecksFirstOptions): Policy<KeyedState<true>> {
  const sequence = sequentialDependency(order);
  const needed = new Set(Object.values(order).flat());
  const ordered = new Set(Object.keys(order));
  const isCheck = (tool: Tool): boolean =>
    needed.has(tool.name) || (hasCheckName(tool.name) && !isRelease(tool) && !writers.includes(tool.name));

  return definePolicy<true>({
    name: 'checks-first',
    tools: [...new Set([...sequence.tools, ...releases])],
    stateKind: 'keyed',
    async check(call, context) {
      const { tool } = call;
      if (ordered.has(tool.name)) {
        const decision = await sequence.check(call, context);
        return decision.type === 'deny' && fresh ? deny(`${decision.reason} ${onlyFresh}`) : decision;
      }
      if (!isRelease(tool) || context.state.size > 0) return allow;
      return deny(
        `\`${tool.name}\` is a release, and no check has succeeded before it: call one first, such as \`test\`, then retry. If the checks have other names here, whoever runs this says so in \`order\`: { "${tool.name}": ["test"] }.${fresh ? ` ${onlyFresh}` : ''}`,
      );
    },
    onResult({ tool }, result, { state }): readonly Operation[] {
      if (isCheck(tool)) return state.has(tool.name) ? [] : [upsert(tool.name, true)];
      const changed = fresh && (writers.includes(tool.name) || hasWritten(result));
      return changed && state.size > 0 ? [clear] : [];
    },
  });
}

const onlyFresh = 'What succeeded before a file was changed does not count.';

function hasWritten({ touched }: PolicyResult): boolean {
  return (touched.get('filesystem')?.writes.length ?? 0) > 0;
}
