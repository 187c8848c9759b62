import { dirname } from 'node:path';
import { watchFolders } from '@holdfast/session/watch';
import type { Host } from '../terminal/host.ts';
import { findLockPath, type ServerName } from './pins.ts';

export interface PinWatch {
  /** False where the system cannot watch the lock's folder. */
  readonly works: boolean;
  close(): void;
}

/** Calls `changed` each time that the lock with a server's pin may have been written. */
export async function watchPins(
  entry: ServerName,
  host: Pick<Host, 'environment' | 'directory'>,
  changed: () => void,
): Promise<PinWatch> {
  const lock = findLockPath(entry, host);
  const watch = watchFolders({
    folders: () => [dirname(lock)],
    changed: (path) => {
      if (path === undefined || path === lock) changed();
    },
  });
  const problems = await watch.update();
  return { works: problems.length === 0, close: () => watch.close() };
}
