import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { lstat, readdir, rename, rm, utimes } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { codeOf, readBounded } from '../files/read-bounded.ts';
import { findRealPath } from '../files/real-path.ts';
import type { Closure } from '../imports/closure.ts';
import type { PinnedTool } from '../language/types.ts';
import { decodeText } from '../text/decode.ts';

/** The expected content of a copy. */
export interface Pin {
  /** Name of the copy. */
  readonly digest: string;
  /** Path of the file to import, relative to the root. */
  readonly entry: string;
  /** SHA-256 in hexadecimal by path. */
  readonly files: ReadonlyMap<string, string>;
}

/** The copies of pinned files: `.holdfast/<name>/<digest>/files/<path>` in the root of the project. */
export interface PinnedCopies {
  /** Writes the copy unless it exists; returns true if written. @throws HoldfastError `tool.file.import_failed`. */
  keep(closure: Closure): Promise<boolean>;
  /** Replaces a damaged or missing copy. @throws HoldfastError `tool.file.import_failed`. */
  replace(closure: Closure): Promise<void>;
  /** Removes the copy as far as possible. */
  remove(digest: string): Promise<void>;
  /** Records a use: the copy is kept for some time from now on, even if it leaves the lock. */
  noteUse(digest: string): Promise<void>;
  /**
   * Removes copies that are not in `named` and were neither created nor used since `beforeMs`, and leftovers of
   * interrupted writes. Best effort: failures are ignored, because it only saves space.
   */
  removeOld(named: ReadonlySet<string>, beforeMs: number): Promise<void>;
  /** True if the copy contains the bytes of `pin`, and nothing else. */
  isWhole(pin: Pin): Promise<boolean>;
  /** Absolute path of the file to import. */
  entryOf(pin: Pick<Pin, 'digest' | 'entry'>): string;
  /** The text of a file in a copy, if it exists with that digest. */
  readText(pin: Pin, path: string): Promise<string | undefined>;
}

/** Called after each step; a throw simulates a crash. */
export type OnCopy = (step: 'written' | 'put') => void | Promise<void>;

// Makes the copy independent of a `package.json` above it.
const manifest = '{ "type": "module" }\n';
const manifestName = 'package.json';
// The size limit for a file of a closure.
const maxFileBytes = 64 * 1024 * 1024;

/** How long a copy outside the lock is kept, because another process may still run its tools: 30 days. */
export const keepCopiesMs: number = 30 * 24 * 60 * 60 * 1000;

export interface PinnedCopiesOptions {
  /** Name of the folder for the copies. Default `tools`. */
  readonly name?: string;
  readonly onCopy?: OnCopy | undefined;
}

/** @param root - absolute, without symlinks. */
export function createPinnedCopies(root: string, { name = 'tools', onCopy }: PinnedCopiesOptions = {}): PinnedCopies {
  const home = join(root, '.holdfast');
  const folder = join(home, name);
  const placeOf = (digest: string): string => join(folder, digest);

  // Synchronous: for copies of a thousand small files, promises take most of the time.
  async function write(closure: Closure): Promise<string> {
    makeFolder();
    const aside = join(folder, `.new-${process.pid}-${randomUUID()}`);
    mkdirSync(aside);
    writeFileSync(join(aside, manifestName), manifest, { flag: 'wx', mode: 0o444 });
    for (const { path, bytes, isExecutable } of closure.files) {
      const place = join(aside, 'files', path);
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, bytes, { flag: 'wx', mode: isExecutable === true ? 0o555 : 0o444 });
    }
    await onCopy?.('written');
    return aside;
  }

  function makeFolder(): void {
    mkdirSync(folder, { recursive: true });
    // A link would put the copies where others may write.
    if (findRealPath(folder) !== folder) throw new Error('`.holdfast` is, or contains, a symbolic link');
    const ignored = join(home, '.gitignore');
    if (existsSync(ignored)) return;
    try {
      // Not part of the project, except for the overrides of prompts.
      writeFileSync(ignored, '*\n!overrides/\n!overrides/**\n', { flag: 'wx' });
    } catch {
      // Another process created it, or it stays absent.
    }
  }

  async function put(aside: string, place: string): Promise<void> {
    try {
      await rename(aside, place);
      await onCopy?.('put');
    } catch (thrown) {
      if (!(await isFolder(place))) throw thrown;
      // Another process created it. Like any copy, it is verified before use.
      await remove(aside);
    }
  }

  async function takeAway(name: string): Promise<void> {
    const aside = join(folder, `.old-${process.pid}-${randomUUID()}`);
    // Moved first, so that it is never visible half removed.
    await rename(placeOf(name), aside).catch(() => undefined);
    await remove(aside);
  }

  return {
    async keep(closure) {
      const place = placeOf(closure.digest);
      if (await isFolder(place)) return false;
      await guard(async () => put(await write(closure), place));
      return true;
    },
    async replace(closure) {
      const place = placeOf(closure.digest);
      await guard(async () => {
        const aside = await write(closure);
        const damaged = join(folder, `.old-${process.pid}-${randomUUID()}`);
        await rename(place, damaged).catch((thrown: unknown) => {
          if (codeOf(thrown) !== 'ENOENT') throw thrown;
        });
        await put(aside, place);
        await remove(damaged);
      });
    },
    remove: takeAway,
    async noteUse(digest) {
      const now = new Date();
      // If the folder is not writable, nothing is removed either.
      await utimes(placeOf(digest), now, now).catch(() => undefined);
    },
    async removeOld(named, beforeMs) {
      // The target of a link may contain other files.
      if (findRealPath(folder) !== folder) return;
      for (const { name, kind } of (await listFolder(folder)) ?? []) {
        const isCopy = kind === 'folder' && /^(?:[\da-f]{64}|\.(?:new|old)-.+)$/.test(name);
        if (!isCopy || named.has(name)) continue;
        const changedMs = await lstat(placeOf(name)).then(
          ({ mtimeMs }) => mtimeMs,
          // Another process is removing it.
          () => Number.POSITIVE_INFINITY,
        );
        if (changedMs < beforeMs) await takeAway(name);
      }
    },
    async isWhole({ digest, files }) {
      // Packages there would take precedence over those of the project.
      for (const place of [home, folder]) if (await exists(join(place, 'node_modules'))) return false;
      if (findRealPath(folder) !== folder) return false;
      const wanted = new Map([...files].map(([path, own]) => [join('files', path), own]));
      wanted.set(manifestName, createHash('sha256').update(manifest).digest('hex'));
      return holdsExactly(placeOf(digest), wanted);
    },
    // Plain paths need no normalization, and there may be ten thousand.
    entryOf: ({ digest, entry }) =>
      [folder, digest, 'files', sep === '/' ? entry : entry.replaceAll('/', sep)].join(sep),
    async readText(pin, path) {
      const reading = readBounded(join(placeOf(pin.digest), 'files', path), maxFileBytes);
      if (reading.type !== 'read' || hash(reading.bytes) !== pin.files.get(path)) return undefined;
      return toShownText(reading.bytes);
    },
  };
}

