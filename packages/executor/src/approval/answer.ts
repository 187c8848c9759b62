import { type ApprovalAnswer, type Clock, HoldfastError, type PendingApproval, systemClock } from '@holdfast/core';
import { copyJson, isPlainObject } from '@holdfast/core/internal';
import type { EffectCheck } from '@holdfast/core/types';
import type { LogEntry, Session } from '@holdfast/session';
import type { CallPlace, OpenApproval, OpenCall } from '@holdfast/session/internal';
import { readAnswer } from './ask.ts';
import { checkCallId, isClaimed } from './claims.ts';
import { asksTheSame } from './earlier-answers.ts';

export interface AnswerOptions {
  /** Who gave the answer, for the log. Default `person`. */
  readonly by?: string;
  readonly clock?: Clock;
}

/** A session, or a run or result that has one. */
export type SessionOrRun = Session | { readonly session: Session };

function sessionOf(given: SessionOrRun): Session {
  return 'openWork' in given ? given : given.session;
}

/** The pending approvals of a session, including expired ones, which count as denied. */
export function pendingApprovals(of: SessionOrRun): readonly PendingApproval[] {
  return sessionOf(of)
    .openWork()
    .calls.flatMap(({ approvals }) => {
      const last = approvals.at(-1);
      return last === undefined || last.answer !== undefined ? [] : [last.pending];
    });
}

/**
 * Records the answer to a question, in any process that has the session's log open. The answer, and any grant given with it, take
 * effect when the call is resumed (`resumeRun`, `resumeToolCall`). `question`: the pending question, or the id of its call.
 *
 * @throws HoldfastError `work.not_open` (the id is pending in two turns), `approval.answered`, `approval.expired`,
 * `approval.mismatch` (the question has changed), `options.invalid`.
 */
export async function answerApproval(
  of: SessionOrRun,
  question: PendingApproval | string,
  answer: ApprovalAnswer,
  { by = 'person', clock = systemClock }: AnswerOptions = {},
): Promise<void> {
  const session = sessionOf(of);
  checkBy(by);
  if (typeof question !== 'string' && !isPlainObject(question)) {
    throw new HoldfastError('options.invalid', 'Expected a question from `pendingApprovals`, or the id of its call.');
  }
  if (!isPlainObject(answer) || (answer.type !== 'approve' && answer.type !== 'deny')) {
    throw new HoldfastError('options.invalid', 'The `type` of an answer must be `approve` or `deny`.');
  }
  const { callId } = typeof question === 'string' ? { callId: question } : question;
  checkCallId(callId);
  const waiting = findQuestion(session, question);
  const { pending } = waiting;
  if (typeof question !== 'string' && !(question.digest === pending.digest && asksTheSame(question, pending))) {
    throw new HoldfastError(
      'approval.mismatch',
      `The call \`${callId}\` now asks a different question; review it before you answer.`,
      { data: { callId, digest: pending.digest } },
    );
  }
  if (clock.now() >= pending.expiresAtMs) {
    throw new HoldfastError(
      'approval.expired',
      `The question about \`${callId}\` has expired and counts as denied; resume to let the model ask again.`,
      { data: { callId, expiresAtMs: pending.expiresAtMs } },
    );
  }
  const read = readAnswer(answer, pending);
  const { run, turn, digest } = pending;
  // JSON by construction; TypeScript cannot see that of an interface.
  session.record({ type: 'approval-answer', callId, run, turn, digest, answer: read, by } as unknown as LogEntry);
  await session.sync();
}

function findQuestion(session: Session, question: PendingApproval | string): OpenApproval {
  const asked = session.openWork().calls.filter(({ approvals }) => approvals.length > 0);
  const matching = asked.filter((call) =>
    typeof question === 'string'
      ? call.callId === question
      : call.callId === question.callId && call.run === question.run && call.turn === question.turn,
  );
  const callId = typeof question === 'string' ? question : question.callId;
  const waiting = matching.filter(({ approvals }) => approvals.at(-1)?.answer === undefined);
  const [only] = waiting;
  if (waiting.length > 1) throw ambiguous(callId, session);
  const last = only?.approvals.at(-1);
  if (last !== undefined) return last;
  if (matching.length === 0) throw notOpen(callId, session, 'is waiting for an answer');
  throw new HoldfastError(
    'approval.answered',
    `The call \`${callId.slice(0, 100)}\` is already answered; resume its run to continue.`,
    { data: { callId } },
  );
}

