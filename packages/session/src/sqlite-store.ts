import type { DatabaseSync } from 'node:sqlite';
import { describeThrown, HoldfastError } from '@holdfast/core';
import { firstLink, linkOf } from './jsonl-store.ts';
import type { LogEntry, OpenedLog, SessionStore } from './log.ts';
import { createDatabase, inTransaction, isSqliteError, openDatabase, unwritable } from './sqlite-database.ts';
import { missingSession, readRows } from './sqlite-reading.ts';
import { isAlive, newWriter, parseWriter } from './sqlite-writer.ts';

/** A store that inserts one row a record. */
export interface SqliteStore extends SessionStore {
  readonly path: string;
  readonly sessionId: string;
}

export interface SqliteLogOptions {
  /** Names the log in its database, which may hold many. Well-formed Unicode, usually the id of the session itself. */
  readonly sessionId: string;
}

/**
 * Begins a session's log in a database, making the file and its folder where there is none. `append` returns when the operating
 * system has the row: it survives the end of the process. Each row holds the SHA-256 of the row before it, so that an edit
 * anywhere but at the end shows. One process at a time writes a session; many may write other sessions of the database.
 *
 * @throws HoldfastError `log.exists`, `log.unwritable`, `options.invalid`; from `append` `log.write_failed`, after which nothing of
 * the record is left, `log.locked` when another process has taken the session over, `log.sequence` for a record that does not follow the last one,
 * `session.closed`; from `close` `log.write_failed`.
 */
export function sqliteStore(path: string, { sessionId }: SqliteLogOptions): SqliteStore {
  if (typeof sessionId !== 'string' || sessionId === '' || !sessionId.isWellFormed()) {
    throw new HoldfastError(
      'options.invalid',
      `\`sessionId\` must be a string of well-formed Unicode that is not empty, got ${JSON.stringify(sessionId)}.`,
    );
  }
  const writer = newWriter();
  return withDatabase(createDatabase(path), path, (database) => {
    const key = inTransaction(database, () => {
      if (findSession(database, sessionId) !== undefined) {
        throw new HoldfastError(
          'log.exists',
          `\`${path}\` has a session \`${sessionId}\` already; go on with it by \`openSqliteLog\`, or begin one with another id.`,
          { data: { path, sessionId } },
        );
      }
      const { lastInsertRowid } = database
        .prepare('INSERT INTO holdfast_sessions (id, writer) VALUES (?, ?)')
        .run(sessionId, writer);
      return Number(lastInsertRowid);
    });
    return appendRows({ database, path, sessionId, key, writer, seq: 0, head: firstLink });
  });
}

/**
 * Opens a session's log to go on with it: reads and verifies it, and takes over from a writer whose process has ended.
 *
 * @throws HoldfastError `log.missing`, `log.locked` when somebody has it open, `log.unwritable`; `log.record.invalid`,
 * `log.sequence` and `log.chain` for one that was changed, with `path`, `sessionId` and the record's `seq` in `data`.
 */
export function openSqliteLog(
  path: string,
  { sessionId }: SqliteLogOptions,
): OpenedLog & { readonly store: SqliteStore } {
  const writer = newWriter();
  return withDatabase(openDatabase(path), path, (database) =>
    // Read while nobody else can write: what is verified is what is gone on with.
    inTransaction(database, () => {
      const key = takeSession(database, { path, sessionId, writer });
      const { records, head, problem } = readRows(database, key);
      if (problem !== undefined) {
        throw new HoldfastError(
          problem.code,
          `The session \`${sessionId}\` in \`${path}\` is damaged: ${problem.message}`,
          {
            data: { path, sessionId, seq: problem.seq },
          },
        );
      }
      return { records, store: appendRows({ database, path, sessionId, key, writer, seq: records.length, head }) };
    }),
  );
}

