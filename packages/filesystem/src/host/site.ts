import type { BigIntStats } from 'node:fs';
import { basename } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import { parentOf } from '../paths/paths.ts';
import { contentVersion } from '../staging/content.ts';
import type { HostAccess } from './changes.ts';
import { systemCode } from './errors.ts';
import { type HostFolder, type HostOperations, openFolder, readOnlyFlags } from './folder.ts';
import type { FileContent, FileState, Stamp } from './journal.ts';
import { isAbsence, statIfPresent } from './paths.ts';

export interface SiteAccess extends HostAccess {
  readonly maxFileBytes: number;
}

/**
 * The files of a root by key, without following links. Anything in a missing folder or behind a link counts as absent; a change there is
 * not made and returns `false`.
 */
export class Site {
  readonly #access: SiteAccess;

  constructor(access: SiteAccess) {
    this.#access = access;
  }

  find(key: string): Promise<BigIntStats | undefined> {
    return this.#reach(key, (path) => statIfPresent(this.#access.operations, path));
  }

  async hasContent(key: string, { version, size }: FileContent): Promise<boolean> {
    const found = await this.find(key);
    if (found?.isFile() !== true || found.size !== BigInt(size) || size > this.#access.maxFileBytes) return false;
    return (await this.#readVersion(key)) === version;
  }

  /** True if it is the same file with the same content; never the file that `other` identifies. */
  async isFile(key: string, { version, size, ino, mtimeNs }: FileState, other?: Stamp | null): Promise<boolean> {
    const found = await this.find(key);
    if (found?.isFile() !== true || found.size !== BigInt(size)) return false;
    // Either match is enough: some disks renumber files and some round times when remounted. Both are unknown to anyone who has not seen
    // the file.
    const byNumber = String(found.ino) === ino;
    const byTime = String(found.mtimeNs) === mtimeNs && String(found.ino) !== other?.ino;
    if (size > this.#access.maxFileBytes || version.startsWith('large-'))
      return byNumber && String(found.mtimeNs) === mtimeNs;
    return (byNumber || byTime) && (await this.#readVersion(key)) === version;
  }

  /** `name`: the last name of `to` in its form on disk. */
  move(from: string, to: string, name?: string): Promise<boolean> {
    const { operations } = this.#access;
    return this.#change(to, (target) => this.#change(from, (path) => operations.rename(path, target)), name);
  }

  makeDirectory(key: string, mode?: number): Promise<boolean> {
    const { operations } = this.#access;
    return this.#change(key, async (path) => {
      await operations.mkdir(path);
      if (mode !== undefined) await operations.chmod(path, mode);
    });
  }

  removeFile(key: string): Promise<boolean> {
    return this.#change(key, (path) => this.#access.operations.unlink(path));
  }

  /** Also `false` if it is not empty. */
  removeDirectory(key: string): Promise<boolean> {
    return this.#change(key, (path) => removeEmpty(this.#access.operations, path));
  }

  /** Removes a file or an empty folder, if it exists. */
  async removeLeftover(key: string): Promise<void> {
    const found = await this.find(key);
    if (found !== undefined) await (found.isDirectory() ? this.removeDirectory(key) : this.removeFile(key));
  }

  /** Runs with the path of `key` through an open handle of its folder. */
  async #reach<Result>(
    key: string,
    run: (path: string) => Promise<Result>,
    nameOnDisk?: string,
  ): Promise<Result | undefined> {
    const { operations, paths } = this.#access;
    let folder: HostFolder;
    let name: string;
    try {
      name = nameOnDisk ?? basename(await paths.toHost(key));
      folder = await openFolder(operations, await paths.toHost(parentOf(key) ?? ''), key);
    } catch (error) {
      const unreachable = ['ELOOP', 'ENAMETOOLONG'].includes(systemCode(error));
      if (isAbsence(error) || unreachable || (isHoldfastError(error) && error.reason === 'escape')) return undefined;
      throw error;
    }
    try {
      return await run(`${folder.path}/${name}`);
    } finally {
      await folder.close();
    }
  }

  async #change(key: string, run: (path: string) => Promise<unknown>, nameOnDisk?: string): Promise<boolean> {
    return (await this.#reach(key, async (path) => (await run(path)) !== false, nameOnDisk)) === true;
  }

  #readVersion(key: string): Promise<string | undefined> {
    return this.#reach(key, async (path) => {
      const handle = await this.#access.operations.open(path, readOnlyFlags);
      try {
        return await contentVersion(new Uint8Array(await handle.readFile()));
      } finally {
        await handle.close();
      }
    });
  }
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
