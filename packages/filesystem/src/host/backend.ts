import { randomBytes } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { basename } from 'node:path';
import { hostProcesses, type Processes } from '@holdfast/session/lock';
import { joinKey, parentOf } from '../paths/paths.ts';
import type { Backend, BackendEntry } from '../staging/backend.ts';
import { fileError, isDirectory, isMissing, isTooLarge } from '../staging/errors.ts';
import { toFileError } from './errors.ts';
import { type HostOperations, openFolder, readOnlyFlags } from './folder.ts';
import { prepareHostChanges } from './landing.ts';
import { lockFolder } from './lock.ts';
import { HostPaths, isAbsence, statIfPresent } from './paths.ts';
import { settleJournals } from './recovery.ts';

/** Stores files in a folder of this machine. `root` is its real path. */
export function createHostBackend(
  root: string,
  operations: HostOperations,
  maxFileBytes: number,
  processes: Processes = hostProcesses,
): Backend {
  const paths = new HostPaths(operations, root);
  // Unique per backend: one process may have several on the same folder.
  const own = `${processes.identify().pid}-${randomBytes(4).toString('hex')}`;
  let commits = 0;

  async function listEntry(folder: string, entry: Dirent): Promise<BackendEntry> {
    const { name } = entry;
    if (entry.isFile()) return { name, type: 'file' };
    if (entry.isDirectory()) return { name, type: 'directory' };
    if (!entry.isSymbolicLink()) return { name, type: 'other' };
    try {
      const { key: target } = await paths.locate(joinKey(folder, name.normalize('NFC')));
      const type = typeOf(await operations.lstat(await paths.toHost(target)));
      return type === undefined ? { name, type: 'other' } : { name, type, target };
    } catch {
      // A link to the outside, to nothing or in a circle; using it reports which.
      return { name, type: 'other' };
    }
  }

  return {
    locate: (key) => paths.locate(key),
    folds: (key) => paths.folds(key),
    async stat(key) {
      try {
        const found = await operations.lstat(await paths.toHost(key), { bigint: true });
        const type = typeOf(found);
        if (type === undefined) throw fileError('file.unreadable', key, 'is neither a file nor a folder');
        const stamp = `${found.size}-${found.ino}-${found.mtimeNs}-${found.ctimeNs}`;
        return { type, size: type === 'file' ? Number(found.size) : 0, stamp };
      } catch (error) {
        if (isAbsence(error)) return undefined;
        throw toFileError(error, key, 'read');
      }
    },
    async read(key) {
      try {
        const parent = parentOf(key);
        if (parent === undefined) throw isDirectory(key);
        const folder = await openFolder(operations, await paths.toHost(parent), key);
        try {
          const handle = await operations.open(`${folder.path}/${basename(await paths.toHost(key))}`, readOnlyFlags);
          try {
            const found = await handle.stat();
            if (found.isDirectory()) throw isDirectory(key);
            if (!found.isFile()) throw fileError('file.unreadable', key, 'is neither a file nor a folder');
            if (found.size > maxFileBytes) throw isTooLarge(key, found.size, maxFileBytes);
            return new Uint8Array(await handle.readFile());
          } finally {
            await handle.close();
          }
        } finally {
          await folder.close();
        }
      } catch (error) {
        if (isAbsence(error)) throw isMissing(key, error);
        throw toFileError(error, key, 'read');
      }
    },
    async list(key) {
      try {
        const folder = await openFolder(operations, await paths.toHost(key), key);
        try {
          const entries = await operations.readdir(folder.path, { withFileTypes: true });
          return await Promise.all(entries.map((entry) => listEntry(key, entry)));
        } finally {
          await folder.close();
        }
      } catch (error) {
        // ENOTDIR may be about any name on the way, not just the last.
        const gone = isAbsence(error) && (await statIfPresent(operations, await paths.toHost(key))) === undefined;
        if (gone) throw isMissing(key, error);
        throw toFileError(error, key, 'read');
      }
    },
    lock: () => lockFolder(root),
    prepare(changes, mark) {
      commits += 1;
      const identity = { root, token: `${own}-${commits}`, mark, owner: processes.identify() };
      return prepareHostChanges({ operations, paths }, changes, identity);
    },
    settle: (request) => settleJournals({ operations, paths, root, maxFileBytes, processes }, request),
  };
}

function typeOf(stats: { isFile(): boolean; isDirectory(): boolean }): 'file' | 'directory' | undefined {
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'directory' : undefined;
}
