import { lstat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { dirname as posixDirname } from 'node:path/posix';
import { describeThrown, HoldfastError } from '@holdfast/core';
import { type WatchFoldersOptions, watchFolders } from '@holdfast/session/watch';
import { readContained } from './contained.ts';
import { findPathProblem, pendingFolder } from './manifest.ts';
import type { ModuleSource, ModuleSourceWatch } from './source.ts';

/**
 * Module files in a folder with a `manifest.json`. Files are opened once, checked and then read: regular files of at most 8 MiB of
 * UTF-8 that lie in the folder, also behind links. `read` rejects with `modules.path_refused`, `modules.unreadable` and
 * `modules.too_large`.
 *
 * `watch` tells of the files that were read before, by the means of the system and without polling: file systems that tell of no
 * changes, such as many of a network, are not noticed. The folder may come and go. It rejects with `modules.watch_failed` where the
 * system watches no more folders, and keeps the process alive until it is closed.
 */
export function folderModules(directory: string): ModuleSource & Required<Pick<ModuleSource, 'watch'>> {
  const root = resolve(directory);
  const followed = createFollowedFiles();
  return {
    name: directory,
    async read(path) {
      const isFollowed = !path.startsWith(`${pendingFolder}/`) && findPathProblem(path) === undefined;
      // Before it is read: what comes while it is, is told of.
      if (isFollowed) followed.add(path);
      const file = await readContained(root, path);
      if (file !== undefined && isFollowed) followed.add(path, file.realPath);
      return file?.text;
    },
    watch: (changed) => watchFolder(root, { followed, changed }),
  };
}

export interface FolderWatching extends Pick<WatchFoldersOptions, 'watchFolder'> {
  readonly followed: FollowedFiles;
  /** Told which file may have changed, or `undefined` where any may have. */
  readonly changed: (path: string | undefined) => void;
}

/**
 * Watches the folders in which followed files lie, each by itself, and the one around them all. Resolves when nothing can be missed any
 * more.
 *
 * @throws HoldfastError `modules.watch_failed`.
 */
export async function watchFolder(
  root: string,
  { followed, changed, ...options }: FolderWatching,
): Promise<ModuleSourceWatch> {
  const watch = watchFolders({
    ...options,
    // With the folder around it: the folder may be put in the place of another one.
    folders: () => [dirname(root), ...[...followed.folders()].map((folder) => join(root, folder))],
    changed(path) {
      if (path === undefined) changed(undefined);
      else notice(path);
    },
  });

  function notice(path: string): void {
    const place = relative(root, path).split(sep).join('/');
    const names = followed.namesOf(place);
    for (const one of names) changed(one);
    // Files may lie behind it, as behind the `..data` of a volume of Kubernetes, which is replaced as a whole.
    if (names.length === 0 && !place.startsWith('../')) {
      void isLink(path).then((is) => {
        if (is && !isClosed) changed(undefined);
      });
    }
  }

  let isClosed = false;
  const stopFollowing = followed.onFolder(() => void watch.update());
  const close = (): void => {
    isClosed = true;
    stopFollowing();
    watch.close();
  };
  const [failure] = await watch.update();
  if (failure !== undefined) {
    close();
    const message = `The modules in \`${root}\` cannot be watched: ${describeThrown(failure)}. The system may allow more watches.`;
    throw new HoldfastError('modules.watch_failed', message, { cause: failure });
  }
  return { close };
}

async function isLink(path: string): Promise<boolean> {
  // What is gone again is no link.
  return await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

/** The files that somebody has asked a folder for, and where they really lie. Paths are relative to the folder, with `/`. */
export interface FollowedFiles {
  /** Notes that `path` was asked for; `realPath` where it is there and reached by links. */
  add(path: string, realPath?: string): void;
  /** Under which paths the file that lies at `path` was asked for. */
  namesOf(path: string): readonly string[];
  /** The folders in which files lie, and those around them; the folder itself is `.`. */
  folders(): ReadonlySet<string>;
  /** Told after files in another folder were asked for, until the answer is called. */
  onFolder(listener: () => void): () => void;
}

export function createFollowedFiles(): FollowedFiles {
  const names = new Map<string, Set<string>>();
  const folders = new Set(['.']);
  const listeners = new Set<() => void>();

  /** Whether a folder is new. */
  function note(place: string, path: string): boolean {
    const known = names.get(place);
    if (known !== undefined) known.add(path);
    else names.set(place, new Set([path]));
    let isNew = false;
    for (let folder = posixDirname(place); !folders.has(folder); folder = posixDirname(folder)) {
      folders.add(folder);
      isNew = true;
    }
    return isNew;
  }

  return {
    add(path, realPath = path) {
      const isNewByName = note(path, path);
      const isNewByPlace = note(realPath, path);
      if (isNewByName || isNewByPlace) for (const listener of [...listeners]) listener();
    },
    namesOf: (path) => [...(names.get(path) ?? [])],
    folders: () => folders,
    onFolder(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
