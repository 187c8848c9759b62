import { dirname, resolve } from 'node:path';
import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { hasCode, type LogFiles, nodeFiles } from '../../disk/files.ts';
import { beginning, type ChainPlace, linkOf } from '../../log/chain.ts';
import type { LogEntry, LogRecord, SessionStore } from '../../log/log.ts';
import { Gauged, SnapshotGauge, type SnapshotOptions } from '../../log/snapshot-gauge.ts';
import { AppendFile } from './append.ts';
import { maxLineBytes } from './lines.ts';
import { lockLog } from './lock.ts';
import { type ReadingState, readFiles, toDamaged, toMissingLog } from './read.ts';

/** A store that appends one line of JSON a record. */
export interface JsonlLog extends SessionStore {
  readonly path: string;
  read(fromSeq?: number): Iterable<LogRecord>;
  readonly snapshotDue: boolean;
  /** Lets other processes write to the log until `retake`; meanwhile `append` throws `log.released`. */
  release(): void;
  /**
   * Locks a released log again. False: another process has written to it, or it is broken; it stays released. Close it and open it again.
   *
   * @throws HoldfastError `log.locked`, `log.unwritable`, `session.closed`.
   */
  retake(): boolean;
}

export interface JsonlOptions extends SnapshotOptions {
  /**
   * What a record survives as soon as `append` returns is the end of the process. With `disk` the store also has `sync`, which
   * resolves when everything appended so far survives a loss of power; those who ask at the same time share one sync of the disk.
   * Default: `process`.
   */
  readonly sync?: 'process' | 'disk';
}

/**
 * Opens a new log file, making its folder. `append` returns when the operating system has the line: it survives the end of the process.
 * Each line holds the SHA-256 of the line before it, so that an edit anywhere but at the end shows. Until it is closed, or its
 * process ends, no other writer can open the file. With a snapshot as record 500, `path` begins anew with it, and the records before
 * are in `<path>.before-500`.
 *
 * @throws HoldfastError `log.exists`, `log.unwritable`, `log.locked`, `options.invalid`; from `append` `log.write_failed`, after which
 * nothing of the record is left in the file, or, when even that could not be undone, `log.broken` at every further append;
 * `log.record.too_long` for one of more than 256 MiB, `log.sequence` for one that does not follow the last one, `session.closed`
 * after `close`; from `sync` and `close` `log.sync_failed`, after which every append throws `log.broken`.
 */
export function createJsonlLog(path: string, options: JsonlOptions = {}): JsonlLog {
  return beginJsonlLog(path, nodeFiles, options);
}

/** As `createJsonlLog`, on other files. */
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

/** A log that is open at its end. */
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
      // Also when it fails.
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
      // Once: its descriptor may be another file's by now.
      if (closed) return;
      closed = true;
      file.close();
    },
  });
}

/** Up to the records that there are when the reading begins. */
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
    'log.sequence',
    `The log goes on with record ${next}, not ${seq}; make the session of an opened log with \`replay\`, and use a store for one session only.`,
    { data: { seq, expected: next } },
  );
}

function tooLong(seq: number, bytes: number): HoldfastError {
  return new HoldfastError(
    'log.record.too_long',
    `Record ${seq} has ${bytes} bytes; a record may have ${maxLineBytes}. Keep large data in files, and their names in the session.`,
    { data: { seq, bytes, maxBytes: maxLineBytes } },
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
    // Before anybody is kept out: most files that exist are finished logs.
    if (files.find(path) !== undefined) throw exists(path);
  } catch (cause) {
    throw isHoldfastError(cause) ? cause : unwritable(path, cause);
  }
  const unlock = lockLog(path, files);
  let descriptor: number | undefined;
  try {
    // Exclusive: a log that is there already belongs to another session.
    descriptor = files.open(path, 'new');
    if (disk) files.syncFolder(dirname(path));
    return { descriptor, unlock };
  } catch (cause) {
    giveUp(files, descriptor, unlock);
    throw hasCode(cause, 'EEXIST') ? exists(path, cause) : unwritable(path, cause);
  }
}

/** Lets go of a log that could not be opened. What fails in this is less than what has failed before. */
export function giveUp(files: LogFiles, descriptor: number | undefined, unlock: () => void): void {
  try {
    try {
      if (descriptor !== undefined) files.close(descriptor);
    } finally {
      unlock();
    }
  } catch {
    // The caller throws what it could not open the log for.
  }
}

/** Each folder that was made has its name in the one above it. */
function syncFolders(innermost: string, outermost: string, files: LogFiles): void {
  for (let folder = innermost; folder !== outermost && folder !== dirname(folder); ) {
    folder = dirname(folder);
    files.syncFolder(folder);
  }
}

function exists(path: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'log.exists',
    `\`${path}\` exists already; a session starts a log of its own, and \`openJsonlLog\` goes on with one.`,
    { cause },
  );
}

function unwritable(path: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'log.unwritable',
    `The session log \`${path}\` cannot be created: ${describeThrown(cause)}`,
    { cause },
  );
}
