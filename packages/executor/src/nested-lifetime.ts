import type { CallResources } from './call-resources.ts';
import type { EndOfLife, Lifetime } from './lifetime.ts';

/** Ends when the call around it is stopped or has ended. */
export class NestedLifetime implements Lifetime {
  readonly endless = false;
  readonly deadline: Lifetime['deadline'];
  readonly #around: CallResources;

  constructor(around: CallResources, atMs: number) {
    this.#around = around;
    const { clock } = around.scope;
    this.deadline = Object.freeze({
      atMs,
      remainingMs: () => (atMs === Number.POSITIVE_INFINITY ? atMs : Math.max(0, atMs - clock.now())),
    });
  }

  get ended(): EndOfLife | undefined {
    // A tool that keeps the thread busy also keeps the timer of the call around it from firing.
    return this.#around.ended ?? (this.deadline.remainingMs() === 0 ? 'deadline' : undefined);
  }

  onEnd(listener: (end: EndOfLife) => void): () => void {
    const { ended } = this;
    if (ended === undefined) return this.#around.onStop(listener);
    listener(ended);
    return () => undefined;
  }

  dispose(): void {
    // It has no timer of its own; listeners go with the call around it.
  }
}
