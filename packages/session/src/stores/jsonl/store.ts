import { dirname, resolve } from 'node:path';
import { HoldfastError, isHoldfastError, type JsonObject } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { hasCode, type LogFiles, nodeFiles } from '../../disk/files.ts';
import { beginning, type ChainPlace, linkOf } from '../../log/chain.ts';
import type { LogEntry, LogRecord, SessionStore } from '../../log/log.ts';
import { Gauged, SnapshotGauge, type SnapshotOptions } from '../../log/snapshot-gauge.ts';
import { AppendFile } from './append.ts';
import { maxLineBytes } from './lines.ts';
import { lockLog } from './lock.ts';
import { type ReadingState, readFiles, toDamaged, toMissingLog } from './read.ts';

/** A store that appends one line of JSON per record. */
export interface JsonlLog extends SessionStore {
  readonly path: string;
  read(fromSeq?: number): Iterable<LogRecord>;
  readonly snapshotDue: boolean;
  /** Lets other processes write to the log until `retake`; meanwhile `append` throws `log.broken`. */
  release(): void;
  /**
   * Locks a released log again. False: another process has written to it, or it is broken; it stays released. Close it and open it again.
   *
   * @throws HoldfastError `log.locked`, `log.write_failed`, `session.closed`.
   */
  retake(): boolean;
}

export interface JsonlOptions extends SnapshotOptions {
  /**
   * `process`: a record survives the end of the process as soon as `append` returns. `disk`: the store also has `sync`, which resolves when
   * everything appended so far survives a power failure; concurrent callers share one sync. Default: `process`.
   */
  readonly sync?: 'process' | 'disk';
}

/**
 * Creates a log file and its folder. `append` returns when the operating system has the line, which then survives the end of the
 * process. Each line holds the SHA-256 of the previous one, which reveals any edit except at the end. No other writer can open the file
 * until it is closed or its process ends. A snapshot, such as record 500, begins `path` anew; earlier records move to
 * `<path>.before-500`.
 *
 * @throws HoldfastError `log.exists`, `log.write_failed`, `log.locked`, `options.invalid`; from `append` `log.write_failed`, which leaves
 * nothing of the record in the file, or `log.broken` at every further append if that failed; also above 256 MiB and for a
 * record that is not the next; `session.closed` after `close`; from `sync` and `close` `log.broken`, after
 * which every append throws `log.broken`.
 */
export function createJsonlLog(path: string, options: JsonlOptions = {}): JsonlLog {
  return beginJsonlLog(path, nodeFiles, options);
}

/** `createJsonlLog` with other file operations. */
export function beginJsonlLog(path: string, files: LogFiles, options: JsonlOptions = {}): JsonlLog {
  const gauge = new SnapshotGauge(options);
  const disk = isOnDisk(options);
  const realPath = resolve(path);
  const { descriptor, unlock } = createFile(realPath, files, disk);
  const file = new AppendFile({ path: realPath, files, descriptor, size: 0, unlock }, disk);
  return appendRecords({ path, realPath, files, file, place: beginning, gauge });
}

/** @throws HoldfastError `options.invalid`. */
export function isOnDisk({ sync = 'process' }: JsonlOptions): boolean {
  if (sync === 'process' || sync === 'disk') return sync === 'disk';
  throw new HoldfastError('options.invalid', `\`sync\` must be \`process\` or \`disk\`, got ${JSON.stringify(sync)}.`);
}

/** A log open for appending. */
export interface OpenLog {
  readonly path: string;
  readonly realPath: string;
  readonly files: LogFiles;
  readonly file: AppendFile;
  readonly place: ChainPlace;
  readonly gauge: SnapshotGauge;
}

