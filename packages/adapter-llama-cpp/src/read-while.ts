import type { ModelEvent } from '@holdfast/core';

/** Generates one answer: pushes its events, and stops soon after `stopped` fires. */
export type Work = (push: (event: ModelEvent) => void, stopped: AbortSignal) => Promise<void>;

/**
 * Reads the events of work that llama.cpp does in batches, which cannot be interrupted. An abort of `signal` reaches
 * the reader at once; the work stops at its next step. A reader that leaves stops the work too.
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
      // For the reader; one that left caused the error.
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
