import type { PendingApproval } from '@holdfast/core';
import type { CallScope } from '../call/scope.ts';
import type { Answered } from './ask.ts';

/** Why a call was not approved. */
export interface Refusal {
  readonly code: string;
  readonly why: string;
}

/** `reason`: the person's words, without their final period. */
export function deniedBecause(reason: string | undefined): Refusal {
  const why =
    reason === undefined ? 'it was not approved' : `it was not approved: ${reason.trim().replace(/\.+$/, '')}`;
  return { code: 'approval.denied', why };
}

/** Earlier questions and answers about a call, from this process or another. */
export interface EarlierAnswers {
  /** Keys of the policies whose ask was approved. */
  readonly approved: ReadonlySet<string>;
  /** True if an answer granted the tool and the grant is not recorded yet. */
  readonly grant: boolean;
  /** A question that is still pending. */
  readonly waiting: PendingApproval | undefined;
  /** Why the call may not run. */
  readonly refusal: Refusal | undefined;
  readonly by: string | undefined;
  /** True if an approval was given for a different version of the call. */
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
 * Reads the answers that apply to `question`. An approval applies only to its own digest; a denial and an expired question or approval
 * apply to the call.
 */
export function readEarlierAnswers(question: PendingApproval, { session, parent, clock }: CallScope): EarlierAnswers {
  if (parent !== undefined) return noEarlierAnswers;
  const open = session.openCall(question);
  const approved = new Set<string>();
  const earlier: Writable<EarlierAnswers> = { ...noEarlierAnswers, approved };
  const last = open?.approvals.at(-1);
  for (const asked of open?.approvals ?? []) {
    const { pending, answer, answeredBy, answeredAtMs = 0 } = asked;
    // An approval is for one question; a denial is for the call, whichever policy asks now.
    if (answer?.type === 'deny') {
      return { ...earlier, by: answeredBy, refusal: deniedBecause(answer.reason) };
    }
    if (pending.digest !== question.digest) {
      earlier.outdated ||= answer !== undefined;
      continue;
    }
    if (answer !== undefined) earlier.by = answeredBy;
    const over = clock.now() >= pending.expiresAtMs;
    // A question that was replaced by a later one is no longer pending.
    if (answer === undefined) {
      if (over && asked === last) earlier.refusal = expired;
      continue;
    }
    // An approval that the call began with was used in time.
    const used = open?.start !== undefined && open.start.atMs >= answeredAtMs;
    if (over && !used) earlier.refusal = expired;
    else {
      earlier.grant ||= answer.grant === true && asked.granted !== true;
      for (const { policy } of pending.asks) approved.add(policy);
    }
  }
  // Only the last question can be answered; earlier ones were about another version.
  if (last?.answer === undefined && last?.pending.digest === question.digest) earlier.waiting = last.pending;
  return earlier;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

export const expired: Refusal = {
  code: 'approval.expired',
  why: 'the question about it has expired; call it again to ask again',
};

/** The recorded answer to a question. */
export function findAnswer(question: PendingApproval, { session }: CallScope): Answered | undefined {
  const asked = session.openCall(question)?.approvals.findLast(({ pending }) => pending.digest === question.digest);
  return asked?.answer && { answer: asked.answer, by: asked.answeredBy ?? 'person' };
}

/** True if `waiting` covers every ask of `question`. */
export function asksTheSame(waiting: PendingApproval, question: PendingApproval): boolean {
  const keys = new Set(waiting.asks.map(({ policy }) => policy));
  return question.asks.every(({ policy }) => keys.has(policy));
}