interface OpenSession {
  readonly database: DatabaseSync;
  readonly path: string;
  readonly sessionId: string;
  readonly key: number;
  readonly writer: string;
  /** The number of the next record, and what it links to. */
  readonly seq: number;
  readonly head: string;
}

function appendRows({ database, path, sessionId, key, writer, seq, head }: OpenSession): SqliteStore {
  // One statement is one transaction. It inserts nothing once somebody else has taken the session over.
  const insert = database.prepare(
    'INSERT INTO holdfast_records (session, seq, text) SELECT key, ?, ? FROM holdfast_sessions WHERE key = ? AND writer = ?',
  );
  let previous = head;
  let next = seq;
  return {
    path,
    sessionId,
    append(entry: LogEntry, recordSeq: number, atMs: number) {
      if (!database.isOpen) throw new HoldfastError('session.closed', `The log of \`${sessionId}\` is closed.`);
      if (recordSeq !== next) {
        throw new HoldfastError(
          'log.sequence',
          `The log of \`${sessionId}\` goes on with record ${next}, got record ${recordSeq}; does a second session write to it?`,
          { data: { path, sessionId, seq: next } },
        );
      }
      const text = JSON.stringify({ seq: next, prev: previous, atMs, ...entry });
      const { changes } = writing(path, () => insert.run(next, text, key, writer));
      if (Number(changes) === 0) throw locked({ path, sessionId, pid: undefined });
      previous = linkOf(text);
      next += 1;
    },
    close() {
      if (!database.isOpen) return;
      try {
        writing(path, () =>
          database.prepare('UPDATE holdfast_sessions SET writer = NULL WHERE key = ? AND writer = ?').run(key, writer),
        );
      } finally {
        database.close();
      }
    },
  };
}

function takeSession(
  database: DatabaseSync,
  { path, sessionId, writer }: { readonly path: string; readonly sessionId: string; readonly writer: string },
): number {
  const session = findSession(database, sessionId);
  if (session === undefined) throw missingSession(path, sessionId);
  const holder = session.writer === null ? undefined : parseWriter(session.writer);
  if (holder !== undefined && isAlive(holder)) throw locked({ path, sessionId, pid: holder.pid });
  database.prepare('UPDATE holdfast_sessions SET writer = ? WHERE key = ?').run(writer, session.key);
  return session.key;
}

function findSession(
  database: DatabaseSync,
  sessionId: string,
): { readonly key: number; readonly writer: string | null } | undefined {
  const row = database.prepare('SELECT key, writer FROM holdfast_sessions WHERE id = ?').get(sessionId);
  if (row === undefined) return undefined;
  const { key, writer } = row;
  return { key: Number(key), writer: typeof writer === 'string' ? writer : null };
}

/** Closes the database when `use` fails. */
function withDatabase<Result>(database: DatabaseSync, path: string, use: (database: DatabaseSync) => Result): Result {
  try {
    return use(database);
  } catch (error) {
    database.close();
    throw isSqliteError(error) ? unwritable(path, error) : error;
  }
}

function writing<Result>(path: string, write: () => Result): Result {
  try {
    return write();
  } catch (cause) {
    throw new HoldfastError(
      'log.write_failed',
      `The session database \`${path}\` could not be written; is the disk full? (${describeThrown(cause)}) What cannot be recorded is not done.`,
      { cause },
    );
  }
}

function locked({
  path,
  sessionId,
  pid,
}: {
  readonly path: string;
  readonly sessionId: string;
  readonly pid: number | undefined;
}): HoldfastError {
  return pid === undefined
    ? new HoldfastError(
        'log.locked',
        `Another process has taken over the session \`${sessionId}\` in \`${path}\`; open it again to go on.`,
        {
          data: { path, sessionId },
        },
      )
    : new HoldfastError(
        'log.locked',
        `The session \`${sessionId}\` in \`${path}\` is open in process ${pid}; close it there, or wait for its end.`,
        {
          data: { path, sessionId, pid },
        },
      );
}
