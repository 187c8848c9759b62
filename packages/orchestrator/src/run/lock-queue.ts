import type { LockAnswer } from '../limits/lock-table.ts';
import { toCallId } from '../trace/facts.ts';
import type { ConductOptions, PlanState } from './state.ts';

/** The locks of one run's nodes, by position. */
export class LockQueue {
  readonly #state: PlanState;
  readonly #options: ConductOptions;
  readonly #onAnswer: (position: number, names: readonly string[], answer: LockAnswer) => void;
  readonly #waitedMs = new Map<number, number>();

  constructor(
    state: PlanState,
    options: ConductOptions,
    onAnswer: (position: number, names: readonly string[], answer: LockAnswer) => void,
  ) {
    this.#state = state;
    this.#options = options;
    this.#onAnswer = onAnswer;
  }

  /** True if the node now holds all of them; otherwise it is notified later. */
  take(position: number, names: readonly string[]): boolean {
    if (names.length === 0) return true;
    const { limits, lockTimeoutMs } = this.#options;
    const { caller, clock } = this.#state;
    const timeoutMs = lockTimeoutMs === undefined ? undefined : Math.max(0, lockTimeoutMs - this.waitedMs(position));
    const asked = limits.locks.acquire(names, this.#ownerOf(position), { onEnd: caller.onEnd, timeoutMs, clock });
    if (asked === undefined) return true;
    const sinceMs = clock.now();
    void asked.then((answer) => {
      this.#waitedMs.set(position, this.waitedMs(position) + clock.now() - sinceMs);
      this.#onAnswer(position, names, answer);
    });
    return false;
  }

  waitedMs(position: number): number {
    return this.#waitedMs.get(position) ?? 0;
  }

  release(position: number, names: readonly string[]): void {
    if (names.length > 0) this.#options.limits.locks.release(this.#ownerOf(position), names);
  }

  /** The idempotency key of the node's call. */
  #ownerOf(position: number): string {
    const { caller, run, nodes } = this.#state;
    return caller.keyOf(toCallId(run, nodes[position]?.id ?? ''));
  }
}
