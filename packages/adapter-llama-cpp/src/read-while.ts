import type { ModelEvent } from '@holdfast/core';

/** Does the work of one answer: hands on what comes of it, and ends soon after `stopped` fires. */
export type Work = (push: (event: ModelEvent) => void, stopped: AbortSignal) => Promise<void>;

/**
 * Events of work that llama.cpp does in batches, which cannot be interrupted. Whoever reads is told at once when `signal` fires, and
 * the work ends by itself at its next step; it is told to when the reader leaves.
 */
export async function* readWhile(signal: AbortSignal, work: Work): AsyncGenerator<ModelEvent, void, undefined> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const events: ModelEvent[] = [];
  let end: { readonly thrown?: unknown } | undefined;
  let wake = (): void => undefined;
  const leave = (): void => {
    stop.abort(signal.reason);
    wake();
  };
  signal.addEventListener('abort', leave, { once: true });
  void work((event) => {
    events.push(event);
    wake();
  }, stop.signal).then(
    () => {
      end = {};
      wake();
    },
    (thrown: unknown) => {
      // For the reader; one who has left knows why.
      end = { thrown };
      wake();
    },
  );
  try {
    while (true) {
      signal.throwIfAborted();
      const event = events.shift();
      if (event !== undefined) yield event;
      else if (end === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else if ('thrown' in end) throw end.thrown;
      else return;
    }
  } finally {
    signal.removeEventListener('abort', leave);
    stop.abort();
  }
}
