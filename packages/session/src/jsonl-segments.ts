import { hasCode, type LogFiles } from './jsonl-files.ts';
import { maxLineBytes } from './jsonl-lines.ts';
import { linkOf } from './record-chain.ts';

/**
 * One file of a log. `<path>` has the newest records; where it begins with a snapshot, as record 500, the records before are in
 * `<path>.before-500`, which may begin with a snapshot in its turn, and so on down to the beginning.
 */
export interface Segment {
  readonly path: string;
  /** Number of its first record. */
  readonly seq: number;
}

/** Where the records before the snapshot `seq` are. */
export function segmentBefore(path: string, seq: number): string {
  return `${path}.before-${seq}`;
}

/**
 * The files of the log at `path` from the one on that has record `fromSeq`, in order; `newest` is the open file of that name. The first
 * of them begins with a later record when an older file is missing.
 */
export function listSegments(
  path: string,
  newest: number,
  { files, fromSeq = 0 }: { readonly files: LogFiles; readonly fromSeq?: number },
): readonly Segment[] {
  const segments: Segment[] = [{ path, seq: readFirstSeq(newest, files) }];
  for (let first = segments[0]; first !== undefined && first.seq > fromSeq; first = segments[0]) {
    const before = segmentBefore(path, first.seq);
    const descriptor = openThere(before, files);
    if (descriptor === undefined) break;
    try {
      const seq = readFirstSeq(descriptor, files);
      // Numbers that do not go down were not written by us, and would lead in a circle.
      if (seq >= first.seq) break;
      segments.unshift({ path: before, seq });
    } finally {
      files.close(descriptor);
    }
  }
  return segments;
}

function openThere(path: string, files: LogFiles): number | undefined {
  try {
    return files.open(path, 'read');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** With which record a file begins, as it claims itself; 0 when it does not. */
function readFirstSeq(descriptor: number, files: LogFiles): number {
  const bytes = Buffer.alloc(firstSeqBytes);
  const text = bytes.toString('latin1', 0, files.read(descriptor, bytes, 0));
  return Number(/^\{"seq":(\d{1,15}),/.exec(text)?.[1] ?? 0);
}

// As a snapshot that we write begins; what does not is no segment of ours, and reading it says so.
const firstSeqBytes = 32;

/** The link of the last line of a file; `undefined` when it has none that is whole. */
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
