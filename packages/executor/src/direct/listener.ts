import { describeThrown, freezeOpen } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import { isThenable, waitForAnswer } from '../call/execute.ts';

/**
 * Isolates a listener: records what it throws or its promise rejects with. If the session has a redactor, the listener sees masked
 * events.
 */
export function isolateListener<Event extends { readonly type: string }>(
  listener: (event: Event) => void,
  session: Session,
): (event: Event) => void {
  const note = (event: Event, thrown: unknown): void => {
    try {
      session.record({ type: 'subscriber-error', event: event.type, message: describeThrown(thrown) });
    } catch {
      // The event has happened, so its call must not fail; the next record fails on the same log and reports it.
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

/** Makes a lazily computed stack an own property, so that it is masked too. */
function withOwnStack<Event extends object>(event: Event): Event {
  const { error } = event as { readonly error?: { readonly stack?: string } };
  return error?.stack === undefined ? event : { ...event, error: { ...error, stack: error.stack } };
}
