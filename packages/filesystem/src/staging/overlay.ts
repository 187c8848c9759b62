import { type Filesystem, type FilesystemReader, HoldfastError, isHoldfastError } from '@holdfast/core';
import { parentOf, parsePath } from '../paths/paths.ts';
import { type Protection, refuseGit } from '../paths/protection.ts';
import type { Landing, Location } from './backend.ts';
import { contentVersion, toBytes } from './content.ts';
import { fileInvalid, isDirectory, isMissing, isNotDirectory, isNotEmpty, isTooLarge, pathInvalid } from './errors.ts';
import { findGitFolder } from './git-folder.ts';
import type { Ground } from './ground.ts';
import { layOver } from './layers.ts';
import { createReader, type Source, versionAt } from './reader.ts';
import { Reservations } from './reservations.ts';
import { OpenStaging, type StagedNode, type Staging } from './staging.ts';

/** The rules for all writes of a filesystem. */
export interface WriteRules {
  readonly protection: Protection;
  readonly maxFileBytes: number;
}

/** The writes of one call as an overlay on its ground; itself the ground of nested calls. */
export class Overlay implements Ground {
  readonly view: Filesystem;
  /** The same content for policies of nested calls; reading it is not recorded. */
  readonly readOnly: FilesystemReader;
  readonly staging: OpenStaging = new OpenStaging();
  readonly content: Source;
  readonly reservations: Reservations = new Reservations();
  readonly #below: Ground;
  readonly #rules: WriteRules;
  /** The source of `view`, which records what the call read. */
  readonly #source: Source;
  readonly #nested = new Set<() => void>();
  #closed = false;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #targets: Promise<readonly string[]> | undefined;

  constructor(below: Ground, rules: WriteRules) {
    this.#below = below;
    this.#rules = rules;
    this.content = layOver(below.content, this.staging);
    const whileOpen = this.#whileOpen();
    this.#source = this.#noting(whileOpen);
    this.readOnly = Object.freeze(createReader(whileOpen, rules.protection));
    this.view = Object.freeze({
      ...createReader(this.#source, rules.protection),
      write: (path: string, data: string | Uint8Array) => this.#exclusive(() => this.#write(path, data)),
      remove: (path: string) => this.#exclusive(() => this.#remove(path)),
      makeDirectory: (path: string) => this.#exclusive(() => this.#makeDirectory(path)),
    });
  }

  /** Ends the overlay: every method of `view` and `readOnly` throws `context.closed` from now on, and nested calls end. */
  close(): void {
    this.#closed = true;
    for (const end of this.#nested) end();
  }

  enter(end: () => void): () => void {
    this.#checkOpen();
    this.#nested.add(end);
    return () => this.#nested.delete(end);
  }

  /** Computed once per writing call. */
  protectedTargets(): Promise<readonly string[]> {
    this.#targets ??= this.#below.protectedTargets();
    return this.#targets;
  }

  async lock(): Promise<() => void> {
    return () => undefined;
  }

  async prepare(inner: Staging): Promise<Landing> {
    return {
      // After all running writes, which have checked the staging but not yet added to it.
      commit: () =>
        this.#exclusive(async () => {
          this.#checkOpen();
          this.staging.absorb(inner);
        }),
      discard: async () => undefined,
    };
  }

  #checkOpen(): void {
    if (this.#closed)
      throw new HoldfastError('context.closed', 'The call has ended; its filesystem can no longer be used.');
  }

  #whileOpen(): Source {
    const { content } = this;
    return {
      ...content,
      locate: async (path) => {
        this.#checkOpen();
        const location = await content.locate(path);
        this.#checkOpen();
        return location;
      },
      list: async (key) => {
        // A walk does not locate each folder.
        this.#checkOpen();
        return content.list(key);
      },
    };
  }

  #noting(source: Source): Source {
    const { content, staging } = this;
    return {
      ...source,
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
          staging.reads.add(key);
          return bytes;
        } catch (error) {
          if (isHoldfastError(error) && error.code === 'file.missing') {
            staging.see(key, null);
            staging.reads.add(key);
          }
          throw error;
        }
      },
    };
  }

  /** Runs writes one after the other, so that parallel writes see each other's staged changes. */
  #exclusive(run: () => Promise<void>): Promise<void> {
    const result = this.#lastWrite.then(run);
    // The caller gets the failure; here it only unblocks the next write.
    this.#lastWrite = Promise.allSettled([result]);
    return result;
  }

  async #write(path: string, data: string | Uint8Array): Promise<void> {
    const { maxFileBytes } = this.#rules;
    const { key } = await this.#locateForWrite(path);
    const bytes = toBytes(data, path);
    if (bytes.length > maxFileBytes) throw isTooLarge(key, bytes.length, maxFileBytes);
    const folders = await this.#missingFolders(key);
    if ((await this.content.typeOf(key)) === 'directory') throw isDirectory(key);
    const version = await contentVersion(bytes);
    await this.#stage(key, folders.set(key, { type: 'file', bytes, version }));
  }

  async #remove(path: string): Promise<void> {
    const { key, link } = await this.#locateForWrite(path);
    if (key === '') throw pathInvalid('protected', key, 'is the root of the workspace and cannot be removed');
    if (link) throw fileInvalid('is_link', path, `is a link to \`${key}\`; remove the target instead`);
    const type = await this.content.typeOf(key);
    if (type === undefined) throw isMissing(key);
    if (type === 'directory' && (await this.content.list(key)).length > 0) throw isNotEmpty(key);
    await this.#stage(key, new Map([[key, { type: 'removed' }]]));
  }

  async #makeDirectory(path: string): Promise<void> {
    const { key } = await this.#locateForWrite(path);
    const folders = await this.#missingFolders(key);
    const type = await this.content.typeOf(key);
    if (type === 'file') throw isNotDirectory(key);
    if (type !== 'directory') await this.#stage(key, folders.set(key, { type: 'directory' }));
  }

  async #locateForWrite(path: string): Promise<Location> {
    const { protection } = this.#rules;
    this.#checkOpen();
    protection.checkWrite(parsePath(path));
    const location = await this.#source.locate(path);
    protection.checkWrite(location.key, await this.protectedTargets());
    const repository = await findGitFolder(location.key, this.content);
    if (repository !== undefined) throw refuseGit(location.key, repository);
    return location;
  }

  /** The folders to create for `key`, after checking that they can be created. */
  async #missingFolders(key: string): Promise<Map<string, StagedNode>> {
    const missing: string[] = [];
    for (let folder = parentOf(key); folder !== undefined; folder = parentOf(folder)) {
      const type = await this.content.typeOf(folder);
      if (type === 'file') throw isNotDirectory(folder);
      if (type === 'directory') break;
      missing.unshift(folder);
    }
    return new Map(missing.map((folder) => [folder, { type: 'directory' }]));
  }

  /** Records the current state of `key` and stages the write. */
  async #stage(key: string, nodes: ReadonlyMap<string, StagedNode>): Promise<void> {
    const { staging } = this;
    if (!staging.seen.has(key)) staging.see(key, await versionAt(this.#below.content, key));
    this.#checkOpen();
    this.reservations.check(nodes);
    staging.stage(nodes);
  }
}
