import { nameOf, parentOf } from '../paths/paths.ts';
import type { Backend, Change } from '../staging/backend.ts';
import { isDirectory, isMissing, isNotDirectory, isNotEmpty, isTooLarge } from '../staging/errors.ts';

type MemoryNode = MemoryFile | MemoryFolder;

interface MemoryFile {
  readonly type: 'file';
  readonly bytes: Uint8Array;
}

interface MemoryFolder {
  readonly type: 'directory';
  readonly children: Map<string, MemoryNode>;
}

/** Keeps files in memory. `files` maps keys to content; folders on the way are made. */
export function createMemoryBackend(files: ReadonlyMap<string, Uint8Array>, maxFileBytes: number): Backend {
  const root: MemoryFolder = { type: 'directory', children: new Map() };

  for (const [key, bytes] of files) {
    makeFolders(parentOf(key) ?? '');
    const folder = folderOf(key);
    if (folder.children.get(nameOf(key))?.type === 'directory') throw isDirectory(key);
    folder.children.set(nameOf(key), { type: 'file', bytes });
  }

  function find(key: string): MemoryNode | undefined {
    if (key === '') return root;
    let node: MemoryNode | undefined = root;
    for (const name of key.split('/')) {
      if (node?.type !== 'directory') return undefined;
      node = node.children.get(name);
    }
    return node;
  }

  function folderOf(key: string): MemoryFolder {
    const folder = find(parentOf(key) ?? '');
    if (folder?.type !== 'directory') throw isNotDirectory(parentOf(key) ?? '');
    return folder;
  }

  function makeFolders(key: string): void {
    let folder = root;
    for (const name of key === '' ? [] : key.split('/')) {
      const next: MemoryNode = folder.children.get(name) ?? { type: 'directory', children: new Map() };
      if (next.type !== 'directory') throw isNotDirectory(key);
      folder.children.set(name, next);
      folder = next;
    }
  }

  /** Puts `node` at `key` and gives what puts back what was there. */
  function swap(key: string, node: MemoryNode | undefined): () => void {
    const { children } = folderOf(key);
    const name = nameOf(key);
    const before = children.get(name);
    if (node === undefined) children.delete(name);
    else children.set(name, node);
    return () => {
      if (before === undefined) children.delete(name);
      else children.set(name, before);
    };
  }

  function apply(change: Change): () => void {
    const { key } = change;
    const current = find(key);
    switch (change.type) {
      case 'write':
        if (current?.type === 'directory') throw isDirectory(key);
        return swap(key, { type: 'file', bytes: change.bytes });
      case 'make-directory':
        if (current?.type === 'file') throw isNotDirectory(key);
        return current === undefined ? swap(key, { type: 'directory', children: new Map() }) : () => undefined;
      case 'remove-file':
        if (current?.type !== 'file') throw isMissing(key);
        return swap(key, undefined);
      case 'remove-directory':
        if (current?.type !== 'directory') throw isMissing(key);
        if (current.children.size > 0) throw isNotEmpty(key);
        return swap(key, undefined);
      default:
        return change satisfies never;
    }
  }

  return {
    locate: async (key) => ({ key, link: false }),
    folds: async () => false,
    async stat(key) {
      const node = find(key);
      if (node === undefined) return undefined;
      const size = node.type === 'file' ? node.bytes.length : 0;
      return { type: node.type, size, stamp: String(size) };
    },
    async read(key) {
      const node = find(key);
      if (node === undefined) throw isMissing(key);
      if (node.type === 'directory') throw isDirectory(key);
      if (node.bytes.length > maxFileBytes) throw isTooLarge(key, node.bytes.length, maxFileBytes);
      return node.bytes;
    },
    async list(key) {
      const node = find(key);
      if (node === undefined) throw isMissing(key);
      if (node.type !== 'directory') throw isNotDirectory(key);
      return Array.from(node.children, ([name, { type }]) => ({ name, type }));
    },
    prepare: async (changes) => ({
      // Without a pause, so that nobody sees it half done.
      async commit() {
        const applied: (() => void)[] = [];
        try {
          for (const change of changes) applied.push(apply(change));
        } catch (error) {
          for (const undo of applied.toReversed()) undo();
          throw error;
        }
      },
      discard: async () => undefined,
    }),
  };
}
