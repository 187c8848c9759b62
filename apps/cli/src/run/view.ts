import type { Clock } from '@holdfast/core';
import type { PlanEvent } from '@holdfast/orchestrator';
import { formatDuration } from '@holdfast/orchestrator/text';
import { formatFeedback } from '../calls/feedback.ts';
import { maxShownResultLines, quoteResult, quoteText } from '../calls/foreign-text.ts';
import { formatCallEnd, formatCallLine, formatChildRun, formatLate, type LineStyle } from '../calls/line.ts';
import { createOpenCalls, type OpenCall } from '../calls/open.ts';
import { CallTree, formatTold, indentOf, type Told } from '../calls/tree.ts';
import { describeTerminal, type Host, type OutputStream } from '../terminal/host.ts';
import { toJsonText } from '../terminal/json.ts';
import { fitColumns, toPrintable } from '../terminal/text.ts';

/** Shows a run or plan while it is active. */
export interface View {
  show(event: PlanEvent): void;
  /** Runs `question` with the screen to itself. */
  pauseFor<Answer>(question: () => Promise<Answer>): Promise<Answer>;
  /** Removes temporary output. */
  close(): void;
}

/** Turns events into lines. */
export interface Telling {
  /** Permanent lines for an event. */
  take(event: PlanEvent): readonly string[];
  /** The remaining lines at the end. */
  rest(): readonly string[];
  /** Temporary lines for running calls. */
  open(nowMs: number): readonly string[];
}

/** Prints JSON lines, one per event. Stacks of tool errors are left out unless `stacks` is set. */
export function createJsonView(write: (text: string) => void, { stacks }: { readonly stacks: boolean }): View {
  return withoutScreen((event) => write(`${toJsonText(stacks ? event : withoutStack(event))}\n`));
}

/** Shows nothing while the run is active. */
function createSilentView(): View {
  return withoutScreen(() => undefined);
}

function withoutScreen(show: View['show']): View {
  return { show, pauseFor: (question) => question(), close: () => undefined };
}

/** Removes the stack of a tool error. */
function withoutStack<Event extends PlanEvent>(event: Event): Event {
  if (event.type === 'child-event') return { ...event, event: withoutStack(event.event) };
  if (!('error' in event) || event.error?.stack === undefined) return event;
  const { stack: _stack, ...error } = event.error;
  return { ...event, error };
}

/** Prints lines as things end. */
export function createPlainView(write: (text: string) => void, telling: Telling): View {
  const print = (lines: readonly string[]): void => {
    for (const line of lines) write(`${line}\n`);
  };
  return { ...withoutScreen((event) => print(telling.take(event))), close: () => print(telling.rest()) };
}

const frameMs = 100;

export interface LiveViewOptions {
  readonly telling: Telling;
  readonly clock: Clock;
  /** Limits the frame rate: thousands of calls may end between two frames. Default false. */
  readonly many?: boolean;
}

/** Prints what has ended and, below it, a rewritten block with what is running. Needs a terminal. */
export async function createLiveView(
  output: OutputStream,
  { telling, clock, many = false }: LiveViewOptions,
): Promise<View> {
  // Commands without a live view start faster without it.
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(output);
  let paused = false;
  let closed = false;
  // Lines of events during a question are printed after it.
  let held: string[] = [];
  let cancelFrame: (() => void) | undefined;

  const draw = (): void => {
    cancelFrame?.();
    cancelFrame = undefined;
    if (paused || closed) return;
    if (held.length > 0) update.persist(held.join('\n'));
    held = [];
    const lines = telling.open(clock.now());
    if (lines.length === 0) {
      update.clear();
      return;
    }
    update(lines.join('\n'));
    cancelFrame = clock.after(frameMs, draw);
  };
  const release = (): void => {
    update.clear();
    update.done();
  };

  return {
    show(event) {
      const lines = telling.take(event);
      // A late result that arrives while the session is being closed.
      if (closed) for (const line of lines) output.write(`${line}\n`);
      else held.push(...lines);
      if (!many || cancelFrame === undefined) draw();
    },
    async pauseFor(question) {
      cancelFrame?.();
      cancelFrame = undefined;
      release();
      paused = true;
      try {
        return await question();
      } finally {
        paused = false;
        draw();
      }
    },
    close() {
      if (closed) return;
      paused = false;
      held.push(...telling.rest());
      draw();
      closed = true;
      cancelFrame?.();
      release();
    },
  };
}

export interface ViewForm {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly many?: boolean;
}

/** Opens the view for the requested output and the terminal. */
export async function openView(telling: Telling, { json, quiet, many = false }: ViewForm, host: Host): Promise<View> {
  if (quiet) return createSilentView();
  if (json) return createJsonView(host.reserveStdout(), { stacks: host.environment['HOLDFAST_DEBUG'] === '1' });
  return describeTerminal(host.stdout, host.environment).live
    ? createLiveView(host.stdout, { telling, clock: host.clock, many })
    : createPlainView((text) => host.stdout.write(text), telling);
}

