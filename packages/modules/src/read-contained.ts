import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { findPathProblem } from './module-path.ts';
import { codeOf, findRealPath, isInside } from './open-folder.ts';
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
