import type { Clock, RunEvent } from '@holdfast/core';
import { createLogUpdate } from 'log-update';
import { formatCallEnd, formatCallLine, type LineStyle } from './call-line.ts';
import type { OutputStream } from './host.ts';
import { toJsonText } from './json-text.ts';
import { createOpenCalls, type OpenCall } from './open-calls.ts';
import { fitColumns, toPrintable, toPrintableBlock } from './terminal-text.ts';

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
    show(event) {
      const hasStack = 'error' in event && event.error?.stack !== undefined;
      // JSON leaves out what is undefined.
      const shown = hasStack && !stacks ? { ...event, error: { ...event.error, stack: undefined } } : event;
      write(`${toJsonText(shown)}\n`);
    },
    pauseFor: (question) => question(),
    close: () => undefined,
  };
}

/** A line for each call when it has ended. */
export function createPlainView(write: (text: string) => void, style: LineStyle): RunView {
  return {
    show(event) {
      for (const line of describeEvent(event, style)) write(`${line}\n`);
    },
    pauseFor: (question) => question(),
    close: () => undefined,
  };
}

const frameMs = 100;
// A frame taller than the terminal cannot be rewritten; what waits further down is only counted.
const maxOpenLines = 8;

export interface LiveViewOptions {
  readonly style: LineStyle;
  readonly clock: Clock;
}

/** A line for each call from the moment it was asked for, rewritten until it has ended. Needs a terminal. */
export function createLiveView(output: OutputStream, { style, clock }: LiveViewOptions): RunView {
  const update = createLogUpdate(output);
  const openCalls = createOpenCalls();
  let thinking: { readonly sinceMs: number; readonly text: string } | undefined;
  let paused = false;
  let closed = false;
  // What ends while a question is open is printed after it.
  let held: string[] = [];
  let cancelFrame: (() => void) | undefined;

  const draw = (): void => {
    cancelFrame?.();
    cancelFrame = undefined;
    if (paused || closed) return;
    if (held.length > 0) update.persist(held.join('\n'));
    held = [];
    const calls = openCalls.list();
    const lines = calls.slice(0, maxOpenLines).map((call) => formatOpenCall(call, style, clock.now()));
    if (calls.length > maxOpenLines) lines.push(`  … and ${calls.length - maxOpenLines} more`);
    if (thinking !== undefined) lines.push(formatThinking(thinking, style, clock.now()));
    if (lines.length === 0) {
      update.clear();
      return;
    }
    update(lines.join('\n'));
    cancelFrame = clock.after(frameMs, draw);
  };

  return {
    show(event) {
      openCalls.apply(event);
      if (event.type === 'turn-start') thinking = { sinceMs: clock.now(), text: '' };
      else if (event.type === 'text-delta' && thinking !== undefined)
        thinking = { ...thinking, text: (thinking.text + event.text).slice(-400) };
      else if (event.type === 'model-message' || event.type === 'run-end') thinking = undefined;
      held.push(...describeEvent(event, style));
      draw();
    },
    async pauseFor(question) {
      update.clear();
      update.done();
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
      draw();
      closed = true;
      cancelFrame?.();
      update.clear();
      update.done();
    },
  };
}

/** What stays on the screen of an event. */
function describeEvent(event: RunEvent, style: LineStyle): readonly string[] {
  if (event.type === 'tool-call-end') return formatCallEnd(event, style);
  // Text beside calls is the model thinking aloud; text without calls is the answer, which comes at the end.
  if (event.type === 'model-message' && event.calls.length > 0 && event.text.trim() !== '') {
    return toPrintableBlock(event.text.trim())
      .split('\n')
      .map((line) => `  ${style.colors.italic(line)}`);
  }
  return [];
}

function formatOpenCall(call: OpenCall, style: LineStyle, nowMs: number): string {
  return formatCallLine(
    {
      state: call.state,
      name: call.name,
      arguments: call.arguments,
      decision: call.progress,
      durationMs: call.startedAtMs === undefined ? undefined : Math.max(0, nowMs - call.startedAtMs),
    },
    style,
  );
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
