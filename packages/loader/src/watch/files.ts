import { readdir } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type WatchFolder, watchFolders } from '@holdfast/session/watch';
import { isToolFolderName } from '../scan/tool-files.ts';

export interface FileWatcher {
  /**
   * From now on these files are watched beside the folder, wherever they lie and whether they exist or not. Absolute paths. What
   * has become of folders meanwhile is found, too. `changed` is told when something may have happened before that. Resolves with the
   * reasons why folders cannot be watched.
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

export const watchFiles: WatchFiles = (place, changed) => watchFilesWith(undefined, place, changed);

/** As `watchFiles`, for tests. */
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
      // With the folder around it: the folder may be put in the place of another one.
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
      // Nobody has reported what happened to a file before it was followed.
      if ([...followed].some((path) => !before.has(path))) changed();
      return failures;
    },
    close: () => watch.close(),
  };
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
  // Grows during the loop.
  for (const path of found) {
    // The scan reports what cannot be read.
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries)
      if (entry.isDirectory() && isToolFolderName(entry.name)) found.push(join(path, entry.name));
  }
  return found;
}
