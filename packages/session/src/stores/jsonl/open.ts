import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { type FileStatus, hasCode, type LogFiles, nodeFiles, writeAll } from '../../disk/files.ts';
import type { ChainPlace } from '../../log/chain.ts';
import type { LogRecord, OpenedLog, SessionLogs } from '../../log/log.ts';
import { openOrBegin } from '../../log/open-or-begin.ts';
import { SnapshotGauge } from '../../log/snapshot-gauge.ts';
import { AppendFile } from './append.ts';
import { ChainReader } from './chain.ts';
import { lockLog } from './lock.ts';
import { type LogProblem, type TornTail, toDamaged, toMissingLog } from './read.ts';
import { clearUp } from './rotate.ts';
import { findBelow, readLastLink, segmentBefore } from './segments.ts';
import { appendRecords, createJsonlLog, giveUp, isOnDisk, type JsonlLog, type JsonlOptions } from './store.ts';

/** A reopened log file. */
export interface OpenedJsonlLog extends OpenedLog {
  /** From the snapshot at the start of the file, or else all. */
  readonly records: readonly LogRecord[];
  readonly store: JsonlLog;
  /** An incomplete last record, which was never acknowledged; its bytes are in the file `keptAt`. */
  readonly torn?: TornTail & { readonly keptAt: string };
  /**
   * Set if the file before the leading snapshot is missing, or does not end where the snapshot begins. The session can still be resumed;
   * `readLog` reads everything and reports more.
   */
  readonly earlier?: Omit<LogProblem, 'offset'>;
  /** Who else could have changed the file and its links, for a warning: `every user can write to it`. */
  readonly exposed?: string;
}

export interface OpenJsonlOptions extends JsonlOptions {
  /**
   * For a log that every user can write to, or that another user owns: open it and set `exposed` in the result, or reject it with
   * `log.unreadable`. Not checked on Windows. Default: `report`.
   */
  readonly exposed?: 'report' | 'refuse';
}

/** The log of one session, for `openSession`. */
export interface JsonlStore extends SessionLogs {
  open(): OpenedLog & { readonly store: JsonlLog };
}

/**
 * Stores one session in a file of JSON lines, for `openSession`: `createJsonlLog` if the file does not exist, else `openJsonlLog`, with
 * their errors.
 */
export function jsonlStore(path: string, options: OpenJsonlOptions = {}): JsonlStore {
  return {
    open: () =>
      openOrBegin(
        () => openJsonlLog(path, options),
        () => createJsonlLog(path, options),
      ),
  };
}

/**
 * Opens an existing log file, verifies it, and appends after its last complete record; `replay` rebuilds its session. No other writer
 * can open it until the store is closed or the process ends. An incomplete last record is moved to a file beside the log,
 * `<path>.torn-<offset>`. If the file begins with a snapshot, earlier records are neither read nor needed.
 *
 * @throws HoldfastError `log.missing`, `log.unreadable`, `log.write_failed`, `log.locked`, `options.invalid`; `log.damaged` with `seq` and
 * `offset` in `data` for a changed or damaged log, which is left unchanged. `append` as in `createJsonlLog`.
 */
export function openJsonlLog(path: string, options: OpenJsonlOptions = {}): OpenedJsonlLog {
  return goOnWithLog(path, nodeFiles, options);
}

/** `openJsonlLog` with other file operations. */
export function goOnWithLog(path: string, files: LogFiles, options: OpenJsonlOptions = {}): OpenedJsonlLog {
  const gauge = new SnapshotGauge(options);
  const disk = isOnDisk(options);
  // Under a link's name it would have another lock.
  const realPath = findFile(path, files);
  const unlock = lockLog(realPath, files);
  let descriptor: number | undefined;
  try {
    descriptor = openFile(realPath, files);
    const exposed = describeExposure(files.status(descriptor));
    if (exposed !== undefined && options.exposed === 'refuse') throw refuseExposed(path, exposed);
    const { records, chain } = readToEnd(descriptor, { path, files, gauge });
    const { problem, place, offset: size, rest } = chain;
    if (problem !== undefined) throw toDamaged(path, { ...problem, seq: place.seq, path, offset: size });
    if (records.length === 0) refuseEmptied(realPath, path, files);
    const keptAt = rest.length > 0 ? moveTail(realPath, { files, descriptor, tail: rest, size }) : undefined;
    tidy(realPath, { descriptor, seq: place.seq, files });
    const earlier = checkEarlier(realPath, chain.first, files);
    const file = new AppendFile({ path: realPath, files, descriptor, size, unlock }, disk);
    return {
      records,
      store: appendRecords({ path, realPath, files, file, place, gauge }),
      ...(keptAt !== undefined && { torn: { offset: size, bytes: rest.length, keptAt } }),
      ...(earlier && { earlier }),
      ...(exposed !== undefined && { exposed }),
    };
  } catch (error) {
    giveUp(files, descriptor, unlock);
    throw error;
  }
}

