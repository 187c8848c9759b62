import type { DatabaseSync } from 'node:sqlite';
import { HoldfastError } from '@holdfast/core';
import { type LogFiles, nodeFiles } from '../../disk/files.ts';
import { beginning } from '../../log/chain.ts';
import type { OpenedLog, SessionLogs } from '../../log/log.ts';
import { openOrBegin } from '../../log/open-or-begin.ts';
import { SnapshotGauge } from '../../log/snapshot-gauge.ts';
import { isOnDisk } from '../jsonl/store.ts';
import {
  createDatabase,
  inTransaction,
  isSqliteError,
  openDatabase,
  openWriteAheadLog,
  unwritable,
} from './database.ts';
import {
  compareEnd,
  damagedLog,
  findSession,
  getSession,
  type RowsReading,
  readRows,
  readTail,
  type SessionRow,
} from './rows.ts';
import { appendRows, type OpenDatabase, type SqliteLog, type SqliteLogOptions } from './store.ts';
import { lockedSession, newWriter, readWriter } from './writer.ts';

export interface OpenSqliteLogOptions extends SqliteLogOptions {
  /**
   * Takes the session over even if it is unknown whether its writer has ended: on another machine, or in another container. That writer can
   * then append nothing more. Default: false.
   */
  readonly takeOver?: boolean;
}

/**
 * Stores sessions in a database, for `openSession`: `createSqliteLog` for a new id, else `openSqliteLog`, with their errors.
 */
export function sqliteStore(path: string, options: Omit<OpenSqliteLogOptions, 'sessionId'> = {}): SessionLogs {
  return {
    open: (sessionId) =>
      openOrBegin(
        () => openSqliteLog(path, { ...options, sessionId }),
        () => createSqliteLog(path, { ...options, sessionId }),
      ),
  };
}

/**
 * Creates a session's log in a database, and the file and its folder if missing. `append` returns when the operating system has the
 * row, which then survives the end of the process. Each row holds the SHA-256 of the previous one, which reveals any edit except at the
 * end. One process at a time writes a session; others may write other sessions of the database.
 *
 * @throws HoldfastError `log.exists`, `log.write_failed`, `options.invalid`; from `append` `log.write_failed`, which leaves nothing of the
 * record, also above 256 MiB and for a record that is not the next, `log.locked` if another process has taken the session over,
 * `session.closed`; from `close` `log.write_failed`; from `sync` and `close` `log.broken`, after which every
 * append throws `log.broken`.
 */
export function createSqliteLog(path: string, options: SqliteLogOptions): SqliteLog {
  return beginSqliteLog(path, options, nodeFiles);
}

/** `createSqliteLog` with other file operations for syncs. */
export function beginSqliteLog(path: string, options: SqliteLogOptions, files: LogFiles): SqliteLog {
  const { sessionId } = options;
  if (typeof sessionId !== 'string' || sessionId === '' || !sessionId.isWellFormed()) {
    throw new HoldfastError(
      'options.invalid',
      `\`sessionId\` must be a non-empty string of well-formed Unicode, got ${JSON.stringify(sessionId)}.`,
    );
  }
  const gauge = new SnapshotGauge(options);
  const disk = isOnDisk(options);
  const writer = newWriter();
  return withDatabase(createDatabase(path, files), { path, options, files, disk }, (open) => {
    const key = inTransaction(open.database, () => insertSession(open, writer));
    return appendRows({ ...open, key, writer, place: beginning, gauge });
  });
}

/**
 * Opens a session's log to resume it: reads and verifies it from its last snapshot on. Takes over from a writer whose process has ended.
 *
 * @throws HoldfastError `log.missing`, `log.locked` if it is open elsewhere, `log.write_failed`, `options.invalid`;
 * `log.damaged` for a changed log, with `path`, `sessionId` and the record's `seq` in `data`.
 */
export function openSqliteLog(
  path: string,
  { takeOver = false, ...options }: OpenSqliteLogOptions,
): OpenedLog & { readonly store: SqliteLog } {
  const gauge = new SnapshotGauge(options);
  const disk = isOnDisk(options);
  const writer = newWriter();
  return withDatabase(openDatabase(path), { path, options, files: nodeFiles, disk }, (open) => {
    const { database } = open;
    const before = checkWhole(open, readTail(database, findFree(open, takeOver).key, gauge));
    // Other writers wait for this transaction, so nearly everything is read before it.
    const { key, since } = inTransaction(database, () => {
      const free = findFree(open, takeOver);
      const rest = readRows(database, free.key, { place: before.place, gauge });
      const reading = checkWhole(open, compareEnd(rest, free.end));
      database.prepare('UPDATE holdfast_sessions SET writer = ? WHERE key = ?').run(writer, free.key);
      return { key: free.key, since: reading };
    });
    const store = appendRows({ ...open, key, writer, place: since.place, gauge });
    return { records: [...before.records, ...since.records], store };
  });
}

/** Returns the session's key. */
function insertSession({ database, path, options: { sessionId } }: OpenDatabase, writer: string): number {
  if (findSession(database, sessionId) !== undefined) {
    throw new HoldfastError(
      'log.exists',
      `\`${path}\` already has a session \`${sessionId}\`; resume it with \`openSqliteLog\`, or use another id.`,
      { data: { path, sessionId } },
    );
  }
  const insert = database.prepare('INSERT INTO holdfast_sessions (id, writer, head) VALUES (?, ?, ?)');
  return Number(insert.run(sessionId, writer, beginning.head).lastInsertRowid);
}

/** Finds a session that is not open elsewhere. */
function findFree({ database, path, options: { sessionId } }: OpenDatabase, takeOver: boolean): SessionRow {
  const session = getSession(database, path, sessionId);
  const holder = session.writer === null ? undefined : readWriter(session.writer);
  const free = session.writer === null || holder?.state === 'ended' || (takeOver && holder?.state !== 'running');
  if (!free) throw lockedSession(path, sessionId, holder ?? 'unknown');
  return session;
}

function checkWhole({ path, options: { sessionId } }: OpenDatabase, reading: RowsReading): RowsReading {
  const { problem } = reading;
  if (problem !== undefined) throw damagedLog({ path, sessionId, problem });
  return reading;
}

/** Closes the database if `use` fails. */
function withDatabase<Result>(
  database: DatabaseSync,
  { disk, ...parts }: Omit<OpenDatabase, 'database' | 'syncing'> & { readonly disk: boolean },
  use: (open: OpenDatabase) => Result,
): Result {
  const { path, files } = parts;
  let syncing: number | undefined;
  try {
    if (disk) syncing = openWriteAheadLog(path, files);
    return use({ database, ...parts, ...(syncing !== undefined && { syncing }) });
  } catch (error) {
    database.close();
    if (syncing !== undefined) files.close(syncing);
    throw isSqliteError(error) ? unwritable(path, error) : error;
  }
}
