import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isPlainObject } from '@holdfast/core';

/** A process as it is noted where another one has to find out whether it still runs. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Whose numbers of processes `pid` is one of: containers count on their own. Empty where the system does not tell. */
  readonly pidSpace: string;
  /** Tells a reused `pid` apart: the boot of the machine, and the clock tick since then. Empty where the system does not tell. */
  readonly startedAt: string;
}

/** The process that asks. */
export function describeProcess(): ProcessIdentity {
  return {
    pid: process.pid,
    host: hostname(),
    pidSpace: readPidSpace(),
    startedAt: readProcess(process.pid).startedAt,
  };
}

export function isProcessIdentity(value: unknown): value is ProcessIdentity {
  return (
    isPlainObject(value) &&
    // From 1 on: for `kill` other numbers stand for groups of processes.
    Number.isSafeInteger(value['pid']) &&
    Number(value['pid']) > 0 &&
    ['host', 'pidSpace', 'startedAt'].every((key) => typeof value[key] === 'string')
  );
}

/** Whether `other` has ended, only when that is certain: what runs on another machine, or in another container, cannot be told. */
export function hasEnded(other: ProcessIdentity, mine: ProcessIdentity): boolean {
  if (other.host !== mine.host || other.pidSpace !== mine.pidSpace) return false;
  try {
    process.kill(other.pid, 0);
  } catch (error) {
    // A process of another user is there, and may not be asked.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return true;
  }
  const { state, startedAt } = readProcess(other.pid);
  // Nobody has asked yet how it ended, but it has.
  if (state === 'Z' || state === 'X') return true;
  return other.startedAt !== '' && startedAt !== '' && other.startedAt !== startedAt;
}

function readPidSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Not Linux, or hidden: the host's name has to do.
    return '';
  }
}

/** Linux only: empty where it cannot be read. */
function readProcess(pid: number): { readonly state: string; readonly startedAt: string } {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Its second field is a name in parentheses, which may hold anything; the third is the state, the 22nd the start.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startedAt: `${boot}:${fields[19] ?? ''}` };
  } catch {
    return { state: '', startedAt: '' };
  }
}
