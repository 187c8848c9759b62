import { type Clock, type Decision, deny, type Slice } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { type EndOfLife, type PolicyInForce, readDecision } from '@holdfast/executor/internal';
import type { SessionTransaction } from '@holdfast/session';
import { type AheadSurroundings, type Looks, type NamedCall, watch } from './watch.ts';

/** A policy's answer about a hypothetical call. */
export interface Answer extends Looks {
  /** Absent if there is no usable answer. */
  readonly decision: Decision | undefined;
  /** True if the policy threw; the decision is what a call would make of that. */
  readonly threw: boolean;
}

/** The answer if nothing is known. */
export const unanswered: Answer = Object.freeze({
  decision: undefined,
  threw: false,
  own: true,
  unknown: true,
  around: true,
});

/** The time limit of a policy. */
export interface PolicyTime {
  readonly clock: Clock;
  readonly policyTimeoutMs: number;
  /** Listens for the end of the enclosing call, if any. */
  onEnd(listener: (end: EndOfLife) => void): () => void;
}

/** Asks one policy about many calls. All answers together have the time limit of one real answer. */
export class PolicyQuestions {
  readonly bound: PolicyInForce;
  readonly surroundings: AheadSurroundings;
  readonly #time: PolicyTime;
  #over: Promise<undefined> | undefined;
  #isOver = false;
  #tookMs = 0;
  #release: () => void = () => undefined;

  constructor(bound: PolicyInForce, surroundings: AheadSurroundings, time: PolicyTime) {
    this.bound = bound;
    this.surroundings = surroundings;
    this.#time = time;
  }

  /** True if the policy has used up its time. */
  get isOver(): boolean {
    return this.#isOver || this.#tookMs >= this.#time.policyTimeoutMs;
  }

  /** Runs `work` on the policy's time. Measures with the clock, because a timer cannot interrupt synchronous work. */
  timed<Result>(work: () => Result): Result {
    const { clock } = this.#time;
    const startedMs = clock.now();
    try {
      return work();
    } finally {
      this.#tookMs += Math.max(0, clock.now() - startedMs);
    }
  }

  async ask(call: NamedCall, state: unknown): Promise<Answer> {
    if (this.isOver) return unanswered;
    const watched = watch(call, this.surroundings);
    try {
      const decision = this.timed(() => readDecision(this.bound.policy.check(watched.call, watched.context(state))));
      if (decision instanceof Promise) {
        this.#over ??= this.#startTime();
        // An outside service that failed may answer the next time, so a rejection is not a certain denial. The real call will meet it.
        const answered = decision.catch(() => undefined);
        return { decision: await Promise.race([answered, this.#over]), threw: false, ...watched.looks() };
      }
      return { decision, threw: false, ...watched.looks() };
    } catch (thrown) {
      return { decision: deny(`The policy failed: ${describeThrown(thrown)}`), threw: true, ...watched.looks() };
    }
  }

  #startTime(): Promise<undefined> {
    const { clock, policyTimeoutMs, onEnd } = this.#time;
    return new Promise((resolve) => {
      const end = (): void => {
        this.#isOver = true;
        resolve(undefined);
      };
      const stopTimer = clock.after(policyTimeoutMs, end);
      const stopListening = onEnd(end);
      this.#release = () => {
        stopTimer();
        stopListening();
      };
    });
  }

  /** Cancels the timer. */
  close(): void {
    this.#release();
  }
}

/** True if the policy denies, based only on facts that cannot change before the call. */
export function isCertainDenial({ decision, unknown, around }: Answer): boolean {
  return decision?.type === 'deny' && !unknown && !around;
}

/** The effect of a successful call on the state of one policy. */
export interface Success {
  /** `unknown`: the policy read something that is known only after the call. */
  readonly type: 'same' | 'changed' | 'unknown';
  /** True if another call of the same tool may have a different effect. */
  readonly own: boolean;
}

/** Reports a hypothetical success to a policy and applies the result to `transaction`, which is never committed. */
export async function succeed(call: NamedCall, { questions, slice, transaction }: Succeeding): Promise<Success> {
  const { bound, surroundings } = questions;
  const { policy } = bound;
  if (policy.onResult === undefined) return { type: 'same', own: false };
  if (questions.isOver) return { type: 'unknown', own: false };
  const before: unknown = transaction.read(slice);
  const watched = watch(call, surroundings);
  let threw = false;
  try {
    questions.timed(() => {
      const answer: unknown = policy.onResult?.(watched.call, watched.result(), watched.context(before));
      // Returning a promise fails the call. Ignore the promise, so that its rejection cannot end the process.
      if (isThenable(answer)) void Promise.allSettled([answer]);
      else if (answer !== undefined) transaction.apply(slice, bound.toOperations(answer));
      threw = isThenable(answer);
    });
  } catch {
    // Handled below: a success that a policy rejects does not count.
    threw = true;
  }
  const { own, unknown, around } = watched.looks();
  if (unknown || around) return { type: 'unknown', own };
  if (!threw) return { type: Object.is(before, transaction.read(slice)) ? 'same' : 'changed', own };
  // A call that the policy denies anyway never succeeds.
  const answer = await questions.ask(call, before);
  return { type: isCertainDenial(answer) && !answer.threw ? 'same' : 'unknown', own: own || answer.own };
}

export interface Succeeding {
  readonly questions: PolicyQuestions;
  /** The slice of the policy's state. */
  readonly slice: Slice;
  readonly transaction: SessionTransaction;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
