import { failure } from '../call/ending.ts';
import type { CallRecord } from '../call/running-call.ts';
import type { Ending, Resuming } from '../call/types.ts';
import { readReservations } from '../nested/reservations.ts';

/** For resumed calls, which may have begun in an ended process. */
export const resuming: Resuming = { note, doubt };

function note(call: CallRecord): void {
  const { scope, source, turn } = call;
  const open = scope.session.openCall({ callId: source.id, run: scope.run?.startSeq, turn });
  if (open?.start === undefined || open.start.repeat === 'safe') return;
  call.begunBefore = true;
  call.reservations = readReservations(open);
}

function doubt(ending: Ending, { begunBefore, source }: CallRecord, again: boolean): Ending {
  if (!begunBefore || ending.kind === 'ok' || ending.kind === 'in-doubt') return ending;
  const since = again ? 'the second attempt did not succeed' : 'it was not run again';
  const message = `It is not known whether \`${source.name}\` took effect before its process ended, and ${since}. Find out before calling it again. ${ending.message}`;
  const { code = 'call.interrupted', reason, error } = ending;
  return { ...failure('in-doubt', { code, reason, message }), ...(error === undefined ? {} : { error }) };
}
