import type { DatabaseSync } from 'node:sqlite';
import { HoldfastError, isPlainObject } from '@holdfast/core';
import { firstLink, linkOf } from './jsonl-store.ts';
import type { LogRecord } from './log.ts';
import { readDatabase } from './sqlite-database.ts';

/** What a database holds of one session, as far as it can be trusted. */
export interface SqliteLogReading {
  /** In order, up to the first problem. */
  readonly records: readonly LogRecord[];
  /** The link that the next record would carry; note it elsewhere to find rows that were cut off at the end later. */
  readonly head: string;
  readonly problem?: SqliteLogProblem;
}

export interface SqliteLogProblem {
  /** `log.record.invalid` (not a record), `log.sequence` (a row too few or too many), `log.chain` (the row before was changed). */
  readonly code: 'log.record.invalid' | 'log.sequence' | 'log.chain';
  /** The record that was expected. */
  readonly seq: number;
  readonly message: string;
}

/** A session of a database. */
export interface SqliteSession {
  readonly sessionId: string;
  /** How many rows it has; nothing is verified. */
  readonly records: number;
}

/**
 * Reads and verifies a session's log without writing, also while somebody writes it; a damaged one still gives its good beginning.
 * @throws HoldfastError `log.missing` (the database or the session), `log.unreadable`.
 */
export function readSqliteLog(path: string, { sessionId }: { readonly sessionId: string }): SqliteLogReading {
  return readDatabase(path, (database) => {
    const row = database.prepare('SELECT key FROM holdfast_sessions WHERE id = ?').get(sessionId);
    if (row === undefined) throw missingSession(path, sessionId);
    return readRows(database, Number(row['key']));
  });
}

/** The sessions of a database, in the order in which they were made. @throws HoldfastError `log.missing`, `log.unreadable`. */
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

export function missingSession(path: string, sessionId: string): HoldfastError {
  return new HoldfastError('log.missing', `There is no session \`${sessionId}\` in \`${path}\`.`, {
    data: { path, sessionId },
  });
}

export function readRows(database: DatabaseSync, key: number): SqliteLogReading {
  const records: LogRecord[] = [];
  let head = firstLink;
  const rows = database.prepare('SELECT seq, text FROM holdfast_records WHERE session = ? ORDER BY seq').iterate(key);
  for (const { seq, text } of rows) {
    const parsed = parseRow(Number(seq), String(text), records.length, head);
    if ('code' in parsed) return { records, head, problem: { ...parsed, seq: records.length } };
    records.push(parsed.record);
    head = linkOf(String(text));
  }
  return { records, head };
}

function parseRow(
  rowSeq: number,
  text: string,
  seq: number,
  head: string,
): { record: LogRecord } | Pick<SqliteLogProblem, 'code' | 'message'> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { code: 'log.record.invalid', message: `Record ${seq} is not JSON.` };
  }
  if (!isPlainObject(value) || typeof value['type'] !== 'string' || typeof value['atMs'] !== 'number') {
    return { code: 'log.record.invalid', message: `Record ${seq} has no type or time.` };
  }
  if (rowSeq !== seq || value['seq'] !== seq) {
    return {
      code: 'log.sequence',
      message: `Record ${seq} is missing: the next row is numbered ${rowSeq} and says ${String(value['seq'])}.`,
    };
  }
  const { prev, ...record } = value;
  if (prev !== head)
    return { code: 'log.chain', message: `Something before record ${seq} was changed after it was written.` };
  // Checked above; the other fields came from JSON.
  return { record: record as LogRecord };
}
