import { readFileSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { isPlainObject } from '@holdfast/core';

/** The process that has the log open for writing, by its number; `undefined` when there is none, or it cannot be told. */
export function findWriter(logPath: string): number | undefined {
  let lock: unknown;
  try {
    lock = JSON.parse(readFileSync(`${realpathSync(logPath)}.lock`, 'utf8'));
  } catch {
    // No lock, or one that is being made: opening the log for writing knows for certain.
    return undefined;
  }
  if (!isPlainObject(lock)) return undefined;
  const { pid, host } = lock;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  // On another machine, it may be at it.
  return host !== hostname() || isRunning(pid) ? pid : undefined;
}

/** Whether a process of this machine has the number. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // One of another user is there, and may not be asked.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
