import type { BigIntStats, Stats } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { foldPath } from '@holdfast/core';
import { otherSpellings, parentOf } from '../paths/paths.ts';
import type { Location } from '../staging/backend.ts';
import { leavesRoot, systemCode, toFileError } from './errors.ts';
import type { HostOperations } from './folder.ts';

/** Translates between keys and the paths of a host folder. */
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

  /** Where `key` is or would be. */
  async toHost(key: string): Promise<string> {
    if (isAscii(key)) return join(this.#root, key);
    let path = this.#root;
    for (const name of key.split('/')) path = join(path, await this.#nameOnDisk(path, name));
    return path;
  }

  /** Resolves links and finds the names on disk. @throws HoldfastError `path.escape`, `file.unreadable`. */
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

  /** As `Backend.folds` says. @throws HoldfastError `file.unreadable`. */
  async folds(key: string): Promise<boolean> {
    try {
      // A folder without names is taken to be like the one above it.
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

  // Keys are NFC. A name that was made elsewhere may be on disk in another form, which is another name for most file systems.
  async #nameOnDisk(folder: string, name: string): Promise<string> {
    if (isAscii(name) || (await statIfPresent(this.#operations, join(folder, name))) !== undefined) return name;
    try {
      return (await this.#operations.readdir(folder)).find((other) => other.normalize('NFC') === name) ?? name;
    } catch (error) {
      if (isAbsence(error)) return name;
      throw error;
    }
  }

  /** The real path of the deepest folder or file on the way that exists, and the names below it that do not. */
  async #resolveExisting(path: string, key: string): Promise<{ real: string; missing: readonly string[] }> {
    const missing: string[] = [];
    for (let current = path; ; current = dirname(current)) {
      try {
        return { real: await this.#operations.realpath(current), missing };
      } catch (error) {
        if (!isAbsence(error) || current === this.#root) throw error;
        // A link to nothing: writing to it would make a file at a place that nobody has checked.
        if ((await statIfPresent(this.#operations, current)) !== undefined) throw leavesRoot(key, error);
        missing.unshift(basename(current));
      }
    }
  }

  // `realpath` does not find the spelling on disk everywhere.
  async #realName(folder: string, name: string): Promise<string> {
    for (const other of otherSpellings(name)) {
      if (!(await this.#isSameFile(join(folder, name), join(folder, other)))) continue;
      const names = await this.#operations.readdir(folder);
      // Two names of one file, on a disk that does not fold.
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

  /** Tells by a name in a folder; `undefined` when none there can tell. */
  async #foldsNames(folder: string): Promise<boolean | undefined> {
    const isFolder = (await statIfPresent(this.#operations, folder))?.isDirectory() === true;
    const names = isFolder ? await this.#operations.readdir(folder) : [];
    for (const name of names) {
      const [other] = otherSpellings(name);
      // Two names of one file tell nothing.
      if (other !== undefined && !names.includes(other))
        return this.#isSameFile(join(folder, name), join(folder, other));
    }
    return undefined;
  }
}

/** What is at a host path; `undefined` when there is nothing. Follows no link. */
export async function statIfPresent(operations: HostOperations, path: string): Promise<Stats | undefined> {
  try {
    return await operations.lstat(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** As `statIfPresent`, with every digit of what tells files apart. */
export async function exactStatIfPresent(operations: HostOperations, path: string): Promise<BigIntStats | undefined> {
  try {
    return await operations.lstat(path, { bigint: true });
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Whether the operating system says that there is nothing at a path. */
export function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error));
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text);
}
