import { type LogFiles, writeAll } from '../../disk/files.ts';
import { segmentBefore } from './segments.ts';

export interface Rotation {
  readonly path: string;
  /** Of the current file. */
  readonly descriptor: number;
  /** Of the snapshot. */
  readonly seq: number;
  /** The snapshot's line. */
  readonly line: Uint8Array;
  readonly files: LogFiles;
}

/**
 * Begins a new log file with a snapshot, and returns its descriptor; the current file keeps its records under another name.
 * Returns `undefined`, with nothing changed, if that is impossible, as on disks without links. A process that ends meanwhile leaves
 * a log that opens in its state before or after; `clearUp` removes leftovers.
 *
 * @throws the error of the file system if it is unknown which file has the name now.
 */
export function rotate({ path, descriptor, seq, line, files }: Rotation): number | undefined {
  const aside = nextOf(path);
  const before = segmentBefore(path, seq);
  let next: number | undefined;
  try {
    files.remove(aside);
    next = files.open(aside, 'new');
    writeAll(files, next, line);
    // It replaces a file that may be synced already: a power failure must not leave an empty one.
    files.sync(next);
    // A second name instead of a rename, so that the log exists at every moment.
    files.link(path, before);
  } catch {
    // The snapshot is then appended to the current file; if that fails, too, it reports the error.
    dropLink(before, descriptor, files);
    discard(aside, next, files);
    return undefined;
  }
  try {
    files.rename(aside, path);
    return next;
  } catch (error) {
    if (!isSame(path, descriptor, files)) throw error;
    dropLink(before, descriptor, files);
    discard(aside, next, files);
    return undefined;
  }
}

/** Removes leftovers of an interrupted rotation beside a log that begins with record `seq`. */
export function clearUp({ path, descriptor, seq, files }: Omit<Rotation, 'line'>): void {
  files.remove(nextOf(path));
  const before = segmentBefore(path, seq);
  if (isSame(before, descriptor, files)) files.remove(before);
}

function nextOf(path: string): string {
  return `${path}.next`;
}

/** True if `path` names the open file. */
export function isSame(path: string, descriptor: number, files: LogFiles): boolean {
  const named = files.find(path);
  const open = files.status(descriptor);
  return named !== undefined && named.ino === open.ino && named.dev === open.dev;
}

function discard(path: string, descriptor: number | undefined, files: LogFiles): void {
  unlessItFails(() => {
    if (descriptor !== undefined) files.close(descriptor);
  });
  unlessItFails(() => files.remove(path));
}

function dropLink(path: string, descriptor: number, files: LogFiles): void {
  unlessItFails(() => {
    if (isSame(path, descriptor, files)) files.remove(path);
  });
}

function unlessItFails(cleanUp: () => void): void {
  try {
    cleanUp();
  } catch {
    // The leftover is unused; the next rotation or open tries again.
  }
}