function findFile(path: string, files: LogFiles): string {
  try {
    return files.realPath(path);
  } catch (cause) {
    throw toMissingLog(path, cause);
  }
}

function openFile(path: string, files: LogFiles): number {
  try {
    return files.open(path, 'read-append');
  } catch (cause) {
    throw new HoldfastError(
      'log.write_failed',
      `The session log \`${path}\` cannot be opened for writing: ${describeThrown(cause)}`,
      { data: { reason: 'open' }, cause },
    );
  }
}

function describeExposure({ mode, uid }: FileStatus): string | undefined {
  const mine = process.getuid?.();
  // Windows: the mode does not describe other users.
  if (mine === undefined) return undefined;
  if ((mode & 0o002) !== 0) return 'every user can write to it';
  return uid === mine ? undefined : `it belongs to the user ${uid}`;
}

function refuseExposed(path: string, exposed: string): HoldfastError {
  return new HoldfastError(
    'log.unreadable',
    `The session log \`${path}\` was not opened: ${exposed}. Check where it comes from, and make it writable only for the user of this process.`,
    { data: { reason: 'exposed', path } },
  );
}

interface Reading {
  readonly path: string;
  readonly files: LogFiles;
  readonly gauge: SnapshotGauge;
}

function readToEnd(
  descriptor: number,
  { path, files, gauge }: Reading,
): { readonly records: readonly LogRecord[]; readonly chain: ChainReader } {
  const records: LogRecord[] = [];
  try {
    const chain = new ChainReader(files, descriptor, undefined);
    for (let record = chain.next(); record !== undefined; record = chain.next()) {
      records.push(record);
      gauge.note(record.type, chain.lineBytes);
    }
    return { records, chain };
  } catch (cause) {
    throw toMissingLog(path, cause);
  }
}

/** Rejects an empty file with older segments: a new session would hide them. */
function refuseEmptied(realPath: string, path: string, files: LogFiles): void {
  let seq: number;
  try {
    seq = findBelow(realPath, Number.POSITIVE_INFINITY, files);
  } catch (cause) {
    throw toMissingLog(path, cause);
  }
  if (seq < 0) return;
  const message = `It is empty, but there is \`${segmentBefore(realPath, seq)}\` with those before record ${seq}.`;
  throw toDamaged(path, { code: 'log.damaged', reason: 'sequence', seq, path, offset: 0, message });
}

/** Checks that the previous file ends where the first record of this one begins. */
function checkEarlier(path: string, { seq, head }: ChainPlace, files: LogFiles): OpenedJsonlLog['earlier'] {
  if (seq === 0) return undefined;
  const before = segmentBefore(path, seq);
  let link: string | undefined;
  try {
    link = readLastLink(before, files);
  } catch (cause) {
    const message = `The records before ${seq} cannot be read: ${describeThrown(cause)}`;
    return { code: 'log.damaged', reason: 'sequence', seq, path: before, message };
  }
  if (link === head) return undefined;
  return {
    code: 'log.damaged',
    reason: 'chain',
    seq,
    path: before,
    message: `A record before ${seq} was changed after it was written.`,
  };
}

function tidy(
  path: string,
  open: { readonly descriptor: number; readonly seq: number; readonly files: LogFiles },
): void {
  try {
    clearUp({ path, ...open });
  } catch (cause) {
    throw new HoldfastError(
      'log.write_failed',
      `Cannot remove files that an ended process left beside the session log \`${path}\`: ${describeThrown(cause)}`,
      { data: { reason: 'open' }, cause },
    );
  }
}

interface Tail {
  readonly files: LogFiles;
  readonly descriptor: number;
  readonly tail: Uint8Array;
  /** Of the remaining log. */
  readonly size: number;
}

/** Saves `tail` in a new file, then truncates the log to `size`; returns the new file's path. */
function moveTail(path: string, { files, descriptor, tail, size }: Tail): string {
  for (let count = 1; ; count += 1) {
    const keptAt = `${path}.torn-${size}${count === 1 ? '' : `-${count}`}`;
    try {
      if (!keep(keptAt, tail, files)) continue;
      files.truncate(descriptor, size);
      return keptAt;
    } catch (cause) {
      throw new HoldfastError(
        'log.write_failed',
        `The session log \`${path}\` ends in a torn record that could not be moved to \`${keptAt}\`: ${describeThrown(cause)}`,
        { data: { reason: 'open' }, cause },
      );
    }
  }
}

/** False if the file exists. */
function keep(path: string, bytes: Uint8Array, files: LogFiles): boolean {
  let descriptor: number;
  try {
    descriptor = files.open(path, 'new');
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
  try {
    try {
      writeAll(files, descriptor, bytes);
    } finally {
      files.close(descriptor);
    }
    return true;
  } catch (error) {
    files.remove(path);
    throw error;
  }
}
