import { type LogFiles, writeAll } from '../../disk/files.ts';
import { segmentBefore } from './segments.ts';

export interface Rotation {
  readonly path: string;
  /** Of the file that has the name now. */
  readonly descriptor: number;
  /** Of the snapshot. */
  readonly seq: number;
  /** Its line. */
  readonly line: Uint8Array;
  readonly files: LogFiles;
}

/**
 * Begins a new file of a log with a snapshot, and gives its descriptor: the file so far keeps its records under another name.
 * `undefined` where that cannot be done, as on disks without links: then everything is as it was. A process that ends within this
 * leaves a log that opens as it was before or after it; `clearUp` removes what else may be left.
 *
 * @throws what the system throws when it does not say which file has the name now.
 */
export function rotate({ path, descriptor, seq, line, files }: Rotation): number | undefined {
  const aside = nextOf(path);
  const before = segmentBefore(path, seq);
  let next: number | undefined;
  try {
    files.remove(aside);
    next = files.open(aside, 'new');
    writeAll(files, next, line);
    // It takes the place of a file that may be on the disk already: a loss of power must not leave an empty one there.
    files.sync(next);
    // A second name, and not another one: the log is there at every moment.
    files.link(path, before);
  } catch {
    // The record then is written where the others are; should that not work either, it says why.
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

/** Removes what an unfinished rotation left beside a log that goes on with record `seq`. */
export function clearUp({ path, descriptor, seq, files }: Omit<Rotation, 'line'>): void {
  files.remove(nextOf(path));
  const before = segmentBefore(path, seq);
  if (isSame(before, descriptor, files)) files.remove(before);
}

function nextOf(path: string): string {
  return `${path}.next`;
}

/** Whether the name leads to the open file. */
export function isSame(path: string, descriptor: number, files: LogFiles): boolean {
  const named = files.find(path);
  const open = files.status(descriptor);
  return named !== undefined && named.ino === open.ino && named.dev === open.dev;
}

function discard(path: string, descriptor: number | undefined, files: LogFiles): void {
  try {
    if (descriptor !== undefined) files.close(descriptor);
  } catch {
    // Nothing of it counts.
  }
  drop(path, files);
}

function dropLink(path: string, descriptor: number, files: LogFiles): void {
  try {
    if (isSame(path, descriptor, files)) files.remove(path);
  } catch {
    // A second name of the file, which nothing leads to.
  }
}

function drop(path: string, files: LogFiles): void {
  try {
    files.remove(path);
  } catch {
    // Nobody reads it; the next rotation, or opening the log, tries again.
  }
}
