import { closeSync, existsSync, openSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { LogFiles } from '../../disk/files.ts';
import { syncFolders } from '../jsonl/store.ts';

// A record's text equals its line in a JSON-lines log, so both have the same links and head. The session's row has the number of
// records and the head, because a damaged page may lose rows without an error.
const tables = `
  CREATE TABLE IF NOT EXISTS holdfast_sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    writer TEXT,
    records INTEGER NOT NULL DEFAULT 0,
    head TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS holdfast_records (
    session INTEGER NOT NULL REFERENCES holdfast_sessions (key),
    seq INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT;
`;

/** Opens or creates a database for writing. @throws HoldfastError `log.write_failed`. */
export function createDatabase(path: string, files: LogFiles): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    makeFile(path, files);
    const made = connect(path);
    database = made;
    // All tables or none: the process may end between.
    inTransaction(made, () => made.exec(tables));
    return made;
  } catch (cause) {
    database?.close();
    throw unwritable(path, cause);
  }
}

/** Opens an existing database. @throws HoldfastError `log.missing`, `log.write_failed`. */
export function openDatabase(path: string): DatabaseSync {
  checkThere(path);
  let database: DatabaseSync | undefined;
  try {
    database = connect(path);
    if (isMade(database)) return database;
  } catch (cause) {
    database?.close();
    throw unwritable(path, cause);
  }
  database.close();
  throw missing(path);
}

/**
 * Opens the write-ahead log of an open database, for syncs: it holds everything that SQLite has not synced itself, and exists while a
 * connection is open. @throws HoldfastError `log.write_failed`.
 */
export function openWriteAheadLog(path: string, files: LogFiles): number {
  try {
    const realPath = realpathSync(path);
    // Both files are useless without their names.
    files.syncFolder(dirname(realPath));
    return files.open(`${realPath}-wal`, 'read-append');
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/**
 * Runs `read` on a read-only view of the database.
 * @throws HoldfastError `log.missing`, `log.unreadable` for SQLite errors, and the errors of `read`.
 */
export function readDatabase<Result>(path: string, read: (database: DatabaseSync) => Result): Result {
  checkThere(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(resolve(path), { readOnly: true });
    database.exec(waiting);
    // A consistent view during concurrent writes.
    database.exec('BEGIN');
    if (!isMade(database)) throw missing(path);
    return read(database);
  } catch (cause) {
    throw isSqliteError(cause) ? unreadable(path, cause) : cause;
  } finally {
    database?.close();
  }
}

/** Runs `change` in one transaction, which excludes other writers. */
export function inTransaction<Result>(database: DatabaseSync, change: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = change();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite rolls back by itself after some errors, such as a full disk.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

export function isSqliteError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_SQLITE_ERROR';
}

export function unwritable(path: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'log.write_failed',
    `The session database \`${path}\` cannot be opened for writing: ${describeThrown(cause)}`,
    { data: { reason: 'open' }, cause },
  );
}

// Waits for another process that is writing.
const waitMs = 10_000;
const waiting = `PRAGMA busy_timeout = ${waitMs}`;

function connect(path: string): DatabaseSync {
  // Resolved, because `:memory:` and `file:` are special to SQLite.
  const database = new DatabaseSync(resolve(path));
  try {
    database.exec(waiting);
    writeAhead(database);
    // From here on a commit does not wait for the disk: it survives the end of the process, like a line in a file. The setup of the
    // database is synced, and SQLite syncs the write-ahead log before copying it into the database, and the database before restarting
    // that log.
    database.exec('PRAGMA synchronous = NORMAL');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite does not wait here by itself: of concurrent creators all but one would fail. */
function writeAhead(database: DatabaseSync): void {
  const untilMs = performance.now() + waitMs;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= untilMs) throw error;
    }
    // Random, to get out of step with other waiters.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 10);
  }
}

function isBusy(error: unknown): boolean {
  // Higher bits have details.
  return isSqliteError(error) && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}

/** Creates the file, because SQLite would make it readable for everyone. Files beside it inherit the mode. */
function makeFile(path: string, files: LogFiles): void {
  const folder = dirname(resolve(path));
  const firstMade = files.makeFolder(folder);
  // SQLite syncs the database's own name.
  if (firstMade !== undefined) syncFolders(folder, dirname(firstMade), files);
  // Not opened if it exists: closing it would drop SQLite's locks elsewhere in this process.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

function checkThere(path: string): void {
  if (!existsSync(path)) throw missing(path);
}

/** False if a process ended while creating it. */
function isMade(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() !== undefined;
}

function missing(path: string): HoldfastError {
  return new HoldfastError('log.missing', `No session database at \`${path}\`.`);
}

export function unreadable(path: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'log.unreadable',
    `The session database \`${path}\` cannot be read: ${describeThrown(cause)}`,
    { cause },
  );
}
