import type { NodeId, Plan, PlanNode } from './types.ts';

/** The nodes of a plan by index. */
export interface NodePositions {
  readonly byId: ReadonlyMap<NodeId, number>;
  /** The indexes of each node's dependencies, in plan order. */
  readonly parents: readonly (readonly number[])[];
  readonly edges: Edges;
}

/** The reverse graph: the dependents of each node. */
export interface Edges {
  /** The number of dependencies of each node. */
  readonly waitsFor: Int32Array;
  /** The dependents of the node at `position` are in `ends` from `starts[position]` up to the start of the next node. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

const known = new WeakMap<Plan, NodePositions>();

/** Ignores unknown ids. Built once per plan, no matter how often it runs. */
export function indexNodes(plan: Plan): NodePositions {
  const found = known.get(plan);
  if (found !== undefined) return found;
  const { nodes } = plan;
  const byId = new Map<NodeId, number>();
  for (let position = 0; position < nodes.length; position += 1) byId.set((nodes[position] as PlanNode).id, position);
  const parents = nodes.map(({ depends_on: ids }) => {
    const places: number[] = [];
    for (const id of ids) {
      const position = byId.get(id);
      if (position !== undefined) places.push(position);
    }
    return places;
  });
  const positions = { byId, parents, edges: toEdges(parents) };
  known.set(plan, positions);
  return positions;
}

/** Visits each edge once. */
export function toEdges(parents: readonly (readonly number[])[]): Edges {
  const count = parents.length;
  const waitsFor = Int32Array.from(parents, ({ length }) => length);
  const starts = new Int32Array(count + 1);
  for (const waitedFor of parents) for (const parent of waitedFor) starts[parent + 1] = (starts[parent + 1] ?? 0) + 1;
  for (let position = 0; position < count; position += 1) {
    starts[position + 1] = (starts[position] ?? 0) + (starts[position + 1] ?? 0);
  }
  const ends = new Int32Array(starts[count] ?? 0);
  const next = starts.slice();
  parents.forEach((waitedFor, position) => {
    for (const parent of waitedFor) {
      const index = next[parent] ?? 0;
      ends[index] = position;
      next[parent] = index + 1;
    }
  });
  return { waitsFor, starts, ends };
}

/** A priority queue of node positions, lowest first. */
export class PositionQueue {
  /** In descending order. */
  readonly #items: number[] = [];

  get size(): number {
    return this.#items.length;
  }

  push(position: number): void {
    const items = this.#items;
    let low = 0;
    for (let high = items.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((items[middle] ?? 0) > position) low = middle + 1;
      else high = middle;
    }
    items.splice(low, 0, position);
  }

  pop(): number | undefined {
    return this.#items.pop();
  }
}
