import { isHoldfastError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { readTrace, reportTrace } from '@holdfast/orchestrator';
import { formatCount, toLine } from '@holdfast/orchestrator/text';
import { explainCall, type LogRecord } from '@holdfast/session';
import type { CallUse } from '@holdfast/session/internal';
import { readLog } from '@holdfast/session/jsonl';
import { toEntries } from '../calls/describe.ts';
import type { LineStyle } from '../calls/line.ts';
import { drawGraph, type Graph } from '../drawing/graph-layout.ts';
import { type Bar, drawTimeline, type Timeline, type Tone } from '../drawing/timeline-layout.ts';
import { describeIntegrity } from '../logs/damage.ts';
import { describeLog } from '../logs/lines.ts';
import { createColors } from '../terminal/colors.ts';
import { type IndexedCall, type IndexedLog, timeOf } from './call-index.ts';

/** One use of a call id, as `holdfast why` tells it. JSON. */
export interface ShownUse {
  readonly callId: string;
  readonly name: string;
  readonly state: string;
  readonly entries: readonly (readonly [label: string, texts: readonly string[]])[];
  readonly nested: readonly ShownUse[];
}

const style: LineStyle = { colors: createColors(false), columns: 120 };
const maxLogLines = 2_000;
/** The newest. */
const maxPlans = 10;

/** A run of a plan. Boxes of `graph` lead to the keys of their calls. */
export interface ShownPlan {
  readonly title: string;
  readonly summary: string;
  /** Absent for a plan that is too large to draw. */
  readonly graph: Graph | undefined;
}

/** Why a call was allowed, held or denied, and how it ended; the log is verified for it. */
export function explainIndexed({ log, callId }: IndexedCall): {
  readonly uses: readonly ShownUse[];
  readonly integrity: string;
} {
  const reading = readLog(log.path);
  const uses = explainCall(reading.records, callId)?.uses ?? [];
  return { uses: uses.map(toShownUse), integrity: describeIntegrity(reading, style, 'searched') };
}

function toShownUse(use: CallUse): ShownUse {
  const { callId, name, status, end, changed, nested } = use;
  return {
    callId,
    name,
    state: end?.outcome.kind ?? status,
    entries: toEntries(use, changed.kept),
    nested: nested.map(toShownUse),
  };
}

/** The timeline of a session's calls, the plans that it ran, and its log as `holdfast show` tells it. */
export function explainSession({ path, calls }: IndexedLog): {
  readonly timeline: Timeline | undefined;
  readonly plans: readonly ShownPlan[];
  readonly lines: readonly string[];
  readonly leftOut: string;
} {
  const firstMs = calls.reduce((first, call) => Math.min(first, timeOf(call)), Number.POSITIVE_INFINITY);
  const { lines, plans } = read(path, calls);
  const leftOut = Math.max(0, lines.length - maxLogLines);
  return {
    timeline: calls.length === 0 ? undefined : drawTimeline(calls.map((call) => toBar(call, firstMs))),
    plans,
    lines: lines.slice(leftOut),
    leftOut: leftOut === 0 ? '' : `${formatCount(leftOut, 'earlier line')} not shown: \`holdfast show\` prints all.`,
  };
}

function read(
  path: string,
  calls: readonly IndexedCall[],
): { readonly lines: readonly string[]; readonly plans: readonly ShownPlan[] } {
  try {
    const reading = readLog(path);
    return { lines: describeLog(reading, style), plans: toPlans(reading.records, calls) };
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    return { lines: [`${thrown.message} (${describeCode(thrown)})`], plans: [] };
  }
}

/** Newest first. */
function toPlans(records: readonly LogRecord[], calls: readonly IndexedCall[]): readonly ShownPlan[] {
  const keys = new Map(calls.filter(({ child }) => child === '').map(({ callId, key }) => [callId, key]));
  const runs = records.flatMap(({ type, plan }) => (type === 'plan-start' && typeof plan === 'number' ? [plan] : []));
  return runs
    .slice(-maxPlans)
    .toReversed()
    .map((run) => {
      const report = reportTrace(readTrace(records, run));
      const { request, summary, nodes } = report;
      const graph = drawGraph(report);
      return {
        title: request === undefined ? `Plan run ${run}` : `Plan: ${toLine(request, 120)}`,
        summary,
        graph: graph && {
          ...graph,
          boxes: graph.boxes.map((box) => ({ ...box, target: keys.get(nodes[box.target]?.callId ?? '') ?? -1 })),
        },
      };
    });
}

function toBar(call: IndexedCall, firstMs: number): Bar {
  const { key, name, state, decided, question, message, askedAtMs, endedAtMs, durationMs = 0 } = call;
  const fromMs = timeOf(call) - firstMs;
  const toMs = Math.max(fromMs + durationMs, (endedAtMs ?? 0) - firstMs);
  // A call asks before it runs, so the wait comes first and the work last.
  const workMs =
    askedAtMs === undefined ? fromMs : endedAtMs === undefined ? toMs : Math.max(fromMs, toMs - durationMs);
  const retriesMs: readonly number[] = [];
  return {
    name: `${name} ${withoutBrackets(call.arguments)}`,
    state,
    decided,
    why: [question, message].filter((text) => text !== '').join(' '),
    tone: toneOf(state),
    target: key,
    readyMs: fromMs,
    fromMs,
    workMs,
    toMs,
    retriesMs,
  };
}

/** The value of a single argument that is a text: labels are short. */
function withoutBrackets(line: string): string {
  return /^\{"[^"]*":"(.*?)"?\}?$/.exec(line)?.[1] ?? line;
}

/** By how a call ended. */
export function toneOf(state: string): Tone {
  if (state === 'ok') return 'ok';
  if (['waiting', 'approved', 'running'].includes(state)) return 'open';
  if (state === 'in-doubt') return 'doubt';
  return ['denied', 'cancelled', 'truncated'].includes(state) ? 'skipped' : 'bad';
}
