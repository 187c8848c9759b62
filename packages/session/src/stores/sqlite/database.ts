import { closeSync, existsSync, openSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { LogFiles } from '../../disk/files.ts';

// A record's text is the line that a JSON-lines log would hold, so both have the same links and the same head. The session's row counts
// its records and has the head: a damaged page may lose rows without an error.
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

/** Opens a database for writing, and makes it where there is none. @throws HoldfastError `log.unwritable`. */
export function createDatabase(path: string, files: LogFiles): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    makeFile(path, files);
    const made = connect(path);
    database = made;
    // All tables or none: the process may end in between.
    inTransaction(made, () => made.exec(tables));
    return made;
  } catch (cause) {
    database?.close();
    throw unwritable(path, cause);
  }
}

/** Opens a database that is there. @throws HoldfastError `log.missing`, `log.unwritable`. */
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
 * Opens the write-ahead log of a database that is open, for syncs: it keeps everything that SQLite has not brought to the disk itself.
 * It is there for as long as a connection is. @throws HoldfastError `log.unwritable`.
 */
export function openWriteAheadLog(path: string, files: LogFiles): number {
  try {
    const realPath = realpathSync(path);
    // Both files are of no use without their names.
    files.syncFolder(dirname(realPath));
    return files.open(`${realPath}-wal`, 'read-append');
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/**
 * Lets `read` look into a database that nobody can change meanwhile by this connection.
 * @throws HoldfastError `log.missing`, `log.unreadable` for whatever SQLite throws, and what `read` throws itself.
 */
export function readDatabase<Result>(path: string, read: (database: DatabaseSync) => Result): Result {
  checkThere(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(resolve(path), { readOnly: true });
    database.exec(waiting);
    // One moment of it, while others write.
    database.exec('BEGIN');
    if (!isMade(database)) throw missing(path);
    return read(database);
  } catch (cause) {
    throw isSqliteError(cause) ? unreadable(path, cause) : cause;
  } finally {
    database?.close();
  }
}

/** Runs `change` in one transaction, which keeps everybody else from writing. */
export function inTransaction<Result>(database: DatabaseSync, change: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = change();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite rolls back by itself after some errors, a full disk for one.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

export function isSqliteError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_SQLITE_ERROR';
}

export function unwritable(path: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'log.unwritable',
    `The session database \`${path}\` cannot be opened for writing: ${describeThrown(cause)}`,
    { cause },
  );
}

// How long to wait for another process that is writing in this instant.
const waitMs = 10_000;
const waiting = `PRAGMA busy_timeout = ${waitMs}`;

function connect(path: string): DatabaseSync {
  // Resolved, because `:memory:` and `file:` mean something else to SQLite.
  const database = new DatabaseSync(resolve(path));
  try {
    database.exec(waiting);
    writeAhead(database);
    // From here on a commit waits for no disk: it survives the end of the process, as a line of a file does. What made the database
    // ready is on the disk, and so is the write-ahead log before it is copied into the database, and the database before that log
    // begins anew.
    database.exec('PRAGMA synchronous = NORMAL');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite waits for others by itself, but not here: of those who begin a new database at the same time, all but one would fail. */
function writeAhead(database: DatabaseSync): void {
  const untilMs = performance.now() + waitMs;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= untilMs) throw error;
    }
    // Not in step with others that wait.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 10);
  }
}

function isBusy(error: unknown): boolean {
  // Further bits say what for.
  return isSqliteError(error) && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}

/** SQLite would let everybody read what it makes. The files beside the database get its mode. */
function makeFile(path: string, files: LogFiles): void {
  const folder = dirname(resolve(path));
  const firstMade = files.makeFolder(folder);
  // Each has its name in the one above it; SQLite sees to the name of the database.
  for (let made = folder; firstMade !== undefined && made.length >= firstMade.length; made = dirname(made)) {
    files.syncFolder(dirname(made));
  }
  // Not opened when it is there: closing it would drop the locks that SQLite holds on it elsewhere in this process.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

function checkThere(path: string): void {
  if (!existsSync(path)) throw missing(path);
}

/** False: the process that was making it has ended before there was a table in it. */
function isMade(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() !== undefined;
}

function missing(path: string): HoldfastError {
  return new HoldfastError('log.missing', `There is no session database at \`${path}\`.`);
}

export function unreadable(path: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'log.unreadable',
    `The session database \`${path}\` cannot be read: ${describeThrown(cause)}`,
    { cause },
  );
}
