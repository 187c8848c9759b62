import { type Filesystem, type FilesystemReader, HoldfastError, isHoldfastError } from '@holdfast/core';
import { parentOf, parsePath } from '../paths/paths.ts';
import { type Protection, refuseGit } from '../paths/protection.ts';
import type { Location } from './backend.ts';
import { contentVersion, toBytes } from './content.ts';
import { fileError, isDirectory, isMissing, isNotDirectory, isNotEmpty, isTooLarge } from './errors.ts';
import { findGitFolder } from './git-folder.ts';
import type { Ground } from './ground.ts';
import { layOver } from './layers.ts';
import { createReader, type Source, versionAt } from './reader.ts';
import { createReservations } from './reservations.ts';
import { createStaging, type OpenStaging, type StagedNode } from './staging.ts';

/** What holds for every write of a filesystem. */
export interface WriteRules {
  readonly protection: Protection;
  readonly maxFileBytes: number;
}

/** One call's writes, laid over a ground that does not know of them. */
export interface Overlay {
  readonly view: Filesystem;
  /** The same content for policies of nested calls: looking at it counts for nobody. */
  readonly readOnly: FilesystemReader;
  readonly staging: OpenStaging;
  /** What calls nested in this one lie over. */
  readonly ground: Ground;
  /** From here on every method of `view` and `readOnly` throws `context.closed`, and nested calls are at their end. */
  close(): void;
}

export function createOverlay(below: Ground, { protection, maxFileBytes }: WriteRules): Overlay {
  const staging = createStaging();
  const content = layOver(below.content, staging);
  const reservations = createReservations();
  const nested = new Set<() => void>();
  let closed = false;

  function checkOpen(): void {
    if (closed)
      throw new HoldfastError('context.closed', 'The call has ended; its filesystem cannot be used any more.');
  }

  const whileOpen: Source = {
    ...content,
    async locate(path) {
      checkOpen();
      const location = await content.locate(path);
      checkOpen();
      return location;
    },
    async list(key) {
      // A walk goes from folder to folder without locating each.
      checkOpen();
      return content.list(key);
    },
  };

  /** Notes what the call built on. */
  const source: Source = {
    ...whileOpen,
    async stat(key) {
      const found = await content.stat(key);
      if (!staging.nodes.has(key)) staging.see(key, found?.version ?? null);
      return found;
    },
    async read(key, peek = false) {
      if (peek || staging.nodes.has(key)) return content.read(key);
      try {
        const bytes = await content.read(key);
        staging.see(key, await contentVersion(bytes));
        staging.read(key);
        return bytes;
      } catch (error) {
        if (isHoldfastError(error) && error.code === 'file.missing') {
          staging.see(key, null);
          staging.read(key);
        }
        throw error;
      }
    },
  };

  async function meet(key: string): Promise<void> {
    if (!staging.seen.has(key)) staging.see(key, await versionAt(below.content, key));
  }

  function stage(nodes: ReadonlyMap<string, StagedNode>): void {
    checkOpen();
    reservations.check(nodes);
    staging.stage(nodes);
  }

  // One after the other: two writes that a tool starts together must not each miss what the other one stages.
  let last: Promise<unknown> = Promise.resolve();
  function exclusive(run: () => Promise<void>): Promise<void> {
    const result = last.then(run);
    // The caller hears of a failure; here it only means that the next one may start.
    last = Promise.allSettled([result]);
    return result;
  }

  // Looked up once for each call that writes.
  let targets: Promise<readonly string[]> | undefined;
  function protectedTargets(): Promise<readonly string[]> {
    targets ??= below.protectedTargets();
    return targets;
  }

  async function locateForWrite(path: string): Promise<Location> {
    checkOpen();
    protection.checkWrite(parsePath(path));
    const location = await source.locate(path);
    protection.checkWrite(location.key, await protectedTargets());
    const repository = await findGitFolder(location.key, content);
    if (repository !== undefined) throw refuseGit(location.key, repository);
    return location;
  }

  /** The folders that have to be made for `key`, having made sure that they can be. */
  async function missingFolders(key: string): Promise<Map<string, StagedNode>> {
    const missing: string[] = [];
    for (let folder = parentOf(key); folder !== undefined; folder = parentOf(folder)) {
      const type = await content.typeOf(folder);
      if (type === 'file') throw isNotDirectory(folder);
      if (type === 'directory') break;
      missing.unshift(folder);
    }
    return new Map(missing.map((folder) => [folder, { type: 'directory' }]));
  }

  const view: Filesystem = Object.freeze({
    ...createReader(source, protection),
    write: (path: string, data: string | Uint8Array) =>
      exclusive(async () => {
        const { key } = await locateForWrite(path);
        const bytes = toBytes(data, path);
        if (bytes.length > maxFileBytes) throw isTooLarge(key, bytes.length, maxFileBytes);
        const folders = await missingFolders(key);
        if ((await content.typeOf(key)) === 'directory') throw isDirectory(key);
        await meet(key);
        const version = await contentVersion(bytes);
        stage(folders.set(key, { type: 'file', bytes, version }));
      }),
    remove: (path: string) =>
      exclusive(async () => {
        const { key, link } = await locateForWrite(path);
        if (key === '') throw fileError('path.protected', key, 'is the root of the workspace and cannot be removed');
        if (link) throw fileError('file.is_link', path, `is a link to \`${key}\`; remove that instead`);
        const type = await content.typeOf(key);
        if (type === undefined) throw isMissing(key);
        if (type === 'directory' && (await content.list(key)).length > 0) throw isNotEmpty(key);
        await meet(key);
        stage(new Map([[key, { type: 'removed' }]]));
      }),
    makeDirectory: (path: string) =>
      exclusive(async () => {
        const { key } = await locateForWrite(path);
        const folders = await missingFolders(key);
        const type = await content.typeOf(key);
        if (type === 'file') throw isNotDirectory(key);
        if (type === 'directory') return;
        await meet(key);
        stage(folders.set(key, { type: 'directory' }));
      }),
  });

  const ground: Ground = {
    content,
    reservations,
    protectedTargets,
    enter(end) {
      checkOpen();
      nested.add(end);
      return () => nested.delete(end);
    },
    lock: async () => () => undefined,
    prepare: async (inner) => ({
      // After the writes that are under way: each has looked at what is staged and has not staged its own yet.
      commit: () =>
        exclusive(async () => {
          checkOpen();
          staging.absorb(inner);
        }),
      discard: async () => undefined,
    }),
  };

  return {
    view,
    readOnly: Object.freeze(createReader(whileOpen, protection)),
    staging,
    ground,
    close() {
      closed = true;
      for (const end of nested) end();
    },
  };
}
