import { describeThrown, freezeOpen } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import { isThenable, waitForAnswer } from '../call/execute.ts';

/**
 * A listener that cannot break what it listens to: what it throws, or its promise rejects with, is recorded. It sees events with
 * masks where the session has a redactor.
 */
export function isolateListener<Event extends { readonly type: string }>(
  listener: (event: Event) => void,
  session: Session,
): (event: Event) => void {
  const note = (event: Event, thrown: unknown): void => {
    try {
      session.record({ type: 'subscriber-error', event: event.type, message: describeThrown(thrown) });
    } catch {
      // What was told of has happened, so its call must not fail; the next record meets the same log and says so.
    }
  };
  return (event) => {
    try {
      const { redactor } = session;
      const told = redactor === undefined ? event : redactor.maskRecord(withOwnStack(event));
      const answer: unknown = listener(freezeOpen(told));
      if (!isThenable(answer)) return;
      void waitForAnswer(answer).then((settled) => {
        if (settled.type === 'threw') note(event, settled.thrown);
      });
    } catch (thrown) {
      note(event, thrown);
    }
  };
}

/** A stack that is only made when it is looked at would be told of without masks. */
function withOwnStack<Event extends object>(event: Event): Event {
  const { error } = event as { readonly error?: { readonly stack?: string } };
  return error?.stack === undefined ? event : { ...event, error: { ...error, stack: error.stack } };
}
