import { watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isToolFolderName } from '../scan/tool-files.ts';

export interface FileWatcher {
  /**
   * From now on these files are watched beside the folder, wherever they lie and whether they are there or not. Absolute paths. What
   * has become of folders meanwhile is found, too. `changed` is told when something may have happened before that. Resolves with why
   * folders cannot be watched; this is tried again each time.
   */
  follow(paths: Iterable<string>): Promise<readonly unknown[]>;
  close(): void;
}

export interface WatchedPlace {
  /** The folder, which may come and go. */
  readonly directory: string;
  /** Also the folders in it, however deep. */
  readonly subfolders: boolean;
  /** What is followed from the beginning. */
  readonly files: readonly string[];
}

/**
 * Starts to watch a folder; resolves when no change can be missed any more. `changed` is told when something may be different. Which
 * file it was does not matter: all are read again.
 */
export type WatchFiles = (place: WatchedPlace, changed: () => void) => Promise<FileWatcher>;

/** What `node:fs` does, as far as it is needed. */
export type WatchFolder = (path: string, listener: (event: string, name: string | null) => void) => FolderEvents;

export interface FolderEvents {
  on(event: 'error', listener: () => void): unknown;
  close(): void;
}

/**
 * Watches the folders of files with the means of the system, one watch a folder. Keeps the process alive until it is closed. File
 * systems that tell of no changes, such as many of a network, are not polled.
 */
export const watchFiles: WatchFiles = (place, changed) => watchFilesWith(watch, place, changed);

/** As `watchFiles`, for tests. */
export async function watchFilesWith(
  watchFolder: WatchFolder,
  { directory, subfolders, files }: WatchedPlace,
  changed: () => void,
): Promise<FileWatcher> {
  const folder = resolve(directory);
  let followed: ReadonlySet<string> = new Set();
  /** What each folder is; those that are missing are waited for. */
  let wanted: ReadonlyMap<string, string> = new Map();
  const watches = new Map<string, OpenWatch>();

  const isOfFolder = (path: string): boolean => {
    const parts = partsInside(folder, path);
    return parts !== undefined && (subfolders || parts.length < 2) && parts.every(isName);
  };
  const isOurs = (path: string): boolean => followed.has(path) || wanted.has(path) || isOfFolder(path);

  function open(path: string, identity: string): void {
    const watcher = watchFolder(path, (_event, name) => {
      // Said of the folder itself when it is moved or removed, and another may take its place.
      if (name === basename(path)) own.isStale = true;
      if (name === null || own.isStale || isOurs(join(path, name))) changed();
    });
    const own = { identity, watcher, isStale: false };
    watches.set(path, own);
    watcher.on('error', () => {
      own.isStale = true;
      changed();
    });
  }

  async function arrange(): Promise<{ readonly isAnew: boolean; readonly failures: readonly unknown[] }> {
    const inside = subfolders ? await listFolders(folder) : [folder];
    // With the folder around it: the folder may be put in the place of another one.
    wanted = await identify([dirname(folder), ...inside, ...[...followed].map((path) => dirname(path))]);
    for (const [path, { identity, isStale, watcher }] of watches) {
      if (!isStale && wanted.get(path) === identity) continue;
      watcher.close();
      watches.delete(path);
    }
    let isAnew = false;
    const failures: unknown[] = [];
    for (const [path, identity] of wanted) {
      if (identity === missing || watches.has(path)) continue;
      try {
        open(path, identity);
        isAnew = true;
      } catch (thrown) {
        // Gone a moment ago: then the folder above has news.
        if ((await findIdentity(path)) === missing) isAnew = true;
        else failures.push(thrown);
      }
    }
    return { isAnew, failures };
  }

  followed = new Set(files);
  await arrange();
  return {
    async follow(paths) {
      const before = followed;
      followed = new Set([...paths].filter((path) => !isOfFolder(path)));
      const isMore = [...followed].some((path) => !before.has(path));
      const { isAnew, failures } = await arrange();
      // Something may have happened that nobody has watched.
      if (isAnew || isMore) changed();
      return failures;
    },
    close() {
      for (const { watcher } of watches.values()) watcher.close();
      watches.clear();
    },
  };
}

interface OpenWatch {
  readonly identity: string;
  readonly watcher: FolderEvents;
  readonly isStale: boolean;
}

/** The names that lead from a folder to what is in it; `undefined`: it is elsewhere. */
function partsInside(folder: string, path: string): readonly string[] | undefined {
  const inside = relative(folder, path);
  if (inside === '') return [];
  const parts = inside.split(sep);
  return parts[0] === '..' || resolve(inside) === inside ? undefined : parts;
}

/** Names that mean nothing to anybody are no news. A tool may import what begins with `_`. */
function isName(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

/** A folder and those in it in which tools are looked for. */
async function listFolders(folder: string): Promise<readonly string[]> {
  const found = [folder];
  // Grows while it is gone through.
  for (const path of found) {
    // What cannot be looked into is told of by whoever reads it.
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries)
      if (entry.isDirectory() && isToolFolderName(entry.name)) found.push(join(path, entry.name));
  }
  return found;
}

const missing = 'missing';

/** What each folder is and, where one is missing, each one above up to one that is there. */
async function identify(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const waiting = [...paths];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    const identity = await findIdentity(path);
    found.set(path, identity);
    if (identity === missing && dirname(path) !== path) waiting.push(dirname(path));
  }
  return found;
}

async function findIdentity(path: string): Promise<string> {
  try {
    const { dev, ino, birthtimeNs } = await stat(path, { bigint: true });
    return `${dev} ${ino} ${birthtimeNs}`;
  } catch {
    // It may come.
    return missing;
  }
}
