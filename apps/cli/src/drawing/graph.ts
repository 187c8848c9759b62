import type { TraceReport } from '@holdfast/orchestrator';
import type { NodeId, NodeReport } from '@holdfast/orchestrator/internal';
import { formatCount, formatDuration, listIds, toLine } from '@holdfast/orchestrator/text';
import { type Html, html, nothing } from './html.ts';
import { type Layout, layOut, nodeHeight, nodeWidth, type Point } from './layout.ts';

/** Larger plans are shown as a list. */
const maxDrawnNodes = 500;
const maxDrawnEdges = 3_000;
/** Characters that fit in a box; wider text is clipped. */
const maxLabel = 18;
const maxId = 12;

/** The plan as a drawing whose nodes link to their table rows; as a list if it is large. */
export function graphOf(trace: TraceReport): Html {
  const { nodes } = trace;
  const places = new Map<NodeId, number>(nodes.map(({ node }, index) => [node, index]));
  const needs = nodes.map(({ dependsOn }) => dependsOn.flatMap((id) => places.get(id) ?? []));
  const edges = needs.reduce((sum, ids) => sum + ids.length, 0);
  if (nodes.length === 0) return html`<p class="note">The plan has no nodes.</p>`;
  if (nodes.length > maxDrawnNodes || edges > maxDrawnEdges) return listOf(trace, edges);
  return drawingOf(trace, layOut(needs));
}

function listOf({ nodes }: TraceReport, edges: number): Html {
  return html`<p class="note">${formatCount(nodes.length, 'node')} and ${formatCount(edges, 'dependency', 'dependencies')}: too many to draw (at most ${formatCount(maxDrawnNodes, 'node')} and ${formatCount(maxDrawnEdges, 'dependency', 'dependencies')}). Listed instead.</p>
<ol class="scroll">${nodes.map(
    ({ name, kind, dependsOn }, index) =>
      html`<li><a href="#node-${index}"><bdi>${name}</bdi></a> ${kind}${dependsOn.length === 0 ? nothing : html`, needs <bdi>${listIds(dependsOn)}</bdi>`}</li>
`,
  )}</ol>`;
}

function drawingOf({ nodes, plan }: TraceReport, { nodes: places, edges, width, height }: Layout): Html {
  return html`<p class="note">Each node is placed below the nodes it depends on and links to its row in the table. The node with the thick border produces the result of the plan.</p>
<div class="scroll" role="group" aria-labelledby="graph-title" tabindex="0">
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-labelledby="graph-title">
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>
<g aria-hidden="true">${edges.map(
    (edge) => html`<path class="edge" marker-end="url(#head)" d="${pathOf(edge)}"/>
`,
  )}</g>
${nodes.map((node, index) => boxOf(node, index, places[index] ?? { x: 0, y: 0 }, node.node === plan.final_output_node))}</svg>
</div>`;
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

function boxOf(node: NodeReport, index: number, { x, y }: Point, isFinal: boolean): Html {
  const { name, tone, kind, durationMs, purpose } = node;
  const state = durationMs === undefined ? kind : `${kind}, ${formatDuration(durationMs)}`;
  const inset = isFinal ? 2 : 1;
  return html`<a href="#node-${index}" class="${tone}"><svg x="${x}" y="${y}" width="${nodeWidth}" height="${nodeHeight}"><title>${name}: ${state}${purpose === undefined ? '' : `. ${toLine(purpose, 300)}`}</title><rect class="${isFinal ? 'box final' : 'box'}" x="${inset}" y="${inset}" width="${nodeWidth - 2 * inset}" height="${nodeHeight - 2 * inset}" rx="6"/><text class="name" x="10" y="19">${labelOf(node)}</text><text class="small" x="10" y="36">${state}</text></svg></a>
`;
}
