import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { codeOf } from './system-error.ts';

/** What tells one state of a file from another without reading it. Decimal numbers as text: they are larger than doubles. */
export interface Stamp {
  readonly size: string;
  readonly inode: string;
  readonly modified: string;
  readonly changed: string;
}

export type BoundedReading =
  | { readonly type: 'read'; readonly bytes: Uint8Array; readonly stamp: Stamp }
  | { readonly type: 'missing' }
  | {
      readonly type: 'refused';
      readonly reason: 'too-large' | 'not-regular' | 'is-link' | 'unreadable';
      readonly why: string;
    };

/** Reads a regular file of at most `maxBytes`. Follows no link at its end, waits for no FIFO, never throws for what a file is. */
export async function readBounded(path: string, maxBytes: number): Promise<BoundedReading> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stat = await handle.stat({ bigint: true });
      if (!stat.isFile()) return { type: 'refused', reason: 'not-regular', why: 'it is no regular file' };
      const bytes = stat.size > BigInt(maxBytes) ? undefined : await readUpTo(handle, Number(stat.size), maxBytes);
      if (bytes === undefined)
        return { type: 'refused', reason: 'too-large', why: `it is larger than ${maxBytes} bytes` };
      return { type: 'read', bytes, stamp: toStamp(stat) };
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { type: 'missing' };
    if (code === 'ELOOP') return { type: 'refused', reason: 'is-link', why: 'it is a symbolic link' };
    return { type: 'refused', reason: 'unreadable', why: `it cannot be read (${code})` };
  }
}

export function toStamp(stat: {
  readonly size: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}): Stamp {
  const { size, ino, mtimeNs, ctimeNs } = stat;
  return { size: String(size), inode: String(ino), modified: String(mtimeNs), changed: String(ctimeNs) };
}

/** `undefined`: there is more. A file may grow while it is read, so its size is no bound. */
async function readUpTo(handle: FileHandle, size: number, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  // One byte more than there should be: what has not grown ends with the second read.
  const length = Math.min(Math.max(size + 1, leastBytes), chunkBytes);
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length);
    if (bytesRead === 0) return Buffer.concat(chunks, total);
    total += bytesRead;
    if (total > maxBytes) return undefined;
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

const leastBytes = 4096;
const chunkBytes = 1024 * 1024;
