import { randomUUID } from 'node:crypto';
import { HoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { hostProcesses, toProcessIdentity } from '../../disk/processes.ts';

/** What the row of a session says of the process that has it open. */
export interface Writer {
  readonly pid: number;
  /** Empty where an earlier version of this package has written it. */
  readonly host: string;
  /** `unknown`: on another machine, or in another container. */
  readonly state: 'running' | 'ended' | 'unknown';
}

/** The text for the row of a session that this process opens; no other is equal. */
export function newWriter(): string {
  return JSON.stringify({ token: randomUUID(), ...hostProcesses.identify() });
}

/** A text that names nobody gives `undefined`: then it cannot be told whether anybody still writes. */
export function readWriter(text: string): Writer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const identity = toProcessIdentity(value);
  if (identity !== undefined) return { pid: identity.pid, host: identity.host, state: hostProcesses.stateOf(identity) };
  // Of an earlier version, which did not note the machine.
  return isPlainObject(value) && Number.isSafeInteger(value['pid'])
    ? { pid: Number(value['pid']), host: '', state: 'unknown' }
    : undefined;
}

/** `holder`: who has it; `unknown`: nobody can tell. Left out: somebody who took it over. */
export function lockedSession(path: string, sessionId: string, holder?: Writer | 'unknown'): HoldfastError {
  const lock = `The session \`${sessionId}\` in \`${path}\``;
  const data = { path, sessionId };
  if (holder === undefined) {
    const message = `${lock} has been taken over by another process; open it again to go on.`;
    return new HoldfastError('log.locked', message, { data });
  }
  if (holder === 'unknown' || holder.state === 'unknown') {
    const who = holder === 'unknown' ? 'somebody' : `process ${holder.pid} ${describePlace(holder)}`;
    const message = `${lock} has a writer already, ${who}, of which it cannot be known from here whether it has ended. Close it there; only when you are sure that it has ended, open it with \`takeOver\`.`;
    return new HoldfastError('log.locked', message, {
      data: holder === 'unknown' ? data : { ...data, pid: holder.pid, host: holder.host },
    });
  }
  const { pid, host } = holder;
  const message = `${lock} is open in process ${pid}; close it there, or wait for its end.`;
  return new HoldfastError('log.locked', message, { data: { ...data, pid, host } });
}

function describePlace({ host }: Writer): string {
  return host === '' ? 'somewhere' : `on \`${host}\` or in a container of it`;
}
