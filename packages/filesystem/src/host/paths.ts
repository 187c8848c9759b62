import type { BigIntStats, Stats } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { foldNames, otherSpellings, parentOf } from '../paths/paths.ts';
import type { Location } from '../staging/backend.ts';
import { leavesRoot, systemCode, toFileError } from './errors.ts';
import type { HostOperations } from './folder.ts';

/** Translates between keys and the paths of a host folder. */
export interface HostPaths {
  /** Where `key` is or would be. */
  toHost(key: string): Promise<string>;
  /** Resolves links and finds the names on disk. @throws HoldfastError `path.escape`, `file.unreadable`. */
  locate(key: string): Promise<Location>;
  /** As `Backend.folds` says. @throws HoldfastError `file.unreadable`. */
  folds(key: string): Promise<boolean>;
}

/** `root` is the real path of an existing folder. */
export function createHostPaths(operations: HostOperations, root: string): HostPaths {
  const prefix = root.endsWith(sep) ? root : root + sep;

  async function toHost(key: string): Promise<string> {
    if (isAscii(key)) return join(root, key);
    let path = root;
    for (const name of key.split('/')) path = join(path, await nameOnDisk(path, name));
    return path;
  }

  // Keys are NFC. A name that was made elsewhere may be on disk in another form, which is another name for most file systems.
  async function nameOnDisk(folder: string, name: string): Promise<string> {
    if (isAscii(name) || (await statIfPresent(operations, join(folder, name))) !== undefined) return name;
    try {
      return (await operations.readdir(folder)).find((other) => other.normalize('NFC') === name) ?? name;
    } catch (error) {
      if (isAbsence(error)) return name;
      throw error;
    }
  }

  /** The real path of the deepest folder or file on the way that exists, and the names below it that do not. */
  async function resolveExisting(path: string, key: string): Promise<{ real: string; missing: readonly string[] }> {
    const missing: string[] = [];
    for (let current = path; ; current = dirname(current)) {
      try {
        return { real: await operations.realpath(current), missing };
      } catch (error) {
        if (!isAbsence(error) || current === root) throw error;
        // A link to nothing: writing to it would make a file at a place that nobody has checked.
        if ((await statIfPresent(operations, current)) !== undefined) throw leavesRoot(key, error);
        missing.unshift(basename(current));
      }
    }
  }

  // `realpath` does not find the spelling on disk everywhere.
  async function realName(folder: string, name: string): Promise<string> {
    for (const other of otherSpellings(name)) {
      if (!(await isSameFile(join(folder, name), join(folder, other)))) continue;
      const names = await operations.readdir(folder);
      // Two names of one file, on a disk that does not fold.
      if (names.includes(name)) return name;
      for (const candidate of names) {
        const same = foldNames(candidate) === foldNames(name);
        if (same && (await isSameFile(join(folder, name), join(folder, candidate)))) return candidate;
      }
    }
    return name;
  }

  async function isSameFile(path: string, other: string): Promise<boolean> {
    const [a, b] = await Promise.all([statIfPresent(operations, other), statIfPresent(operations, path)]);
    return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
  }

  /** Tells by a name in a folder; `undefined` when none there can tell. */
  async function foldsNames(folder: string): Promise<boolean | undefined> {
    const names = (await statIfPresent(operations, folder))?.isDirectory() ? await operations.readdir(folder) : [];
    for (const name of names) {
      const [other] = otherSpellings(name);
      // Two names of one file tell nothing.
      if (other !== undefined && !names.includes(other)) return isSameFile(join(folder, name), join(folder, other));
    }
    return undefined;
  }

  return {
    toHost,
    async folds(key) {
      try {
        // A folder without names is taken to be like the one above it.
        for (let folder = key; ; folder = parentOf(folder) ?? '') {
          const folds = await foldsNames(await toHost(folder));
          if (folds !== undefined) return folds;
          if (folder === '') break;
        }
        const [other] = otherSpellings(basename(root));
        return other !== undefined && (await isSameFile(root, join(dirname(root), other)));
      } catch (error) {
        throw toFileError(error, key, 'read');
      }
    },
    async locate(key) {
      try {
        const path = await toHost(key);
        const { real, missing } = await resolveExisting(path, key);
        if (real !== root && !real.startsWith(prefix)) throw leavesRoot(key);
        const names = real === root ? [] : real.slice(prefix.length).split(sep);
        const named = await Promise.all(
          names.map((name, index) => realName(join(root, ...names.slice(0, index)), name)),
        );
        const link = missing.length === 0 && real !== path && (await operations.lstat(path)).isSymbolicLink();
        return { key: [...named, ...missing].join('/').normalize('NFC'), link };
      } catch (error) {
        throw toFileError(error, key, 'read');
      }
    },
  };
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
