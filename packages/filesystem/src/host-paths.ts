import type { Stats } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type { Location } from './backend.ts';
import { leavesRoot, systemCode, toFileError } from './host-errors.ts';
import type { HostOperations } from './host-folder.ts';

/** Translates between keys and the paths of a host folder. */
export interface HostPaths {
  /** Where `key` is or would be. */
  toHost(key: string): Promise<string>;
  /** Resolves links. @throws HoldfastError `path.escape`, `file.unreadable`. */
  locate(key: string): Promise<Location>;
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

  return {
    toHost,
    async locate(key) {
      try {
        const path = await toHost(key);
        const { real, missing } = await resolveExisting(path, key);
        if (real !== root && !real.startsWith(prefix)) throw leavesRoot(key);
        const names = real === root ? [] : real.slice(prefix.length).split(sep);
        const link = missing.length === 0 && real !== path && (await operations.lstat(path)).isSymbolicLink();
        return { key: [...names, ...missing].join('/').normalize('NFC'), link };
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

/** Whether the operating system says that there is nothing at a path. */
export function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error));
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text);
}
