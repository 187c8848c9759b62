import type { Clock } from './clock.ts';

/** The end of a wait: of a lifetime, or of a time of its own. `over` gives the result then. */
export interface WaitingEnd<Value, Why> {
  /** `onEnd` calls its listener once at the end, or at once if already over, and returns a function that removes it. */
  readonly until: { onEnd(listener: (why: Why) => void): () => void };
  readonly limit?: { readonly clock: Clock; readonly ms: number } | undefined;
  readonly over: (why: Why | 'time') => Value;
}

/** Waits for `work`, but not beyond the end. Rejects as `work` does. */
export async function within<Value, Why>(
  work: PromiseLike<Value>,
  { until, limit, over }: WaitingEnd<Value, Why>,
): Promise<Value> {
  const { promise, resolve } = Promise.withResolvers<Value>();
  const stopTimer = limit?.clock.after(limit.ms, () => resolve(over('time')));
  const stopListening = until.onEnd((why) => resolve(over(why)));
  try {
    return await Promise.race([work, promise]);
  } finally {
    stopTimer?.();
    stopListening();
  }
}
