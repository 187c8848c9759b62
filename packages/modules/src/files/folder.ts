import { watch } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { dirname as posixDirname } from 'node:path/posix';
import { describeThrown, HoldfastError } from '@holdfast/core';
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

/** What `node:fs` does, as far as it is needed. Tests pass one that fails. */
export type WatchPath = (path: string, listener: (event: string, name: string | null) => void) => PathEvents;

export interface PathEvents {
  on(event: 'error', listener: () => void): unknown;
  close(): void;
}

export interface FolderWatching {
  readonly followed: FollowedFiles;
  /** Told which file may have changed, or `undefined` where any may have. */
  readonly changed: (path: string | undefined) => void;
  readonly watchPath?: WatchPath;
  /** How long to wait where the system watches no more folders. Milliseconds, default 1,000. */
  readonly retryMs?: number;
}

interface OpenWatch {
  readonly identity: string;
  readonly events: PathEvents;
  isStale: boolean;
}

/**
 * Watches the folders in which followed files lie, each by itself, and the one around them all: each of them may come, go and be
 * replaced. Resolves when nothing can be missed any more.
 *
 * Not by a library: chokidar, the usual one, makes a watch or a poll of whatever lies in a tree, while here the files are known.
 *
 * @throws HoldfastError `modules.watch_failed`.
 */
export async function watchFolder(
  root: string,
  { followed, changed, watchPath = watch, retryMs = 1000 }: FolderWatching,
): Promise<ModuleSourceWatch> {
  const watches = new Map<string, OpenWatch>();
  let wanted: ReadonlySet<string> = new Set();
  let state: 'idle' | 'arranging' | 'again' | 'closed' = 'idle';
  let retry: NodeJS.Timeout | undefined;

  function open(path: string, identity: string): void {
    const events = watchPath(path, (_event, name) => {
      if (name === null) rearrange();
      else notice(own, path, name);
    });
    const own: OpenWatch = { identity, events, isStale: false };
    watches.set(path, own);
    events.on('error', () => {
      own.isStale = true;
      rearrange();
    });
  }

  function notice(own: OpenWatch, folder: string, name: string): void {
    const path = join(folder, name);
    // Said of the folder itself when it is moved or removed, and another may take its place.
    if (name === basename(folder)) own.isStale = true;
    if (own.isStale || wanted.has(path)) {
      rearrange();
      return;
    }
    const place = relative(root, path).split(sep).join('/');
    const names = followed.namesOf(place);
    for (const one of names) changed(one);
    // Files may lie behind it, as behind the `..data` of a volume of Kubernetes, which is replaced as a whole.
    if (names.length === 0 && !place.startsWith('../')) {
      void isLink(path).then((is) => {
        if (is) rearrange();
      });
    }
  }

  /** What has to be watched now, with what each folder is. */
  async function identifyFolders(): Promise<ReadonlyMap<string, string>> {
    const inside = [...followed.folders()].map((folder) => join(root, folder));
    wanted = new Set(inside);
    const found = new Map<string, string>();
    for (const path of [...inside, dirname(root)]) {
      const identity = await findIdentity(path);
      if (identity !== undefined) found.set(path, identity);
    }
    // Up to a folder that is there, and in which the next one may come.
    const missing = new Set(wanted);
    for (let path = dirname(root); !found.has(path) && dirname(path) !== path; ) {
      missing.add(path);
      path = dirname(path);
      const identity = await findIdentity(path);
      if (identity !== undefined) found.set(path, identity);
    }
    wanted = missing;
    return found;
  }

  /** Answers what kept folders from being watched. */
  async function arrange(): Promise<readonly unknown[]> {
    for (;;) {
      const found = await identifyFolders();
      if (is(state, 'closed')) return [];
      for (const [path, { identity, isStale, events }] of watches) {
        if (!isStale && found.get(path) === identity) continue;
        events.close();
        watches.delete(path);
      }
      let isMore = false;
      const failures: unknown[] = [];
      for (const [path, identity] of found) {
        if (watches.has(path)) continue;
        try {
          open(path, identity);
          isMore = true;
        } catch (thrown) {
          failures.push(thrown);
        }
      }
      // In a folder that nobody has watched another one may have come meanwhile.
      if (!isMore) return failures;
    }
  }

  function rearrange(): void {
    if (state === 'arranging') state = 'again';
    if (state !== 'idle') return;
    state = 'arranging';
    void arrangeUntilQuiet();
  }

  async function arrangeUntilQuiet(): Promise<void> {
    const failures = await arrange();
    if (state === 'closed') return;
    const isAgain = state === 'again';
    state = 'idle';
    if (isAgain) {
      rearrange();
      return;
    }
    clearTimeout(retry);
    // The system has no room for a watch now, or the folder was gone a moment ago.
    if (failures.length > 0) retry = setTimeout(rearrange, retryMs);
    changed(undefined);
  }

  const stopFollowing = followed.onFolder(rearrange);
  const close = (): void => {
    state = 'closed';
    stopFollowing();
    clearTimeout(retry);
    for (const { events } of watches.values()) events.close();
    watches.clear();
  };
  state = 'arranging';
  const [failure] = await arrange();
  if (failure !== undefined) {
    close();
    const message = `The modules in \`${root}\` cannot be watched: ${describeThrown(failure)}. The system may allow more watches.`;
    throw new HoldfastError('modules.watch_failed', message, { cause: failure });
  }
  const isAgain = is(state, 'again');
  state = 'idle';
  if (isAgain) rearrange();
  return { close };
}

/** The compiler does not know that functions that ran meanwhile have set it. */
function is<Value>(value: Value, other: Value): boolean {
  return value === other;
}

async function isLink(path: string): Promise<boolean> {
  // What is gone again is no link.
  return await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

/** `undefined` for what is not there or cannot be asked for: it may come. */
async function findIdentity(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path, { bigint: true });
    return found.isDirectory() ? `${found.dev} ${found.ino} ${found.birthtimeNs}` : undefined;
  } catch {
    return undefined;
  }
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
