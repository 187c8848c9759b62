import { resolve } from 'node:path';
import { createFollowedFiles } from './followed-files.ts';
import { pendingFolder } from './manifest.ts';
import { findPathProblem } from './module-path.ts';
import type { ModuleSource } from './module-source.ts';
import { readContained } from './read-contained.ts';
import { watchFolder } from './watch-folder.ts';

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
