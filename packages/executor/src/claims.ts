import { HoldfastError } from '@holdfast/core';
import type { Session } from '@holdfast/session';

/** Runs and calls of a session that this process is at. */
const claims = new WeakMap<Session, Set<number | string>>();

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

export function isRunClaimed(session: Session, run: number): boolean {
  return claims.get(session)?.has(run) === true;
}

export function isCallClaimed(session: Session, callId: string): boolean {
  return claims.get(session)?.has(callId) === true;
}

function claim(session: Session, key: number | string, refusal: () => HoldfastError): () => void {
  let claimed = claims.get(session);
  if (claimed === undefined) {
    claimed = new Set();
    claims.set(session, claimed);
  }
  if (claimed.has(key)) throw refusal();
  claimed.add(key);
  return () => void claimed.delete(key);
}
