import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { HoldfastError } from '@holdfast/core';

/** An open folder, which stays the same one while its path may be moved or replaced by a link. */
export interface OpenFolder extends AsyncDisposable {
  /** On Linux through its open handle, which no link can redirect. */
  readonly path: string;
}

const handles = '/proc/self/fd';
/** Node has no operations relative to an open folder; on Linux the handles have paths. Elsewhere a moment stays after each check. */
const throughHandles = process.platform === 'linux' && existsSync(handles);

/**
 * Opens a folder in `root`, which is a real path, and makes it and those on the way where they are missing.
 *
 * @throws HoldfastError `modules.path_refused` where a link on the way leads out, and what the system answers.
 */
export async function openFolder(root: string, names: readonly string[]): Promise<OpenFolder> {
  let folder = await enter(root, root);
  for (const name of names) {
    const inner = join(folder.path, name);
    try {
      await makeFolder(inner);
      const next = await enter(inner, root);
      await folder[Symbol.asyncDispose]();
      folder = next;
    } catch (thrown) {
      await folder[Symbol.asyncDispose]();
      throw thrown;
    }
  }
  return folder;
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (thrown) {
    // Whether it is a folder shows when it is entered.
    if (codeOf(thrown) !== 'EEXIST') throw thrown;
  }
}

/** A folder with those above it. Node's own way never ends where the system lets nobody make one, as in `/proc`. */
export async function makeFolders(path: string): Promise<void> {
  try {
    await makeFolder(path);
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT' || dirname(path) === path) throw thrown;
    await makeFolders(dirname(path));
    await makeFolder(path);
  }
}

async function enter(path: string, root: string): Promise<OpenFolder> {
  if (!throughHandles) {
    const real = await realpath(path);
    if (!isInside(root, real)) throw leadsOut();
    return { path: real, [Symbol.asyncDispose]: async () => undefined };
  }
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const own = `${handles}/${handle.fd}`;
  if (!isInside(root, await readlink(own))) {
    await handle.close();
    throw leadsOut();
  }
  return { path: own, [Symbol.asyncDispose]: () => handle.close() };
}

/** Where an open file really lies; `undefined` where that cannot be told any more. */
export async function findRealPath(handle: FileHandle, path: string): Promise<string | undefined> {
  if (throughHandles) return await readlink(`${handles}/${handle.fd}`);
  // A path may lead elsewhere by now: it has to be the one of the handle.
  const opened = await handle.stat();
  const real = await realpath(path).catch(() => undefined);
  const found = real === undefined ? undefined : await stat(real).catch(() => undefined);
  return found?.dev === opened.dev && found.ino === opened.ino ? real : undefined;
}

export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function leadsOut(): HoldfastError {
  return new HoldfastError(
    'modules.path_refused',
    'A link leads out of the folder of the modules; put the file into it.',
  );
}

/** `ENOENT` and so on; for what has none, a word that says so. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : 'unknown';
}
