import type { DraftNode, DraftPlan, Reports } from '../plan/draft.ts';
import type { NodeId } from '../plan/types.ts';
import { afterNodes, show, showList } from '../plan/violations.ts';

/** The dependency graph of a plan. Nodes are indexes into `plan.nodes`. */
export interface PlanGraph {
  /** The first node with each id. */
  readonly byId: ReadonlyMap<NodeId, number>;
  /** The dependencies of each node, by `depends_on` or reference; unique, in plan order. */
  readonly parents: readonly (readonly number[])[];
  /** The nodes in topological order; `undefined` if there is a cycle. */
  readonly order: readonly number[] | undefined;
}

/** The path in the plan where each edge first appears, by dependency. */
type Edges = ReadonlyMap<number, string>;

/**
 * Checks ids, dependencies, references, cycles, the longest chain and the final node. A reference counts as a dependency, so a node refers
 * only to its ancestors. Linear in nodes and edges.
 */
export function checkGraph({ nodes, final }: DraftPlan, maxDepth: number, reports: Reports): PlanGraph {
  const byId = indexNodes(nodes, reports);
  // Built once: many nodes may name unknown ids.
  const hint = byId.size === 0 ? '' : ` Known ids: ${showList([...byId.keys()])}.`;
  const edges = nodes.map((node, position) => readEdges(node, position, { byId, hint, reports }));
  const parents = edges.map((edge) => [...edge.keys()].sort((left, right) => left - right));
  const order = sortNodes(parents);
  if (order.length < nodes.length) reportCycles({ nodes, edges, parents, order }, reports);
  checkDepth({ nodes, parents, order, maxDepth }, reports);
  checkFinal({ nodes, final, byId, hint, parents }, reports);
  return { byId, parents, order: order.length < nodes.length ? undefined : order };
}

function indexNodes(nodes: readonly DraftNode[], { violations }: Reports): ReadonlyMap<NodeId, number> {
  const byId = new Map<NodeId, number>();
  for (const [position, { id, index, path }] of nodes.entries()) {
    if (id === undefined) continue;
    const first = byId.get(id);
    if (first === undefined) {
      byId.set(id, position);
      continue;
    }
    const message = `The id ${show(id)} is already used by \`${nodes[first]?.path}\`.`;
    violations.add('node.duplicate', { path: `${path}.id`, node: id, index }, message);
  }
  return byId;
}

interface Known {
  readonly byId: ReadonlyMap<NodeId, number>;
  readonly hint: string;
}

function readEdges(
  { id: node, index, dependencies, inputs }: DraftNode,
  position: number,
  { byId, hint, reports: { violations, warnings } }: Known & { readonly reports: Reports },
): Edges {
  const edges = new Map<number, string>();
  const add = (id: NodeId, path: string, fault: 'deps.unknown' | 'plan.ref.unknown'): boolean => {
    const parent = byId.get(id);
    if (parent === undefined) {
      violations.add(fault, { path, node, index }, `Unknown node id ${show(id)}.${hint}`);
      return true;
    }
    if (parent === position) {
      violations.add('plan.deps.cycle', { path, node, index }, `The node ${show(id)} depends on itself.`);
      return true;
    }
    if (edges.has(parent)) return false;
    edges.set(parent, path);
    return true;
  };
  for (const { id, path } of dependencies) {
    if (add(id, path, 'deps.unknown')) continue;
    warnings.add('deps.duplicate', { path, node, index }, `${show(id)} is listed more than once.`);
  }
  for (const { reference, path } of inputs?.references ?? []) add(reference.from, path, 'plan.ref.unknown');
  return edges;
}

/** The nodes that are not part of a cycle and do not depend on one, in topological order. */
function sortNodes(parents: readonly (readonly number[])[]): readonly number[] {
  const children: number[][] = parents.map(() => []);
  const open = parents.map((list) => list.length);
  for (const [node, list] of parents.entries()) for (const parent of list) children[parent]?.push(node);
  const order = [...open.keys()].filter((node) => open[node] === 0);
  // The list grows during the iteration.
  for (const node of order) {
    for (const child of children[node] ?? []) {
      const left = (open[child] ?? 0) - 1;
      open[child] = left;
      if (left === 0) order.push(child);
    }
  }
  return order;
}

interface Sorted {
  readonly nodes: readonly DraftNode[];
  readonly parents: readonly (readonly number[])[];
  readonly order: readonly number[];
}

/** Reports one cycle per strongly connected group: the shortest through its first node. */
function reportCycles(
  { nodes, edges, parents, order }: Sorted & { readonly edges: readonly Edges[] },
  reports: Reports,
) {
  const sorted = new Set(order);
  for (const group of groupCycles(parents, (node) => !sorted.has(node))) {
    const cycle = findCycle(parents, group);
    const [first = 0, next = 0] = cycle;
    const node = nodes[first];
    const ids = cycle.map((position) => nodes[position]?.id ?? null);
    reports.violations.add(
      'plan.deps.cycle',
      { path: edges[first]?.get(next) ?? '', node: node?.id, index: node?.index ?? -1 },
      `These nodes form a cycle, each depending on the next: ${showList([...ids, ids[0] ?? null])}.`,
    );
  }
}

