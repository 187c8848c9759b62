import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findCycle, groupCycles } from './graph.ts';

/** The nodes reachable from each node in one or more steps, computed naively. */
function reach(graph: readonly (readonly number[])[]): readonly ReadonlySet<number>[] {
  return graph.map((list) => {
    const seen = new Set(list);
    for (const node of seen) for (const next of graph[node] ?? []) seen.add(next);
    return seen;
  });
}

const graph = fc
  .array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 14 })
  .map((lists) =>
    lists.map((list, node) =>
      [...new Set(list.map((number) => number % lists.length))].filter((next) => next !== node),
    ),
  );

test('groups nodes that reach each other; each group has a shortest cycle through its first node', () => {
  fc.assert(
    fc.property(graph, (nodes) => {
      const reached = reach(nodes);
      const expected = new Map<string, readonly number[]>();
      for (const [node, seen] of reached.entries()) {
        const group = [...seen]
          .filter((other) => reached[other]?.has(node) === true)
          .sort((left, right) => left - right);
        if (group.length > 1) expected.set(group.join(), group);
      }
      const groups = groupCycles(nodes, () => true);
      expect(groups).toEqual([...expected.values()]);
      for (const group of groups) {
        const cycle = findCycle(nodes, group);
        expect(cycle[0]).toBe(group[0]);
        for (const [index, node] of cycle.entries()) expect(nodes[node]).toContain(cycle[(index + 1) % cycle.length]);
        expect(new Set(cycle).size).toBe(cycle.length);
      }
    }),
    { numRuns: 80 },
  );
});

test('finds the shorter of two cycles through a node', () => {
  expect(findCycle([[1, 2], [0], [3], [0]], [0, 1, 2, 3])).toEqual([0, 1]);
});
