import type { TraceReport } from '@holdfast/orchestrator';
import { formatCount, listIds } from '@holdfast/orchestrator/text';
import { countEdges, drawGraph, type Graph, type GraphBox, maxDrawnEdges, maxDrawnNodes } from './graph-layout.ts';
import { type Html, html, nothing } from './html.ts';

/** The plan as a drawing whose nodes link to their table rows; as a list if it is large. */
export function graphOf(trace: TraceReport): Html {
  if (trace.nodes.length === 0) return html`<p class="note">The plan has no nodes.</p>`;
  const graph = drawGraph(trace);
  return graph === undefined ? listOf(trace) : drawingOf(graph);
}

function listOf(trace: TraceReport): Html {
  const { nodes } = trace;
  return html`<p class="note">${formatCount(nodes.length, 'node')} and ${formatCount(countEdges(trace), 'dependency', 'dependencies')}: too many to draw (at most ${formatCount(maxDrawnNodes, 'node')} and ${formatCount(maxDrawnEdges, 'dependency', 'dependencies')}). Listed instead.</p>
<ol class="scroll">${nodes.map(
    ({ name, kind, dependsOn }, index) =>
      html`<li><a href="#node-${index}"><bdi>${name}</bdi></a> ${kind}${dependsOn.length === 0 ? nothing : html`, needs <bdi>${listIds(dependsOn)}</bdi>`}</li>
`,
  )}</ol>`;
}

function drawingOf(graph: Graph): Html {
  const { width, height, boxes, paths } = graph;
  return html`<p class="note">Each node is placed below the nodes it depends on and links to its row in the table. The node with the thick border produces the result of the plan.</p>
<div class="scroll" role="group" aria-labelledby="graph-title" tabindex="0">
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-labelledby="graph-title">
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>
<g aria-hidden="true">${paths.map(
    (path) => html`<path class="edge" marker-end="url(#head)" d="${path}"/>
`,
  )}</g>
${boxes.map((box) => boxOf(box, graph))}</svg>
</div>`;
}

function boxOf({ target, tone, x, y, label, state, told, isFinal }: GraphBox, { boxWidth, boxHeight }: Graph): Html {
  const inset = isFinal ? 2 : 1;
  return html`<a href="#node-${target}" class="${tone}"><svg x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}"><title>${told}</title><rect class="${isFinal ? 'box final' : 'box'}" x="${inset}" y="${inset}" width="${boxWidth - 2 * inset}" height="${boxHeight - 2 * inset}" rx="6"/><text class="name" x="10" y="19">${label}</text><text class="small" x="10" y="36">${state}</text></svg></a>
`;
}