/** Describes a run: a line for each ended call with the beginning of its result, and its nested calls below. */
export function createRunTelling(style: LineStyle, clock: Clock): Telling {
  const calls = createOpenCalls();
  const tree = new CallTree(isShown);
  let thinking: { readonly sinceMs: number; readonly text: string } | undefined;
  return {
    take(event) {
      calls.apply(event);
      if (event.type === 'turn-start') thinking = { sinceMs: clock.now(), text: '' };
      else if (event.type === 'text-delta' && thinking !== undefined)
        thinking = { ...thinking, text: (thinking.text + event.text).slice(-400) };
      else if (event.type === 'model-message' || event.type === 'run-end') thinking = undefined;
      return describeAll(tree.take(event), style);
    },
    rest: () => describeAll(tree.rest(), style),
    open: (nowMs) => [
      ...formatOpenCalls(calls.list(), style, nowMs),
      ...(thinking === undefined ? [] : [formatThinking(thinking, style, nowMs)]),
    ],
  };
}

/** Events with permanent lines. */
const shownTypes: ReadonlySet<PlanEvent['type']> = new Set([
  'model-message',
  'tool-call-end',
  'tool-call-late',
  'feedback',
  'run-start',
  'run-end',
]);

function isShown({ type }: PlanEvent): boolean {
  return shownTypes.has(type);
}

function describeAll(told: readonly Told<PlanEvent>[], style: LineStyle): readonly string[] {
  return told.flatMap((one) => formatTold(one, style, describeTold));
}

function describeTold({ item, opening }: Told<PlanEvent>, style: LineStyle): readonly string[] {
  if (opening?.type === 'run-start') {
    const { model, input, atMs: startedAtMs } = opening;
    return formatChildRun({ model, input, startedAtMs, ...(item.type === 'run-end' ? { end: item } : {}) }, style);
  }
  if (item.type === 'tool-call-end') {
    const { kind, text } = item.outcome;
    return [...formatCallEnd(item, style), ...quoteResult(kind === 'ok' ? text : '', style, maxShownResultLines)];
  }
  if (item.type === 'tool-call-late') return [formatLate(item, style)];
  if (item.type === 'feedback') return formatFeedback(item, style);
  // Text with calls is shown now; text without calls is the answer, printed at the end.
  if (item.type === 'model-message' && item.calls.length > 0 && item.text.trim() !== '') {
    return quoteText(item.text.trim(), { columns: style.columns, indent: 2, paint: style.colors.italic });
  }
  return [];
}

// A frame taller than the terminal cannot be rewritten, so further waiting calls are only counted.
const maxOpenLines = 8;

/** A line for each running call; if there are many, waiting calls are counted. */
export function formatOpenCalls(calls: readonly OpenCall[], style: LineStyle, nowMs: number): readonly string[] {
  const waiting = calls.filter(({ state }) => state === 'waiting');
  const room = Math.max(0, maxOpenLines - (calls.length - waiting.length));
  const left = new Set(waiting.slice(room));
  const shown = calls.filter((call) => !left.has(call)).slice(0, maxOpenLines);
  const lines = shown.map((call) => formatOpenCall(call, style, nowMs));
  return calls.length > lines.length ? [...lines, `  … and ${calls.length - lines.length} more`] : lines;
}

function formatOpenCall(call: OpenCall, style: LineStyle, nowMs: number): string {
  let indent = 0;
  for (let level = 0; level < call.depth; level += 1) indent += indentOf({ columns: style.columns - indent });
  const beat = call.beatAtMs === undefined ? [] : [`alive ${formatDuration(Math.max(0, nowMs - call.beatAtMs))} ago`];
  const line = formatCallLine(
    {
      state: call.state,
      name: call.name,
      arguments: call.arguments,
      decision: [...(call.progress === '' ? [] : [call.progress]), ...beat].join(', '),
      durationMs: call.startedAtMs === undefined ? undefined : Math.max(0, nowMs - call.startedAtMs),
    },
    { ...style, columns: style.columns - indent },
  );
  return `${' '.repeat(indent)}${line}`;
}

function formatThinking(
  { sinceMs, text }: { readonly sinceMs: number; readonly text: string },
  { colors, columns }: LineStyle,
  nowMs: number,
): string {
  const seconds = ((nowMs - sinceMs) / 1000).toFixed(1);
  const lastLine = toPrintable(text.trim().split('\n').at(-1) ?? '');
  return `  ${colors.cyan('thinking')}  ${colors.dim(fitColumns(lastLine, columns - 22))} ${colors.dim(`${seconds} s`)}`;
}
