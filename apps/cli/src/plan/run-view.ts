import type { Clock, RunEvent } from '@holdfast/core';
import type { PlanEvent } from '@holdfast/orchestrator';
import { createLogUpdate } from 'log-update';
import { formatLate, type LineStyle } from '../calls/line.ts';
import { withoutStack } from '../run/view.ts';
import type { OutputStream } from '../terminal/host.ts';
import { toJsonText } from '../terminal/json.ts';
import { formatFrame, newFrameMemory } from './frame.ts';
import { formatNodeEnd } from './node-line.ts';
import { PlanProgress } from './progress.ts';

/** Shows a plan while it runs. */
export interface PlanRunView {
  show(event: PlanEvent): void;
  /** Runs `question` with the screen to itself. */
  pauseFor<Answer>(question: () => Promise<Answer>): Promise<Answer>;
  /** Takes away what was only for the moment. */
  close(): void;
}

/** One JSON event a line. The stack of what a tool threw is left out unless `stacks` is set. */
export function createPlanJsonView(
  write: (text: string) => void,
  { stacks }: { readonly stacks: boolean },
): PlanRunView {
  return {
    show: (event) => write(`${toJsonText(stacks || !isRunEvent(event) ? event : withoutStack(event))}\n`),
    pauseFor: (question) => question(),
    close: () => undefined,
  };
}

const planTypes: ReadonlySet<string> = new Set([
  'plan-start',
  'plan-resume',
  'node-wait',
  'node-start',
  'node-end',
  'plan-end',
]);

function isRunEvent(event: PlanEvent): event is RunEvent {
  return !planTypes.has(event.type);
}

/** A line for each node when it has ended, with the beginning of its result. */
export function createPlanPlainView(write: (text: string) => void, style: LineStyle): PlanRunView {
  // Of calls that have ended, until their nodes have.
  const results = new Map<string, string>();
  const takeResult = (callId = ''): string => {
    const text = results.get(callId) ?? '';
    results.delete(callId);
    return text;
  };
  return {
    show(event) {
      if (event.type === 'tool-call-end' && event.parentId === undefined && event.outcome.kind === 'ok')
        results.set(event.callId, event.outcome.text);
      const lines =
        event.type === 'node-end'
          ? formatNodeEnd(event.node, style, takeResult(event.node.callId))
          : event.type === 'tool-call-late'
            ? [formatLate(event, style)]
            : [];
      for (const line of lines) write(`${line}\n`);
    },
    pauseFor: (question) => question(),
    close: () => undefined,
  };
}

const frameMs = 100;

export interface PlanLiveViewOptions {
  readonly style: LineStyle;
  readonly clock: Clock;
  /** How many nodes may run at once. */
  readonly places: number;
}

/** A table of what moves, rewritten until the plan has ended, and a bar. Needs a terminal. */
export function createPlanLiveView(output: OutputStream, { style, clock, places }: PlanLiveViewOptions): PlanRunView {
  const update = createLogUpdate(output);
  const progress = new PlanProgress();
  const memory = newFrameMemory();
  let paused = false;
  let closed = false;
  let cancelFrame: (() => void) | undefined;

  const draw = (): void => {
    cancelFrame = undefined;
    if (paused || closed || progress.startedAtMs === undefined) return;
    const rows = output.rows || 24;
    const frame = formatFrame(progress, memory, { style, rows, places, nowMs: clock.now() });
    update(`\n${frame.join('\n')}`);
    cancelFrame = clock.after(frameMs, draw);
  };

  return {
    show(event) {
      if (closed) {
        // What a tool that did not stop came to, while the session is being closed.
        if (event.type === 'tool-call-late') output.write(`${formatLate(event, style)}\n`);
        return;
      }
      progress.apply(event);
      // Thousands of nodes may end between two frames.
      if (cancelFrame === undefined) draw();
    },
    async pauseFor(question) {
      cancelFrame?.();
      cancelFrame = undefined;
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
      closed = true;
      cancelFrame?.();
      update.clear();
      update.done();
    },
  };
}
