import type { Clock, RunEvent } from '@holdfast/core';
import { formatFeedback } from '../calls/feedback.ts';
import { maxShownResultLines, quoteResult, quoteText } from '../calls/foreign-text.ts';
import {
  formatCallEnd,
  formatCallLine,
  formatChildRun,
  formatDuration,
  formatLate,
  type LineStyle,
} from '../calls/line.ts';
import { createOpenCalls, type OpenCall } from '../calls/open.ts';
import { CallTree, formatTold, indentOf, type Told } from '../calls/tree.ts';
import { Frames } from '../terminal/frames.ts';
import type { OutputStream } from '../terminal/host.ts';
import { toJsonText } from '../terminal/json.ts';
import { fitColumns, toPrintable } from '../terminal/text.ts';

/** Shows a run while it goes on. */
export interface RunView {
  show(event: RunEvent): void;
  /** Runs `question` with the screen to itself. */
  pauseFor<Answer>(question: () => Promise<Answer>): Promise<Answer>;
  /** Takes away what was only for the moment. */
  close(): void;
}

/** One JSON event a line. The stack of what a tool threw is left out unless `stacks` is set. */
export function createJsonView(write: (text: string) => void, { stacks }: { readonly stacks: boolean }): RunView {
  return {
    show: (event) => write(`${toJsonText(stacks ? event : withoutStack(event))}\n`),
    pauseFor: (question) => question(),
    close: () => undefined,
  };
}

/** Nothing of the run: its end is all that is wanted. */
export function createSilentView(): Pick<RunView, 'pauseFor' | 'close'> & { show(event: unknown): void } {
  return { show: () => undefined, pauseFor: (question) => question(), close: () => undefined };
}

/** What a tool threw, without where. */
export function withoutStack(event: RunEvent): RunEvent {
  if (event.type === 'child-event') return { ...event, event: withoutStack(event.event) };
  if (!('error' in event) || event.error?.stack === undefined) return event;
  const { stack: _stack, ...error } = event.error;
  return { ...event, error };
}

/** A line for each call when it has ended, the beginning of its result and what is nested in it below. */
export function createPlainView(write: (text: string) => void, style: LineStyle): RunView {
  const tree = new CallTree(isShown);
  const print = (told: readonly Told<RunEvent>[]): void => {
    for (const line of describeAll(told, style)) write(`${line}\n`);
  };
  return {
    show: (event) => print(tree.take(event)),
    pauseFor: (question) => question(),
    close: () => print(tree.rest()),
  };
}

// A frame taller than the terminal cannot be rewritten; what waits further down is only counted.
const maxOpenLines = 8;

export interface LiveViewOptions {
  readonly style: LineStyle;
  readonly clock: Clock;
}

/** A line for each call from the moment it was asked for, rewritten until it has ended. Needs a terminal. */
export function createLiveView(output: OutputStream, { style, clock }: LiveViewOptions): RunView {
  const openCalls = createOpenCalls();
  const tree = new CallTree(isShown);
  let thinking: { readonly sinceMs: number; readonly text: string } | undefined;
  // What ends while a question is open is printed after it.
  let held: string[] = [];
  const frames = new Frames(output, clock, () => {
    const calls = openCalls.list();
    const lines = chooseShown(calls).map((call) => formatOpenCall(call, style, clock.now()));
    if (calls.length > lines.length) lines.push(`  … and ${calls.length - lines.length} more`);
    if (thinking !== undefined) lines.push(formatThinking(thinking, style, clock.now()));
    return lines;
  });
  const draw = (): void =>
    frames.draw(() => {
      const above = held;
      held = [];
      return above;
    });
  return {
    show(event) {
      if (frames.closed) {
        // What a tool that did not stop came to, while the session is being closed.
        for (const line of describeAll(tree.take(event), style)) output.write(`${line}\n`);
        return;
      }
      openCalls.apply(event);
      if (event.type === 'turn-start') thinking = { sinceMs: clock.now(), text: '' };
      else if (event.type === 'text-delta' && thinking !== undefined)
        thinking = { ...thinking, text: (thinking.text + event.text).slice(-400) };
      else if (event.type === 'model-message' || event.type === 'run-end') thinking = undefined;
      held.push(...describeAll(tree.take(event), style));
      draw();
    },
    pauseFor: (question) => frames.pauseFor(question, draw),
    close: () =>
      frames.close(() => {
        held.push(...describeAll(tree.rest(), style));
        draw();
      }),
  };
}

/** What stays on the screen. */
const shownTypes: ReadonlySet<RunEvent['type']> = new Set([
  'model-message',
  'tool-call-end',
  'tool-call-late',
  'feedback',
  'run-start',
  'run-end',
]);

function isShown({ type }: RunEvent): boolean {
  return shownTypes.has(type);
}

function describeAll(told: readonly Told<RunEvent>[], style: LineStyle): readonly string[] {
  return told.flatMap((one) => formatTold(one, style, describeTold));
}

function describeTold({ item, opening }: Told<RunEvent>, style: LineStyle): readonly string[] {
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
  // Text beside calls is the model thinking aloud; text without calls is the answer, which comes at the end.
  if (item.type === 'model-message' && item.calls.length > 0 && item.text.trim() !== '') {
    return quoteText(item.text.trim(), { columns: style.columns, indent: 2, paint: style.colors.italic });
  }
  return [];
}

/** What is under way comes before what waits, where not everything fits. */
function chooseShown(calls: readonly OpenCall[]): readonly OpenCall[] {
  if (calls.length <= maxOpenLines) return calls;
  const active = calls.filter(({ state }) => state !== 'waiting');
  const more = new Set(
    calls.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, maxOpenLines - active.length)),
  );
  return calls.filter((call) => call.state !== 'waiting' || more.has(call)).slice(0, maxOpenLines);
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
