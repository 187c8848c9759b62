import type { FilesystemReader } from '@holdfast/core';
import type { CompletionContext } from '@holdfast/core/types';

/** The context of providers and checkers in tests: no filesystem, deadline, budget or calls. */
export function guidanceContext(changes: Partial<CompletionContext> = {}): CompletionContext {
  return {
    session: {
      read() {
        throw new Error('No slice is read here.');
      },
    },
    filesystem: undefined,
    deadline: { atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY },
    budget: undefined,
    calls: 0,
    text: '',
    ...changes,
  };
}

/** A folder with `paths` that supports only `stat`. */
export function folderOf(...paths: readonly string[]): FilesystemReader {
  const unasked = () => {
    throw new Error('Only `stat` is asked here.');
  };
  return {
    async stat(path) {
      if (path.startsWith('..')) throw new Error(`\`${path}\` leaves the folder.`);
      if (paths.includes(path)) return { type: 'file', size: 1, version: '1' };
      const isFolder = paths.some((file) => file.startsWith(`${path}/`));
      return isFolder ? { type: 'directory', size: 0, version: 'directory' } : undefined;
    },
    resolve: unasked,
    read: unasked,
    readText: unasked,
    list: unasked,
    walk: unasked,
  };
}
