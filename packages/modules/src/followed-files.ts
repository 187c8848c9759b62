import { dirname } from 'node:path/posix';

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
    for (let folder = dirname(place); !folders.has(folder); folder = dirname(folder)) {
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
