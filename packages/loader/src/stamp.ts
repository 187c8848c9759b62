import { lstatSync, type Stats } from 'node:fs';

/**
 * What tells one state of a file from another without reading it: size, inode, and the times of its last change, in milliseconds. A time
 * is rounded to about 250 ns, which keeps the order of times: one from before a moment never becomes one from after it.
 */
export type Stamp = readonly [size: number, inode: number, modifiedMs: number, changedMs: number];

export function toStamp({ size, ino, mtimeMs, ctimeMs }: Stats): Stamp {
  return [size, ino, mtimeMs, ctimeMs];
}

/** Whether what `path` itself names is in the state of `stamp`, which may be anything, and has been since before a time. */
export function isAsStamped(path: string, stamp: unknown, beforeMs: number): boolean {
  if (!Array.isArray(stamp) || stamp.length !== 4) return false;
  const [size, inode, modifiedMs, changedMs]: readonly unknown[] = stamp;
  // A change within the same tick of the clock as the scan would leave no trace.
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

/** The stamp of what `path` itself names; `undefined` where that is out of reach. */
export function readStamp(path: string): Stamp | undefined {
  const stats = readStats(path);
  return stats === undefined ? undefined : toStamp(stats);
}

// Not by a promise each: ten thousand of them take several times as long as the work itself.
function readStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Out of reach.
    return undefined;
  }
}
