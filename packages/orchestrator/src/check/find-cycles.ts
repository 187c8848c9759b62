/** For each node, what it waits for. */
type Graph = readonly (readonly number[])[];

/**
 * Groups of at least two nodes that all wait for each other, among those that `among` says; each in ascending order, and the groups in
 * that of their first nodes. Tarjan's algorithm, without recursion: a chain may be as long as a plan.
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

/** The shortest cycle through the first node of a group in which all wait for each other. Begins with that node. */
export function findCycle(graph: Graph, group: readonly number[]): readonly number[] {
  const [start = 0] = group;
  const members = new Set(group);
  const cameFrom = new Map<number, number>();
  const queue = [start];
  // The queue grows while it is walked.
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
