import { allow, definePolicy, deny, HoldfastError, type KeyedState, type Policy, upsert } from '@holdfast/core';
import { checkOptions, checkToolName, isPlainObject } from '@holdfast/core/internal';

export interface SequentialDependencyOptions {
  /** Default `sequential-dependency`; required if there are two in one place. */
  readonly id?: string;
}

/**
 * Lets a tool run only after the tools that it depends on have succeeded in this session:
 * `{ deploy: ['test', 'build'], build: ['lint'] }`.
 *
 * State: keyed by tool name, `true` for every named tool that has succeeded.
 *
 * @throws HoldfastError `options.invalid`, `tool.invalid`, and `policy.invalid` with the
 * cycle in `data`.
 */
export function sequentialDependency(
  dependencies: Readonly<Record<string, readonly string[]>>,
  options: SequentialDependencyOptions = {},
): Policy<KeyedState<true>> {
  checkOptions('sequentialDependency', options, { id: 'any' });
  const { id } = options;
  const neededBy = readDependencies(dependencies);
  checkCycles(neededBy);
  const needed = new Set([...neededBy.values()].flat());
  return definePolicy<true>({
    name: 'sequential-dependency',
    ...(id === undefined ? {} : { id }),
    mentions: [...new Set([...neededBy.keys(), ...needed])],
    stateKind: 'keyed',
    check({ tool }, { state }) {
      const names = neededBy.get(tool.name);
      if (names === undefined || names.every((name) => state.has(name))) return allow;
      const missing = names.filter((name) => !state.has(name));
      return deny(
        `\`${tool.name}\` needs ${listNames(missing)} to succeed first: call ${listNames(missing)}, then retry.`,
      );
    },
    onResult({ tool }, _result, { state }) {
      return needed.has(tool.name) && !state.has(tool.name) ? upsert(tool.name, true) : undefined;
    },
  });
}

function readDependencies(dependencies: Readonly<Record<string, readonly string[]>>): Map<string, readonly string[]> {
  if (!isPlainObject(dependencies)) {
    throw new HoldfastError('options.invalid', '`sequentialDependency` needs an object of lists of tool names.');
  }
  const neededBy = new Map<string, readonly string[]>();
  for (const [tool, names] of Object.entries(dependencies)) {
    if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) {
      throw new HoldfastError('options.invalid', `The dependencies of \`${tool}\` must be a list of tool names.`);
    }
    for (const name of [tool, ...names]) checkToolName(name);
    neededBy.set(tool, [...new Set(names)]);
  }
  return neededBy;
}

function checkCycles(neededBy: ReadonlyMap<string, readonly string[]>): void {
  const settled = new Set<string>();
  const path: string[] = [];
  const visit = (tool: string): void => {
    if (settled.has(tool)) return;
    const start = path.indexOf(tool);
    if (start >= 0) {
      const cycle = [...path.slice(start), tool];
      throw new HoldfastError(
        'policy.invalid',
        `No order of calls can satisfy the dependencies ${cycle.map((name) => `\`${name}\``).join(' -> ')}.`,
        { data: { reason: 'dependency.cycle', cycle } },
      );
    }
    path.push(tool);
    for (const name of neededBy.get(tool) ?? []) visit(name);
    path.pop();
    settled.add(tool);
  };
  for (const tool of neededBy.keys()) visit(tool);
}

function listNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
