/** Events handed from who makes them to one `for await`. Before anybody iterates nothing is kept. */
export class EventStream<Event> implements AsyncIterable<Event> {
  #queue: Event[] | undefined;
  #wake: (() => void) | undefined;
  #end: { readonly error?: unknown } | undefined;

  /** Whether events have to be made at all. */
  get observed(): boolean {
    return this.#queue !== undefined;
  }

  push(event: Event): void {
    if (this.#queue === undefined) return;
    this.#queue.push(event);
    this.#wake?.();
  }

  /** Ends the iteration after what is queued; `error` is thrown there. */
  end(outcome: { readonly error?: unknown } = {}): void {
    this.#end = outcome;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<Event> {
    const queue: Event[] = [];
    this.#queue = queue;
    return {
      next: async (): Promise<IteratorResult<Event>> => {
        for (;;) {
          const event = queue.shift();
          if (event !== undefined) return { done: false, value: event };
          if (this.#end !== undefined) {
            if ('error' in this.#end) throw this.#end.error;
            return { done: true, value: undefined };
          }
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      },
      // Who stops looking does not stop the run.
      return: async () => {
        this.#queue = undefined;
        return { done: true, value: undefined };
      },
    };
  }
}
