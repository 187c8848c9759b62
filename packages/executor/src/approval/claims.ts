import { HoldfastError } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { companionOf } from '../call/scope.ts';

/** Locks the run within this process; call the returned function to release it. @throws HoldfastError `work.under_way`. */
export function claimRun(session: Session, run: number): () => void {
  return claim(session, run, () => {
    return new HoldfastError(
      'work.under_way',
      `The run ${run} of the session \`${session.id}\` is already running; wait until it ends.`,
      { data: { reason: 'run', run } },
    );
  });
}

/** As `claimRun`, for a direct call. @throws HoldfastError `work.under_way`. */
export function claimCall(session: Session, callId: string): () => void {
  return claim(session, callId, () => {
    return new HoldfastError('work.under_way', `The call \`${callId}\` is already running; wait until it ends.`, {
      data: { reason: 'call', callId },
    });
  });
}

/** @throws HoldfastError `options.invalid`. */
export function checkCallId(callId: unknown): void {
  if (typeof callId === 'string') return;
  throw new HoldfastError('options.invalid', 'A call id must be a string.');
}

/** True if this process is working on the run, or on the direct call with that id. */
export function isClaimed(session: Session, key: number | string): boolean {
  const { claimed, alone } = companionOf(session);
  return alone === key || (claimed.size > 0 && claimed.has(key));
}

function claim(session: Session, key: number | string, refusal: () => HoldfastError): () => void {
  if (isClaimed(session, key)) throw refusal();
  const own = companionOf(session);
  // Usually there is only one, and a set is twenty times slower.
  if (own.alone === undefined) {
    own.alone = key;
    return () => {
      own.alone = undefined;
    };
  }
  own.claimed.add(key);
  return () => void own.claimed.delete(key);
}
