import { EventStream } from '@holdfast/executor';
import type { PlanEvent } from './plan-event.ts';
import type { PlanTrace } from '../trace/trace.ts';

/**
 * A run of a plan under way: iterate it for its events, and await it, or `result`, for its trace. Who stops iterating does not stop the
 * run; a signal does.
 */
export interface PlanRun extends AsyncIterable<PlanEvent>, PromiseLike<PlanTrace> {
  /** A plan that fails is a trace, too: this rejects only where nothing could be run, or the log cannot be written. */
  readonly result: Promise<PlanTrace>;
}

/** Takes the events of a run. */
export type PlanStream = EventStream<PlanEvent>;

/** Begins `run` after the current microtask, and lets it tell what happens: an iteration begun at once misses nothing. */
export function startPlanRun(run: (stream: PlanStream) => Promise<PlanTrace>): PlanRun {
  const stream: PlanStream = new EventStream<PlanEvent>();
  const result = Promise.resolve().then(() => runObserved(run, stream));
  // Who only iterates gets the error there; the same promise must not also end as an unhandled rejection.
  void Promise.allSettled([result]);
  return new StartedRun(stream, result);
}

class StartedRun implements PlanRun {
  readonly result: Promise<PlanTrace>;
  readonly #stream: PlanStream;

  constructor(stream: PlanStream, result: Promise<PlanTrace>) {
    this.#stream = stream;
    this.result = result;
  }

  [Symbol.asyncIterator](): AsyncIterator<PlanEvent> {
    return this.#stream[Symbol.asyncIterator]();
  }

  // biome-ignore lint/suspicious/noThenProperty: a run is awaited for its trace.
  then<Fulfilled = PlanTrace, Rejected = never>(
    onFulfilled?: ((trace: PlanTrace) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.result.then(onFulfilled, onRejected);
  }
}

async function runObserved(run: (stream: PlanStream) => Promise<PlanTrace>, stream: PlanStream): Promise<PlanTrace> {
  try {
    const trace = await run(stream);
    stream.end();
    return trace;
  } catch (error) {
    stream.end({ error });
    throw error;
  }
}
