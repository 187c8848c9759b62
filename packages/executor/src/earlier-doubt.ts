import type { CallScope } from './call-scope.ts';
import { type Ending, failure } from './ending.ts';
import { readReservations } from './reservations.ts';
import type { Trail } from './trail.ts';

/** Whether the tool of a call that is gone on with was begun before, and may have taken effect then; and what is kept of it if so. */
export function noteEarlierLife(trail: Trail, { session, run }: CallScope): void {
  const open = session.openCall({ callId: trail.call.id, run: run?.startSeq, turn: run?.turn });
  if (open?.start === undefined || open.start.repeat === 'safe') return;
  trail.begunBefore = true;
  trail.reservations = readReservations(open);
}

/** Whatever ends it but a success, it may have taken effect when it was first begun. `again`: it has been run again. */
export function withEarlierDoubt(ending: Ending, { begunBefore, call }: Trail, again: boolean): Ending {
  if (!begunBefore || ending.kind === 'ok' || ending.kind === 'in-doubt') return ending;
  const since = again ? 'this time it did not succeed' : 'it was not run again';
  const message = `It is not known whether \`${call.name}\` took effect before its process ended, and ${since}. Find out before calling it again. ${ending.message}`;
  const { code = 'call.interrupted', error } = ending;
  return { ...failure('in-doubt', { code, message }), ...(error === undefined ? {} : { error }) };
}
