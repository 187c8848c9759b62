import { allow, definePolicy, defineTool, deny, type Policy, type Tool } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foreseeCalls } from './foresee.ts';
import type { ExpectedCall } from './watch.ts';

const tools = ['a', 'b', 'c'].map(
  (name): Tool => defineTool({ name, description: `Does ${name}.`, effects: 'none', execute: () => null }),
);

/** A policy whose state is one number: by state and tool, the decision and the state after a success. */
interface Machine {
  readonly denies: readonly (readonly boolean[])[];
  readonly next: readonly (readonly number[])[];
}

const size = 4;
const machine: fc.Arbitrary<Machine> = fc.record({
  denies: table(fc.boolean().map((lets) => !lets)),
  next: table(fc.nat(size - 1)),
});

function table<Item>(item: fc.Arbitrary<Item>): fc.Arbitrary<readonly (readonly Item[])[]> {
  const row = fc.array(item, { minLength: tools.length, maxLength: tools.length });
  return fc.array(row, { minLength: size, maxLength: size });
}

const toPolicy = ({ denies, next }: Machine): Policy =>
  definePolicy<number>({
    name: 'machine',
    initialState: 0,
    check: ({ tool }, { state }) => (denies[state]?.[tools.indexOf(tool)] ? deny('No.') : allow),
    onResult: ({ tool }, _result, { state }) => next[state]?.[tools.indexOf(tool)] ?? 0,
  });

const plan: fc.Arbitrary<readonly { readonly tool: number; readonly after: readonly number[] }[]> = fc
  .array(fc.record({ tool: fc.nat(tools.length - 1), after: fc.array(fc.nat(10), { maxLength: 2 }) }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((drawn) =>
    drawn.map(({ tool, after }, at) => ({ tool, after: at === 0 ? [] : [...new Set(after.map((one) => one % at))] })),
  );

/** All states in which `node` can be reached: after any subset of other nodes, in any order that keeps dependencies. */
function statesBefore(
  nodes: readonly { readonly tool: number; readonly after: readonly number[] }[],
  node: number,
  { next }: Machine,
): ReadonlySet<number> {
  const waitsForNode = new Set([node]);
  for (const [at, { after }] of nodes.entries()) if (after.some((one) => waitsForNode.has(one))) waitsForNode.add(at);
  const found = new Set<number>();
  // Nodes not in `ended` have failed or not started; neither changes the state.
  const visit = (state: number, ended: ReadonlySet<number>): void => {
    found.add(state);
    for (const [at, { tool }] of nodes.entries()) {
      if (ended.has(at) || waitsForNode.has(at)) continue;
      // A dependency may have failed, so it need not be in `ended`, but must not come later.
      if ([...ended].some((one) => nodes[one]?.after.includes(at))) continue;
      visit(next[state]?.[tool] ?? 0, new Set([...ended, at]));
    }
  };
  visit(0, new Set());
  return found;
}

test('for any policy, a denial is certain exactly if it holds in every reachable state', async () => {
  let certain = 0;
  await fc.assert(
    fc.asyncProperty(plan, machine, async (nodes, drawn) => {
      const calls = nodes.map(({ tool, after }): ExpectedCall => ({ tool: tools[tool] as Tool, input: {}, after }));
      const foreseen = await foreseeCalls(calls, { tools, policies: [toPolicy(drawn)] });
      for (const [at, { denials }] of foreseen.entries()) {
        const tool = nodes[at]?.tool ?? 0;
        const isDenied = (state: number): boolean => drawn.denies[state]?.[tool] === true;
        if (denials.length > 0) {
          certain += 1;
          expect([at, [...statesBefore(nodes, at, drawn)].every(isDenied)]).toEqual([at, true]);
        } else {
          expect([at, [...drawn.denies.keys()].every(isDenied)]).toEqual([at, false]);
        }
      }
    }),
    { numRuns: 80 },
  );
  expect(certain).toBeGreaterThan(4);
});
