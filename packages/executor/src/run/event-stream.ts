/** What a stream keeps for a slow reader. */
export interface EventQueue {
  /** Events that wait for one reader; then it loses the oldest. Default: no limit. */
  readonly maxWaiting: number;
  /** Called for each event that a reader lost. */
  readonly onDrop: () => void;
}

const unlimited: EventQueue = { maxWaiting: Number.POSITIVE_INFINITY, onDrop: () => undefined };

/** Events handed from who makes them to every `for await` over them. Each sees what comes after it began; nothing is kept before. */
export class EventStream<Event> implements AsyncIterable<Event> {
  readonly #kept: EventQueue;
  readonly #readers = new Set<Reader<Event>>();
  #end: End | undefined;

  constructor(kept: EventQueue = unlimited) {
    this.#kept = kept;
  }

  /** Whether events have to be made at all. */
  get observed(): boolean {
    return this.#readers.size > 0;
  }

  push(event: Event): void {
    for (const reader of this.#readers) reader.push(event, this.#kept);
  }

  /** Ends the iterations after what is queued; `error` is thrown there. */
  end(outcome: End = {}): void {
    this.#end = outcome;
    for (const reader of this.#readers) reader.end(outcome);
    this.#readers.clear();
  }

  [Symbol.asyncIterator](): AsyncIterator<Event> {
    // Who stops looking does not stop the run.
    const reader = new Reader<Event>(() => this.#readers.delete(reader));
    if (this.#end === undefined) this.#readers.add(reader);
    else reader.end(this.#end);
    return reader;
  }
}

interface End {
  readonly error?: unknown;
}

class Reader<Event> implements AsyncIterator<Event> {
  readonly #onReturn: () => void;
  readonly #queue: Event[] = [];
  /** One for each `next` that waits. */
  #wakers: (() => void)[] = [];
  #end: End | undefined;

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  push(event: Event, { maxWaiting, onDrop }: EventQueue): void {
    if (this.#queue.length >= maxWaiting) {
      this.#queue.shift();
      onDrop();
    }
    this.#queue.push(event);
    this.#wake();
  }

  end(outcome: End): void {
    this.#end = outcome;
    this.#wake();
  }

  async next(): Promise<IteratorResult<Event>> {
    for (;;) {
      // Not the value tells: an event may be anything.
      if (this.#queue.length > 0) return { done: false, value: this.#queue.shift() as Event };
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        this.#wakers.push(resolve);
      });
    }
  }

  async return(): Promise<IteratorResult<Event>> {
    this.#onReturn();
    this.#queue.length = 0;
    this.end({});
    return { done: true, value: undefined };
  }

  #wake(): void {
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const wake of wakers) wake();
  }
}
