import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';

export type BoundedReading =
  | {
      readonly type: 'read';
      readonly bytes: Uint8Array;
      readonly stamp: Stamp;
      /** True if any user may execute it. */
      readonly isExecutable: boolean;
    }
  | { readonly type: 'missing' }
  | {
      readonly type: 'refused';
      readonly reason: 'too-large' | 'not-regular' | 'is-link' | 'unreadable';
      readonly why: string;
    };

/**
 * Reads a regular file of at most `maxBytes`. Does not follow a link, does not block on a FIFO, and does not throw for
 * the state of a file. Synchronous: promises would take several times as long as the work.
 */
export function readBounded(path: string, maxBytes: number): BoundedReading {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile()) return { type: 'refused', reason: 'not-regular', why: 'it is not a regular file' };
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

/** `undefined`: there is more. The size is not a limit, because a file may grow while it is read. */
function readUpTo(descriptor: number, size: number, maxBytes: number): Uint8Array | undefined {
  // One extra byte, so that a file that did not grow ends with the second read.
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

/**
 * Identifies a state of a file without reading it: size, inode and the times of its last change, in milliseconds. Times
 * are rounded to about 250 ns, which preserves their order.
 */
export type Stamp = readonly [size: number, inode: number, modifiedMs: number, changedMs: number];

function toStamp({ size, ino, mtimeMs, ctimeMs }: Stats): Stamp {
  return [size, ino, mtimeMs, ctimeMs];
}

/** True if `path` itself, not a link target, is in the state of `stamp`, which may be any value, and has been since before a time. */
export function isAsStamped(path: string, stamp: unknown, beforeMs: number): boolean {
  if (!Array.isArray(stamp) || stamp.length !== 4) return false;
  const [size, inode, modifiedMs, changedMs]: readonly unknown[] = stamp;
  // A change in the same clock tick as the scan would be invisible.
  if (!(typeof changedMs === 'number' && changedMs < beforeMs)) return false;
  const now = readStats(path);
  return (
    now !== undefined &&
    now.size === size &&
    now.ino === inode &&
    now.mtimeMs === modifiedMs &&
    now.ctimeMs === changedMs
  );
}

/** The stamp of `path` itself; `undefined` if inaccessible. */
export function readStamp(path: string): Stamp | undefined {
  const stats = readStats(path);
  return stats === undefined ? undefined : toStamp(stats);
}

// Synchronous: ten thousand promises take several times as long as the work.
function readStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Inaccessible.
    return undefined;
  }
}

/** The code of a system error, such as `ENOENT`; `unknown` for anything else. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown';
}
