import type { CallScope } from './call-scope.ts';
import { type Ending, failure } from './ending.ts';
import type { IdentifiedCall } from './identified-call.ts';

/** A call that is not run again, though it was begun before its process ended, may have taken effect then. */
export function withEarlierDoubt(ending: Ending, { id, name }: IdentifiedCall, { session, run }: CallScope): Ending {
  const { calls } = session.openWork();
  const open = calls.find((call) => call.callId === id && call.run === run?.startSeq && call.turn === run?.turn);
  if (open?.start === undefined || open.start.repeat === 'safe') return ending;
  const message = `It is not known whether \`${name}\` took effect before its process ended, and it was not run again. Find out before calling it again. ${ending.message}`;
  const { code = 'call.interrupted', error } = ending;
  return { ...failure('in-doubt', { code, message }), ...(error === undefined ? {} : { error }) };
}
