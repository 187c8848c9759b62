import { allow, type Decision, deny, describeThrown } from '@holdfast/core';
import { readDecision, type Then, thenOf } from './authorise.ts';
import type { CallScope } from './call-scope.ts';
import { type Looks, type NamedCall, type Watched, watch } from './foresee-watch.ts';
import type { PolicyBinding, PolicySurroundings } from './policy-state.ts';

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

/** Asks one policy about many calls. For all of its answers together it has the time that it has for one answer about a real call. */
export class PolicyQuestions {
  readonly bound: PolicyBinding;
  readonly surroundings: PolicySurroundings;
  readonly #scope: CallScope;
  #over: Promise<undefined> | undefined;
  #isOver = false;
  #tookMs = 0;
  #release: () => void = () => undefined;

  constructor(bound: PolicyBinding, surroundings: PolicySurroundings, scope: CallScope) {
    this.bound = bound;
    this.surroundings = surroundings;
    this.#scope = scope;
  }

  /** Whether the policy has used up its time. */
  get isOver(): boolean {
    return this.#isOver || this.#tookMs >= this.#scope.policyTimeoutMs;
  }

  /** Does `work` on the policy's time. A timer would not fire before all of it is done. */
  timed<Result>(work: () => Result): Result {
    const { clock } = this.#scope;
    const startedMs = clock.now();
    try {
      return work();
    } finally {
      this.#tookMs += Math.max(0, clock.now() - startedMs);
    }
  }

  /** Answers at once where the policy does. */
  ask(call: NamedCall, state: unknown): Answer | Promise<Answer> {
    if (this.isOver) return unanswered;
    const watched = watch(call, this.surroundings);
    try {
      const answer: unknown = this.timed(() => this.bound.policy.check(watched.call, watched.context(state)));
      const then = answer === allow ? undefined : thenOf(answer);
      if (then !== undefined) return this.#wait(answer, then, watched);
      return { decision: readDecision(answer), threw: false, ...watched.looks() };
    } catch (thrown) {
      return { decision: deny(`The policy failed: ${describeThrown(thrown)}`), threw: true, ...watched.looks() };
    }
  }

  async #wait(answer: unknown, then: Then, watched: Watched): Promise<Answer> {
    this.#over ??= this.#startTime();
    const answered = new Promise<unknown>((resolve, reject) => void then.call(answer, resolve, reject)).then(
      readDecision,
      // Whatever was asked outside may answer the next time: a fault is not known to be one again, and the call itself meets it.
      () => undefined,
    );
    const decision = await Promise.race([answered, this.#over]);
    return { decision, threw: false, ...watched.looks() };
  }

  #startTime(): Promise<undefined> {
    const { clock, policyTimeoutMs, lifetime } = this.#scope;
    return new Promise((resolve) => {
      const end = (): void => {
        this.#isOver = true;
        resolve(undefined);
      };
      const stopTimer = clock.after(policyTimeoutMs, end);
      const stopListening = lifetime.onEnd(end);
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
