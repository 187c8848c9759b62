import type { LogRecord } from '../../log/log.ts';
import { readDatabase } from './database.ts';
import { compareEnd, getSession, readRows, type SqliteLogProblem } from './rows.ts';

/** The verified part of a session's log. */
export interface SqliteLogReading {
  /** In order, up to the first problem. */
  readonly records: readonly LogRecord[];
  /** The link that the next record would carry; note it elsewhere to detect missing rows at the end later. */
  readonly head: string;
  readonly problem?: SqliteLogProblem;
}

/** A session of a database. */
export interface SqliteSession {
  readonly sessionId: string;
  /** Number of rows, unverified. */
  readonly records: number;
}

/**
 * Reads and verifies all of a session's log without writing, also during writes; a damaged log still returns its valid beginning.
 * @throws HoldfastError `log.missing` (the database or the session), `log.unreadable`.
 */
export function readSqliteLog(path: string, { sessionId }: { readonly sessionId: string }): SqliteLogReading {
  return readDatabase(path, (database) => {
    const { key, end } = getSession(database, path, sessionId);
    const { records, place, problem } = compareEnd(readRows(database, key), end);
    return { records, head: place.head, ...(problem && { problem }) };
  });
}

/** The sessions of a database in order of creation. @throws HoldfastError `log.missing`, `log.unreadable`. */
export function listSqliteSessions(path: string): readonly SqliteSession[] {
  return readDatabase(path, (database) =>
    database
      .prepare(
        'SELECT id, (SELECT count(*) FROM holdfast_records WHERE session = key) AS records FROM holdfast_sessions ORDER BY key',
      )
      .all()
      .map(({ id, records }) => ({ sessionId: String(id), records: Number(records) })),
  );
}
