import type { Clock, ModelEvent } from '@holdfast/core';
import type { Deadline } from '@holdfast/core/types';
import type { ModelFailure } from './model-failure.ts';

const firstDelayMs = 500;
/** For a longer delay, the host decides: `data.retryAfterMs` holds it. */
const maxDelayMs = 60_000;

export interface RetryOptions {
  readonly maxRetries: number;
  readonly clock: Clock;
  /** From 0 to 1, spreads clients that failed together. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly deadline: Deadline | undefined;
}

/** One attempt: its events and how to read its failure. */
export interface Attempt {
  readonly events: AsyncIterable<ModelEvent>;
  /** Reads a thrown error; called at most once. */
  readonly toFailure: (thrown: unknown) => ModelFailure;
}

/**
 * Retries a failure that may be temporary, before any event was passed on. Waits as long as the provider asks,
 * otherwise with exponential backoff; gives up at once if the delay would exceed the deadline.
 */
export async function* withRetries(
  begin: () => Attempt,
  { maxRetries, clock, random, signal, deadline }: RetryOptions,
): AsyncGenerator<ModelEvent, void, undefined> {
  for (let retries = 0; ; retries += 1) {
    const { events, toFailure } = begin();
    let isPassedOn = false;
    let failure: ModelFailure;
    try {
      for await (const event of events) {
        isPassedOn = true;
        yield event;
      }
      return;
    } catch (thrown) {
      signal.throwIfAborted();
      failure = toFailure(thrown);
    }
    const delayMs = failure.retryAfterMs ?? firstDelayMs * 2 ** retries * (0.5 + random() / 2);
    const mayWait = delayMs <= maxDelayMs && (deadline === undefined || delayMs < deadline.remainingMs());
    if (isPassedOn || !failure.retryable || retries >= maxRetries || !mayWait) throw failure.error;
    await sleep(delayMs, clock, signal);
  }
}

/** Throws early when the signal aborts. */
async function sleep(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopClock = clock.after(delayMs, resolve);
  const stop = (): void => resolve();
  signal.addEventListener('abort', stop, { once: true });
  await promise;
  signal.removeEventListener('abort', stop);
  stopClock();
  signal.throwIfAborted();
}
