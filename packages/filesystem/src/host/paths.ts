import type { BigIntStats } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { foldPath } from '@holdfast/core/internal';
import { otherSpellings, parentOf } from '../paths/paths.ts';
import type { Location } from '../staging/backend.ts';
import { leavesRoot, systemCode, toFileError } from './errors.ts';
import type { HostOperations } from './folder.ts';

/** Converts between keys and the paths of a host folder. */
export class HostPaths {
  readonly #operations: HostOperations;
  readonly #root: string;
  readonly #prefix: string;

  /** `root` is the real path of an existing folder. */
  constructor(operations: HostOperations, root: string) {
    this.#operations = operations;
    this.#root = root;
    this.#prefix = root.endsWith(sep) ? root : root + sep;
  }

  /** The actual or future path of `key`. */
  async toHost(key: string): Promise<string> {
    if (isAscii(key)) return join(this.#root, key);
    let path = this.#root;
    for (const name of key.split('/')) path = join(path, await this.#nameOnDisk(path, name));
    return path;
  }

  /** Resolves links and finds the names on disk. @throws HoldfastError `path.invalid`, `file.unreadable`. */
  async locate(key: string): Promise<Location> {
    try {
      const path = await this.toHost(key);
      const { real, missing } = await this.#resolveExisting(path, key);
      if (real !== this.#root && !real.startsWith(this.#prefix)) throw leavesRoot(key);
      const names = real === this.#root ? [] : real.slice(this.#prefix.length).split(sep);
      const named = await Promise.all(
        names.map((name, index) => this.#realName(join(this.#root, ...names.slice(0, index)), name)),
      );
      const link = missing.length === 0 && real !== path && (await this.#operations.lstat(path)).isSymbolicLink();
      return { key: [...named, ...missing].join('/').normalize('NFC'), link };
    } catch (error) {
      throw toFileError(error, key, 'read');
    }
  }

  /** As in `Backend.folds`. @throws HoldfastError `file.unreadable`. */
  async folds(key: string): Promise<boolean> {
    try {
      // An empty folder is assumed to behave like its parent.
      for (let folder = key; ; folder = parentOf(folder) ?? '') {
        const folds = await this.#foldsNames(await this.toHost(folder));
        if (folds !== undefined) return folds;
        if (folder === '') break;
      }
      const [other] = otherSpellings(basename(this.#root));
      return other !== undefined && (await this.#isSameFile(this.#root, join(dirname(this.#root), other)));
    } catch (error) {
      throw toFileError(error, key, 'read');
    }
  }

  // Keys are NFC. A name created elsewhere may have another form on disk, which most file systems treat as a different name.
  async #nameOnDisk(folder: string, name: string): Promise<string> {
    if (isAscii(name) || (await statIfPresent(this.#operations, join(folder, name))) !== undefined) return name;
    try {
      return (await this.#operations.readdir(folder)).find((other) => other.normalize('NFC') === name) ?? name;
    } catch (error) {
      if (isAbsence(error)) return name;
      throw error;
    }
  }

  /** The real path of the deepest existing ancestor, and the missing names below it. */
  async #resolveExisting(path: string, key: string): Promise<{ real: string; missing: readonly string[] }> {
    const missing: string[] = [];
    for (let current = path; ; current = dirname(current)) {
      try {
        return { real: await this.#operations.realpath(current), missing };
      } catch (error) {
        if (!isAbsence(error) || current === this.#root) throw error;
        // A broken link: writing to it would create a file at an unchecked place.
        if ((await statIfPresent(this.#operations, current)) !== undefined) throw leavesRoot(key, error);
        missing.unshift(basename(current));
      }
    }
  }

  // `realpath` does not return the spelling on disk everywhere.
  async #realName(folder: string, name: string): Promise<string> {
    for (const other of otherSpellings(name)) {
      if (!(await this.#isSameFile(join(folder, name), join(folder, other)))) continue;
      const names = await this.#operations.readdir(folder);
      // Two names of one file, on a disk that does not fold names.
      if (names.includes(name)) return name;
      for (const candidate of names) {
        const same = foldPath(candidate) === foldPath(name);
        if (same && (await this.#isSameFile(join(folder, name), join(folder, candidate)))) return candidate;
      }
    }
    return name;
  }

  async #isSameFile(path: string, other: string): Promise<boolean> {
    const [a, b] = await Promise.all([statIfPresent(this.#operations, other), statIfPresent(this.#operations, path)]);
    return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
  }

  /** Tests with a name in the folder; `undefined` if no name is suitable. */
  async #foldsNames(folder: string): Promise<boolean | undefined> {
    const isFolder = (await statIfPresent(this.#operations, folder))?.isDirectory() === true;
    const names = isFolder ? await this.#operations.readdir(folder) : [];
    for (const name of names) {
      const [other] = otherSpellings(name);
      // Two names of one file are not conclusive.
      if (other !== undefined && !names.includes(other))
        return this.#isSameFile(join(folder, name), join(folder, other));
    }
    return undefined;
  }
}

/** The stat of a host path, with exact numbers; `undefined` if it does not exist. Follows no link. */
export async function statIfPresent(operations: HostOperations, path: string): Promise<BigIntStats | undefined> {
  try {
    return await operations.lstat(path, { bigint: true });
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** True if the error means that nothing is at the path. */
export function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error));
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text);
}