export function appendRecords({ path, realPath, files, file, place: end, gauge }: OpenLog): JsonlLog {
  let place = end;
  let closed = false;
  const checkOpen = (): void => {
    if (!closed) return;
    throw new HoldfastError('session.closed', 'The session log is closed; open it again with `openJsonlLog`.');
  };
  const { sync } = file;
  return Object.assign(new Gauged(() => gauge.due), {
    path,
    append(entry: LogEntry, seq: number, atMs: number) {
      checkOpen();
      file.checkWhole();
      if (seq !== place.seq) throw misplaced(seq, place.seq);
      const isSnapshot = entry.type === 'snapshot';
      // Also if it fails.
      if (isSnapshot) gauge.postpone();
      const line = JSON.stringify({ seq, prev: place.head, atMs, ...entry });
      const bytes = Buffer.from(`${line}\n`);
      if (bytes.length > maxLineBytes) throw tooLong(seq, bytes.length);
      if (isSnapshot) file.appendFirst(bytes, seq);
      else file.append(bytes);
      gauge.note(entry.type, bytes.length);
      place = { seq: seq + 1, head: linkOf(line) };
    },
    read: (fromSeq = 0) => readBack({ path, realPath, files }, fromSeq, () => place.seq),
    ...(sync && {
      async sync() {
        checkOpen();
        await sync();
      },
    }),
    release: () => file.release(),
    retake() {
      checkOpen();
      return file.retake();
    },
    close() {
      // Once: the descriptor may have been reused.
      if (closed) return;
      closed = true;
      file.close();
    },
  });
}

/** Reads the records that exist when reading begins. */
function* readBack(
  { path, realPath, files }: Pick<OpenLog, 'path' | 'realPath' | 'files'>,
  fromSeq: number,
  countRecords: () => number,
): Generator<LogRecord, undefined> {
  const end = countRecords();
  if (fromSeq >= end) return;
  const state: ReadingState = { place: beginning };
  try {
    for (const record of readFiles(realPath, files, state, fromSeq)) {
      if (record.seq >= end) return;
      if (record.seq >= fromSeq) yield record;
    }
  } catch (cause) {
    throw toMissingLog(path, cause);
  }
  if (state.problem !== undefined) throw toDamaged(path, state.problem);
}

function misplaced(seq: number, next: number): HoldfastError {
  return new HoldfastError(
    'log.write_failed',
    `Expected record ${next} next, got ${seq}; use \`replay\` for an opened log, and each store for one session only.`,
    { data: { reason: 'sequence', seq, expected: next } },
  );
}

export function tooLong(seq: number, bytes: number, where: JsonObject = {}): HoldfastError {
  return new HoldfastError(
    'log.write_failed',
    `Record ${seq} has ${bytes} bytes; the limit is ${maxLineBytes}. Store large data in files, and their names in the session.`,
    { data: { reason: 'record.too_long', ...where, seq, bytes, maxBytes: maxLineBytes } },
  );
}

interface CreatedFile {
  readonly descriptor: number;
  readonly unlock: () => void;
}

function createFile(path: string, files: LogFiles, disk: boolean): CreatedFile {
  try {
    const first = files.makeFolder(dirname(path));
    if (disk && first !== undefined) syncFolders(dirname(path), dirname(first), files);
    // Before locking: most existing files are finished logs.
    if (files.find(path) !== undefined) throw exists(path);
  } catch (cause) {
    throw isHoldfastError(cause) ? cause : unwritable(path, cause);
  }
  const unlock = lockLog(path, files);
  let descriptor: number | undefined;
  try {
    // Exclusive: an existing log belongs to another session.
    descriptor = files.open(path, 'new');
    if (disk) files.syncFolder(dirname(path));
    return { descriptor, unlock };
  } catch (cause) {
    giveUp(files, descriptor, unlock);
    throw hasCode(cause, 'EEXIST') ? exists(path, cause) : unwritable(path, cause);
  }
}

/** Releases a log that could not be opened. Ignores failures, which matter less than the original error. */
export function giveUp(files: LogFiles, descriptor: number | undefined, unlock: () => void): void {
  try {
    try {
      if (descriptor !== undefined) files.close(descriptor);
    } finally {
      unlock();
    }
  } catch {
    // The caller throws the original error.
  }
}

/** Syncs the name of each created folder in its parent. */
export function syncFolders(innermost: string, outermost: string, files: LogFiles): void {
  for (let folder = innermost; folder !== outermost && folder !== dirname(folder); ) {
    folder = dirname(folder);
    files.syncFolder(folder);
  }
}

function exists(path: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'log.exists',
    `\`${path}\` already exists; create a new session in another file, or resume this one with \`openJsonlLog\`.`,
    { cause },
  );
}

function unwritable(path: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'log.write_failed',
    `The session log \`${path}\` cannot be created: ${describeThrown(cause)}`,
    { data: { reason: 'open' }, cause },
  );
}
