import { HoldfastError } from '@holdfast/core';
import { findPathProblem } from './manifest.ts';

/** Where module files come from. Paths are relative, with `/`. */
export interface ModuleSource {
  /** For people: a folder's name. */
  readonly name: string;
  /**
   * The text of a file; `undefined` where there is none. Rejects with HoldfastError `modules.path_refused` (it leads out),
   * `modules.unreadable`, `modules.too_large`.
   */
  read(path: string): Promise<string | undefined>;
  /** Tells which file may have changed, or `undefined` where any may have, until it is closed. Absent: nothing ever does by itself. */
  watch?(changed: (path: string | undefined) => void): Promise<ModuleSourceWatch>;
}

export interface ModuleSourceWatch {
  close(): void;
}

/** Module files in memory, for tests and for hosts that keep them elsewhere than in a folder. */
export interface MemoryModules extends ModuleSource {
  /** Tells those who watch. @throws HoldfastError `modules.path_refused`. */
  write(path: string, text: string): void;
  /** As `write`; nothing happens where there is no such file. */
  remove(path: string): void;
  watch(changed: (path: string | undefined) => void): Promise<{ close(): void }>;
}

/**
 * @param files - texts by path, `manifest.json` among them.
 * @throws HoldfastError `modules.path_refused`.
 */
export function memoryModules(files: Readonly<Record<string, string>> = {}): MemoryModules {
  const texts = new Map<string, string>();
  for (const [path, text] of Object.entries(files)) texts.set(checkPath(path), text);
  const watchers = new Set<{ readonly changed: (path: string | undefined) => void }>();
  const tell = (path: string): void => {
    for (const { changed } of [...watchers]) changed(path);
  };
  return {
    name: 'memory',
    read: async (path) => texts.get(checkPath(path)),
    write(path, text) {
      texts.set(checkPath(path), text);
      tell(path);
    },
    remove(path) {
      if (texts.delete(path)) tell(path);
    },
    async watch(changed) {
      const watcher = { changed };
      watchers.add(watcher);
      return { close: () => void watchers.delete(watcher) };
    },
  };
}

function checkPath(path: string): string {
  const problem = findPathProblem(path);
  if (problem !== undefined) throw new HoldfastError('modules.path_refused', problem);
  return path;
}
