import { readdir } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type WatchFolder, watchFolders } from '@holdfast/session/watch';
import { isToolFolderName } from '../scan/tool-files.ts';

export interface FileWatcher {
  /**
   * Watches these files in addition to the folder, in any location, existing or not. Absolute paths. Also updates the watched folders.
   * `changed` is called if something may have changed before. Resolves with the reasons why folders cannot be watched.
   */
  follow(paths: Iterable<string>): Promise<readonly unknown[]>;
  close(): void;
}

export interface WatchedPlace {
  /** The folder, which may be removed and recreated. */
  readonly directory: string;
  /** Also watches subfolders of any depth. */
  readonly subfolders: boolean;
  /** Files followed from the start. */
  readonly files: readonly string[];
}

/**
 * Watches a folder; resolves once no later change can be missed. `changed` is called when something may have changed,
 * without the file name: everything is read again.
 */
export type WatchFiles = (place: WatchedPlace, changed: () => void) => Promise<FileWatcher>;

export const watchFiles: WatchFiles = (place, changed) => watchFilesWith(undefined, place, changed);

/** Like `watchFiles`, for tests. */
export async function watchFilesWith(
  watchFolder: WatchFolder | undefined,
  { directory, subfolders, files }: WatchedPlace,
  changed: () => void,
): Promise<FileWatcher> {
  const folder = resolve(directory);
  let followed: ReadonlySet<string> = new Set(files);
  const isOfFolder = (path: string): boolean => {
    const parts = partsInside(folder, path);
    return parts !== undefined && (subfolders || parts.length < 2) && parts.every(isName);
  };
  const watch = watchFolders({
    async folders() {
      const inside = subfolders ? await listFolders(folder) : [folder];
      // Includes the parent folder: the folder may be replaced.
      return [dirname(folder), ...inside, ...[...followed].map((path) => dirname(path))];
    },
    changed(path) {
      if (path === undefined || followed.has(path) || isOfFolder(path)) changed();
    },
    ...(watchFolder === undefined ? {} : { watchFolder }),
  });
  await watch.update();
  return {
    async follow(paths) {
      const before = followed;
      followed = new Set([...paths].filter((path) => !isOfFolder(path)));
      const failures = await watch.update();
      // Changes to a file before it was followed were not reported.
      if ([...followed].some((path) => !before.has(path))) changed();
      return failures;
    },
    close: () => watch.close(),
  };
}

/** The path segments from a folder to a path in it; `undefined` if outside. */
function partsInside(folder: string, path: string): readonly string[] | undefined {
  const inside = relative(folder, path);
  if (inside === '') return [];
  const parts = inside.split(sep);
  return parts[0] === '..' || resolve(inside) === inside ? undefined : parts;
}

/** Ignores irrelevant names. A tool may import files that start with `_`. */
function isName(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

/** A folder and its subfolders with tools. */
async function listFolders(folder: string): Promise<readonly string[]> {
  const found = [folder];
  // Grows during the loop.
  for (const path of found) {
    // The scan reports unreadable folders.
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries)
      if (entry.isDirectory() && isToolFolderName(entry.name)) found.push(join(path, entry.name));
  }
  return found;
}
