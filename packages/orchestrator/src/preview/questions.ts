import { type Clock, type Decision, deny, describeThrown, type Slice } from '@holdfast/core';
import { type EndOfLife, type PolicyInForce, readDecision } from '@holdfast/executor';
import type { SessionTransaction } from '@holdfast/session';
import { type AheadSurroundings, type Looks, type NamedCall, watch } from './watch.ts';

/** What a policy says of a call that nobody has made. */
export interface Answer extends Looks {
  /** Absent: none that could be had. */
  readonly decision: Decision | undefined;
  /** The decision is what a call would make of something thrown. */
  readonly threw: boolean;
}

/** Nothing is known. */
export const unanswered: Answer = Object.freeze({
  decision: undefined,
  threw: false,
  own: true,
  unknown: true,
  around: true,
});

/** How long a policy may take. */
export interface PolicyTime {
  readonly clock: Clock;
  readonly policyTimeoutMs: number;
  /** Of the call around, if there is one. */
  onEnd(listener: (end: EndOfLife) => void): () => void;
}

/** Asks one policy about many calls. For all of its answers together it has the time that it has for one answer about a real call. */
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

  /** Whether the policy has used up its time. */
  get isOver(): boolean {
    return this.#isOver || this.#tookMs >= this.#time.policyTimeoutMs;
  }

  /** Does `work` on the policy's time. A timer would not fire before all of it is done. */
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
        // Whatever was asked outside may answer the next time: a fault is not known to be one again, and the call itself meets it.
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

  /** Lets go of the timer. */
  close(): void {
    this.#release();
  }
}

/** Whether the policy denies, and by nothing that may be otherwise when the call is made. */
export function isCertainDenial({ decision, unknown, around }: Answer): boolean {
  return decision?.type === 'deny' && !unknown && !around;
}

/** What the success of a call does to the state of one policy. */
export interface Success {
  /** `unknown`: the policy wants to know what cannot be known before the call has been made. */
  readonly type: 'same' | 'changed' | 'unknown';
  /** Whether another call of the tool may do otherwise. */
  readonly own: boolean;
}

/** Tells a policy of a success that has not been, and stages in `transaction` what comes of it, which nobody ever commits. */
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
      // A promise fails the call it is about; its rejection, which nobody will hear, must not end the process.
      if (isThenable(answer)) void Promise.allSettled([answer]);
      else if (answer !== undefined) transaction.apply(slice, bound.toOperations(answer));
      threw = isThenable(answer);
    });
  } catch {
    // Said by what is answered: a success that a policy refuses is none.
    threw = true;
  }
  const { own, unknown, around } = watched.looks();
  if (unknown || around) return { type: 'unknown', own };
  if (!threw) return { type: Object.is(before, transaction.read(slice)) ? 'same' : 'changed', own };
  // A call that the policy denies anyway never gets there.
  const answer = await questions.ask(call, before);
  return { type: isCertainDenial(answer) && !answer.threw ? 'same' : 'unknown', own: own || answer.own };
}

export interface Succeeding {
  readonly questions: PolicyQuestions;
  /** Holds the policy's state. */
  readonly slice: Slice;
  readonly transaction: SessionTransaction;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
