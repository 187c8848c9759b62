import type { Clock, RunEvent } from '@holdfast/core';
import type { PlanEvent } from '@holdfast/orchestrator';
import { formatLate, type LineStyle } from '../calls/line.ts';
import { withoutStack } from '../run/view.ts';
import { Frames } from '../terminal/frames.ts';
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

export interface PlanLiveViewOptions {
  readonly style: LineStyle;
  readonly clock: Clock;
  /** How many nodes may run at once. */
  readonly places: number;
}

/** A table of what moves, rewritten until the plan has ended, and a bar. Needs a terminal. */
export function createPlanLiveView(output: OutputStream, { style, clock, places }: PlanLiveViewOptions): PlanRunView {
  const progress = new PlanProgress();
  const memory = newFrameMemory();
  const frames = new Frames(output, clock, () => {
    if (progress.startedAtMs === undefined) return [];
    const rows = output.rows || 24;
    return ['', ...formatFrame(progress, memory, { style, rows, places, nowMs: clock.now() })];
  });
  return {
    show(event) {
      if (frames.closed) {
        // What a tool that did not stop came to, while the session is being closed.
        if (event.type === 'tool-call-late') output.write(`${formatLate(event, style)}\n`);
        return;
      }
      progress.apply(event);
      // Thousands of nodes may end between two frames.
      if (!frames.pending) frames.draw();
    },
    pauseFor: (question) => frames.pauseFor(question, () => frames.draw()),
    close: () => frames.close(),
  };
}
