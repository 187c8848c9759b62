import type { Slice } from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import { type Answer, isCertainDenial, type PolicyQuestions } from './foresee-questions.ts';
import { type NamedCall, watch } from './foresee-watch.ts';
import { isThenable, waitForAnswer } from './invoke.ts';
import { toOperations } from './policy-state.ts';

/** What the success of a call does to the state of one policy. */
export interface Success {
  /** `unknown`: the policy wants to know what cannot be known before the call has been made. */
  readonly type: 'same' | 'changed' | 'unknown';
  /** Whether another call of the tool may do otherwise. */
  readonly own: boolean;
}

/** Tells a policy of a success that has not been, and stages in `transaction` what comes of it, which nobody ever commits. */
export function succeed(call: NamedCall, { questions, slice, transaction }: Succeeding): Success | Promise<Success> {
  const { policy } = questions.bound;
  if (policy.onResult === undefined) return { type: 'same', own: false };
  if (questions.isOver) return { type: 'unknown', own: false };
  const before: unknown = transaction.read(slice);
  const watched = watch(call, questions.surroundings);
  let threw = false;
  try {
    questions.timed(() => {
      const answer: unknown = policy.onResult?.(watched.call, watched.result(), watched.context(before));
      // A promise fails the call it is about; its rejection, which nobody will hear, must not end the process.
      if (isThenable(answer)) void waitForAnswer({ type: 'unstoppable', value: answer });
      else if (answer !== undefined) transaction.apply(slice, toOperations(policy, answer));
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
  const conclude = (answer: Answer): Success => ({
    type: isCertainDenial(answer) && !answer.threw ? 'same' : 'unknown',
    own: own || answer.own,
  });
  const asked = questions.ask(call, before);
  return asked instanceof Promise ? asked.then(conclude) : conclude(asked);
}

export interface Succeeding {
  readonly questions: PolicyQuestions;
  /** Holds the policy's state. */
  readonly slice: Slice;
  readonly transaction: SessionTransaction;
}
