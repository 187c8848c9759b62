import { constants } from 'node:fs';
import { lstat, open, readdir, realpath, rename, rm, unlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { HoldfastError, isHoldfastError, type JsonObject } from '@holdfast/core';
import { describeThrown, isPlainObject, toReason } from '@holdfast/core/internal';
import { type ModuleProblem, refusal } from '../signature/problems.ts';
import { codeOf, makeFolders, type OpenFolder, openFolder, readContained } from './contained.ts';
import type { ModuleDefinition } from './definition.ts';
import { hashText, type ManifestEntry, manifestPath, parseManifest, pendingFolder, toPendingPath } from './manifest.ts';
import { parseModule, stringifyModule } from './module-file.ts';
import { parseText } from './parse-text.ts';

export interface SaveModuleOptions {
  /** Default: the module's current tags in the manifest, or none. */
  readonly tags?: readonly string[];
}

/**
 * Writes a module file and lists it in the folder's `manifest.json` with its hash; creates both if needed. A listed module keeps its path;
 * a new module is written to `<module_id>.json`, replacing any file there.
 *
 * Concurrent readers get the module before or after the change, even if the process is killed in between. Concurrent saves, also from other
 * processes of this machine, wait for each other for up to 10 s. Working files are in `.holdfast` in the folder.
 *
 * @throws HoldfastError `modules.invalid` (all problems are in `data.problems`), `modules.file_failed`.
 */
export async function saveModule(
  directory: string,
  definition: ModuleDefinition,
  options: SaveModuleOptions = {},
): Promise<void> {
  await saveModuleWith(directory, definition, options);
}

/** The steps at which a save may be interrupted. */
export type SaveStep = 'locked' | 'file-written' | 'manifest-written' | 'manifest-put' | 'file-put';

export interface SavingOptions extends SaveModuleOptions {
  readonly waitMs?: number;
  /** Awaited after each step; an error that it throws ends the work there, like a crash. */
  readonly onStep?: (step: SaveStep) => void | Promise<void>;
}

/** `saveModule` with test options. */
export async function saveModuleWith(
  directory: string,
  definition: ModuleDefinition,
  { tags, waitMs = 10_000, onStep = () => undefined }: SavingOptions,
): Promise<void> {
  const text = toText(definition);
  const hash = await hashText(text);
  try {
    await makeFolders(resolve(directory));
    const root = await realpath(directory);
    await using folder = await openFolder(root, []);
    await using pending = await openFolder(root, [pendingFolder]);
    const release = await takeLock(join(root, pendingFolder, 'lock'), { waitMs });
    try {
      await onStep('locked');
      const manifest = await readManifestFile(root);
      await settle(root, pending.path, manifest.entries);
      const listed = listModule(manifest, { moduleId: definition.module_id, hash, tags });
      await using place = await openPlace(root, listed.path);
      const waiting = join(pending.path, basename(toPendingPath(hash)));
      await writeNew(waiting, text);
      await onStep('file-written');
      const aside = join(pending.path, 'manifest-new.json');
      await writeNew(aside, listed.text);
      await flush(pending.path);
      await onStep('manifest-written');
      // From here on the new version counts: readers use the pending file.
      await rename(aside, join(folder.path, manifestPath));
      await flush(folder.path);
      await onStep('manifest-put');
      await rename(waiting, place.path);
      await flush(place.folder.path);
      await onStep('file-put');
    } finally {
      release();
    }
  } catch (thrown) {
    throw isHoldfastError(thrown) ? thrown : unwritable(`\`${directory}\` is not writable (${codeOf(thrown)})`, thrown);
  }
}

/** The text of a definition, checked by parsing it. */
function toText(definition: ModuleDefinition): string {
  const text = stringifyModule(definition);
  const parsing = parseModule(text);
  if (parsing.type === 'module') return text;
  throw refusal('file', 'The module was not saved, because it could not be loaded again', parsing.problems);
}

/** Completes the work of a killed process: moves pinned files to their places and deletes the rest. */
async function settle(root: string, pending: string, entries: ReadonlyMap<string, ManifestEntry>): Promise<void> {
  const names = (await readdir(pending)).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
  for (const name of names) {
    const entry = [...entries.values()].find(({ hash }) => hash !== null && basename(toPendingPath(hash)) === name);
    if (entry === undefined) {
      await unlink(join(pending, name));
      continue;
    }
    await using place = await openPlace(root, entry.path);
    await rename(join(pending, name), place.path);
    await flush(place.folder.path);
  }
}

interface Place extends AsyncDisposable {
  readonly folder: OpenFolder;
  readonly path: string;
}

/** The place for a file. A link there is replaced, not followed. */
async function openPlace(root: string, path: string): Promise<Place> {
  const names = path.split('/');
  const folder = await openFolder(root, names.slice(0, -1));
  const own = join(folder.path, names.at(-1) ?? '');
  try {
    if ((await lstat(own)).isDirectory()) throw unwritable(`\`${path}\` is a folder`);
  } catch (thrown) {
    // In most cases there is no file yet.
    if (codeOf(thrown) !== 'ENOENT') {
      await folder[Symbol.asyncDispose]();
      throw thrown;
    }
  }
  return { folder, path: own, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

async function writeNew(path: string, text: string): Promise<void> {
  // Left over from a killed process; we hold the lock.
  await rm(path, { force: true });
  await using handle = await open(path, 'wx', 0o666);
  await handle.writeFile(text);
  // Otherwise a power failure could leave a name that points to an empty file.
  await handle.datasync();
}

/** Persists names. Windows cannot open folders, and persists names itself. */
async function flush(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  await using handle = await open(folder, 'r');
  await handle.sync();
}

/** A manifest as written: unknown content is kept when a module is added. */
export interface ManifestFile {
  readonly content: JsonObject;
  readonly entries: ReadonlyMap<string, ManifestEntry>;
}

/** An empty manifest if there is none. @throws HoldfastError `modules.invalid`, and as `readContained`. */
async function readManifestFile(root: string): Promise<ManifestFile> {
  const file = await readContained(root, manifestPath);
  return toManifestFile(file?.text ?? '{ "version": "1.0", "modules": {} }');
}

function toManifestFile(text: string): ManifestFile {
  const parsing = parseManifest(text);
  if (parsing.type === 'invalid') throw refuseManifest(parsing.problems);
  const parsed = parseText(text, 'manifest');
  // The text was parsed before.
  const content = (parsed.type === 'parsed' ? parsed.value : {}) as JsonObject;
  return { content, entries: parsing.entries };
}

export interface ListedModule {
  readonly moduleId: string;
  readonly hash: string;
  /** Default: those of the existing entry. */
  readonly tags: readonly string[] | undefined;
}

/**
 * The text of the manifest with the module added, and the path of its file.
 *
 * @throws HoldfastError `modules.invalid`.
 */
export function listModule(
  { content, entries }: ManifestFile,
  { moduleId, hash, tags }: ListedModule,
): { readonly text: string; readonly path: string } {
  const modules = isPlainObject(content['modules']) ? content['modules'] : {};
  const listed = entries.get(moduleId);
  const path = listed?.path ?? findFreePath(moduleId, entries);
  const entry = { path, hash, tags: tags ?? listed?.tags ?? [] };
  const text = `${JSON.stringify({ ...content, modules: { ...modules, [moduleId]: entry } }, undefined, 2)}\n`;
  const parsing = parseManifest(text);
  if (parsing.type === 'manifest' && parsing.entries.has(moduleId)) return { text, path };
  const [problem] = parsing.problems.filter((one) => one.moduleId === moduleId);
  if (problem?.reason === 'id_twin')
    throw new HoldfastError(problem.code, problem.message, { data: toReason(problem) });
  throw refuseManifest(parsing.problems);
}

/** Some file systems ignore case. */
function findFreePath(moduleId: string, entries: ReadonlyMap<string, ManifestEntry>): string {
  const taken = new Set([manifestPath, ...[...entries.values()].map(({ path }) => path.toLowerCase())]);
  let path = `${moduleId}.json`;
  for (let number = 2; taken.has(path.toLowerCase()); number += 1) path = `${moduleId}.${number}.json`;
  return path;
}

function refuseManifest(problems: readonly ModuleProblem[]): HoldfastError {
  return refusal('manifest', 'Nothing was saved, because the manifest is invalid', problems);
}

/**
 * Locks `path` against other calls in this process and other processes of this machine until the returned function is called. The lock is
 * that of an empty SQLite database, the only one that Node.js offers; the system releases it when the process ends, so no lock is ever left
 * behind.
 *
 * @throws HoldfastError `modules.file_failed`.
 */
export async function takeLock(path: string, { waitMs }: { readonly waitMs: number }): Promise<() => void> {
  // Imported on demand: some versions of Node.js print a warning.
  const { DatabaseSync } = await import('node:sqlite');
  await makeFile(path);
  const untilMs = performance.now() + waitMs;
  for (;;) {
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
      return () => database.close();
    } catch (cause) {
      database.close();
      if (!isLocked(cause)) throw unwritable(`cannot take the lock \`${path}\`: ${describeThrown(cause)}`, cause);
    }
    if (performance.now() >= untilMs) {
      throw new HoldfastError(
        'modules.file_failed',
        `Another process is saving modules; waited ${waitMs} ms. Nothing was saved. Try again later.`,
        {
          data: { reason: 'busy', lock: path },
        },
      );
    }
    // Random, so that waiting processes do not stay in step.
    await wait(1 + Math.random() * 10);
  }
}

function unwritable(why: string, cause?: unknown): HoldfastError {
  return new HoldfastError('modules.file_failed', `Cannot save modules: ${why}.`, {
    data: { reason: 'unwritable' },
    cause,
  });
}

/** Rejects links, through which SQLite would create a file. */
async function makeFile(path: string): Promise<void> {
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  await using _handle = await open(path, flags, 0o666);
  if (!(await lstat(path)).isFile()) throw unwritable(`\`${path}\` is not a regular file`);
}

/** SQLITE_BUSY; see https://www.sqlite.org/rescode.html. */
function isLocked(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && thrown.errcode === 5;
}
