import { HoldfastError, type Json, type Outcome } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import { toToolName } from './agent-tool.ts';
import type { GuardDecision } from './decisions.ts';
import type { GuardEnding, GuardReport } from './types.ts';

export function toEnding({ kind, code, message, value }: Outcome): GuardEnding {
  return { kind, ...(code === undefined ? {} : { code }), message, value: value ?? null };
}

/** How a call of the log ended. @throws HoldfastError `guard.failed` if the log does not say. */
export function findEnding(session: Session, callId: string): GuardEnding {
  let found: GuardEnding | undefined;
  for (const { type, callId: id, outcome } of session.records()) {
    // Written by the executor.
    if (type === 'tool-call-end' && id === callId && isPlainObject(outcome))
      found = toEnding(outcome as unknown as Outcome);
  }
  if (found !== undefined) return found;
  throw new HoldfastError('guard.failed', `The log does not say how the call \`${callId.slice(0, 100)}\` ended.`, {
    data: { callId: callId as Json },
  });
}

/** A report that comes after the end of its call is kept beside it, and changes nothing. */
export function recordLate(
  session: Session,
  { callId, name }: GuardDecision,
  { report: { ok, value, message }, atMs }: { readonly report: GuardReport; readonly atMs: number },
): void {
  session.record({
    type: 'tool-call-late',
    callId,
    name: toToolName(name),
    answer: ok === true ? 'returned' : 'threw',
    ...(value === undefined ? {} : { value }),
    ...(message === undefined ? {} : { message }),
    atMs,
  });
}
