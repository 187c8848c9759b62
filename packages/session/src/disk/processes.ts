import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isPlainObject } from '@holdfast/core/internal';
import { hasCode } from './files.ts';

/** What a file that a process left tells of it. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Whose numbers of processes `pid` is one of: containers count on their own. Empty where the system does not tell. */
  readonly pidSpace: string;
  /** Tells a `pid` that is used again apart; empty where the system does not tell. */
  readonly startedAt: string;
}

/** `unknown`: a process of another machine or container. */
export type ProcessState = 'running' | 'ended' | 'unknown';

/** How the processes of this machine are asked for. Tests pass one in which the own process has ended. */
export interface Processes {
  identify(): ProcessIdentity;
  stateOf(identity: ProcessIdentity): ProcessState;
}

let own: ProcessIdentity | undefined;

/** On Linux also a process whose number is in use again has ended; elsewhere it counts as running until that one has ended, too. */
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
      // A process of another user is there, and may not be asked.
      if (!hasCode(error, 'EPERM')) return 'ended';
    }
    const now = readProcess(pid);
    // Nobody has asked yet how it ended, but it has.
    if (now.state === 'Z' || now.state === 'X') return 'ended';
    return startedAt !== '' && now.startedAt !== '' && startedAt !== now.startedAt ? 'ended' : 'running';
  },
};

/** What somebody wrote into a file, as far as it can be the identity of a process. */
export function toProcessIdentity(value: unknown): ProcessIdentity | undefined {
  if (!isPlainObject(value)) return undefined;
  const { pid, host, pidSpace, startedAt } = value;
  // From 1 on: for `kill` other numbers stand for groups of processes.
  const isPid = typeof pid === 'number' && Number.isInteger(pid) && pid > 0 && pid < 2 ** 31;
  if (!isPid || typeof host !== 'string' || typeof pidSpace !== 'string' || typeof startedAt !== 'string')
    return undefined;
  return { pid, host, pidSpace, startedAt };
}

function readPidSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Not Linux, or hidden: the host's name has to do.
    return '';
  }
}

/** Linux only: its state, and the boot of the machine with the tick since then at which it began; empty where they cannot be read. */
function readProcess(pid: number): { readonly state: string; readonly startedAt: string } {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Its second field is a name in parentheses, which may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startedAt: `${boot}:${fields[19] ?? ''}` };
  } catch {
    return { state: '', startedAt: '' };
  }
}