function checkDepth(
  { nodes, parents, order, maxDepth }: Sorted & { readonly maxDepth: number },
  reports: Reports,
): void {
  const depths = new Map<number, number>();
  for (const node of order) {
    let depth = 1;
    for (const parent of parents[node] ?? []) depth = Math.max(depth, (depths.get(parent) ?? 0) + 1);
    depths.set(node, depth);
  }
  const over = nodes.findIndex((_, position) => (depths.get(position) ?? 0) > maxDepth);
  const node = nodes[over];
  if (node === undefined) return;
  const message = `The chain of dependencies is longer than ${maxDepth} nodes here, which is the limit.`;
  const place = { path: `${node.path}.depends_on`, node: node.id, index: node.index };
  reports.violations.add('depth.limit', place, message);
}

function checkFinal(
  { nodes, final, byId, hint, parents }: Omit<Sorted, 'order'> & Pick<DraftPlan, 'final'> & Known,
  { violations, warnings }: Reports,
): void {
  if (final === undefined) return;
  const start = byId.get(final);
  if (start === undefined) {
    const message = `Unknown node id ${show(final)}.${hint}`;
    violations.add('final.unknown', { path: 'final_output_node', index: afterNodes }, message);
    return;
  }
  const useful = new Set([start]);
  // The set grows during the iteration.
  for (const node of useful) for (const parent of parents[node] ?? []) useful.add(parent);
  for (const [position, { id, index, path }] of nodes.entries()) {
    if (useful.has(position)) continue;
    const message = `The final node ${show(final)} does not depend on this node: it runs, but its result is not used.`;
    warnings.add('node.unused', { path, node: id, index }, message);
  }
}

/** The dependencies of each node. */
type Graph = readonly (readonly number[])[];

/**
 * Finds the groups of two or more nodes in `among` that depend on each other (strongly connected components). Each group is in ascending
 * order; groups are ordered by their first node. Iterative, because a chain may be as long as the plan.
 * Source: R. Tarjan, "Depth-first search and linear graph algorithms", 1972.
 */
export function groupCycles(graph: Graph, among: (node: number) => boolean): readonly (readonly number[])[] {
  const groups: (readonly number[])[] = [];
  const found = new Map<number, number>();
  const lowest = new Map<number, number>();
  const stack: number[] = [];
  const stacked = new Set<number>();

  const enter = (node: number): { readonly node: number; next: number } => {
    lowest.set(node, found.size);
    found.set(node, found.size);
    stack.push(node);
    stacked.add(node);
    return { node, next: 0 };
  };
  const lower = (node: number, to: number | undefined): void => {
    lowest.set(node, Math.min(lowest.get(node) ?? 0, to ?? 0));
  };

  for (const root of graph.keys()) {
    if (!among(root) || found.has(root)) continue;
    const walk = [enter(root)];
    for (let visit = walk.at(-1); visit !== undefined; visit = walk.at(-1)) {
      const { node } = visit;
      const neighbour = graph[node]?.[visit.next];
      visit.next += 1;
      if (neighbour !== undefined) {
        if (!among(neighbour)) continue;
        if (!found.has(neighbour)) walk.push(enter(neighbour));
        else if (stacked.has(neighbour)) lower(node, found.get(neighbour));
        continue;
      }
      walk.pop();
      const above = walk.at(-1);
      if (above !== undefined) lower(above.node, lowest.get(node));
      if (lowest.get(node) !== found.get(node)) continue;
      const group = stack.splice(stack.lastIndexOf(node));
      for (const member of group) stacked.delete(member);
      if (group.length > 1) groups.push(group.sort((left, right) => left - right));
    }
  }
  return groups.sort(([left = 0], [right = 0]) => left - right);
}

/** The shortest cycle through the first node of a strongly connected group, starting with that node. */
export function findCycle(graph: Graph, group: readonly number[]): readonly number[] {
  const [start = 0] = group;
  const members = new Set(group);
  const cameFrom = new Map<number, number>();
  const queue = [start];
  // The queue grows during the iteration.
  for (const node of queue) {
    for (const neighbour of graph[node] ?? []) {
      if (neighbour === start) {
        const cycle: number[] = [];
        for (let at: number | undefined = node; at !== undefined; at = cameFrom.get(at)) cycle.push(at);
        return cycle.reverse();
      }
      if (!members.has(neighbour) || cameFrom.has(neighbour)) continue;
      cameFrom.set(neighbour, node);
      queue.push(neighbour);
    }
  }
  return [start];
}
