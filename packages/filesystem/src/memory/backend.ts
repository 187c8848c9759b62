import { nameOf, parentOf } from '../paths/paths.ts';
import type { Backend, BackendEntry, BackendStat, Change, Landing, Location } from '../staging/backend.ts';
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

/** Stores files in memory. */
export class MemoryBackend implements Backend {
  readonly #root: MemoryFolder = { type: 'directory', children: new Map() };
  readonly #maxFileBytes: number;

  /** `files` maps keys to content; parent folders are created. */
  constructor(files: ReadonlyMap<string, Uint8Array>, maxFileBytes: number) {
    this.#maxFileBytes = maxFileBytes;
    for (const [key, bytes] of files) {
      const { children } = this.#makeFolders(parentOf(key) ?? '');
      if (children.get(nameOf(key))?.type === 'directory') throw isDirectory(key);
      children.set(nameOf(key), { type: 'file', bytes });
    }
  }

  async locate(key: string): Promise<Location> {
    return { key, link: false };
  }

  async folds(): Promise<boolean> {
    return false;
  }

  async stat(key: string): Promise<BackendStat | undefined> {
    const node = this.#find(key);
    if (node === undefined) return undefined;
    const size = node.type === 'file' ? node.bytes.length : 0;
    return { type: node.type, size, stamp: String(size) };
  }

  async read(key: string): Promise<Uint8Array> {
    const node = this.#find(key);
    if (node === undefined) throw isMissing(key);
    if (node.type === 'directory') throw isDirectory(key);
    if (node.bytes.length > this.#maxFileBytes) throw isTooLarge(key, node.bytes.length, this.#maxFileBytes);
    return node.bytes;
  }

  async list(key: string): Promise<readonly BackendEntry[]> {
    const node = this.#find(key);
    if (node === undefined) throw isMissing(key);
    if (node.type !== 'directory') throw isNotDirectory(key);
    return Array.from(node.children, ([name, { type }]) => ({ name, type }));
  }

  async prepare(changes: readonly Change[]): Promise<Landing> {
    return {
      // Synchronous, so that the commit is atomic for readers.
      commit: async () => {
        const applied: (() => void)[] = [];
        try {
          for (const change of changes) applied.push(this.#apply(change));
        } catch (error) {
          for (const undo of applied.toReversed()) undo();
          throw error;
        }
      },
      discard: async () => undefined,
    };
  }

  #find(key: string): MemoryNode | undefined {
    let node: MemoryNode | undefined = this.#root;
    for (const name of namesOf(key)) {
      if (node?.type !== 'directory') return undefined;
      node = node.children.get(name);
    }
    return node;
  }

  #makeFolders(key: string): MemoryFolder {
    let folder = this.#root;
    for (const name of namesOf(key)) {
      const next: MemoryNode = folder.children.get(name) ?? { type: 'directory', children: new Map() };
      if (next.type !== 'directory') throw isNotDirectory(key);
      folder.children.set(name, next);
      folder = next;
    }
    return folder;
  }

  #apply(change: Change): () => void {
    const { key } = change;
    const current = this.#find(key);
    switch (change.type) {
      case 'write':
        if (current?.type === 'directory') throw isDirectory(key);
        return this.#swap(key, { type: 'file', bytes: change.bytes });
      case 'make-directory':
        if (current?.type === 'file') throw isNotDirectory(key);
        return current === undefined ? this.#swap(key, { type: 'directory', children: new Map() }) : () => undefined;
      case 'remove-file':
        if (current?.type !== 'file') throw isMissing(key);
        return this.#swap(key, undefined);
      case 'remove-directory':
        if (current?.type !== 'directory') throw isMissing(key);
        if (current.children.size > 0) throw isNotEmpty(key);
        return this.#swap(key, undefined);
      default:
        return change satisfies never;
    }
  }

  /** Puts `node` at `key` and returns a function that restores the previous state. */
  #swap(key: string, node: MemoryNode | undefined): () => void {
    const folder = this.#find(parentOf(key) ?? '');
    if (folder?.type !== 'directory') throw isNotDirectory(parentOf(key) ?? '');
    const name = nameOf(key);
    const before = folder.children.get(name);
    const put = (there: MemoryNode | undefined): void => {
      if (there === undefined) folder.children.delete(name);
      else folder.children.set(name, there);
    };
    put(node);
    return () => put(before);
  }
}

function namesOf(key: string): readonly string[] {
  return key === '' ? [] : key.split('/');
}
