import { type FilesystemReader, isHoldfastError } from '@holdfast/core';
import type { FileEntry, FileStat } from '@holdfast/core/types';
import { isAddressable, joinKey, nameOf, parsePath } from '../paths/paths.ts';
import type { Protection } from '../paths/protection.ts';
import type { Backend, BackendEntry, BackendStat, Location } from './backend.ts';
import { contentVersion, toText } from './content.ts';
import { fileInvalid, isMissing } from './errors.ts';

/** The source of a reader: the committed files, or those with a call's overlay. */
export interface Source {
  /** The real key of a path as the caller wrote it. */
  locate(path: string): Promise<Location>;
  /** As in `Backend.folds`. */
  folds(key: string): Promise<boolean>;
  typeOf(key: string): Promise<FileEntry['type'] | undefined>;
  stat(key: string): Promise<FileStat | undefined>;
  /** `peek`: as in `FilesystemReader.read`. */
  read(key: string, peek?: boolean): Promise<Uint8Array>;
  list(key: string): Promise<readonly BackendEntry[]>;
}

/** The committed files of a backend. */
export function committedSource(backend: Backend, protection: Protection): Source {
  return {
    async locate(path) {
      const lexical = parsePath(path);
      protection.checkRead(lexical);
      const location = await backend.locate(lexical);
      if (location.key !== lexical) {
        // A link may lead to a path that cannot be named directly.
        parsePath(location.key);
        protection.checkRead(location.key);
      }
      return location;
    },
    folds: (key) => backend.folds(key),
    typeOf: async (key) => (await backend.stat(key))?.type,
    async stat(key) {
      const found = await backend.stat(key);
      return found === undefined ? undefined : toFileStat(backend, key, found);
    },
    read: (key) => backend.read(key),
    list: (key) => backend.list(key),
  };
}

/** The version of `key`; `null` if it does not exist. */
export async function versionAt(source: Source, key: string): Promise<string | null> {
  return (await source.stat(key))?.version ?? null;
}

/** A folder has a constant version: its entries have their own. */
export const directoryStat: FileStat = Object.freeze({ type: 'directory', size: 0, version: 'directory' });

async function toFileStat(backend: Backend, key: string, { type, size, stamp }: BackendStat): Promise<FileStat> {
  if (type === 'directory') return directoryStat;
  try {
    const bytes = await backend.read(key);
    return { type, size: bytes.length, version: await contentVersion(bytes) };
  } catch (error) {
    // Too large for any tool to have read or written: size and times suffice to detect a change.
    if (isHoldfastError(error) && error.reason === 'too_large') {
      return { type, size, version: `large-${stamp}` };
    }
    throw error;
  }
}

/** The reading half of a filesystem. */
export function createReader(source: Source, protection: Protection): FilesystemReader {
  async function entriesOf(key: string): Promise<FileEntry[]> {
    const entries: FileEntry[] = [];
    for (const { name: diskName, type, target } of await source.list(key)) {
      const name = diskName.normalize('NFC');
      if (type === 'other' || protection.hides(name) || !isAddressable(key, name)) continue;
      entries.push({ path: target ?? joinKey(key, name), name, type });
    }
    return entries;
  }

  return {
    async resolve(path) {
      return (await source.locate(path)).key;
    },
    async stat(path) {
      return source.stat((await source.locate(path)).key);
    },
    async read(path, { peek = false } = {}) {
      return new Uint8Array(await source.read((await source.locate(path)).key, peek));
    },
    async readText(path) {
      const { key } = await source.locate(path);
      const bytes = await source.read(key);
      const text = toText(bytes);
      if (text === undefined) throw fileInvalid('binary', key, `is not UTF-8 text (${bytes.length} bytes)`);
      return text;
    },
    async list(path) {
      const entries = await entriesOf((await source.locate(path)).key);
      return entries.sort((a, b) => compareText(a.name, b.name));
    },
    async *walk(path = '') {
      const { key } = await source.locate(path);
      const type = await source.typeOf(key);
      if (type === undefined) throw isMissing(key);
      const pending: FileEntry[] = [{ path: key, name: nameOf(key), type }];
      for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
        if (entry.type === 'file') {
          yield entry;
          continue;
        }
        const folder = entry.path;
        const inner = (await entriesOf(folder))
          // The target of a link is visited at its own place.
          .filter((child) => child.path === joinKey(folder, child.name) && !skippedByWalk.has(child.name))
          // Sorted as if folders ended with `/`, which gives path order; descending, because `pop` takes the last.
          .sort((a, b) => compareText(sortName(b), sortName(a)));
        pending.push(...inner);
      }
    },
  };
}

const skippedByWalk: ReadonlySet<string> = new Set(['.git', 'node_modules']);

function sortName({ name, type }: FileEntry): string {
  return type === 'directory' ? `${name}/` : name;
}

// By UTF-16 code unit, which is the same on every machine.
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
