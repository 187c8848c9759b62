import type { NodeReport } from '@holdfast/orchestrator/internal';
import { formatCount, formatDuration, toLine } from '@holdfast/orchestrator/text';

/** Rows that are drawn: the longest. */
const maxDrawnRows = 500;
const labelWidth = 220;
/** Characters that fit in a label. */
const maxLabel = 26;
const axisWidth = 760;
/** Of that, the column of decisions, if there are any. */
const decidedWidth = 160;
const maxDecided = 30;
const rowHeight = 24;
const headHeight = 28;
const width = labelWidth + axisWidth + 70;

export type Tone = NodeReport['tone'];

/** A node of a plan, or a call. Times are milliseconds since the start. */
export interface Bar {
  readonly name: string;
  readonly state: string;
  readonly tone: Tone;
  /** Key of the linked part of the page. */
  readonly target: number;
  /** When all its dependencies had ended. */
  readonly readyMs: number;
  readonly fromMs: number;
  /** Until then it waited for a person. */
  readonly workMs: number;
  readonly toMs: number;
  readonly retriesMs: readonly number[];
  /** The decision about a call. */
  readonly decided?: string;
  readonly why?: string;
}

interface Span {
  readonly x: number;
  readonly width: number;
}

/** In pixels. */
export interface TimelineRow {
  readonly target: number;
  readonly tone: Tone;
  readonly label: string;
  /** The row in words. */
  readonly told: string;
  readonly y: number;
  readonly wait?: { readonly from: number; readonly to: number };
  readonly person?: Span;
  /** Absent for a call that waits. */
  readonly work?: Span;
  /** Failed attempts. */
  readonly retries: readonly number[];
  readonly decided: string;
}

/** A timeline in pixels: what `trace --html` writes as SVG and the studio draws. */
export interface Timeline {
  readonly width: number;
  readonly height: number;
  readonly labelWidth: number;
  readonly rowHeight: number;
  readonly headHeight: number;
  /** Where the decisions are. */
  readonly decidedX: number;
  readonly ticks: readonly { readonly x: number; readonly label: string }[];
  readonly rows: readonly TimelineRow[];
  /** Rows that are not drawn. */
  readonly leftOut: number;
}

export function drawTimeline(all: readonly Bar[]): Timeline {
  const bars = longest(all);
  const totalMs = Math.max(1, ...bars.map(({ toMs }) => toMs));
  const axis = axisWidth - (bars.some(({ decided = '' }) => decided !== '') ? decidedWidth : 0);
  const at = (ms: number): number => Math.round((labelWidth + (ms / totalMs) * axis) * 10) / 10;
  return {
    width,
    height: headHeight + bars.length * rowHeight + 8,
    labelWidth,
    rowHeight,
    headHeight,
    decidedX: labelWidth + axis + 20,
    ticks: ticksOf(totalMs).map((tickMs) => ({ x: at(tickMs), label: labelOf(tickMs) })),
    rows: bars.map((bar, row) => drawRow(bar, headHeight + row * rowHeight, at)),
    leftOut: all.length - bars.length,
  };
}

function drawRow(bar: Bar, y: number, at: (ms: number) => number): TimelineRow {
  const { name, state, tone, target, readyMs, fromMs, workMs, toMs, retriesMs, decided = '', why = '' } = bar;
  // Bars of no length stay visible.
  const span = (from: number, to: number): Span => ({
    x: at(from),
    width: Math.round(Math.max(2, at(to) - at(from)) * 10) / 10,
  });
  const waitMs = fromMs - readyMs;
  const personMs = workMs - fromMs;
  const told = [
    `${name}: ${state}, from ${formatDuration(fromMs)} to ${formatDuration(toMs)}`,
    waitMs > 0 ? `waited ${formatDuration(waitMs)} before starting` : '',
    personMs > 0 ? `waited ${formatDuration(personMs)} for a person` : '',
    retriesMs.length > 0 ? `${formatCount(retriesMs.length, 'attempt')} failed before the last one` : '',
    decided,
    why,
  ].filter((text) => text !== '');
  return {
    target,
    tone,
    label: toLine(name, maxLabel),
    told: told.join(', '),
    y,
    ...(waitMs > 0 ? { wait: { from: at(readyMs), to: at(fromMs) } } : {}),
    ...(personMs > 0 ? { person: span(fromMs, workMs) } : {}),
    ...(isSuspended(state) ? {} : { work: span(workMs, toMs) }),
    retries: retriesMs.map(at),
    decided: toLine(decided, maxDecided),
  };
}

function isSuspended(state: string): boolean {
  return state === 'suspended' || state === 'waiting';
}

function longest(bars: readonly Bar[]): readonly Bar[] {
  if (bars.length <= maxDrawnRows) return bars;
  const length = ({ fromMs, toMs }: Bar): number => toMs - fromMs;
  const kept = new Set(bars.toSorted((left, right) => length(right) - length(left)).slice(0, maxDrawnRows));
  return bars.filter((bar) => kept.has(bar));
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

function labelOf(tickMs: number): string {
  return tickMs === 0 ? '0' : formatDuration(tickMs).replace('.0 s', ' s');
}