/**
 * Records whether an interrupted call took effect; resuming the run or the call then ends it accordingly. For a call that has ended
 * `in-doubt` the record is for people only: the model already has the outcome.
 *
 * `call`: an id, or an id with run and turn if two calls share it.
 *
 * @throws HoldfastError `work.not_open`, `work.under_way`, `options.invalid`.
 */
export async function resolveCall(
  session: Session,
  call: CallPlace | string,
  resolution: Exclude<EffectCheck, { type: 'unknown' }>,
  { by = 'person' }: Pick<AnswerOptions, 'by'> = {},
): Promise<void> {
  checkBy(by);
  const place = typeof call === 'string' ? undefined : call;
  const callId = typeof call === 'string' ? call : call?.callId;
  checkCallId(callId);
  const read = readEffectCheck(resolution);
  if (read.type === 'unknown') {
    throw new HoldfastError(
      'options.invalid',
      'The `type` of a resolution must be `done`, with JSON as `value`, or `not-done`.',
    );
  }
  const begun = session.openWork().calls.filter((open) => {
    const isMeant = place === undefined || (open.run === place.run && open.turn === place.turn);
    return open.callId === callId && open.start !== undefined && isMeant;
  });
  const [open] = begun;
  if (begun.length > 1) throw ambiguous(callId, session);
  if (open !== undefined && isClaimed(session, open.run ?? callId)) {
    throw new HoldfastError(
      'work.under_way',
      `The call \`${callId}\` is still running and will report its own result.`,
      { data: { reason: 'call', callId } },
    );
  }
  const { run, turn } = open ?? findInDoubt(session, callId, place);
  session.record({ type: 'call-resolution', callId, run, turn, resolution: read, by } as unknown as LogEntry);
  await session.sync();
}

/** Accepts only a plain `done` or `not-done`. */
export function readEffectCheck(answer: unknown): EffectCheck {
  const unknown: EffectCheck = { type: 'unknown' };
  if (typeof answer !== 'object' || answer === null || !('type' in answer)) return unknown;
  const { type } = answer;
  const said: unknown = 'message' in answer ? answer.message : undefined;
  const message = typeof said === 'string' && said !== '' ? { message: said } : {};
  if (type === 'not-done') return { type, ...message };
  if (type !== 'done') return { ...unknown, ...message };
  const value = copyJson('value' in answer ? (answer.value ?? null) : null);
  return value.ok ? { type, value: value.value, ...message } : { ...unknown, message: 'its value is not JSON' };
}

function checkBy(by: unknown): void {
  if (typeof by === 'string') return;
  throw new HoldfastError('options.invalid', '`by` must be a string: the name of the person or program that answers.');
}

function findInDoubt(session: Session, callId: string, place: CallPlace | undefined): Pick<OpenCall, 'run' | 'turn'> {
  let found: Pick<OpenCall, 'run' | 'turn'> | undefined;
  for (const { type, callId: id, outcome, run, turn } of session.records()) {
    if (type !== 'tool-call-end' || id !== callId || !isPlainObject(outcome) || outcome['kind'] !== 'in-doubt')
      continue;
    if (place !== undefined && !(run === place.run && turn === place.turn)) continue;
    found = {
      ...(typeof run === 'number' ? { run } : {}),
      ...(typeof turn === 'number' ? { turn } : {}),
    };
  }
  if (found === undefined) throw notOpen(callId, session, 'was interrupted or is in doubt');
  return found;
}

function notOpen(callId: string, { id }: Session, what: string): HoldfastError {
  return new HoldfastError('work.not_open', `No call \`${callId.slice(0, 100)}\` of the session \`${id}\` ${what}.`, {
    data: { reason: 'call', callId },
  });
}

function ambiguous(callId: string, { id }: Session): HoldfastError {
  return new HoldfastError(
    'work.not_open',
    `More than one call \`${callId.slice(0, 100)}\` of the session \`${id}\` is waiting; resume or end its older run first, or pass the run, or the question itself.`,
    { data: { reason: 'call_ambiguous', callId } },
  );
}
