/** Limits of the queue for a slow reader. */
export interface EventQueue {
  /** Events queued per reader; when full, the oldest is dropped. Default: no limit. */
  readonly maxWaiting: number;
  /** Called for each dropped event. */
  readonly onDrop: () => void;
}

const unlimited: EventQueue = { maxWaiting: Number.POSITIVE_INFINITY, onDrop: () => undefined };

/** Delivers events to every `for await` loop over the stream. A reader sees events from its start on; nothing is buffered before. */
export class EventStream<Event> implements AsyncIterable<Event> {
  readonly #kept: EventQueue;
  readonly #readers = new Set<Reader<Event>>();
  #end: End | undefined;

  constructor(kept: EventQueue = unlimited) {
    this.#kept = kept;
  }

  /** True if there are readers. */
  get observed(): boolean {
    return this.#readers.size > 0;
  }

  push(event: Event): void {
    for (const reader of this.#readers) reader.push(event, this.#kept);
  }

  /** Ends the iterations after their queued events, with `error` if given. */
  end(outcome: End = {}): void {
    this.#end = outcome;
    for (const reader of this.#readers) reader.end(outcome);
    this.#readers.clear();
  }

  [Symbol.asyncIterator](): AsyncIterator<Event> {
    // Leaving the loop does not stop the run.
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
  /** One per pending `next`. */
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
      // Checks the length because an event may be any value, even `undefined`.
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
