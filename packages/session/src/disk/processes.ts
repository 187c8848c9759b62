import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isPlainObject } from '@holdfast/core/internal';
import { hasCode } from './files.ts';

/** Identifies a process, as written into a file. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** The PID namespace of `pid`: containers have their own. Empty if the system does not report it. */
  readonly pidSpace: string;
  /** Distinguishes reused PIDs; empty if the system does not report it. */
  readonly startedAt: string;
}

/** `unknown`: a process of another machine or container. */
export type ProcessState = 'running' | 'ended' | 'unknown';

/** Looks up processes of this machine. Tests pass one in which this process has ended. */
export interface Processes {
  identify(): ProcessIdentity;
  stateOf(identity: ProcessIdentity): ProcessState;
}

let own: ProcessIdentity | undefined;

/** On Linux a reused PID counts as ended; elsewhere it counts as running until the new process ends, too. */
export const hostProcesses: Processes = {
  identify() {
    own ??= {
      pid: process.pid,
      host: hostname(),
      pidSpace: readPidSpace(),
      startedAt: readProcess(process.pid).startedAt,
    };
    return own;
  },
  stateOf({ pid, host, pidSpace, startedAt }) {
    const here = hostProcesses.identify();
    if (host !== here.host || pidSpace !== here.pidSpace) return 'unknown';
    try {
      process.kill(pid, 0);
    } catch (error) {
      // The process belongs to another user.
      if (!hasCode(error, 'EPERM')) return 'ended';
    }
    const now = readProcess(pid);
    // Ended, but not yet reaped.
    if (now.state === 'Z' || now.state === 'X') return 'ended';
    return startedAt !== '' && now.startedAt !== '' && startedAt !== now.startedAt ? 'ended' : 'running';
  },
};

/** Reads a process identity from the content of a file. */
export function toProcessIdentity(value: unknown): ProcessIdentity | undefined {
  if (!isPlainObject(value)) return undefined;
  const { pid, host, pidSpace, startedAt } = value;
  // `kill` treats other numbers as process groups.
  const isPid = typeof pid === 'number' && Number.isInteger(pid) && pid > 0 && pid < 2 ** 31;
  if (!isPid || typeof host !== 'string' || typeof pidSpace !== 'string' || typeof startedAt !== 'string')
    return undefined;
  return { pid, host, pidSpace, startedAt };
}

function readPidSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Not Linux, or hidden: fall back to the host name.
    return '';
  }
}

/** Linux only: the state, and the boot id with the start tick; empty if unreadable. */
function readProcess(pid: number): { readonly state: string; readonly startedAt: string } {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is a name in parentheses, which may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startedAt: `${boot}:${fields[19] ?? ''}` };
  } catch {
    return { state: '', startedAt: '' };
  }
}
