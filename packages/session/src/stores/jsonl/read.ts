import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { hasCode, type LogFiles, nodeFiles } from '../../disk/files.ts';
import { beginning, type ChainPlace, type ChainProblem } from '../../log/chain.ts';
import type { LogRecord } from '../../log/log.ts';
import { ChainReader } from './chain.ts';
import { listSegments, type Segment, segmentBefore } from './segments.ts';

/** What a log holds, as far as it can be trusted. */
export interface LogReading {
  /** Whole records in order, up to the first problem. */
  readonly records: readonly LogRecord[];
  /** The link that the next record would carry; note it elsewhere to find a tail that was cut off later. */
  readonly head: string;
  /** The last record that there was when the log had the `head` of the options; absent when it never had. */
  readonly notedSeq?: number;
  readonly torn?: TornTail;
  readonly problem?: LogProblem;
}

/** Bytes of a last record that was not written to its end: where they begin, and how many. */
export interface TornTail {
  readonly offset: number;
  readonly bytes: number;
}

export interface LogProblem extends ChainProblem {
  /** The record that was expected. */
  readonly seq: number;
  /** The file that has it or should have it: that of the log, or an older one beside it. */
  readonly path: string;
  /** Byte offset of its line in that file. */
  readonly offset: number;
}

export interface ReadLogOptions {
  /** A head that was noted earlier, 64 hexadecimal digits: `notedSeq` of the answer tells where it was. */
  readonly head?: string;
}

/**
 * Reads and verifies a log, also what is before its snapshots; a damaged one still gives its good beginning.
 * @throws HoldfastError `log.missing`, `log.unreadable`.
 */
export function readLog(path: string, options: ReadLogOptions = {}): LogReading {
  return readJsonlLog(path, nodeFiles, options);
}

/** As `readLog`, on other files. */
function readJsonlLog(path: string, files: LogFiles, { head: noted }: ReadLogOptions = {}): LogReading {
  const records: LogRecord[] = [];
  const reading: ReadingState = { place: beginning };
  let notedSeq = noted === beginning.head ? -1 : undefined;
  try {
    for (const record of readFiles(files.realPath(path), files, reading)) {
      records.push(record);
      if (reading.place.head === noted) notedSeq = record.seq;
    }
  } catch (cause) {
    throw toMissingLog(path, cause);
  }
  const { place, torn, problem } = reading;
  return {
    records,
    head: place.head,
    ...(notedSeq !== undefined && { notedSeq }),
    ...(torn && { torn }),
    ...(problem && { problem }),
  };
}

/** How far a log has been read, and why no further. */
export interface ReadingState {
  place: ChainPlace;
  torn?: TornTail;
  problem?: LogProblem;
}

/**
 * The records of all files of a log, from the file on that has record `fromSeq`, one by one. Where that is not the first file, the
 * snapshot that it begins with is trusted. What the system throws passes.
 */
export function* readFiles(
  path: string,
  files: LogFiles,
  state: ReadingState,
  fromSeq = 0,
): Generator<LogRecord, undefined> {
  // Open from the start: whoever writes the log may begin a new file under this name.
  const newest = files.open(path, 'read');
  try {
    const segments = listSegments(path, newest, { files, fromSeq });
    const first = segments[0]?.seq ?? 0;
    if (first > fromSeq) {
      state.problem = missing(segmentBefore(path, first), fromSeq, first);
      return;
    }
    for (const segment of segments) {
      const last = segment.path === path;
      const descriptor = last ? newest : files.open(segment.path, 'read');
      try {
        const trusted = segment === segments[0] && first > 0;
        yield* readSegment(segment, new ChainReader(files, descriptor, trusted ? undefined : state.place), state);
      } finally {
        if (!last) files.close(descriptor);
      }
      if (state.problem !== undefined) return;
      if (state.torn !== undefined && !last) {
        state.problem = cutOff(segment.path, state);
        delete state.torn;
        return;
      }
    }
  } finally {
    files.close(newest);
  }
}

function* readSegment({ path }: Segment, chain: ChainReader, state: ReadingState): Generator<LogRecord, undefined> {
  for (let record = chain.next(); record !== undefined; record = chain.next()) {
    state.place = chain.place;
    yield record;
  }
  const { problem, offset, rest } = chain;
  if (problem !== undefined) state.problem = { ...problem, seq: state.place.seq, path, offset };
  else if (rest.length > 0) state.torn = { offset, bytes: rest.length };
}

function missing(path: string, from: number, to: number): LogProblem {
  const which = to - from === 1 ? `Record ${from} is` : `Records ${from} to ${to - 1} are`;
  const message = `${which} missing: there is no \`${path}\`, or it is no file of this log.`;
  return { code: 'log.sequence', message, seq: from, path, offset: 0 };
}

function cutOff(path: string, { place, torn }: ReadingState): LogProblem {
  const message = `Record ${place.seq} was cut off: other records follow in the next file.`;
  return { code: 'log.record.invalid', message, seq: place.seq, path, offset: torn?.offset ?? 0 };
}

/** What it means that reading a log threw `cause`. */
export function toMissingLog(path: string, cause: unknown): HoldfastError {
  return hasCode(cause, 'ENOENT')
    ? new HoldfastError('log.missing', `There is no session log at \`${path}\`.`, { cause })
    : new HoldfastError('log.unreadable', `The session log \`${path}\` cannot be read: ${describeThrown(cause)}`, {
        cause,
      });
}

/** Of a log that is not whole. */
export function toDamaged(path: string, { code, seq, path: file, offset, message }: LogProblem): HoldfastError {
  const where = file === path ? '' : ` of \`${file}\``;
  return new HoldfastError(
    code,
    `The session log \`${path}\` is damaged at byte ${offset}${where}, and is not gone on with: ${message} \`readLog\` gives the records before that; put a whole copy of the file back, or start a new session.`,
    { data: { path: file, seq, offset } },
  );
}
