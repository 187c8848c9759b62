import { lstat, open, readdir, realpath, rename, rm, unlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import { hashText, type ManifestEntry, manifestPath, pendingFolder, toPendingPath } from './manifest.ts';
import { listModule, readManifestFile } from './manifest-file.ts';
import type { ModuleDefinition } from './module-definition.ts';
import { parseModule, stringifyModule } from './module-file.ts';
import { refusal } from './module-problem.ts';
import { codeOf, makeFolders, type OpenFolder, openFolder } from './open-folder.ts';
import { takeLock, unwritable } from './save-lock.ts';

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
  // Mostly there is none yet; what cannot be looked at cannot be replaced either, which the rename then says.
  const found = await lstat(own).catch(() => undefined);
  if (found?.isDirectory()) {
    await folder[Symbol.asyncDispose]();
    throw unwritable(`\`${path}\` is a folder`);
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
