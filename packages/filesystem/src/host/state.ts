import type { BigIntStats } from 'node:fs';
import { hasChanged } from '../staging/errors.ts';
import type { FileState, Stamp } from './journal.ts';

/**
 * What is known of a file before it is changed. `version` is what the call met.
 *
 * @throws HoldfastError `file.conflict` when the file has come or gone since.
 */
export function toState(key: string, found: BigIntStats | undefined, version: string | null): FileState | null {
  if ((found === undefined) !== (version === null)) throw hasChanged(key);
  if (found === undefined || version === null) return null;
  return { version, size: Number(found.size), ...toStamp(found) };
}

export function toStamp({ ino, mtimeNs }: Pick<BigIntStats, 'ino' | 'mtimeNs'>): Stamp {
  return { ino: String(ino), mtimeNs: String(mtimeNs) };
}

/** Between `prepare` and here, the call's record was written: time in which somebody else may have written the file. */
export function checkUnchanged(key: string, before: BigIntStats | undefined, now: BigIntStats | undefined): void {
  const unchanged = before?.ino === now?.ino && before?.size === now?.size && before?.mtimeNs === now?.mtimeNs;
  if (!unchanged) throw hasChanged(key);
}
