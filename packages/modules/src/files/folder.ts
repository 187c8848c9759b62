import { lstat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { dirname as posixDirname } from 'node:path/posix';
import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { type WatchFoldersOptions, watchFolders } from '@holdfast/session/watch';
import { readContained } from './contained.ts';
import { findPathProblem, pendingFolder } from './manifest.ts';
import type { ModuleSource, ModuleSourceWatch } from './source.ts';

/**
 * Module files in a folder with a `manifest.json`. Reads regular UTF-8 files of at most 8 MiB that are inside the folder, also through
 * links; each is opened once and then checked. `read` rejects with `modules.invalid`.
 *
 * `watch` reports changes of files that were read before. It uses the events of the operating system, so changes on many network file
 * systems go unnoticed. The folder may disappear and come back. Rejects with `modules.file_failed` if the system allows no more watches;
 * keeps the process alive until closed.
 */
export function folderModules(directory: string): ModuleSource & Required<Pick<ModuleSource, 'watch'>> {
  const root = resolve(directory);
  const followed = createFollowedFiles();
  return {
    name: directory,
    async read(path) {
      const isFollowed = !path.startsWith(`${pendingFolder}/`) && findPathProblem(path) === undefined;
      // Before reading, so that changes during reading are reported.
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
  /** Called with the file that may have changed, or `undefined` if any may have. */
  readonly changed: (path: string | undefined) => void;
}

/**
 * Watches each folder that contains followed files, and the parent of the root. Resolves once no change can be missed.
 *
 * @throws HoldfastError `modules.file_failed`.
 */
export async function watchFolder(
  root: string,
  { followed, changed, ...options }: FolderWatching,
): Promise<ModuleSourceWatch> {
  const watch = watchFolders({
    ...options,
    // Includes the parent: the root itself may be replaced.
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
    // Files may be reached through it, like the `..data` link of a Kubernetes volume, which is replaced as a whole.
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
    const message = `Cannot watch the modules in \`${root}\`: ${describeThrown(failure)}. The system limit on watches may be too low.`;
    throw new HoldfastError('modules.file_failed', message, { data: { reason: 'watch' }, cause: failure });
  }
  return { close };
}

async function isLink(path: string): Promise<boolean> {
  // A path that has disappeared again is not a link.
  return await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

/** The files that were requested from a folder, and their real paths. Paths are relative to the folder, with `/`. */
export interface FollowedFiles {
  /** Records a request for `path`; `realPath` if it was reached through links. */
  add(path: string, realPath?: string): void;
  /** The paths under which the file at `path` was requested. */
  namesOf(path: string): readonly string[];
  /** The folders that contain requested files, and their parents; the root is `.`. */
  folders(): ReadonlySet<string>;
  /** Calls `listener` when a file in a new folder is requested; returns a function that removes it. */
  onFolder(listener: () => void): () => void;
}

export function createFollowedFiles(): FollowedFiles {
  const names = new Map<string, Set<string>>();
  const folders = new Set(['.']);
  const listeners = new Set<() => void>();

  /** True if the folder is new. */
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
