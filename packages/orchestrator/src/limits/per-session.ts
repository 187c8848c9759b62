import type { Session } from '@holdfast/session';

/** Creates one value per session on first use and keeps it for the lifetime of the session object. */
export function perSession<Value>(make: () => Value): (session: Session) => Value {
  const values = new WeakMap<Session, Value>();
  return (session) => {
    const value = values.get(session) ?? make();
    values.set(session, value);
    return value;
  };
}
