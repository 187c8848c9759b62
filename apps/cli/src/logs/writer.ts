import { readFileSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { isPlainObject } from '@holdfast/core';
import { isRunning } from '../terminal/system.ts';

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