/** The tool that runs from the copy of `pin`. */
export function toCopiedTool(
  { file, metadata }: Pick<PinnedTool, 'file' | 'metadata'>,
  pin: Pin,
  copies: PinnedCopies,
): PinnedTool {
  return new CopiedTool({ file, metadata, digest: pin.digest, entry: copies.entryOf(pin) }, pin.files, copies);
}

// A class: ten thousand objects with their own getters take several times the time and memory.
class CopiedTool implements PinnedTool {
  readonly file: string;
  readonly metadata: PinnedTool['metadata'];
  readonly digest: string;
  readonly entry: string;
  readonly #files: Pin['files'];
  readonly #copies: PinnedCopies;

  constructor({ file, metadata, digest, entry }: Omit<PinnedTool, 'files'>, files: Pin['files'], copies: PinnedCopies) {
    this.file = file;
    this.metadata = metadata;
    this.digest = digest;
    this.entry = entry;
    this.#files = files;
    this.#copies = copies;
  }

  /** Created on access: most tools of a large folder are never called. */
  get files(): ReadonlyMap<string, string> {
    const { digest } = this;
    return new Map([...this.#files].map(([entry, sha256]) => [this.#copies.entryOf({ digest, entry }), sha256]));
  }
}

async function holdsExactly(folder: string, wanted: ReadonlyMap<string, string>): Promise<boolean> {
  const folders = new Set([...wanted.keys()].flatMap(foldersAround));
  let count = 0;
  const waiting = [''];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const names = await listFolder(join(folder, next));
    if (names === undefined) return false;
    for (const { name, kind } of names) {
      const path = join(next, name);
      if (kind === 'folder' && folders.has(path)) waiting.push(path);
      else if (kind === 'file' && wanted.has(path)) {
        const reading = readBounded(join(folder, path), maxFileBytes);
        if (reading.type !== 'read' || hash(reading.bytes) !== wanted.get(path)) return false;
        count += 1;
      } else return false;
    }
  }
  return count === wanted.size;
}

function foldersAround(path: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.push(folder);
  return folders;
}

type Listed = { readonly name: string; readonly kind: 'file' | 'folder' | 'other' };

async function listFolder(path: string): Promise<readonly Listed[] | undefined> {
  try {
    if (!(await isFolder(path))) return undefined;
    return (await readdir(path, { withFileTypes: true })).map((entry) => ({
      name: entry.name,
      kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other',
    }));
  } catch {
    // Gone or unreadable, so not the expected file.
    return undefined;
  }
}

/** A real folder, not a link to one. */
async function isFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch {
    // Missing or inaccessible.
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (thrown) {
    // If inaccessible, it may exist.
    return codeOf(thrown) !== 'ENOENT' && codeOf(thrown) !== 'ENOTDIR';
  }
}

/** Best effort: leftovers are harmless. */
async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

async function guard(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new HoldfastError(
      'tool.file.import_failed',
      `Cannot write the pinned copy of a tool to \`.holdfast\`: ${codeOf(cause) === 'unknown' ? describeThrown(cause) : codeOf(cause)}.`,
      {
        data: {
          reason: 'copy',
          hint: 'Make the folder writable, or load the tools once in a writable copy of the project.',
        },
        cause,
      },
    );
  }
}

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The text of a file for display; for a binary file, a line that identifies it. */
export function toShownText(bytes: Uint8Array): string {
  return decodeText(bytes) ?? `(binary: ${bytes.length} bytes, SHA-256 ${hash(bytes)})\n`;
}
