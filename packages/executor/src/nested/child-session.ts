import type { ChildSession } from '@holdfast/core/types';
import { createSession, type LogEntry } from '@holdfast/session';
import type { RunningCall } from '../call/running-call.ts';

const parents = new WeakMap<object, RunningCall>();

/** A session below the call `parent`; its records are logged in the session above. */
export function createChildSession(parent: RunningCall, number: number): ChildSession {
  const { session, clock } = parent.scope;
  const callId = parent.call.id;
  const sessionId = `${parent.key}/child_${number}`;
  const child = createSession({
    id: sessionId,
    // Its id begins with the parent's key, which has the random digits; it must be the same when the call is repeated.
    nonce: '',
    clock,
    redactor: session.redactor,
    store: {
      append: (entry: LogEntry, seq) =>
        session.record({ type: 'child-record', callId, sessionId, childSeq: seq, entry }),
      close: () => undefined,
    },
  });
  parents.set(child, parent);
  return child;
}

/** The call that `session` is nested in; `undefined` for a session of the host. */
export function parentCallOf(session: object): RunningCall | undefined {
  return parents.get(session);
}
