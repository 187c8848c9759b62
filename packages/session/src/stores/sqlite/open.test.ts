import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isHoldfastError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { afterAll, describe, expect, test } from 'vitest';
import type { LogRecord } from '../../log/log.ts';
import { createSqliteLog, openSqliteLog, readSqliteLog, type SqliteLog } from '../../sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-open-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => {
  files += 1;
  return join(folder, `${files}.db`);
};
const sessionId = 's';
const code = (name: string): unknown => expect.objectContaining({ code: name });
const numbers = (records: Iterable<LogRecord>): readonly number[] => [...records].map(({ seq }) => seq);

/** Appends a record for each type. */
function appendAll(store: SqliteLog, types: readonly string[], from = 0): void {
  for (const [index, type] of types.entries()) store.append({ type, text: `größe ${from + index}` }, from + index, 1);
}

function writeLog(types: readonly string[], path = newPath()): string {
  const store = createSqliteLog(path, { sessionId });
  appendAll(store, types);
  store.close();
  return path;
}

/** Changes a database without the store. */
function change(path: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  for (const statement of statements) database.exec(statement);
  database.close();
}

function codeOf(action: () => unknown): string {
  try {
    action();
    return 'nothing';
  } catch (error) {
    return isHoldfastError(error) ? describeCode(error) : String(error);
  }
}

// Found by `recovery-kills.long.ts`.
test.each([
  ['nothing in it yet', undefined],
  ['no table in it yet', 'PRAGMA journal_mode = WAL'],
] as const)('a database left incomplete, with %s, counts as missing', async (_name, begun) => {
  const path = newPath();
  writeFileSync(path, '');
  if (begun !== undefined) change(path, begun);
  for (const read of [openSqliteLog, readSqliteLog]) {
    expect(codeOf(() => read(path, { sessionId }))).toBe('log.missing');
  }
  writeLog(['a'], path);
  expect(numbers(readSqliteLog(path, { sessionId }).records)).toEqual([0]);
});

const withSnapshots = ['note', 'snapshot', 'note', 'snapshot', 'note', 'note'];

