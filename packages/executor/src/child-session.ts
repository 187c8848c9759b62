import type { ChildSession } from '@holdfast/core';
import { createSession, type LogEntry, type Session } from '@holdfast/session';
import type { CallResources } from './call-resources.ts';

const parents = new WeakMap<object, CallResources>();

/** A session under the call of `parent`; its records become records of the session above. */
export function createChildSession(parent: CallResources): ChildSession {
  parent.checkOpen();
  const { session, clock } = parent.scope;
  const callId = parent.call.id;
  const sessionId = `${parent.key}/child_${parent.nextChildNumber()}`;
  const child = createSession({
    id: sessionId,
    // Its id begins with its parent's key, which has the random digits; and it is the same when the call is run again.
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

/** The call under which `session` is; `undefined` for a session of the host. */
export function parentCallOf(session: Session): CallResources | undefined {
  return parents.get(session);
}

/** What `context.child()` gives is a session that core knows less of. */
export function toSession(session: Session | ChildSession): Session {
  return session as Session;
}
