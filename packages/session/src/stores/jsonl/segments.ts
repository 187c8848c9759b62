import { basename, dirname } from 'node:path';
import { hasCode, type LogFiles } from '../../disk/files.ts';
import { linkOf } from '../../log/chain.ts';
import { maxLineBytes } from './lines.ts';

/**
 * One file of a log. `<path>` has the newest records. If it begins with a snapshot, such as record 500, earlier records are in
 * `<path>.before-500`, which may begin with a snapshot in turn, and so on.
 */
export interface Segment {
  readonly path: string;
  /** Number of its first record. */
  readonly seq: number;
}

/** The file with the records before snapshot `seq`. */
export function segmentBefore(path: string, seq: number): string {
  return `${path}.before-${seq}`;
}

interface Claim extends Segment {
  /** True if the file begins in our format and names its first record. */
  readonly clear: boolean;
}

/**
 * The files of the log at `path` in order, starting with the one that has record `fromSeq`; `newest` is the open file of that name. Each
 * file names its first record, and so its predecessor. If it does not, or the predecessor is missing, the next older file in the folder
 * is used: its records are valid as far as they go. The first file starts after `fromSeq` if that record is missing.
 */
export function listSegments(
  path: string,
  newest: number,
  { files, fromSeq = 0 }: { readonly files: LogFiles; readonly fromSeq?: number },
): readonly Segment[] {
  let first = readClaim(path, newest, files);
  const segments: Segment[] = [first];
  // Upper limit for older files, which have smaller numbers in their names.
  let end = Number.POSITIVE_INFINITY;
  while (!first.clear || first.seq > fromSeq) {
    const named = first.clear && first.seq < end ? openClaim(segmentBefore(path, first.seq), files) : undefined;
    end = named === undefined ? findBelow(path, end, files) : first.seq;
    const before = named ?? (end < 0 ? undefined : openClaim(segmentBefore(path, end), files));
    if (before === undefined) break;
    first = before;
    segments.unshift(first);
  }
  return segments;
}

/** The largest number below `seq` in the name of an older file; -1 if there is none. */
export function findBelow(path: string, seq: number, files: LogFiles): number {
  const start = `${basename(path)}.before-`;
  const numbers = files
    .list(dirname(path))
    .filter((name) => name.startsWith(start) && /^\d{1,15}$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)));
  return Math.max(-1, ...numbers.filter((number) => number < seq));
}

function openClaim(path: string, files: LogFiles): Claim | undefined {
  let descriptor: number;
  try {
    descriptor = files.open(path, 'read');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    return readClaim(path, descriptor, files);
  } finally {
    files.close(descriptor);
  }
}

function readClaim(path: string, descriptor: number, files: LogFiles): Claim {
  const bytes = Buffer.alloc(firstSeqBytes);
  const text = bytes.toString('latin1', 0, files.read(descriptor, bytes, 0));
  const seq = /^\{"seq":(\d{1,15}),/.exec(text)?.[1];
  return { path, seq: Number(seq ?? 0), clear: seq !== undefined };
}

// Our snapshots begin like this; reading reports any other file.
const firstSeqBytes = 32;

/** The link of the last line of a file; `undefined` without a complete line. */
export function readLastLink(path: string, files: LogFiles): string | undefined {
  const descriptor = files.open(path, 'read');
  try {
    const { size } = files.status(descriptor);
    for (let bytes = 64 * 1024; ; bytes *= 4) {
      const from = Math.max(0, size - bytes);
      const tail = readRange(descriptor, { from, to: size, files });
      if (tail.at(-1) !== newline) return undefined;
      const before = tail.subarray(0, -1).lastIndexOf(newline);
      if (before === -1 && from > 0 && bytes <= maxLineBytes) continue;
      return linkOf(tail.subarray(before + 1, -1));
    }
  } finally {
    files.close(descriptor);
  }
}

const newline = 10;

interface Range {
  readonly from: number;
  readonly to: number;
  readonly files: LogFiles;
}

function readRange(descriptor: number, { from, to, files }: Range): Buffer {
  const bytes = Buffer.allocUnsafe(to - from);
  let filled = 0;
  while (filled < bytes.length) {
    const more = files.read(descriptor, bytes.subarray(filled), from + filled);
    if (more === 0) break;
    filled += more;
  }
  return bytes.subarray(0, filled);
}
