import type { TraceReport } from '@holdfast/orchestrator';
import type { NodeId, NodeReport } from '@holdfast/orchestrator/internal';
import { formatCount } from '@holdfast/orchestrator/text';
import { type Html, html, nothing } from './html.ts';
import { type Bar, drawTimeline, type Timeline, type TimelineRow } from './timeline-layout.ts';

/** A bar for each node that was called, over the time of the run. */
export function timelineOf(trace: TraceReport): Html {
  const all = barsOf(trace);
  if (all.length === 0) return html`<p class="note">No node was called.</p>`;
  const timeline = drawTimeline(all);
  const { width, height, ticks, rows, leftOut } = timeline;
  const note =
    leftOut === 0
      ? nothing
      : html`<p class="note">The ${formatCount(rows.length, 'node')} that took longest; ${formatCount(leftOut, 'more node')} not shown.</p>
`;
  return html`${note}<p class="note">A solid bar is work; a pale bar with a dashed border is waiting for a person. A dotted line before a bar is the time between the end of the node's dependencies and its own start. A stroke through a bar is a failed attempt that was retried.</p>
<div class="scroll" role="group" aria-labelledby="timeline-title" tabindex="0">
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-labelledby="timeline-title">
${ticks.map((tick) => tickOf(tick, timeline))}${rows.map((row) => rowOf(row, timeline))}</svg>
</div>`;
}

function barsOf({ nodes, startedAtMs, endedAtMs }: TraceReport): readonly Bar[] {
  // A log may hold any number: earlier times are moved to the start of the run, invalid times are not drawn.
  const since = (atMs: number | undefined): number | undefined => {
    const ms = (atMs ?? Number.NaN) - startedAtMs;
    return Number.isFinite(ms) && ms < maxMs ? Math.max(0, ms) : undefined;
  };
  const ended = new Map<NodeId, number>(nodes.map((node) => [node.node, since(node.endedAtMs) ?? 0]));
  const known = nodes.flatMap((node) => [since(node.startedAtMs) ?? 0, since(node.endedAtMs) ?? 0]);
  const lastMs = known.reduce<number>((last, ms) => Math.max(last, ms), since(endedAtMs) ?? 0);
  return nodes.flatMap((node, index) => {
    const readyMs = node.dependsOn.reduce<number>((latest, id) => Math.max(latest, ended.get(id) ?? 0), 0);
    // A suspended call asked as soon as it could.
    const fromMs = since(node.startedAtMs) ?? (node.kind === 'suspended' ? readyMs : undefined);
    if (fromMs === undefined) return [];
    const toMs = Math.max(fromMs, since(node.endedAtMs) ?? lastMs);
    const retriesMs = node.retries.flatMap(({ atMs }) => since(atMs) ?? []).filter((ms) => ms >= fromMs && ms <= toMs);
    const { name, kind: state, tone } = node;
    return [{ name, state, tone, target: index, readyMs, fromMs, workMs: workOf(node, fromMs, toMs), toMs, retriesMs }];
  });
}

/** A hundred years. */
const maxMs = 3.2e12;

/** A call asks before it runs, so the wait comes first and the duration last. */
function workOf({ kind, durationMs, endedAtMs }: NodeReport, fromMs: number, toMs: number): number {
  if (kind === 'suspended') return toMs;
  if (endedAtMs === undefined || durationMs === undefined || !(durationMs >= 0)) return fromMs;
  return Math.max(fromMs, toMs - durationMs);
}

function tickOf({ x, label }: Timeline['ticks'][number], { headHeight, height }: Timeline): Html {
  return html`<line class="axis" x1="${x}" y1="${headHeight - 6}" x2="${x}" y2="${height}"/><text class="small" x="${x + 3}" y="16">${label}</text>
`;
}

function rowOf(row: TimelineRow, { labelWidth, rowHeight }: Timeline): Html {
  const { target, tone, label, told, y, wait, person, work, retries } = row;
  const middle = y + rowHeight / 2;
  return html`<a href="#node-${target}" class="${tone}"><title>${told}</title><svg x="0" y="${y}" width="${labelWidth - 8}" height="${rowHeight}"><text x="6" y="16">${label}</text></svg>${
    wait === undefined
      ? nothing
      : html`<line class="wait" x1="${wait.from}" y1="${middle}" x2="${wait.to}" y2="${middle}"/>`
  }${
    person === undefined
      ? nothing
      : html`<rect class="person" x="${person.x}" y="${y + 5}" width="${person.width}" height="14" rx="2"/>`
  }${work === undefined ? nothing : html`<rect class="bar" x="${work.x}" y="${y + 5}" width="${work.width}" height="14" rx="2"/>`}${retries.map(
    (x) => html`<line class="retry" x1="${x}" y1="${y + 2}" x2="${x}" y2="${y + 22}"/>`,
  )}</a>
`;
}
