import { randomUUID } from 'node:crypto';
import { HoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { hostProcesses, toProcessIdentity } from '../../disk/processes.ts';

/** The process that has a session open, from the session's row. */
export interface Writer {
  readonly pid: number;
  /** Empty if written by an earlier version of this package. */
  readonly host: string;
  /** `unknown`: on another machine, or in another container. */
  readonly state: 'running' | 'ended' | 'unknown';
}

/** A unique text for the row of a session that this process opens. */
export function newWriter(): string {
  return JSON.stringify({ token: randomUUID(), ...hostProcesses.identify() });
}

/** `undefined` if the text names no process: then it is unknown whether the session has a writer. */
export function readWriter(text: string): Writer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const identity = toProcessIdentity(value);
  if (identity !== undefined) return { pid: identity.pid, host: identity.host, state: hostProcesses.stateOf(identity) };
  // Written by an earlier version, without the machine.
  return isPlainObject(value) && Number.isSafeInteger(value['pid'])
    ? { pid: Number(value['pid']), host: '', state: 'unknown' }
    : undefined;
}

/** `holder`: the writer, or `unknown`. Omitted: another process has taken the session over. */
export function lockedSession(path: string, sessionId: string, holder?: Writer | 'unknown'): HoldfastError {
  const lock = `The session \`${sessionId}\` in \`${path}\``;
  const data = { path, sessionId };
  if (holder === undefined) {
    const message = `${lock} was taken over by another process; reopen it to continue.`;
    return new HoldfastError('log.locked', message, { data });
  }
  if (holder === 'unknown' || holder.state === 'unknown') {
    const host = holder === 'unknown' ? '' : holder.host;
    const place = host === '' ? 'somewhere' : `on \`${host}\` or in a container of it`;
    const who = holder === 'unknown' ? 'an unknown process' : `process ${holder.pid} ${place}`;
    const message = `${lock} is already open for writing in ${who}, which may still be running. Close it there. Open it with \`takeOver\` only if you are sure that the process has ended.`;
    return new HoldfastError('log.locked', message, {
      data: holder === 'unknown' ? data : { ...data, pid: holder.pid, host: holder.host },
    });
  }
  const { pid, host } = holder;
  const message = `${lock} is open in process ${pid}; close it there, or wait until that process ends.`;
  return new HoldfastError('log.locked', message, { data: { ...data, pid, host } });
}
