import type { BigIntStats } from 'node:fs';
import { hasChanged } from '../staging/errors.ts';
import type { FileState, Stamp } from './journal.ts';

/**
 * The state of a file before a change. `version` is the one that the call saw.
 *
 * @throws HoldfastError `file.conflict` if the file was created or removed since.
 */
export function toState(key: string, found: BigIntStats | undefined, version: string | null): FileState | null {
  if ((found === undefined) !== (version === null)) throw hasChanged(key);
  if (found === undefined || version === null) return null;
  return { version, size: Number(found.size), ...toStamp(found) };
}

export function toStamp({ ino, mtimeNs }: Pick<BigIntStats, 'ino' | 'mtimeNs'>): Stamp {
  return { ino: String(ino), mtimeNs: String(mtimeNs) };
}

/** The call's record was written since `prepare`, and meanwhile the file may have been changed. */
export function checkUnchanged(key: string, before: BigIntStats | undefined, now: BigIntStats | undefined): void {
  const unchanged = before?.ino === now?.ino && before?.size === now?.size && before?.mtimeNs === now?.mtimeNs;
  if (!unchanged) throw hasChanged(key);
}
