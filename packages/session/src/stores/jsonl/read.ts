import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { hasCode, type LogFiles, nodeFiles } from '../../disk/files.ts';
import { beginning, type ChainPlace, type ChainProblem } from '../../log/chain.ts';
import type { LogRecord } from '../../log/log.ts';
import { ChainReader } from './chain.ts';
import { listSegments, type Segment, segmentBefore } from './segments.ts';

/** The verified part of a log. */
export interface LogReading {
  /** Complete records in order, up to the first problem. */
  readonly records: readonly LogRecord[];
  /** The link that the next record would carry; note it elsewhere to detect a truncated log later. */
  readonly head: string;
  /** The last record when the log had the given `head`; absent if it never had. */
  readonly notedSeq?: number;
  readonly torn?: TornTail;
  readonly problem?: LogProblem;
}

/** Position and size of an incomplete last record. */
export interface TornTail {
  readonly offset: number;
  readonly bytes: number;
}

export interface LogProblem extends ChainProblem {
  /** Number of the expected record. */
  readonly seq: number;
  /** The file that has or should have it: the log's own, or an older one beside it. */
  readonly path: string;
  /** Byte offset of its line in that file. */
  readonly offset: number;
}

export interface ReadLogOptions {
  /** A head noted earlier, 64 hexadecimal digits: the result's `notedSeq` is its position. */
  readonly head?: string;
}

/**
 * Reads and verifies a log, including the records before its snapshots; a damaged log still returns its valid beginning.
 * @throws HoldfastError `log.missing`, `log.unreadable`.
 */
export function readLog(path: string, { head: noted }: ReadLogOptions = {}): LogReading {
  const records: LogRecord[] = [];
  const reading: ReadingState = { place: beginning };
  let notedSeq = noted === beginning.head ? -1 : undefined;
  try {
    for (const record of readFiles(nodeFiles.realPath(path), nodeFiles, reading)) {
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

/** The progress of reading, and why it stopped. */
export interface ReadingState {
  place: ChainPlace;
  torn?: TornTail;
  problem?: LogProblem;
}

/**
 * Yields the records of all files of a log, starting with the file that has record `fromSeq`. The snapshot at the start of a file other
 * than the first is trusted. Errors of the file system are not caught.
 */
export function* readFiles(
  path: string,
  files: LogFiles,
  state: ReadingState,
  fromSeq = 0,
): Generator<LogRecord, undefined> {
  // Opened first: the writer may replace the file under this name.
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
  const message = `${which} missing: \`${path}\` does not exist, or is not a file of this log.`;
  return { code: 'log.damaged', reason: 'sequence', message, seq: from, path, offset: 0 };
}

function cutOff(path: string, { place, torn }: ReadingState): LogProblem {
  const message = `Record ${place.seq} was cut off: other records follow in the next file.`;
  return { code: 'log.damaged', reason: 'record', message, seq: place.seq, path, offset: torn?.offset ?? 0 };
}

/** Converts an error of reading a log. */
export function toMissingLog(path: string, cause: unknown): HoldfastError {
  return hasCode(cause, 'ENOENT')
    ? new HoldfastError('log.missing', `There is no session log at \`${path}\`.`, { cause })
    : new HoldfastError('log.unreadable', `The session log \`${path}\` cannot be read: ${describeThrown(cause)}`, {
        cause,
      });
}

/** The error for a damaged log. */
export function toDamaged(path: string, { code, reason, seq, path: file, offset, message }: LogProblem): HoldfastError {
  const where = file === path ? '' : ` of \`${file}\``;
  return new HoldfastError(
    code,
    `The session log \`${path}\` is damaged at byte ${offset}${where} and was not opened: ${message} \`readLog\` returns the records before that. Restore a complete copy of the file, or start a new session.`,
    { data: { reason, path: file, seq, offset } },
  );
}
