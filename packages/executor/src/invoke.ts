import type { Clock } from '@holdfast/core';
import type { EndOfLife, Lifetime } from './lifetime.ts';

/** What came of running a tool's own code. */
export type Invoked =
  | { readonly type: 'returned'; readonly value: unknown }
  | { readonly type: 'threw'; readonly thrown: unknown }
  | {
      readonly type: 'stopped';
      readonly by: 'timeout' | EndOfLife;
      /** It was told to stop and has not: whatever it still does or answers is dropped. */
      readonly abandoned: boolean;
    };

export interface InvokeOptions {
  readonly clock: Clock;
  readonly lifetime: Lifetime;
  readonly timeoutMs: number | undefined;
  /** Tells the tool to stop. */
  readonly abort: (by: 'timeout' | EndOfLife) => void;
}

/** Runs `execute` until it answers, throws, or its time is over. Never rejects, and settles also when the tool never does. */
export function invoke(execute: () => unknown, options: InvokeOptions): Invoked | Promise<Invoked> {
  try {
    const value = execute();
    if (!isThenable(value)) return { type: 'returned', value };
    const { timeoutMs, lifetime } = options;
    return timeoutMs === undefined && lifetime.endless ? waitForever(value) : waitFor(value, options);
  } catch (thrown) {
    return { type: 'threw', thrown };
  }
}

// The same as `waitFor` where nothing can stop the call, which is common and much cheaper.
async function waitForever(value: PromiseLike<unknown>): Promise<Invoked> {
  try {
    return { type: 'returned', value: await value };
  } catch (thrown) {
    return { type: 'threw', thrown };
  }
}

function waitFor(value: PromiseLike<unknown>, { clock, lifetime, timeoutMs, abort }: InvokeOptions): Promise<Invoked> {
  return new Promise((resolve) => {
    let settled = false;
    let stopping = false;
    let stopTimer: (() => void) | undefined;
    let stopListening: (() => void) | undefined;

    const finish = (invoked: Invoked): void => {
      stopTimer?.();
      stopListening?.();
      resolve(invoked);
    };
    const stop = (by: 'timeout' | EndOfLife): void => {
      if (settled || stopping) return;
      stopping = true;
      abort(by);
      // A tool that heeds its signal settles within a few microtasks.
      void afterMicrotasks(20).then(() => finish({ type: 'stopped', by, abandoned: !settled }));
    };
    Promise.resolve(value).then(
      (answer) => {
        settled = true;
        if (!stopping) finish({ type: 'returned', value: answer });
      },
      (thrown: unknown) => {
        settled = true;
        if (!stopping) finish({ type: 'threw', thrown });
      },
    );
    if (timeoutMs !== undefined) stopTimer = clock.after(timeoutMs, () => stop('timeout'));
    stopListening = lifetime.onEnd(stop);
  });
}

async function afterMicrotasks(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await undefined;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
