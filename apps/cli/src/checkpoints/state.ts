import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { hasCode } from '../terminal/system.ts';

/** The content of a path, without following a link in its place. */
export type FileState =
  | { readonly type: 'missing' }
  | { readonly type: 'file'; readonly digest: string; readonly mode: number }
  | { readonly type: 'link'; readonly target: string }
  /** A folder, a device, or a file that is too large to read. */
  | { readonly type: 'other'; readonly why: string };

export interface ReadState {
  readonly state: FileState;
  /** Of a file. */
  readonly bytes?: Uint8Array;
}

/** @throws what the system answers, but for a path where nothing is. */
export function readState(path: string, maxBytes: number): ReadState {
  let handle: number;
  try {
    const found = lstatSync(path);
    if (found.isSymbolicLink()) return { state: { type: 'link', target: readlinkSync(path) } };
    if (!found.isFile()) return { state: { type: 'other', why: found.isDirectory() ? 'a folder' : 'not a file' } };
    // A pipe that takes its place now must not be waited for.
    handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT') || hasCode(thrown, 'ENOTDIR')) return { state: { type: 'missing' } };
    throw thrown;
  }
  try {
    const { size, mode } = fstatSync(handle);
    const bytes = size > maxBytes ? undefined : readAll(handle, maxBytes);
    if (bytes === undefined) return { state: { type: 'other', why: `larger than ${maxBytes} bytes` } };
    const digest = createHash('sha256').update(bytes).digest('hex');
    return { state: { type: 'file', digest, mode: mode & 0o777 }, bytes };
  } finally {
    closeSync(handle);
  }
}

/** `undefined`: it has grown past the limit meanwhile. */
function readAll(handle: number, maxBytes: number): Uint8Array | undefined {
  const chunks: Uint8Array[] = [];
  for (let total = 0; ; ) {
    const chunk = Buffer.alloc(65_536);
    const count = readSync(handle, chunk);
    if (count === 0) return Buffer.concat(chunks);
    total += count;
    if (total > maxBytes) return undefined;
    chunks.push(chunk.subarray(0, count));
  }
}

export function isSameState(left: FileState, right: FileState): boolean {
  switch (left.type) {
    case 'missing':
      return right.type === 'missing';
    case 'file':
      return right.type === 'file' && left.digest === right.digest && left.mode === right.mode;
    case 'link':
      return right.type === 'link' && left.target === right.target;
    case 'other':
      // Nothing is known of what is in it.
      return false;
    default:
      return left satisfies never;
  }
}
