import type { PendingApproval } from '@holdfast/core';
import type { OpenCall } from '@holdfast/session';
import type { Answered } from './approval.ts';
import type { CallScope } from './call-scope.ts';

/** What was asked and answered about a call before, in this process or another. */
export interface EarlierAnswers {
  /** Keys of policies whose ask was answered with yes. */
  readonly approved: ReadonlySet<string>;
  /** Whether the tool was granted with one of them, and is not by now. */
  readonly grant: boolean;
  /** A question that still waits. */
  readonly waiting: PendingApproval | undefined;
  /** Why the call may not run. */
  readonly refusal: { readonly code: string; readonly why: string } | undefined;
  readonly by: string | undefined;
}

export const noEarlierAnswers: EarlierAnswers = {
  approved: new Set(),
  grant: false,
  waiting: undefined,
  refusal: undefined,
  by: undefined,
};

/**
 * What holds of it for `question`: a yes to a question with another digest was about something else. A no stays one, and so does a
 * question that nobody answered in its time, or whose answer was not used in it.
 */
export function readEarlierAnswers(question: PendingApproval, { session, parent, clock }: CallScope): EarlierAnswers {
  if (parent !== undefined) return noEarlierAnswers;
  const open = session.openWork().calls.find((call) => isSameCall(call, question));
  const approved = new Set<string>();
  const earlier: Writable<EarlierAnswers> = { ...noEarlierAnswers, approved };
  for (const { pending, answer, answeredBy } of open?.approvals ?? []) {
    // A yes is to what was asked; a no to the call, whatever asks about it by now.
    if (answer?.type === 'deny') {
      const refusal = { code: 'approval.denied', why: answer.reason ?? 'it was not approved' };
      return { ...earlier, by: answeredBy, refusal };
    }
    if (pending.digest !== question.digest) continue;
    if (answer !== undefined) earlier.by = answeredBy;
    // An answer that the call has begun by was used in its time.
    const used = answer !== undefined && open?.start !== undefined;
    if (clock.now() >= pending.expiresAtMs && !used) earlier.refusal = expired;
    else if (answer === undefined) earlier.waiting = pending;
    else {
      earlier.grant ||= answer.grant === true && open?.granted !== true;
      for (const { policy } of pending.asks) approved.add(policy);
    }
  }
  return earlier;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

const expired = {
  code: 'approval.expired',
  why: 'the time for an answer is over; call it again to ask anew',
};

/** The answer to a question that is recorded by now. */
export function findAnswer(question: PendingApproval, { session }: CallScope): Answered | undefined {
  const open = session.openWork().calls.find((call) => isSameCall(call, question));
  const asked = open?.approvals.findLast(({ pending }) => pending.digest === question.digest);
  return asked?.answer && { answer: asked.answer, by: asked.answeredBy ?? 'person' };
}

function isSameCall(call: OpenCall, { callId, run, turn }: PendingApproval): boolean {
  return call.callId === callId && call.run === run && call.turn === turn;
}

/** Whether `waiting` asks all that `question` does. */
export function asksTheSame(waiting: PendingApproval, question: PendingApproval): boolean {
  const keys = new Set(waiting.asks.map(({ policy }) => policy));
  return question.asks.every(({ policy }) => keys.has(policy));
}
