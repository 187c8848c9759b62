import type { Session } from '@holdfast/session';

/** One value for each session, for as long as the process has it; made when it is first asked for. */
export function perSession<Value>(make: () => Value): (session: Session) => Value {
  const values = new WeakMap<Session, Value>();
  return (session) => {
    const value = values.get(session) ?? make();
    values.set(session, value);
    return value;
  };
}
