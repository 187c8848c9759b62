import type { TraceReport } from '@holdfast/orchestrator';
import type { NodeId, NodeReport } from '@holdfast/orchestrator/internal';
import { formatDuration, toLine } from '@holdfast/orchestrator/text';
import { layOut, nodeHeight, nodeWidth, type Point } from './layout.ts';
import type { Tone } from './timeline-layout.ts';

/** Larger plans are listed. */
export const maxDrawnNodes = 500;
export const maxDrawnEdges = 3_000;
/** Characters that fit in a box; wider text is clipped. */
const maxLabel = 18;
const maxId = 12;

/** A node, in pixels and words. */
export interface GraphBox {
  /** Index of the node in the trace. */
  readonly target: number;
  readonly tone: Tone;
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly state: string;
  /** The node in words. */
  readonly told: string;
  /** It produces the result of the plan. */
  readonly isFinal: boolean;
}

/** A plan in pixels: what `trace --html` writes as SVG and the studio draws. */
export interface Graph {
  readonly width: number;
  readonly height: number;
  readonly boxWidth: number;
  readonly boxHeight: number;
  readonly boxes: readonly GraphBox[];
  /** Of SVG. */
  readonly paths: readonly string[];
}

export function countEdges({ nodes }: TraceReport): number {
  const known = new Set<NodeId>(nodes.map(({ node }) => node));
  return nodes.reduce((sum, { dependsOn }) => sum + dependsOn.filter((id) => known.has(id)).length, 0);
}

/** Each node is below the nodes it depends on. `undefined` if the plan is too large to draw. */
export function drawGraph(trace: TraceReport): Graph | undefined {
  const { nodes, plan } = trace;
  if (nodes.length > maxDrawnNodes || countEdges(trace) > maxDrawnEdges) return undefined;
  const places = new Map<NodeId, number>(nodes.map(({ node }, index) => [node, index]));
  const layout = layOut(nodes.map(({ dependsOn }) => dependsOn.flatMap((id) => places.get(id) ?? [])));
  return {
    width: layout.width,
    height: layout.height,
    boxWidth: nodeWidth,
    boxHeight: nodeHeight,
    boxes: nodes.map((node, index) =>
      boxOf(node, index, { at: layout.nodes[index] ?? { x: 0, y: 0 }, isFinal: node.node === plan.final_output_node }),
    ),
    paths: layout.edges.map(pathOf),
  };
}

function boxOf(
  node: NodeReport,
  target: number,
  { at, isFinal }: { readonly at: Point; readonly isFinal: boolean },
): GraphBox {
  const { name, tone, kind, durationMs, purpose } = node;
  const state = durationMs === undefined ? kind : `${kind}, ${formatDuration(durationMs)}`;
  const told = `${name}: ${state}${purpose === undefined ? '' : `. ${toLine(purpose, 300)}`}`;
  return { target, tone, ...at, label: labelOf(node), state, told, isFinal };
}

/** Straight down if possible, otherwise curves that leave and arrive vertically. */
function pathOf(edge: readonly Point[]): string {
  const steps = edge.map(({ x, y }, index) => {
    const before = edge[index - 1];
    if (before === undefined) return `M${x} ${y}`;
    if (before.x === x) return `V${y}`;
    const bow = Math.max(12, Math.round((y - before.y) / 2));
    return `C${before.x} ${before.y + bow} ${x} ${y - bow} ${x} ${y}`;
  });
  return steps.join('');
}

/** Cuts a long id in the middle: many ids begin alike and differ at the end. */
function labelOf({ node, tool }: NodeReport): string {
  const id = String(node);
  const shown = id.length > maxId ? `${id.slice(0, 4)}…${id.slice(-5)}`.toWellFormed() : id;
  return toLine(`${shown} ${tool}`, maxLabel);
}
