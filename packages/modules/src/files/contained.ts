import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { findPathProblem } from './manifest.ts';
import { maxFileLength } from './parse-text.ts';

export interface ContainedFile {
  readonly text: string;
  /** `path` with all links resolved. */
  readonly realPath: string;
}

// Do not block on a FIFO or acquire a controlling terminal. Windows has neither.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * Reads the file at `path` in `directory`; `undefined` if it does not exist. Opens the file once, so the file that is checked is the file
 * that is read. Follows links that stay within the folder.
 *
 * @throws HoldfastError `modules.invalid`.
 */
export async function readContained(directory: string, path: string): Promise<ContainedFile | undefined> {
  const problem = findPathProblem(path);
  if (problem !== undefined) throw new HoldfastError('modules.invalid', problem, { data: { reason: 'path' } });
  try {
    const root = await realpath(directory);
    const target = join(root, ...path.split('/'));
    await using handle = await open(target, flags);
    const status = await handle.stat();
    const real = await findRealPath(handle, target);
    if (real === undefined) throw unreadable(path, 'it was moved during reading');
    if (!isInside(root, real)) throw leadsOut(path);
    if (!status.isFile()) throw unreadable(path, 'it is not a regular file');
    const text = await readText(handle, status.size, path);
    // A file that was deleted in the meantime has no real path.
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
  // One byte more, to detect that the file has grown.
  const bytes = new Uint8Array(size + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) return decode(bytes.subarray(0, length), path);
    length += bytesRead;
  }
  throw unreadable(path, 'it was changed during reading');
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    // Keep the byte order mark: the hash covers the bytes of the text.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw unreadable(path, 'it is not UTF-8', cause);
  }
}

function unreadable(path: string, why: string, cause?: unknown): HoldfastError {
  return new HoldfastError('modules.invalid', `Cannot read \`${path}\`: ${why}.`, {
    data: { reason: 'unreadable' },
    cause,
  });
}

function tooLarge(path: string): HoldfastError {
  return new HoldfastError('modules.invalid', `\`${path}\` is larger than ${maxFileLength} bytes, the limit.`, {
    data: { reason: 'too_large' },
  });
}

function leadsOut(path: string, cause?: unknown): HoldfastError {
  const message = `\`${path}\` is a broken link or leads out of the modules folder. Put the file into the folder.`;
  return new HoldfastError('modules.invalid', message, { data: { reason: 'path' }, cause });
}

/** An open folder, which stays the same even if its path is moved or replaced by a link. */
export interface OpenFolder extends AsyncDisposable {
  /** On Linux a path through the open handle, which no link can redirect. */
  readonly path: string;
}

const handles = '/proc/self/fd';
/** Node.js has no operations relative to an open folder, but on Linux handles have paths. Elsewhere, a race remains after each check. */
const throughHandles = process.platform === 'linux' && existsSync(handles);

/**
 * Opens a folder below `root`, which is a real path, creating missing folders.
 *
 * @throws HoldfastError `modules.invalid` if a link on the way leads out, and file system errors.
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
    // Opening it will show if it is a folder.
    if (codeOf(thrown) !== 'EEXIST') throw thrown;
  }
}

/** Creates a folder and its parents. The recursive `mkdir` of Node.js never returns in places such as `/proc`. */
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

/** The real path of an open file; `undefined` if it cannot be determined. */
async function findRealPath(handle: FileHandle, path: string): Promise<string | undefined> {
  if (throughHandles) return await readlink(`${handles}/${handle.fd}`);
  // The path may lead elsewhere by now, so compare it with the handle.
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
  return new HoldfastError('modules.invalid', 'A link leads out of the modules folder. Put the file into the folder.', {
    data: { reason: 'path' },
  });
}

/** The error code, such as `ENOENT`, or a placeholder. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : 'unknown';
}
