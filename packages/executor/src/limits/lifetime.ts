import { type Lifetime, type LifetimeOptions, toDeadline } from '../call/execute.ts';
import type { EndOfLife } from '../call/types.ts';

/** A lifetime that a signal, a deadline, a budget or the enclosing lifetime can end. */
export class LimitedLifetime implements Lifetime {
  readonly endless = false;
  readonly deadline: Lifetime['deadline'];
  readonly #options: LifetimeOptions;
  readonly #listeners = new Set<(end: EndOfLife) => void>();
  readonly #endsAtMs: number;
  readonly #timeEndsBy: EndOfLife;
  readonly #abort = (): void => this.#end('aborted');
  readonly #stopTimer: (() => void) | undefined;
  readonly #stopOuter: (() => void) | undefined;
  #ended: EndOfLife | undefined;
  #disposed = false;

  constructor(options: LifetimeOptions) {
    this.#options = options;
    const { clock, signal, timeoutMs = Number.POSITIVE_INFINITY, budgets, outer } = options;
    const nowMs = clock.now();
    for (const budget of budgets) budget.begin();
    const wallAtMs = nowMs + Math.min(...budgets.map((budget) => budget.remainingWallMs()), Number.POSITIVE_INFINITY);
    this.#endsAtMs = Math.min(nowMs + timeoutMs, wallAtMs);
    this.#timeEndsBy = wallAtMs < nowMs + timeoutMs ? 'budget' : 'deadline';
    const atMs = Math.min(this.#endsAtMs, outer?.deadline.atMs ?? Number.POSITIVE_INFINITY);
    this.deadline = toDeadline(atMs, clock);
    const timed = this.#endsAtMs !== Number.POSITIVE_INFINITY;
    this.#stopTimer = timed ? clock.after(this.#endsAtMs - nowMs, () => this.#end(this.#timeEndsBy)) : undefined;
    this.#stopOuter = outer?.onEnd((why) => this.#end(why));
    if (this.#ended !== undefined) this.#release();
    if (signal?.aborted === true) this.#end('aborted');
    else signal?.addEventListener('abort', this.#abort);
  }

  // Checked on read: a tool that blocks the thread also keeps this timer and the outer ones from firing.
  get ended(): EndOfLife | undefined {
    if (this.#ended !== undefined || this.#disposed) return this.#ended;
    const { clock, outer } = this.#options;
    if (this.#endsAtMs !== Number.POSITIVE_INFINITY && clock.now() >= this.#endsAtMs) this.#end(this.#timeEndsBy);
    else if (outer?.ended !== undefined) this.#end(outer.ended);
    return this.#ended;
  }

  // A field, because callers destructure it.
  readonly onEnd = (listener: (end: EndOfLife) => void): (() => void) => {
    const { ended } = this;
    if (ended !== undefined) {
      listener(ended);
      return () => undefined;
    }
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#release();
    for (const budget of this.#options.budgets) budget.end();
  }

  #end(why: EndOfLife): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#release();
    for (const listener of this.#listeners) listener(why);
    this.#listeners.clear();
  }

  #release(): void {
    this.#stopTimer?.();
    this.#stopOuter?.();
    this.#options.signal?.removeEventListener('abort', this.#abort);
  }
}
