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

/** A log file that is gone on with. */
export interface OpenedJsonlLog extends OpenedLog {
  /** From the snapshot on with which the file begins, or else all. */
  readonly records: readonly LogRecord[];
  readonly store: JsonlLog;
  /** A last record that was not written to its end, and so never acknowledged; `keptAt` has its bytes. */
  readonly torn?: TornTail & { readonly keptAt: string };
  /**
   * The file with what is before the snapshot is missing, or does not end in what the snapshot followed. The session can be gone on
   * with all the same; `readLog` reads everything and tells more.
   */
  readonly earlier?: Omit<LogProblem, 'offset'>;
  /** Who else could have changed the file, and all links with it, for a warning: `every user can write to it`. */
  readonly exposed?: string;
}

export interface OpenJsonlOptions extends JsonlOptions {
  /**
   * What becomes of a log that every user can write to, or that belongs to another user: it is opened with `exposed` in the answer, or
   * refused with `log.exposed`. Windows does not tell. Default: `report`.
   */
  readonly exposed?: 'report' | 'refuse';
}

/** The log of one session, for `openSession`. */
export interface JsonlStore extends SessionLogs {
  open(): OpenedLog & { readonly store: JsonlLog };
}

/**
 * Keeps one session in a file of JSON lines, for `openSession`: `createJsonlLog` where there is no file, else `openJsonlLog`, with their
 * errors.
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
 * Opens a log file that is there, verifies it, and appends after its last whole record; `replay` makes its session again. No other
 * writer can open it until the store is closed or the process ends. A torn last record is moved to a file of its own beside the
 * log, `<path>.torn-<offset>`. Where the file begins with a snapshot, what is before is neither read nor needed.
 *
 * @throws HoldfastError `log.missing`, `log.unreadable`, `log.unwritable`; `log.locked`; `log.record.invalid`, `log.sequence`,
 * `log.chain` with `seq` and `offset` in `data` for a log that was changed or damaged, which is left as it is; `log.exposed`,
 * `options.invalid`.
 * `append` as in `createJsonlLog`.
 */
export function openJsonlLog(path: string, options: OpenJsonlOptions = {}): OpenedJsonlLog {
  return goOnWithLog(path, nodeFiles, options);
}

/** As `openJsonlLog`, on other files. */
export function goOnWithLog(path: string, files: LogFiles, options: OpenJsonlOptions = {}): OpenedJsonlLog {
  const gauge = new SnapshotGauge(options);
  const disk = isOnDisk(options);
  // Under another name it would have another lock.
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
      'log.unwritable',
      `The session log \`${path}\` cannot be opened for writing: ${describeThrown(cause)}`,
      { cause },
    );
  }
}

function describeExposure({ mode, uid }: FileStatus): string | undefined {
  const mine = process.getuid?.();
  // Windows: the mode says nothing about other users.
  if (mine === undefined) return undefined;
  if ((mode & 0o002) !== 0) return 'every user can write to it';
  return uid === mine ? undefined : `it belongs to the user ${uid}`;
}

function refuseExposed(path: string, exposed: string): HoldfastError {
  return new HoldfastError(
    'log.exposed',
    `The session log \`${path}\` is not gone on with: ${exposed}. Check where it comes from, and give it to the user of this process alone.`,
    { data: { path } },
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

/** A new session in the place of what was cut away would hide all that is before. */
function refuseEmptied(realPath: string, path: string, files: LogFiles): void {
  let seq: number;
  try {
    seq = findBelow(realPath, Number.POSITIVE_INFINITY, files);
  } catch (cause) {
    throw toMissingLog(path, cause);
  }
  if (seq < 0) return;
  const message = `It has no record, and there is \`${segmentBefore(realPath, seq)}\` with those before record ${seq}.`;
  throw toDamaged(path, { code: 'log.sequence', seq, path, offset: 0, message });
}

/** Looks whether the file before ends in what the first record of this one follows. */
function checkEarlier(path: string, { seq, head }: ChainPlace, files: LogFiles): OpenedJsonlLog['earlier'] {
  if (seq === 0) return undefined;
  const before = segmentBefore(path, seq);
  let link: string | undefined;
  try {
    link = readLastLink(before, files);
  } catch (cause) {
    const message = `What is before record ${seq} cannot be read: ${describeThrown(cause)}`;
    return { code: 'log.sequence', seq, path: before, message };
  }
  if (link === head) return undefined;
  return {
    code: 'log.chain',
    seq,
    path: before,
    message: `Something before record ${seq} was changed after it was written.`,
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
      'log.unwritable',
      `What was left beside the session log \`${path}\` when its process ended cannot be removed: ${describeThrown(cause)}`,
      { cause },
    );
  }
}

interface Tail {
  readonly files: LogFiles;
  readonly descriptor: number;
  readonly tail: Uint8Array;
  /** Of what stays. */
  readonly size: number;
}

/** Keeps `tail` in a new file, then cuts the log to `size`; answers where it is kept. */
function moveTail(path: string, { files, descriptor, tail, size }: Tail): string {
  for (let count = 1; ; count += 1) {
    const keptAt = `${path}.torn-${size}${count === 1 ? '' : `-${count}`}`;
    try {
      if (!keep(keptAt, tail, files)) continue;
      files.truncate(descriptor, size);
      return keptAt;
    } catch (cause) {
      throw new HoldfastError(
        'log.unwritable',
        `The session log \`${path}\` ends in a record that was not written to its end, which could not be moved to \`${keptAt}\`: ${describeThrown(cause)}`,
        { cause },
      );
    }
  }
}

/** False when there is a file of that name. */
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
