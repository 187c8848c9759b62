import type { NodeId } from '@holdfast/orchestrator';
import { isSettled, type NodeProgress } from './progress.ts';

/**
 * About how long the rest of a plan takes, in milliseconds: as long as the longest chain of what is left, or as all of it in as many
 * places as there are. A node takes as long as those of its tool took on average.
 *
 * `undefined` where there is nothing to go by: a tool that is still to run has not ended once yet, or a person is waited for.
 */
export function estimateLeftMs(
  nodes: readonly NodeProgress[],
  { places, nowMs }: { readonly places: number; readonly nowMs: number },
): number | undefined {
  const means = readMeans(nodes);
  const positions = new Map<NodeId, number>(nodes.map(({ node }, position) => [node, position]));
  const left: number[] = [];
  let work = 0;
  for (const node of nodes) {
    const cost = costOf(node, means, nowMs);
    if (cost === undefined) return undefined;
    left.push(cost);
    work += cost;
  }
  return Math.max(work / places, longestChain(nodes, { left, positions }));
}

function costOf(node: NodeProgress, means: ReadonlyMap<string, number>, nowMs: number): number | undefined {
  if (isSettled(node)) return 0;
  const mean = node.kind === 'suspended' ? undefined : means.get(node.tool);
  if (mean === undefined || node.startedAtMs === undefined || node.kind !== 'running') return mean;
  return Math.max(0, mean - (nowMs - node.startedAtMs));
}

function readMeans(nodes: readonly NodeProgress[]): ReadonlyMap<string, number> {
  const sums = new Map<string, { sum: number; count: number }>();
  for (const node of nodes) {
    if (!isSettled(node) || node.durationMs === undefined || node.attempts === 0) continue;
    const entry = sums.get(node.tool) ?? { sum: 0, count: 0 };
    entry.sum += node.durationMs;
    entry.count += 1;
    sums.set(node.tool, entry);
  }
  return new Map([...sums].map(([tool, { sum, count }]) => [tool, sum / count]));
}

interface Chain {
  readonly left: readonly number[];
  readonly positions: ReadonlyMap<NodeId, number>;
}

/** Without recursion: a chain may be as long as its plan. */
function longestChain(nodes: readonly NodeProgress[], { left, positions }: Chain): number {
  const ends: (number | undefined)[] = [];
  let longest = 0;
  for (const start of nodes.keys()) {
    const stack = [start];
    for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
      const before = (nodes[at]?.dependsOn ?? []).flatMap((id) => positions.get(id) ?? []);
      const open = ends[at] === undefined ? before.filter((position) => ends[position] === undefined) : [];
      if (open.length > 0) {
        stack.push(...open);
        continue;
      }
      stack.pop();
      const end = (left[at] ?? 0) + Math.max(0, ...before.map((position) => ends[position] ?? 0));
      ends[at] = end;
      longest = Math.max(longest, end);
    }
  }
  return longest;
}
