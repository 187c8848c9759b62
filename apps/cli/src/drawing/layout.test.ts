import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Layout, layOut, type Needs, nodeHeight, nodeWidth } from './layout.ts';

/** Faults of a drawing: overlapping or outside nodes, edges that do not connect. */
function findFaults({ nodes, edges, width, height }: Layout, needs: Needs): readonly string[] {
  const faults: string[] = [];
  const rows = Map.groupBy(nodes.entries(), ([, { y }]) => y);
  const tops = [...rows.keys()].toSorted((left, right) => left - right);
  for (const [index, y] of tops.entries()) {
    if (y - (tops[index - 1] ?? Number.NEGATIVE_INFINITY) < nodeHeight) faults.push(`rows at ${y}`);
  }
  for (const row of rows.values()) {
    const places = row.map(([, { x }]) => x).toSorted((left, right) => left - right);
    for (const [index, x] of places.entries()) {
      if (x - (places[index - 1] ?? Number.NEGATIVE_INFINITY) < nodeWidth) faults.push(`nodes at ${x}`);
    }
  }
  for (const { x, y } of nodes) {
    if (x < 0 || y < 0 || x + nodeWidth > width || y + nodeHeight > height) faults.push(`outside ${x} ${y}`);
  }
  for (const { x, y } of edges.flat()) {
    if (!(x >= 0 && y >= 0 && x <= width && y <= height)) faults.push(`edge outside ${x} ${y}`);
  }
  const pairs = needs.flatMap((ids, to) => ids.map((from) => ({ from, to })));
  if (pairs.length !== edges.length) faults.push(`${edges.length} edges`);
  for (const [index, { from, to }] of pairs.entries()) {
    const [start, end] = [edges[index]?.[0], edges[index]?.at(-1)];
    const [above, below] = [nodes[from], nodes[to]];
    const isJoined =
      start?.x === (above?.x ?? 0) + nodeWidth / 2 &&
      start.y === (above?.y ?? 0) + nodeHeight &&
      end?.x === (below?.x ?? 0) + nodeWidth / 2 &&
      end.y === below?.y;
    if (!isJoined) faults.push(`edge ${from} to ${to}`);
  }
  return faults;
}

const acyclic: fc.Arbitrary<Needs> = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 60 })
  .map((drawn) =>
    drawn.map((numbers, node) => (node === 0 ? [] : [...new Set(numbers.map((number) => number % node))])),
  );

test('for any plan: no nodes overlap, all are inside, and each edge goes down from a dependency to its dependent', () => {
  fc.assert(
    fc.property(acyclic, (needs) => {
      const layout = layOut(needs);
      expect(findFaults(layout, needs)).toEqual([]);
      for (const edge of layout.edges) {
        for (const [index, { y }] of edge.entries()) expect(y).toBeGreaterThan(edge[index - 1]?.y ?? -1);
      }
      expect(layOut(needs)).toEqual(layout);
    }),
  );
});

test('cycles and self-dependencies are drawn, too', () => {
  const anyNeeds = fc
    .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 30 })
    .map((drawn) => drawn.map((numbers) => [...new Set(numbers.map((number) => number % drawn.length))]));
  fc.assert(
    fc.property(anyNeeds, (needs) => {
      expect(findFaults(layOut(needs), needs)).toEqual([]);
    }),
  );
});

const chain: Needs = Array.from({ length: 500 }, (_, node) => (node === 0 ? [] : [node - 1]));
const wide: Needs = Array.from({ length: 500 }, (_, node) => (node === 0 || node === 499 ? [] : [0]));
const joined: Needs = Array.from({ length: 500 }, (_, node) =>
  node === 499 ? Array.from({ length: 499 }, (_item, id) => id) : node === 0 ? [] : [node - 1],
);
const dense: Needs = Array.from({ length: 64 }, (_, node) => Array.from({ length: node }, (_item, id) => id));

test.each([
  { name: 'a chain', needs: chain, maxWidth: 230 },
  { name: 'a fan', needs: wide, maxWidth: 1_750 },
  { name: 'a node that depends on a whole chain', needs: joined, maxWidth: 3_000 },
  { name: 'nodes that depend on all earlier ones', needs: dense, maxWidth: 40_000 },
])('$name fits', ({ needs, maxWidth }) => {
  const layout = layOut(needs);
  expect(findFaults(layout, needs)).toEqual([]);
  expect(layout.width).toBeLessThanOrEqual(maxWidth);
});

test('edges over many layers have a bounded number of bends in total', () => {
  // Each node needs the one before it, and one that is forty layers above.
  const far: Needs = Array.from({ length: 500 }, (_, node) =>
    node < 40 ? (chain[node] ?? []) : [node - 1, node - 40],
  );
  const points = layOut(far).edges.reduce((sum, edge) => sum + edge.length, 0);
  const edges = 499 + 460;
  expect(points).toBeGreaterThan(2 * edges);
  expect(points).toBeLessThanOrEqual(2 * edges + 2 * 3_000);
});

test('a chain is a straight line, and two chains do not cross', () => {
  const twoChains: Needs = [[], [], [1], [0], [3], [2]];
  const { nodes } = layOut(twoChains);
  expect(new Set([nodes[0]?.x, nodes[3]?.x, nodes[4]?.x]).size).toBe(1);
  expect(new Set([nodes[1]?.x, nodes[2]?.x, nodes[5]?.x]).size).toBe(1);
});
