import type { Session } from '@holdfast/session';
import type { Reservations } from './reservations.ts';

/** Of the calls of each session that have begun here and not ended. */
const underWay = new WeakMap<Session, Set<Reservations>>();
const none: ReadonlySet<Reservations> = new Set();

/** A call with reservations has begun, or one that has begun has its first. */
export function join(session: Session, reservations: Reservations): void {
  const joined = underWay.get(session);
  if (joined === undefined) underWay.set(session, new Set([reservations]));
  else joined.add(reservations);
}

/** It has ended: what counts of it is in the state. */
export function leave(session: Session, reservations: Reservations): void {
  underWay.get(session)?.delete(reservations);
}

export function reservationsUnderWay(session: Session): ReadonlySet<Reservations> {
  return underWay.get(session) ?? none;
}
