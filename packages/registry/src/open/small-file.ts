import { constants, lstatSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import type { ConfigOrigin } from '../config/config.ts';

export type SmallFile =
  | { readonly type: 'read'; readonly bytes: Uint8Array }
  | { readonly type: 'missing' }
  /** `why` completes the sentence "Cannot use the file: …". */
  | { readonly type: 'refused'; readonly why: string };

/** Reads a regular file of at most `maxBytes`. Does not block on a FIFO, and does not throw for the state of a file. */
export async function readSmallFile(
  path: string,
  { maxBytes = 1_048_576, followLink = true }: { readonly maxBytes?: number; readonly followLink?: boolean } = {},
): Promise<SmallFile> {
  try {
    // The usual case for most names that are tried, and an exception is slow.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { type: 'missing' };
    const link = followLink ? 0 : constants.O_NOFOLLOW;
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | link);
    const stat = await handle.stat();
    if (!stat.isFile()) return { type: 'refused', why: 'it is not a regular file' };
    const tooLarge: SmallFile = { type: 'refused', why: `it is larger than ${maxBytes} bytes` };
    if (stat.size > maxBytes) return tooLarge;
    // One extra byte reveals a file that grows while it is read.
    const bytes = new Uint8Array(stat.size + 1);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
      if (bytesRead === 0) return { type: 'read', bytes: bytes.subarray(0, length) };
      length += bytesRead;
    }
    return { type: 'refused', why: 'it changed while it was read' };
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { type: 'missing' };
    if (code === 'ELOOP') return { type: 'refused', why: 'it is a symbolic link' };
    return { type: 'refused', why: `it cannot be read (${String(code)})` };
  }
}

/** Keeps a byte order mark; `undefined` if not valid UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The only possible error.
    return undefined;
  }
}

/** A path for display: relative to `directory` if inside it, otherwise absolute. */
export function showFile(path: string, directory: string): string {
  const short = relative(directory, path);
  return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short.replaceAll('\\', '/');
}

/** The folder for relative paths and packages of an origin. `directory`: the current directory. */
export function folderOf({ file }: ConfigOrigin, directory: string): string {
  return file === undefined ? directory : dirname(resolve(directory, file));
}
