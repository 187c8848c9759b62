import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { LogEntry, LogRecord } from '@holdfast/session';
import { readSqliteLog, type SqliteLogReading, sqliteStore } from '@holdfast/session/sqlite';
import { makeFolder, writeLog } from './log-damage.ts';

/** Of the one session in a database that is damaged. */
export const sessionId = 's';

/** A session's log in a database, whose rows can be changed behind its back. */
export interface SqliteLog extends Disposable {
  readonly path: string;
  /** The texts of the rows as they were written. */
  readonly lines: readonly string[];
  /** As it was written. */
  readonly head: string;
  /** Gives the session these rows, numbered from 0. */
  replaceRows(texts: readonly string[]): void;
  /** Changes anything else; what the database refuses throws. */
  change(statement: string, ...values: readonly (string | number | bigint | Uint8Array)[]): void;
  read(): SqliteLogReading;
}

/** Writes a log of `count` records into a database. */
export function writeSqliteLog(count: number): SqliteLog {
  using folder = makeFolder();
  return sqliteLogOf(writeLog(join(folder.path, 's.jsonl'), count).reading.records);
}

/** Writes records into a database. The second session in it is there to be left alone. */
export function sqliteLogOf(records: readonly LogRecord[]): SqliteLog {
  const folder = makeFolder();
  const path = join(folder.path, 's.db');
  for (const id of [sessionId, 'other']) {
    const store = sqliteStore(path, { sessionId: id });
    for (const { seq, atMs, ...entry } of records) store.append(entry as LogEntry, seq, atMs);
    store.close();
  }
  // Held open, so that no reader is the last to leave, which would write everything back each time.
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  const rows = database.prepare('SELECT text FROM holdfast_records WHERE session = 1 ORDER BY seq').all();
  const lines = rows.map(({ text }) => String(text));
  const { head } = readSqliteLog(path, { sessionId });
  const remove = database.prepare('DELETE FROM holdfast_records WHERE session = 1');
  const insert = database.prepare('INSERT INTO holdfast_records (session, seq, text) VALUES (1, ?, ?)');
  return {
    path,
    lines,
    head,
    replaceRows(texts) {
      database.exec('BEGIN');
      remove.run();
      for (const [seq, text] of texts.entries()) insert.run(seq, text);
      database.exec('COMMIT');
    },
    change(statement, ...values) {
      database.prepare(statement).run(...values);
    },
    read: () => readSqliteLog(path, { sessionId }),
    [Symbol.dispose]() {
      database.close();
      folder[Symbol.dispose]();
    },
  };
}
