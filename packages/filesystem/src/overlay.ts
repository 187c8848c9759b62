import { type Filesystem, HoldfastError, isHoldfastError, type Touched } from '@holdfast/core';
import type { Backend, BackendEntry, Location } from './backend.ts';
import { contentVersion, toBytes } from './content.ts';
import { fileError, isDirectory, isMissing, isNotDirectory, isNotEmpty, isTooLarge } from './file-errors.ts';
import { nameOf, parentOf, parsePath } from './paths.ts';
import type { Protection } from './protection.ts';
import { committedSource, createReader, directoryStat, type Source, versionAt } from './reader.ts';

export type StagedNode =
  | { readonly type: 'file'; readonly bytes: Uint8Array; readonly version: string }
  | { readonly type: 'directory' }
  | { readonly type: 'removed' };

/** One call's writes, laid over a backend that does not know of them. */
export interface Overlay {
  readonly view: Filesystem;
  readonly staged: ReadonlyMap<string, StagedNode>;
  /** By key, the version that the call first met; `null` for absent. */
  readonly seen: ReadonlyMap<string, string | null>;
  touched(): Touched;
  /** From here on every method of `view` throws `context.closed`. */
  close(): void;
}

export function createOverlay(backend: Backend, protection: Protection, maxFileBytes: number): Overlay {
  const committed = committedSource(backend, protection);
  const staged = new Map<string, StagedNode>();
  const stagedNames = new Map<string, Set<string>>();
  const seen = new Map<string, string | null>();
  const reads = new Set<string>();
  let closed = false;

  function checkOpen(): void {
    if (closed)
      throw new HoldfastError('context.closed', 'The call has ended; its filesystem cannot be used any more.');
  }

  function see(key: string, version: string | null): void {
    if (!seen.has(key)) seen.set(key, version);
  }

  async function meet(key: string): Promise<void> {
    if (!seen.has(key)) see(key, await versionAt(backend, key));
  }

  function stage(key: string, node: StagedNode): void {
    staged.set(key, node);
    const folder = parentOf(key) ?? '';
    const names = stagedNames.get(folder) ?? new Set();
    stagedNames.set(folder, names.add(nameOf(key)));
  }

  const source: Source = {
    async locate(path) {
      checkOpen();
      const location = await committed.locate(path);
      checkOpen();
      return location;
    },
    async typeOf(key) {
      const node = staged.get(key);
      if (node === undefined) return committed.typeOf(key);
      return node.type === 'removed' ? undefined : node.type;
    },
    async stat(key) {
      const node = staged.get(key);
      if (node?.type === 'removed') return undefined;
      if (node?.type === 'directory') return directoryStat;
      if (node?.type === 'file') return { type: 'file', size: node.bytes.length, version: node.version };
      const found = await committed.stat(key);
      see(key, found?.version ?? null);
      return found;
    },
    async read(key, peek = false) {
      const node = staged.get(key);
      if (node?.type === 'file') return node.bytes;
      if (node?.type === 'removed') throw isMissing(key);
      if (node?.type === 'directory') throw isDirectory(key);
      if (peek) return committed.read(key);
      try {
        const bytes = await committed.read(key);
        see(key, await contentVersion(bytes));
        reads.add(key);
        return bytes;
      } catch (error) {
        if (isHoldfastError(error) && error.code === 'file.missing') {
          see(key, null);
          reads.add(key);
        }
        throw error;
      }
    },
    async list(key) {
      checkOpen();
      const node = staged.get(key);
      if (node?.type === 'removed') throw isMissing(key);
      if (node?.type === 'file') throw isNotDirectory(key);
      const inBackend = node === undefined || (await backend.stat(key))?.type === 'directory';
      const entries = new Map<string, BackendEntry>();
      for (const entry of inBackend ? await committed.list(key) : []) {
        const gone = entry.target !== undefined && staged.get(entry.target)?.type === 'removed';
        if (!gone) entries.set(entry.name.normalize('NFC'), entry);
      }
      for (const name of stagedNames.get(key) ?? []) {
        const child = staged.get(key === '' ? name : `${key}/${name}`);
        if (child?.type === 'removed') entries.delete(name);
        else if (child !== undefined) entries.set(name, { name, type: child.type });
      }
      return [...entries.values()];
    },
  };

  // One after the other: two writes that a tool starts together must not each miss what the other one stages.
  let last: Promise<unknown> = Promise.resolve();
  function exclusive(run: () => Promise<void>): Promise<void> {
    const result = last.then(run);
    // The caller hears of a failure; here it only means that the next one may start.
    last = Promise.allSettled([result]);
    return result;
  }

  // Looked up once for each call that writes: protected names may be links, and what they lead to is protected as well.
  let protectedTargets: Promise<readonly string[]> | undefined;

  async function locateForWrite(path: string): Promise<Location> {
    checkOpen();
    protection.checkWrite(parsePath(path));
    const location = await source.locate(path);
    protectedTargets ??= findTargets(backend, protection.keys);
    protection.checkWrite(location.key, await protectedTargets);
    return location;
  }

  /** Finds the folders that have to be made for `key`, and makes sure that they can be. */
  async function missingFolders(key: string): Promise<readonly string[]> {
    const missing: string[] = [];
    for (let folder = parentOf(key); folder !== undefined; folder = parentOf(folder)) {
      const type = await source.typeOf(folder);
      if (type === 'file') throw isNotDirectory(folder);
      if (type === 'directory') break;
      missing.unshift(folder);
    }
    return missing;
  }

  const view: Filesystem = Object.freeze({
    ...createReader(source, protection),
    write: (path: string, content: string | Uint8Array) =>
      exclusive(async () => {
        const { key } = await locateForWrite(path);
        const bytes = toBytes(content, path);
        if (bytes.length > maxFileBytes) throw isTooLarge(key, bytes.length, maxFileBytes);
        const folders = await missingFolders(key);
        if ((await source.typeOf(key)) === 'directory') throw isDirectory(key);
        await meet(key);
        const version = await contentVersion(bytes);
        checkOpen();
        for (const folder of folders) stage(folder, { type: 'directory' });
        stage(key, { type: 'file', bytes, version });
      }),
    remove: (path: string) =>
      exclusive(async () => {
        const { key, link } = await locateForWrite(path);
        if (key === '') throw fileError('path.protected', key, 'is the root of the workspace and cannot be removed');
        if (link) throw fileError('file.is_link', path, `is a link to \`${key}\`; remove that instead`);
        const type = await source.typeOf(key);
        if (type === undefined) throw isMissing(key);
        if (type === 'directory' && (await source.list(key)).length > 0) throw isNotEmpty(key);
        await meet(key);
        checkOpen();
        stage(key, { type: 'removed' });
      }),
    makeDirectory: (path: string) =>
      exclusive(async () => {
        const { key } = await locateForWrite(path);
        const folders = await missingFolders(key);
        const type = await source.typeOf(key);
        if (type === 'file') throw isNotDirectory(key);
        if (type === 'directory') return;
        await meet(key);
        checkOpen();
        for (const folder of [...folders, key]) stage(folder, { type: 'directory' });
      }),
  });

  return {
    view,
    staged,
    seen,
    touched() {
      const writes: { key: string; before: string | null; after: string | null }[] = [];
      for (const [key, node] of staged) {
        // Folders that were only made on the way are no writes of the call.
        const before = seen.get(key);
        const after = node.type === 'file' ? node.version : node.type === 'directory' ? directoryStat.version : null;
        if (before !== undefined && !(before === null && after === null)) writes.push({ key, before, after });
      }
      return { reads: Array.from(reads, (key) => ({ key, version: seen.get(key) ?? null })), writes };
    },
    close() {
      closed = true;
    },
  };
}

async function findTargets(backend: Backend, keys: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    keys.map(async (key) => {
      try {
        return (await backend.locate(key)).key;
      } catch (error) {
        // A protected name that leads out of the root is out of every tool's reach.
        if (isHoldfastError(error) && error.code === 'path.escape') return key;
        throw error;
      }
    }),
  );
}