describe('snapshots', () => {
  test('a log is opened from its last snapshot, and read in full', () => {
    const path = writeLog(withSnapshots);
    const { records, store } = openSqliteLog(path, { sessionId });
    expect(numbers(records)).toEqual([3, 4, 5]);
    store.append({ type: 'note' }, 6, 1);
    expect(numbers(store.read())).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(numbers(store.read(2))).toEqual([2, 3, 4, 5, 6]);
    store.close();
    const { records: all, problem } = readSqliteLog(path, { sessionId });
    expect([problem, numbers(all)]).toEqual([undefined, [0, 1, 2, 3, 4, 5, 6]]);
  });

  test('a snapshot may be the first record, or the last', () => {
    for (const types of [['snapshot'], ['snapshot', 'note'], ['note', 'snapshot']]) {
      const { records, store } = openSqliteLog(writeLog(types), { sessionId });
      store.close();
      expect(records[0]?.type).toBe('snapshot');
    }
  });

  test('text that only looks like a snapshot is ignored', () => {
    const path = newPath();
    const store = createSqliteLog(path, { sessionId });
    store.append({ type: 'snapshot' }, 0, 1);
    store.append({ type: 'note', events: [{ type: 'snapshot' }] }, 1, 1);
    store.append({ type: 'note', text: '"type":"snapshot"' }, 2, 1);
    store.close();
    const { records, store: again } = openSqliteLog(path, { sessionId });
    again.close();
    expect(numbers(records)).toEqual([0, 1, 2]);
  });

  test.each([
    ['the row before it is edited', "UPDATE holdfast_records SET text = replace(text, 'größe', 'klein') WHERE seq = 2"],
    ['the row before it is deleted', 'DELETE FROM holdfast_records WHERE seq = 2'],
    ['it is edited', "UPDATE holdfast_records SET text = replace(text, 'größe', 'klein') WHERE seq = 3"],
    ['it is deleted', 'DELETE FROM holdfast_records WHERE seq = 3'],
    ['it is given another number', 'UPDATE holdfast_records SET seq = 9223372036854775807 WHERE seq = 3'],
    ['it is doubled', 'INSERT INTO holdfast_records SELECT session, 9, text FROM holdfast_records WHERE seq = 3'],
    ['its type is edited', `UPDATE holdfast_records SET text = replace(text, 'snapshot', 'note') WHERE seq = 3`],
    ['a row after it is deleted', 'DELETE FROM holdfast_records WHERE seq = 4'],
    [
      'another one is forged after it',
      `UPDATE holdfast_records SET text = replace(text, 'note', 'snapshot') WHERE seq = 4`,
    ],
  ])('opening detects: %s', (_what, statement) => {
    const path = writeLog(withSnapshots);
    change(path, statement);
    const found = codeOf(() => openSqliteLog(path, { sessionId }));
    expect(found).toMatch(/^log\.damaged: (?:chain|sequence)$/);
    expect(readSqliteLog(path, { sessionId }).problem).toMatchObject({
      code: 'log.damaged',
      reason: found.slice('log.damaged: '.length),
    });
  });

  test('an edit before the snapshot is detected on reading', () => {
    const path = writeLog(withSnapshots);
    change(path, "UPDATE holdfast_records SET text = replace(text, 'größe', 'klein') WHERE seq = 0");
    const { store } = openSqliteLog(path, { sessionId });
    expect(() => [...store.read()]).toThrow(
      expect.objectContaining({ code: 'log.damaged', data: { reason: 'chain', path, sessionId, seq: 1 } }),
    );
    expect(numbers(store.read(2))).toEqual([2, 3, 4, 5]);
    store.close();
    expect(readSqliteLog(path, { sessionId }).problem).toMatchObject({ code: 'log.damaged', reason: 'chain', seq: 1 });
  });

  test('are due by the bytes since the last one, including those from before opening', () => {
    const path = newPath();
    const options = { sessionId, snapshotAfterBytes: 1_000 };
    const text = 'ß'.repeat(250);
    let store = createSqliteLog(path, options);
    expect(store.snapshotDue).toBe(false);
    store.append({ type: 'note', text }, 0, 1);
    expect(store.snapshotDue).toBe(false);
    store.close();
    store = openSqliteLog(path, options).store;
    expect(store.snapshotDue).toBe(false);
    store.append({ type: 'note', text }, 1, 1);
    expect(store.snapshotDue).toBe(true);
    store.append({ type: 'snapshot', text: text.slice(4) }, 2, 1);
    expect(store.snapshotDue).toBe(false);
    // At least three times the last one.
    for (const [seq, due] of [3, 4, 5].map((number) => [number, number === 5] as const)) {
      store.append({ type: 'note', text }, seq, 1);
      expect(store.snapshotDue).toBe(due);
    }
    store.close();
    expect(store.snapshotDue).toBe(false);
    store = openSqliteLog(path, options).store;
    expect(store.snapshotDue).toBe(true);
    store.close();
  });

  test('a failed snapshot is not requested again at once', () => {
    const path = newPath();
    const store = createSqliteLog(path, { sessionId, snapshotAfterBytes: 10 });
    store.append({ type: 'note' }, 0, 1);
    change(
      path,
      `CREATE TRIGGER full BEFORE INSERT ON holdfast_records WHEN NEW.text LIKE '%snapshot%' BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
    );
    expect(store.snapshotDue).toBe(true);
    expect(() => store.append({ type: 'snapshot' }, 1, 1)).toThrow(code('log.write_failed'));
    expect(store.snapshotDue).toBe(false);
    store.append({ type: 'note' }, 1, 1);
    expect(store.snapshotDue).toBe(true);
    store.close();
  });

  test('options.invalid', () => {
    expect(() => createSqliteLog(newPath(), { sessionId, snapshotAfterBytes: -1 })).toThrow(code('options.invalid'));
  });
});

describe('reading a store', () => {
  test('returns current records in batches', () => {
    const store = createSqliteLog(newPath(), { sessionId });
    const text = 'x'.repeat(100_000);
    for (let seq = 0; seq < 10; seq += 1) store.append({ type: 'note', text }, seq, 1);
    const seen: number[] = [];
    for (const { seq } of store.read(1)) {
      seen.push(seq);
      if (seq === 4) store.append({ type: 'note', text }, 10, 1);
      // A reader within another one.
      if (seq === 6) expect(numbers(store.read(9))).toEqual([9, 10]);
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(numbers(store.read(11))).toEqual([]);
    expect(numbers(store.read(-1))).toHaveLength(11);
    store.close();
  });

  test('session.closed, also halfway', () => {
    const store = createSqliteLog(newPath(), { sessionId });
    for (let seq = 0; seq < 10; seq += 1) store.append({ type: 'note', text: 'x'.repeat(100_000) }, seq, 1);
    const halfway = store.read()[Symbol.iterator]();
    expect(halfway.next().value?.seq).toBe(0);
    store.close();
    expect(() => [...store.read()]).toThrow(code('session.closed'));
    expect(() => {
      while (halfway.next().done !== true);
    }).toThrow(code('session.closed'));
  });

  test.each([
    ['a row in the middle', 'DELETE FROM holdfast_records WHERE seq = 2', 0, 2],
    ['the row before the first', 'DELETE FROM holdfast_records WHERE seq = 2', 3, 2],
    ['the first row', 'DELETE FROM holdfast_records WHERE seq = 2', 2, 2],
    ['the last rows', 'DELETE FROM holdfast_records WHERE seq > 2', 0, 3],
  ])('log.damaged: sequence: %s was deleted behind its back', (_what, statement, from, seq) => {
    const path = newPath();
    const store = createSqliteLog(path, { sessionId });
    appendAll(store, withSnapshots);
    change(path, statement);
    expect(() => [...store.read(from)]).toThrow(
      expect.objectContaining({ code: 'log.damaged', data: { reason: 'sequence', path, sessionId, seq } }),
    );
    store.close();
  });

  test('log.unreadable: the table is missing', () => {
    const path = newPath();
    const store = createSqliteLog(path, { sessionId });
    appendAll(store, ['note']);
    change(path, 'DROP TABLE holdfast_records');
    expect(() => [...store.read()]).toThrow(code('log.unreadable'));
    store.close();
  });
});

describe('a writer that did not close the session', () => {
  const left = (path: string, sql: string): void => change(path, `UPDATE holdfast_sessions SET writer = ${sql}`);
  const mine = (path: string): string => {
    const store = createSqliteLog(path, { sessionId });
    const database = new DatabaseSync(path);
    const row = database.prepare('SELECT writer FROM holdfast_sessions').get();
    database.close();
    store.append({ type: 'note' }, 0, 1);
    store.close();
    return String(row?.['writer']);
  };

  test.each([
    ['on another machine', { host: 'elsewhere' }],
    ['in another container', { pidSpace: 'pid:[1]' }],
  ])('log.locked: %s it may still run, unless `takeOver` is set', (_what, other) => {
    const path = newPath();
    // Not a PID of ours.
    const writer = JSON.stringify({ ...(JSON.parse(mine(path)) as object), pid: 2 ** 30, ...other });
    left(path, `'${writer}'`);
    expect(() => openSqliteLog(path, { sessionId })).toThrow(
      expect.objectContaining({
        code: 'log.locked',
        message: expect.stringContaining('takeOver'),
        data: expect.objectContaining({ pid: 2 ** 30 }),
      }),
    );
    const { records, store } = openSqliteLog(path, { sessionId, takeOver: true });
    expect(records).toHaveLength(1);
    store.close();
  });

  test.each([
    ['of an earlier version', `{"pid":${2 ** 30},"start":"boot:1","token":"x"}`],
    ['without an identity', 'nobody'],
    ['in an unknown format', '[1]'],
  ])('log.locked: the state of a writer %s is unknown', (_what, writer) => {
    const path = newPath();
    mine(path);
    left(path, `'${writer}'`);
    expect(codeOf(() => openSqliteLog(path, { sessionId }))).toBe('log.locked');
    openSqliteLog(path, { sessionId, takeOver: true }).store.close();
  });

  test('an ended writer is replaced, a running one is not', () => {
    const path = newPath();
    const writer = mine(path);
    left(path, `'${JSON.stringify({ ...(JSON.parse(writer) as object), pid: 2 ** 30 })}'`);
    const { store } = openSqliteLog(path, { sessionId });
    expect(() => openSqliteLog(path, { sessionId, takeOver: true })).toThrow(
      expect.objectContaining({ code: 'log.locked', data: { path, sessionId, pid: process.pid, host: hostname() } }),
    );
    store.append({ type: 'note' }, 1, 1);
    store.close();
  });

  test('a rejected writer holds no lock, and other sessions stay writable', () => {
    const path = writeLog(withSnapshots);
    change(path, 'DELETE FROM holdfast_records WHERE seq = 4');
    expect(codeOf(() => openSqliteLog(path, { sessionId }))).toBe('log.damaged: sequence');
    const other = createSqliteLog(path, { sessionId: 'other' });
    expect(codeOf(() => openSqliteLog(path, { sessionId }))).toBe('log.damaged: sequence');
    other.append({ type: 'note' }, 0, 1);
    other.close();
  });
});

test.each(["x'ff'", "x'f09f98'", "x'efbfbdff'"])('a replacement character that was %s is detected', (bytes) => {
  const path = newPath();
  const store = createSqliteLog(path, { sessionId });
  for (const seq of [0, 1, 2]) store.append({ type: 'note', text: 'odd \ufffd sign' }, seq, 1);
  store.close();
  expect(readSqliteLog(path, { sessionId }).problem).toBeUndefined();
  change(
    path,
    `UPDATE holdfast_records SET text = CAST(replace(CAST(text AS BLOB), x'efbfbd', ${bytes}) AS TEXT) WHERE seq = 1`,
  );
  expect(readSqliteLog(path, { sessionId }).problem).toMatchObject({ seq: 1 });
  expect(codeOf(() => openSqliteLog(path, { sessionId }))).toMatch(/^log\./);
});
