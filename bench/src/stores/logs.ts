import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type LogEntry, memoryStore, type SessionStore } from '@holdfast/session';
import { createJsonlLog } from '@holdfast/session/jsonl';
import { createSqliteLog } from '@holdfast/session/sqlite';

/** A sink of sequential entries. */
export interface Log {
  append(entry: LogEntry): void;
  /** Absent: nothing to wait for. */
  readonly sync?: (() => Promise<void>) | undefined;
  close(): void;
}

/** Ways to keep entries, each in a new place at `path`. */
export type OpenLog = (path: string) => Log;

export const barePush: OpenLog = () => {
  const entries: LogEntry[] = [];
  return { append: (entry) => void entries.push(entry), close: () => undefined };
};

export const bareLine: OpenLog = (path) => {
  const descriptor = openSync(path, 'a');
  return {
    append: (entry) => void writeSync(descriptor, `${JSON.stringify(entry)}\n`),
    close: () => closeSync(descriptor),
  };
};

export const bareLineOnDisk: OpenLog = (path) => {
  const descriptor = openSync(path, 'a');
  return {
    append(entry) {
      writeSync(descriptor, `${JSON.stringify(entry)}\n`);
      fdatasyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
};

/** Into a table by which a session's records are found. */
export const bareInsert: OpenLog = (path) =>
  inserting(path, {
    synchronous: 'NORMAL',
    table: 'session INTEGER NOT NULL, seq INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (session, seq)',
    insert: 'INSERT INTO records (session, seq, text) VALUES (1, ?, ?)',
  });

/** Into a table of one list of records. */
export const bareInsertInOneList: OpenLog = (path) =>
  inserting(path, {
    synchronous: 'NORMAL',
    table: 'seq INTEGER PRIMARY KEY, text TEXT NOT NULL',
    insert: 'INSERT INTO records (seq, text) VALUES (?, ?)',
  });

/** As `bareInsert`; SQLite itself brings each to the disk. */
export const bareInsertOnDisk: OpenLog = (path) =>
  inserting(path, {
    synchronous: 'FULL',
    table: 'session INTEGER NOT NULL, seq INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (session, seq)',
    insert: 'INSERT INTO records (session, seq, text) VALUES (1, ?, ?)',
  });

function inserting(
  path: string,
  { synchronous, table, insert }: { readonly synchronous: string; readonly table: string; readonly insert: string },
): Log {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec(`PRAGMA synchronous = ${synchronous}`);
  database.exec(`CREATE TABLE records (${table}) STRICT`);
  const statement = database.prepare(insert);
  let seq = 0;
  return {
    append(entry) {
      statement.run(seq, JSON.stringify(entry));
      seq += 1;
    },
    close: () => database.close(),
  };
}

export const memory: OpenLog = () => toLog(memoryStore());
export const jsonl: OpenLog = (path) => toLog(createJsonlLog(path));
export const jsonlOnDisk: OpenLog = (path) => toLog(createJsonlLog(path, { sync: 'disk' }));
export const sqlite: OpenLog = (path) => toLog(createSqliteLog(path, { sessionId: 's' }));
export const sqliteOnDisk: OpenLog = (path) => toLog(createSqliteLog(path, { sessionId: 's', sync: 'disk' }));

function toLog(store: SessionStore): Log {
  let seq = 0;
  return {
    append(entry) {
      store.append(entry, seq, 1_795_323_214_208);
      seq += 1;
    },
    sync: store.sync && (() => store.sync?.() ?? Promise.resolve()),
    close: () => store.close(),
  };
}
