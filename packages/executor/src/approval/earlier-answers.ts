import type { PendingApproval } from '@holdfast/core';
import type { CallScope } from '../call/scope.ts';
import type { Answered } from './ask.ts';

/** Why a call that needs approval has none. */
export interface Refusal {
  readonly code: string;
  readonly why: string;
}

/** `reason`: what the person said, whose full stop is ours. */
export function deniedBecause(reason: string | undefined): Refusal {
  const why =
    reason === undefined ? 'it was not approved' : `it was not approved: ${reason.trim().replace(/\.+$/, '')}`;
  return { code: 'approval.denied', why };
}

/** What was asked and answered about a call before, in this process or another. */
export interface EarlierAnswers {
  /** Keys of policies whose ask was answered with yes. */
  readonly approved: ReadonlySet<string>;
  /** Whether the tool was granted with one of them, and is not by now. */
  readonly grant: boolean;
  /** A question that still waits. */
  readonly waiting: PendingApproval | undefined;
  /** Why the call may not run. */
  readonly refusal: Refusal | undefined;
  readonly by: string | undefined;
  /** Whether there is a yes that is about something else by now. */
  readonly outdated: boolean;
}

export const noEarlierAnswers: EarlierAnswers = {
  approved: new Set(),
  grant: false,
  waiting: undefined,
  refusal: undefined,
  by: undefined,
  outdated: false,
};

/**
 * What holds of it for `question`: a yes to a question with another digest was about something else. A no stays one, and so does a
 * question that nobody answered in its time, or whose answer was not used in it.
 */
export function readEarlierAnswers(question: PendingApproval, { session, parent, clock }: CallScope): EarlierAnswers {
  if (parent !== undefined) return noEarlierAnswers;
  const open = session.openCall(question);
  const approved = new Set<string>();
  const earlier: Writable<EarlierAnswers> = { ...noEarlierAnswers, approved };
  const last = open?.approvals.at(-1);
  for (const asked of open?.approvals ?? []) {
    const { pending, answer, answeredBy, answeredAtMs = 0 } = asked;
    // A yes is to what was asked; a no to the call, whatever asks about it by now.
    if (answer?.type === 'deny') {
      return { ...earlier, by: answeredBy, refusal: deniedBecause(answer.reason) };
    }
    if (pending.digest !== question.digest) {
      earlier.outdated ||= answer !== undefined;
      continue;
    }
    if (answer !== undefined) earlier.by = answeredBy;
    const over = clock.now() >= pending.expiresAtMs;
    // One that was followed by another is not waited for.
    if (answer === undefined) {
      if (over && asked === last) earlier.refusal = expired;
      continue;
    }
    // What the call has begun by was used in its time.
    const used = open?.start !== undefined && open.start.atMs >= answeredAtMs;
    if (over && !used) earlier.refusal = expired;
    else {
      earlier.grant ||= answer.grant === true && asked.granted !== true;
      for (const { policy } of pending.asks) approved.add(policy);
    }
  }
  // Only the last question can be answered; one before it was asked of another version.
  if (last?.answer === undefined && last?.pending.digest === question.digest) earlier.waiting = last.pending;
  return earlier;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

export const expired: Refusal = {
  code: 'approval.expired',
  why: 'the question about it has expired; call it again to ask anew',
};

/** The answer to a question that is recorded by now. */
export function findAnswer(question: PendingApproval, { session }: CallScope): Answered | undefined {
  const asked = session.openCall(question)?.approvals.findLast(({ pending }) => pending.digest === question.digest);
  return asked?.answer && { answer: asked.answer, by: asked.answeredBy ?? 'person' };
}

/** Whether `waiting` asks all that `question` does. */
export function asksTheSame(waiting: PendingApproval, question: PendingApproval): boolean {
  const keys = new Set(waiting.asks.map(({ policy }) => policy));
  return question.asks.every(({ policy }) => keys.has(policy));
}
