import type { CompareLockOptions } from './compare-lock.ts';
import { findLockPlace } from './folder-pins.ts';
import { parseLock, readLockBytes } from './lock-file.ts';
import { startWarm } from './warm-start.ts';

/**
 * Whether the registry has the tools of a folder as they and their lock are, so that loading them with these options reads no tool
 * file. Writes nothing.
 *
 * @throws HoldfastError `tools.folder.*`, `tools.lock.outside`, `tools.lock.unreadable`, `tools.lock.invalid`, `tools.lock.version`.
 */
export async function isRegistryCurrent(directory: string, { lock, ...options }: CompareLockOptions): Promise<boolean> {
  const place = await findLockPlace(directory, lock);
  const bytes = readLockBytes(place.lock);
  if (bytes === undefined) return false;
  if (startWarm(place, bytes, options) !== undefined) return true;
  // Throws for a lock that no load would take.
  parseLock(bytes, place.lock);
  return false;
}
