import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { findPathProblem } from './manifest.ts';
import { maxFileLength } from './parse-text.ts';

export interface ContainedFile {
  readonly text: string;
  /** As `path`, with every link on the way resolved. */
  readonly realPath: string;
}

// Waits for no writer of a FIFO, and takes no terminal for its own. Windows has neither.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * Reads the file at `path` in `directory`, `undefined` where there is none. It is opened once: what is checked is what is read. Links
 * are followed as long as they end in the folder.
 *
 * @throws HoldfastError `modules.path_refused`, `modules.unreadable`, `modules.too_large`.
 */
export async function readContained(directory: string, path: string): Promise<ContainedFile | undefined> {
  const problem = findPathProblem(path);
  if (problem !== undefined) throw new HoldfastError('modules.path_refused', problem);
  try {
    const root = await realpath(directory);
    const target = join(root, ...path.split('/'));
    await using handle = await open(target, flags);
    const status = await handle.stat();
    const real = await findRealPath(handle, target);
    if (real === undefined) throw unreadable(path, 'it was moved while it was read');
    if (!isInside(root, real)) throw leadsOut(path);
    if (!status.isFile()) throw unreadable(path, 'it is no regular file');
    const text = await readText(handle, status.size, path);
    // What was removed meanwhile has no place any more.
    return { text, realPath: status.nlink === 0 ? path : relative(root, real).split(sep).join('/') };
  } catch (thrown) {
    if (thrown instanceof HoldfastError) throw thrown;
    const code = codeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP') throw leadsOut(path, thrown);
    throw unreadable(path, code, thrown);
  }
}

async function readText(handle: FileHandle, size: number, path: string): Promise<string> {
  if (size > maxFileLength) throw tooLarge(path);
  // One byte more shows that the file has grown meanwhile.
  const bytes = new Uint8Array(size + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) return decode(bytes.subarray(0, length), path);
    length += bytesRead;
  }
  throw unreadable(path, 'it was changed while it was read');
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    // With the byte order mark: the text has to give the same bytes again, over which the hash is.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw unreadable(path, 'it is not UTF-8', cause);
  }
}

function unreadable(path: string, why: string, cause?: unknown): HoldfastError {
  return new HoldfastError('modules.unreadable', `\`${path}\` cannot be read: ${why}.`, { cause });
}

function tooLarge(path: string): HoldfastError {
  return new HoldfastError(
    'modules.too_large',
    `\`${path}\` has more than ${maxFileLength} bytes, which is the limit.`,
  );
}

function leadsOut(path: string, cause?: unknown): HoldfastError {
  const message = `\`${path}\` is a link that leads out of the folder of the modules, or nowhere; put the file into the folder.`;
  return new HoldfastError('modules.path_refused', message, { cause });
}

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
    if (!isInside(root, real)) throw folderLeadsOut();
    return { path: real, [Symbol.asyncDispose]: async () => undefined };
  }
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const own = `${handles}/${handle.fd}`;
  if (!isInside(root, await readlink(own))) {
    await handle.close();
    throw folderLeadsOut();
  }
  return { path: own, [Symbol.asyncDispose]: () => handle.close() };
}

/** Where an open file really lies; `undefined` where that cannot be told any more. */
async function findRealPath(handle: FileHandle, path: string): Promise<string | undefined> {
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

function folderLeadsOut(): HoldfastError {
  return new HoldfastError(
    'modules.path_refused',
    'A link leads out of the folder of the modules; put the file into it.',
  );
}

/** `ENOENT` and so on; for what has none, a word that says so. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : 'unknown';
}
