import type { ExecutableTool } from '@holdfast/core';
import { createContext } from './call-context.ts';
import type { CallResources } from './call-resources.ts';
import type { StopReason } from './call-time.ts';
import { recordLate } from './late-result.ts';

/** What a tool itself came to. */
export type Answer =
  | { readonly type: 'returned'; readonly value: unknown }
  | { readonly type: 'threw'; readonly thrown: unknown };

/** What came of running a tool's own code. */
export type Invoked =
  | Answer
  | {
      readonly type: 'stopped';
      readonly by: StopReason;
      /** The limit that was reached, in milliseconds; `undefined` where somebody else ended its time. */
      readonly limitMs: number | undefined;
      /** It was told to stop and has not: whatever it still does or answers is dropped. */
      readonly abandoned: boolean;
      /** Whether it has stopped by now. */
      hasStopped(): boolean;
    };

/** A tool that is under way and that nothing can stop: there is nothing to wait for but what it answers. */
export interface Unstoppable {
  readonly type: 'unstoppable';
  readonly value: PromiseLike<unknown>;
}

/**
 * Runs the tool's `execute` until it answers, throws, or its time is over. Never rejects, and settles also when the tool never
 * does, unless nothing can stop it: that is common, and much cheaper to wait for without anything in between.
 */
export function invoke(tool: ExecutableTool, resources: CallResources): Invoked | Promise<Invoked> | Unstoppable {
  try {
    const value: unknown = tool.execute(resources.call.input, createContext(resources));
    if (!isThenable(value)) return { type: 'returned', value };
    const endless = resources.time === undefined && resources.scope.lifetime.endless;
    return endless ? { type: 'unstoppable', value } : waitFor(value, resources);
  } catch (thrown) {
    return { type: 'threw', thrown };
  }
}

/** What an unstoppable tool comes to. */
export async function waitForAnswer({ value }: Unstoppable): Promise<Answer> {
  try {
    return { type: 'returned', value: await value };
  } catch (thrown) {
    return { type: 'threw', thrown };
  }
}

function waitFor(value: PromiseLike<unknown>, resources: CallResources): Promise<Invoked> {
  const { clock, lifetime } = resources.scope;
  const limit = resources.time?.limit;
  return new Promise((resolve) => {
    let settled = false;
    let stopping = false;
    let abandoned = false;
    let stopTimer: (() => void) | undefined;
    let stopListening: (() => void) | undefined;

    const finish = (invoked: Invoked): void => {
      stopTimer?.();
      stopListening?.();
      resolve(invoked);
    };
    const stop = (by: StopReason, limitMs?: number): void => {
      if (settled || stopping) return;
      stopping = true;
      resources.stop(by);
      // A tool that heeds its signal settles within a few microtasks; one that waits for calls of its own, when these have.
      void afterMicrotasks(resources.hasCalled ? 400 : 20).then(() => {
        abandoned = !settled;
        finish({ type: 'stopped', by, limitMs, abandoned, hasStopped: () => settled });
      });
    };
    const settle = (answer: Answer): void => {
      settled = true;
      if (!stopping) finish(answer);
      else if (abandoned) recordLate(answer, resources);
    };
    void waitForAnswer({ type: 'unstoppable', value }).then(settle);
    if (limit !== undefined) {
      const { by, limitMs, leftMs } = limit;
      stopTimer = clock.after(leftMs, () => stop(by, limitMs));
    }
    stopListening = lifetime.onEnd((end) => stop(end));
  });
}

async function afterMicrotasks(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await Promise.resolve();
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
