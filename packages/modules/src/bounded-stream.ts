/**
 * Events for any number of readers, of which each sees what comes after it began. What a reader has not taken waits for it up to
 * `limit` events; then the oldest are dropped, and `onDrop` is told of each. Nobody waits for a reader.
 */
export class BoundedStream<Event> implements AsyncIterable<Event> {
  readonly #limit: number;
  readonly #onDrop: () => void;
  readonly #readers = new Set<Reader<Event>>();
  #hasEnded = false;

  constructor(limit: number, onDrop: () => void) {
    this.#limit = limit;
    this.#onDrop = onDrop;
  }

  push(event: Event): void {
    for (const reader of this.#readers) if (reader.push(event, this.#limit)) this.#onDrop();
  }

  /** Readers end once they have taken what waits for them. */
  end(): void {
    this.#hasEnded = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  [Symbol.asyncIterator](): AsyncIterator<Event, undefined> {
    const reader = new Reader<Event>(() => this.#readers.delete(reader));
    if (this.#hasEnded) reader.end();
    else this.#readers.add(reader);
    return reader;
  }
}

class Reader<Event> implements AsyncIterator<Event, undefined> {
  readonly #onReturn: () => void;
  readonly #waiting: Event[] = [];
  /** One for each `next` that found nothing. */
  readonly #takers: ((result: IteratorResult<Event, undefined>) => void)[] = [];
  #hasEnded = false;

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  /** Whether an older event had to go. */
  push(event: Event, limit: number): boolean {
    const take = this.#takers.shift();
    if (take !== undefined) {
      take({ done: false, value: event });
      return false;
    }
    const isFull = this.#waiting.length >= limit;
    if (isFull) this.#waiting.shift();
    this.#waiting.push(event);
    return isFull;
  }

  end(): void {
    this.#hasEnded = true;
    for (const take of this.#takers.splice(0)) take({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    // Not the value tells: an event may be anything.
    if (this.#waiting.length > 0) return Promise.resolve({ done: false, value: this.#waiting.shift() as Event });
    if (this.#hasEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  return(): Promise<IteratorResult<Event, undefined>> {
    this.#onReturn();
    this.#waiting.length = 0;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }
}
