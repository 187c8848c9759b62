import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type Stamp, toStamp } from './stamp.ts';
import { codeOf } from './system-error.ts';

export type { Stamp } from './stamp.ts';

export type BoundedReading =
  | {
      readonly type: 'read';
      readonly bytes: Uint8Array;
      readonly stamp: Stamp;
      /** Whether anybody may run it. */
      readonly isExecutable: boolean;
    }
  | { readonly type: 'missing' }
  | {
      readonly type: 'refused';
      readonly reason: 'too-large' | 'not-regular' | 'is-link' | 'unreadable';
      readonly why: string;
    };

/**
 * Reads a regular file of at most `maxBytes`. Follows no link at its end, waits for no FIFO, never throws for what a file is. Not by
 * promises, which take several times as long as the work itself.
 */
export function readBounded(path: string, maxBytes: number): BoundedReading {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile()) return { type: 'refused', reason: 'not-regular', why: 'it is no regular file' };
      const bytes = stat.size > maxBytes ? undefined : readUpTo(descriptor, stat.size, maxBytes);
      if (bytes === undefined)
        return { type: 'refused', reason: 'too-large', why: `it is larger than ${maxBytes} bytes` };
      return { type: 'read', bytes, stamp: toStamp(stat), isExecutable: (stat.mode & 0o111) !== 0 };
    } finally {
      closeSync(descriptor);
    }
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { type: 'missing' };
    if (code === 'ELOOP') return { type: 'refused', reason: 'is-link', why: 'it is a symbolic link' };
    return { type: 'refused', reason: 'unreadable', why: `it cannot be read (${code})` };
  }
}

/** `undefined`: there is more. A file may grow while it is read, so its size is no bound. */
function readUpTo(descriptor: number, size: number, maxBytes: number): Uint8Array | undefined {
  // One byte more than there should be: what has not grown ends with the second read.
  let buffer = Buffer.allocUnsafeSlow(Math.max(size + 1, leastBytes));
  let total = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, total, buffer.length - total, null);
    if (count === 0) return buffer.subarray(0, total);
    total += count;
    if (total > maxBytes) return undefined;
    if (total === buffer.length) buffer = Buffer.concat([buffer], Math.min(total * 2, maxBytes + 1));
  }
}

const leastBytes = 4096;
