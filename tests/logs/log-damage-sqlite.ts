import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { isHoldfastError } from '@holdfast/core';
import type { LogEntry, LogRecord } from '@holdfast/session';
import { createSqliteLog, openSqliteLog, readSqliteLog, type SqliteLogReading } from '@holdfast/session/sqlite';
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
    const store = createSqliteLog(path, { sessionId: id });
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

export interface FlipTally {
  readonly flips: number;
  /** How reading and opening ended: a code, or `the same log`. */
  readonly seen: Readonly<Record<string, number>>;
  /** Flips after which another log was read or opened, without an error or a problem. */
  readonly silent: readonly string[];
}

/**
 * Writes a database with a log of 7 records and one without records, and reads the first with single bits flipped.
 * `bits`: which, numbered from the first bit of the file on. One in `opensEach` is also opened for writing, which takes longer.
 */
export function tryFlips(bits: (bytes: number) => Iterable<number>, opensEach: number): FlipTally {
  using folder = makeFolder();
  const path = join(folder.path, 's.db');
  const { records, bytes } = writeSmallDatabase(path);
  const descriptor = openSync(path, 'r+');
  const seen: Record<string, number> = {};
  const silent: string[] = [];
  let flips = 0;
  const look = (what: string, bit: number, use: () => readonly LogRecord[] | string): void => {
    const found = attempt(use);
    const end = typeof found === 'string' ? found : isDeepStrictEqual(found, records) ? 'the same log' : undefined;
    if (end === undefined) silent.push(`${what}, bit ${bit % 8} of byte ${bit >> 3}: ${found.length} records`);
    else seen[end] = (seen[end] ?? 0) + 1;
    for (const beside of ['-wal', '-shm', '-journal']) rmSync(path + beside, { force: true });
  };
  try {
    for (const bit of bits(bytes.length)) {
      const flip = (): void => {
        // Opening writes to the file.
        ftruncateSync(descriptor, bytes.length);
        writeSync(descriptor, bytes, 0, bytes.length, 0);
        writeSync(descriptor, Uint8Array.of((bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))), 0, 1, bit >> 3);
      };
      flips += 1;
      flip();
      look('reading', bit, () => {
        const { problem, records: read } = readSqliteLog(path, { sessionId });
        return problem?.reason ?? read;
      });
      if (flips % opensEach > 0) continue;
      flip();
      look('opening', bit, () => {
        const opened = openSqliteLog(path, { sessionId });
        opened.store.close();
        return opened.records;
      });
    }
  } finally {
    closeSync(descriptor);
  }
  return { flips, seen, silent };
}

function attempt<Result>(use: () => Result): Result | string {
  try {
    return use();
  } catch (error) {
    if (isHoldfastError(error)) return error.reason ?? error.code;
    throw error;
  }
}

function writeSmallDatabase(path: string): { readonly records: readonly LogRecord[]; readonly bytes: Buffer } {
  createSqliteLog(path, { sessionId: 'empty' }).close();
  const store = createSqliteLog(path, { sessionId });
  for (let seq = 0; seq < 7; seq += 1) store.append({ type: 'note', text: `größe ${seq}` }, seq, 1);
  store.close();
  const { records } = readSqliteLog(path, { sessionId });
  // As one that was closed: everything in one file, also its mode.
  const bytes = readFileSync(path);
  rmSync(`${path}-wal`, { force: true });
  rmSync(`${path}-shm`, { force: true });
  writeFileSync(path, bytes);
  return { records, bytes };
}
