import type { TraceReport } from '@holdfast/orchestrator';
import type { NodeId, NodeReport } from '@holdfast/orchestrator/internal';
import { formatCount, formatDuration, toLine } from '@holdfast/orchestrator/text';
import { maxDrawnNodes } from './graph.ts';
import { type Html, html, nothing } from './html.ts';

const labelWidth = 220;
/** Characters that fit in a label. */
const maxLabel = 28;
const axisWidth = 760;
const rowHeight = 24;
const headHeight = 28;
const width = labelWidth + axisWidth + 70;

/** Times are milliseconds since the run started. */
interface Bar {
  readonly node: NodeReport;
  readonly index: number;
  /** When all its dependencies had ended. */
  readonly readyMs: number;
  readonly fromMs: number;
  /** Until then it waited for a person. */
  readonly workMs: number;
  readonly toMs: number;
  readonly retriesMs: readonly number[];
}

/** A bar for each node that was called, over the time of the run. */
export function timelineOf(trace: TraceReport): Html {
  const all = barsOf(trace);
  if (all.length === 0) return html`<p class="note">No node was called.</p>`;
  const bars = longest(all);
  const left = all.length - bars.length;
  const totalMs = Math.max(1, ...bars.map(({ toMs }) => toMs));
  const height = headHeight + bars.length * rowHeight + 8;
  const note =
    left === 0
      ? nothing
      : html`<p class="note">The ${formatCount(bars.length, 'node')} that took longest; ${formatCount(left, 'more node')} not shown.</p>
`;
  return html`${note}<p class="note">A solid bar is work; a pale bar with a dashed border is waiting for a person. A dotted line before a bar is the time between the end of the node's dependencies and its own start. A stroke through a bar is a failed attempt that was retried.</p>
<div class="scroll" role="group" aria-labelledby="timeline-title" tabindex="0">
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-labelledby="timeline-title">
${ticksOf(totalMs).map((tickMs) => tickOf(tickMs, totalMs, height))}${bars.map((bar, row) => rowOf(bar, headHeight + row * rowHeight, totalMs))}</svg>
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
    return [{ node, index, readyMs, fromMs, workMs: workOf(node, fromMs, toMs), toMs, retriesMs }];
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

function longest(bars: readonly Bar[]): readonly Bar[] {
  if (bars.length <= maxDrawnNodes) return bars;
  const kept = bars
    .toSorted((left, right) => right.toMs - right.fromMs - (left.toMs - left.fromMs))
    .slice(0, maxDrawnNodes);
  return kept.toSorted((left, right) => left.index - right.index);
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const steps: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 6, 12, 24].map((count) => count * hour),
];
const maxTicks = 8;

/** Ticks at round times, at most eight after the first. */
function ticksOf(totalMs: number): readonly number[] {
  const step =
    steps.find((candidate) => totalMs / candidate <= maxTicks) ??
    Math.ceil(totalMs / maxTicks / (24 * hour)) * 24 * hour;
  return Array.from({ length: Math.floor(totalMs / step) + 1 }, (_, index) => index * step);
}

function placeOf(ms: number, totalMs: number): number {
  return Math.round((labelWidth + (ms / totalMs) * axisWidth) * 10) / 10;
}

function tickOf(tickMs: number, totalMs: number, height: number): Html {
  const x = placeOf(tickMs, totalMs);
  const label = tickMs === 0 ? '0' : formatDuration(tickMs).replace('.0 s', ' s');
  return html`<line class="axis" x1="${x}" y1="${headHeight - 6}" x2="${x}" y2="${height}"/><text class="small" x="${x + 3}" y="16">${label}</text>
`;
}

function rowOf({ node, index, readyMs, fromMs, workMs, toMs, retriesMs }: Bar, y: number, totalMs: number): Html {
  const at = (ms: number): number => placeOf(ms, totalMs);
  const middle = y + rowHeight / 2;
  // Bars of no length stay visible.
  const size = (from: number, to: number): number => Math.round(Math.max(2, at(to) - at(from)) * 10) / 10;
  const waitMs = fromMs - readyMs;
  const personMs = workMs - fromMs;
  const hasWork = node.kind !== 'suspended';
  const told = [
    `${node.name}: ${node.kind}, from ${formatDuration(fromMs)} to ${formatDuration(toMs)}`,
    waitMs > 0 ? `waited ${formatDuration(waitMs)} before starting` : '',
    personMs > 0 ? `waited ${formatDuration(personMs)} for a person` : '',
    retriesMs.length > 0 ? `${formatCount(retriesMs.length, 'attempt')} failed before the last one` : '',
  ].filter((text) => text !== '');
  return html`<a href="#node-${index}" class="${node.tone}"><title>${told.join(', ')}</title><svg x="0" y="${y}" width="${labelWidth - 8}" height="${rowHeight}"><text x="6" y="16">${toLine(node.name, maxLabel)}</text></svg>${
    waitMs > 0
      ? html`<line class="wait" x1="${at(readyMs)}" y1="${middle}" x2="${at(fromMs)}" y2="${middle}"/>`
      : nothing
  }${
    personMs > 0
      ? html`<rect class="person" x="${at(fromMs)}" y="${y + 5}" width="${size(fromMs, workMs)}" height="14" rx="2"/>`
      : nothing
  }${hasWork ? html`<rect class="bar" x="${at(workMs)}" y="${y + 5}" width="${size(workMs, toMs)}" height="14" rx="2"/>` : nothing}${retriesMs.map(
    (ms) => html`<line class="retry" x1="${at(ms)}" y1="${y + 2}" x2="${at(ms)}" y2="${y + 22}"/>`,
  )}</a>
`;
}
