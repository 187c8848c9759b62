import { type BigIntStats, constants } from 'node:fs';
import { basename } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import { parentOf } from '../paths/paths.ts';
import { contentVersion } from '../staging/content.ts';
import type { HostAccess } from './changes.ts';
import { systemCode } from './errors.ts';
import { type HostFolder, type HostOperations, openFolder } from './folder.ts';
import type { FileContent, FileState, Stamp } from './journal.ts';
import { exactStatIfPresent, isAbsence } from './paths.ts';

export interface SiteAccess extends HostAccess {
  readonly maxFileBytes: number;
}

/**
 * The files of a root by key, with no link followed. What lies in a folder that is not there, or behind a link, counts as absent;
 * a change that would go there is not made, and answers `false`.
 */
export interface Site {
  find(key: string): Promise<BigIntStats | undefined>;
  hasContent(key: string, content: FileContent): Promise<boolean>;
  /** Whether it is the very file, with the same content; never the one that `other` tells of. */
  isFile(key: string, state: FileState, other?: Stamp | null): Promise<boolean>;
  /** `name`: the last one of `to` as it is to be on disk. */
  move(from: string, to: string, name?: string): Promise<boolean>;
  makeDirectory(key: string, mode?: number): Promise<boolean>;
  removeFile(key: string): Promise<boolean>;
  /** Also `false` when it is not empty. */
  removeDirectory(key: string): Promise<boolean>;
  /** Removes a file or an empty folder, if there is one. */
  removeLeftover(key: string): Promise<void>;
}

export function createSite({ operations, paths, maxFileBytes }: SiteAccess): Site {
  /** Runs with the path of `key` through its open folder. */
  async function reach<Result>(
    key: string,
    run: (path: string) => Promise<Result>,
    nameOnDisk?: string,
  ): Promise<Result | undefined> {
    let folder: HostFolder;
    let name: string;
    try {
      name = nameOnDisk ?? basename(await paths.toHost(key));
      folder = await openFolder(operations, await paths.toHost(parentOf(key) ?? ''), key);
    } catch (error) {
      const unreachable = ['ELOOP', 'ENAMETOOLONG'].includes(systemCode(error));
      if (isAbsence(error) || unreachable || (isHoldfastError(error) && error.code === 'path.escape')) return undefined;
      throw error;
    }
    try {
      return await run(`${folder.path}/${name}`);
    } finally {
      await folder.close();
    }
  }

  async function change(key: string, run: (path: string) => Promise<unknown>, nameOnDisk?: string): Promise<boolean> {
    return (await reach(key, async (path) => (await run(path)) !== false, nameOnDisk)) === true;
  }

  const find = (key: string) => reach(key, (path) => exactStatIfPresent(operations, path));

  async function readVersion(key: string): Promise<string | undefined> {
    return reach(key, async (path) => {
      const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
      const handle = await operations.open(path, flags);
      try {
        return await contentVersion(new Uint8Array(await handle.readFile()));
      } finally {
        await handle.close();
      }
    });
  }

  return {
    find,
    async hasContent(key, { version, size }) {
      const found = await find(key);
      if (found?.isFile() !== true || found.size !== BigInt(size) || size > maxFileBytes) return false;
      return (await readVersion(key)) === version;
    },
    async isFile(key, { version, size, ino, mtimeNs }, other) {
      const found = await find(key);
      if (found?.isFile() !== true || found.size !== BigInt(size)) return false;
      // Either is enough: some disks number files anew, and some round times, when they are mounted again. Nobody who has not
      // seen the file knows one of them.
      const byNumber = String(found.ino) === ino;
      const byTime = String(found.mtimeNs) === mtimeNs && String(found.ino) !== other?.ino;
      if (size > maxFileBytes || version.startsWith('large-')) return byNumber && String(found.mtimeNs) === mtimeNs;
      return (byNumber || byTime) && (await readVersion(key)) === version;
    },
    move: (from, to, name) => change(to, (target) => change(from, (path) => operations.rename(path, target)), name),
    makeDirectory: (key, mode) =>
      change(key, async (path) => {
        await operations.mkdir(path);
        if (mode !== undefined) await operations.chmod(path, mode);
      }),
    removeFile: (key) => change(key, (path) => operations.unlink(path)),
    removeDirectory: (key) => change(key, (path) => removeEmpty(operations, path)),
    async removeLeftover(key) {
      const found = await find(key);
      if (found === undefined) return;
      await change(key, (path) => (found.isDirectory() ? removeEmpty(operations, path) : operations.unlink(path)));
    },
  };
}

async function removeEmpty(operations: HostOperations, path: string): Promise<boolean> {
  try {
    await operations.rmdir(path);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes(systemCode(error))) return false;
    throw error;
  }
}
