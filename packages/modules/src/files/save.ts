import { constants } from 'node:fs';
import { lstat, open, readdir, realpath, rename, rm, unlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describeThrown, HoldfastError, isHoldfastError, isPlainObject, type JsonObject } from '@holdfast/core';
import { type ModuleProblem, refusal } from '../signature/problems.ts';
import { codeOf, makeFolders, type OpenFolder, openFolder, readContained } from './contained.ts';
import type { ModuleDefinition } from './definition.ts';
import { hashText, type ManifestEntry, manifestPath, parseManifest, pendingFolder, toPendingPath } from './manifest.ts';
import { parseModule, stringifyModule } from './module-file.ts';
import { parseText } from './parse-text.ts';

export interface SaveModuleOptions {
  /** Default: those that the manifest has for the module, at first none. */
  readonly tags?: readonly string[];
}

/**
 * Writes a module file and lists it in the `manifest.json` of the folder with its hash, both of which are made where they are missing.
 * What is listed already keeps its path; a new module becomes `<module_id>.json`, in the place of what was there.
 *
 * Whoever reads meanwhile gets the module as it was before or as it is after, also when the process is killed on the way. Several may
 * save at once, in this process and in others of the machine, and each of them is waited for, up to 10 s. What a save needs lies in
 * `.holdfast` in the folder.
 *
 * @throws HoldfastError `modules.file_invalid` and `modules.manifest_invalid` (`data.problems` tells all), `modules.id_twin`,
 * `modules.path_refused`, `modules.unreadable`, `modules.too_large`, `modules.unwritable`, `modules.busy`.
 */
export async function saveModule(
  directory: string,
  definition: ModuleDefinition,
  options: SaveModuleOptions = {},
): Promise<void> {
  await saveModuleWith(directory, definition, options);
}

/** Where a save may be cut off. */
export type SaveStep = 'locked' | 'file-written' | 'manifest-written' | 'manifest-put' | 'file-put';

export interface SavingOptions extends SaveModuleOptions {
  readonly waitMs?: number;
  /** Waited for after each step; what it throws ends the work there, as a crash would. */
  readonly onStep?: (step: SaveStep) => void | Promise<void>;
}

/** As `saveModule`, for tests. */
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
      // From now on the module is the new one: what waits counts as the file.
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
    throw isHoldfastError(thrown) ? thrown : unwritable(`\`${directory}\` refuses it (${codeOf(thrown)})`, thrown);
  }
}

/** Of a definition that can be read again. */
function toText(definition: ModuleDefinition): string {
  const text = stringifyModule(definition);
  const parsing = parseModule(text);
  if (parsing.type === 'module') return text;
  throw refusal('modules.file_invalid', 'The module would not load again, and was not saved', parsing.problems);
}

/** Ends what a process began that was killed: what the manifest pins goes to its place, the rest is not needed. */
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

/** Where a file is to be put. A link in its place is replaced, not followed. */
async function openPlace(root: string, path: string): Promise<Place> {
  const names = path.split('/');
  const folder = await openFolder(root, names.slice(0, -1));
  const own = join(folder.path, names.at(-1) ?? '');
  try {
    if ((await lstat(own)).isDirectory()) throw unwritable(`\`${path}\` is a folder`);
  } catch (thrown) {
    // Mostly there is none yet.
    if (codeOf(thrown) !== 'ENOENT') {
      await folder[Symbol.asyncDispose]();
      throw thrown;
    }
  }
  return { folder, path: own, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

async function writeNew(path: string, text: string): Promise<void> {
  // Left by a process that was killed; nobody else is here now.
  await rm(path, { force: true });
  await using handle = await open(path, 'wx', 0o666);
  await handle.writeFile(text);
  // Otherwise a name might lead to an empty file after the machine has lost its power.
  await handle.datasync();
}

/** Makes names last. Windows opens no folders, and keeps them by itself. */
async function flush(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  await using handle = await open(folder, 'r');
  await handle.sync();
}

/** A manifest as somebody wrote it: what is not understood stays when a module is listed in it. */
export interface ManifestFile {
  readonly content: JsonObject;
  readonly entries: ReadonlyMap<string, ManifestEntry>;
}

/** An empty one where there is none. @throws HoldfastError `modules.manifest_invalid`, and as `readContained`. */
async function readManifestFile(root: string): Promise<ManifestFile> {
  const file = await readContained(root, manifestPath);
  return toManifestFile(file?.text ?? '{ "version": "1.0", "modules": {} }');
}

function toManifestFile(text: string): ManifestFile {
  const parsing = parseManifest(text);
  if (parsing.type === 'invalid') throw refuseManifest(parsing.problems);
  const parsed = parseText(text, 'modules.manifest_invalid');
  // It has just been read.
  const content = (parsed.type === 'parsed' ? parsed.value : {}) as JsonObject;
  return { content, entries: parsing.entries };
}

export interface ListedModule {
  readonly moduleId: string;
  readonly hash: string;
  /** Default: those of the entry that is there. */
  readonly tags: readonly string[] | undefined;
}

/**
 * The text of a manifest that lists the module, too, and where its file lies.
 *
 * @throws HoldfastError `modules.manifest_invalid` (tags that are none), `modules.id_twin`.
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
  if (problem?.code === 'modules.id_twin') throw new HoldfastError(problem.code, problem.message);
  throw refuseManifest(parsing.problems);
}

/** Disks may take names for equal that differ by case. */
function findFreePath(moduleId: string, entries: ReadonlyMap<string, ManifestEntry>): string {
  const taken = new Set([manifestPath, ...[...entries.values()].map(({ path }) => path.toLowerCase())]);
  let path = `${moduleId}.json`;
  for (let number = 2; taken.has(path.toLowerCase()); number += 1) path = `${moduleId}.${number}.json`;
  return path;
}

function refuseManifest(problems: readonly ModuleProblem[]): HoldfastError {
  return refusal('modules.manifest_invalid', 'Nothing was saved, because of the manifest', problems);
}

/**
 * Keeps others from what the file `path` stands for until the answer is called: calls in this process, and other processes of this
 * machine. The system itself takes the lock from a process that has ended, so none is ever left. It is the lock of an empty SQLite
 * database, the only one that Node has.
 *
 * @throws HoldfastError `modules.busy`, `modules.unwritable`.
 */
export async function takeLock(path: string, { waitMs }: { readonly waitMs: number }): Promise<() => void> {
  // Only here: some versions of Node warn when it is loaded.
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
      if (!isLocked(cause)) throw unwritable(`the lock \`${path}\` cannot be taken: ${describeThrown(cause)}`, cause);
    }
    if (performance.now() >= untilMs) {
      throw new HoldfastError(
        'modules.busy',
        `Somebody else has been saving modules for ${waitMs} ms; nothing was saved, try again later.`,
        {
          data: { lock: path },
        },
      );
    }
    // Not in step with others that wait.
    await wait(1 + Math.random() * 10);
  }
}

function unwritable(why: string, cause?: unknown): HoldfastError {
  return new HoldfastError('modules.unwritable', `Modules cannot be saved: ${why}.`, { cause });
}

/** SQLite would make a file behind a link. */
async function makeFile(path: string): Promise<void> {
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  await using _handle = await open(path, flags, 0o666);
  if (!(await lstat(path)).isFile()) throw unwritable(`\`${path}\` is no regular file`);
}

/** SQLITE_BUSY, of https://www.sqlite.org/rescode.html. */
function isLocked(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && thrown.errcode === 5;
}
