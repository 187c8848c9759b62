import { HoldfastError } from '@holdfast/core';
import { findPathProblem } from './manifest.ts';

/** A source of module files. Paths are relative, with `/`. */
export interface ModuleSource {
  /** A name for people, such as the folder. */
  readonly name: string;
  /**
   * The text of a file; `undefined` if it does not exist. Rejects with HoldfastError `modules.invalid` (outside of the folder),
   * `modules.invalid`.
   */
  read(path: string): Promise<string | undefined>;
  /** Reports the file that may have changed, or `undefined` if any may have, until closed. Absent: files never change on their own. */
  watch?(changed: (path: string | undefined) => void): Promise<ModuleSourceWatch>;
}

export interface ModuleSourceWatch {
  close(): void;
}

/** Module files in memory, for tests and for hosts that store them elsewhere. */
export interface MemoryModules extends ModuleSource {
  /** Notifies watchers. @throws HoldfastError `modules.invalid`. */
  write(path: string, text: string): void;
  /** Notifies watchers; ignores missing files. @throws HoldfastError `modules.invalid`. */
  remove(path: string): void;
  watch(changed: (path: string | undefined) => void): Promise<{ close(): void }>;
}

/**
 * Creates a source from texts by path, including `manifest.json`.
 *
 * @throws HoldfastError `modules.invalid`.
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
  if (problem !== undefined) throw new HoldfastError('modules.invalid', problem, { data: { reason: 'path' } });
  return path;
}
