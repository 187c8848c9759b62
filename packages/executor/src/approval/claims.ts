import { HoldfastError } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { companionOf } from '../call/scope.ts';

/** Keeps everybody else in this process from the run until the answer is called. @throws HoldfastError `run.under_way`. */
export function claimRun(session: Session, run: number): () => void {
  return claim(session, run, () => {
    return new HoldfastError(
      'run.under_way',
      `The run ${run} of the session \`${session.id}\` is under way already; wait for its end.`,
      { data: { run } },
    );
  });
}

/** As `claimRun`, for a direct call. @throws HoldfastError `call.under_way`. */
export function claimCall(session: Session, callId: string): () => void {
  return claim(session, callId, () => {
    return new HoldfastError('call.under_way', `The call \`${callId}\` is under way already; wait for its end.`, {
      data: { callId },
    });
  });
}

/** @throws HoldfastError `options.invalid`. */
export function checkCallId(callId: unknown): void {
  if (typeof callId === 'string') return;
  throw new HoldfastError('options.invalid', 'A call is named by its id, which is text.');
}

/** Whether this process is at the run, or the direct call of that id. */
export function isClaimed(session: Session, key: number | string): boolean {
  const { claimed, alone } = companionOf(session);
  return alone === key || (claimed.size > 0 && claimed.has(key));
}

function claim(session: Session, key: number | string, refusal: () => HoldfastError): () => void {
  if (isClaimed(session, key)) throw refusal();
  const own = companionOf(session);
  // Mostly there is one, and a set takes twenty times as long.
  if (own.alone === undefined) {
    own.alone = key;
    return () => {
      own.alone = undefined;
    };
  }
  own.claimed.add(key);
  return () => void own.claimed.delete(key);
}
