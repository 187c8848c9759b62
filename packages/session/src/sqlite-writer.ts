import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isPlainObject } from '@holdfast/core';

/** Who writes a session: what its row says of the process that has it open. */
export interface Writer {
  readonly pid: number;
  /** When the process began, as far as the system tells: a number is used again after its process has ended. */
  readonly start: string;
}

/** The text for the row of a session that this process opens; no other is equal. */
export function newWriter(): string {
  return JSON.stringify({ pid: process.pid, start: startOf(process.pid) ?? '', token: randomUUID() });
}

/** A text that names nobody gives `undefined`. */
export function parseWriter(text: string): Writer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isPlainObject(value)) return undefined;
  const { pid, start } = value;
  // A number from 1 on: for `kill` others stand for groups of processes.
  return Number.isSafeInteger(pid) && Number(pid) > 0 && typeof start === 'string'
    ? { pid: Number(pid), start }
    : undefined;
}

/**
 * Only certain within one machine or container: what runs in another container has ended as far as this one can see. That costs no
 * record, because a writer that was taken for dead can append nothing more.
 */
export function isAlive({ pid, start }: Writer): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    // Anything else, such as a process of somebody else's, is there.
    return !(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH');
  }
  const now = startOf(pid);
  return now === undefined || start === '' || now === start;
}

/**
 * Linux: the boot of the machine, and the clock tick since then at which the process began; `ended` for one that was killed and
 * that nobody has waited for. Elsewhere `undefined`.
 */
function startOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses, which may hold anything; the third is the state, the 22nd the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : `${boot}:${fields[19] ?? ''}`;
  } catch {
    return undefined;
  }
}
