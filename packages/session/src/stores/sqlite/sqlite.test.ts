import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { append, defineSlice } from '@holdfast/core';
import { afterAll, expect, test, vi } from 'vitest';
import { createSession, replay } from '../../index.ts';
import { createJsonlLog, readLog } from '../../jsonl.ts';
import { createSqliteLog, listSqliteSessions, openSqliteLog, readSqliteLog } from '../../sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => {
  files += 1;
  return join(folder, 'deep', `${files}.db`);
};
const sessionId = 's';
const code = (name: string): unknown => expect.objectContaining({ code: name });

/** A closed session of `count` records. */
function writeLog(count: number, path = newPath(), id = sessionId): string {
  const session = createSession({ id, store: createSqliteLog(path, { sessionId: id }) });
  for (let index = 1; index < count; index += 1) session.record({ type: 'note', text: `größe ${index}` });
  void session.close();
  return path;
}

/** Changes a database without the store. */
function change(path: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(path);
  for (const statement of statements) database.exec(statement);
  database.close();
}

test('a session is resumed, and one file holds many', async () => {
  const path = newPath();
  const notes = defineSlice<string>({
    id: 'notes',
    kind: 'list',
    reducers: { 'note-added': (_state, payload) => append(payload) },
  });
  writeLog(3, path, 'other');
  const first = createSession({ id: 's', slices: [notes], store: createSqliteLog(path, { sessionId }) });
  first.dispatch({ type: 'note-added', payload: 'one' });
  await first.close();

  const opened = openSqliteLog(path, { sessionId });
  const second = replay(opened.records, { slices: [notes], store: opened.store });
  second.dispatch({ type: 'note-added', payload: 'two' });
  expect(listSqliteSessions(path)).toEqual([
    { sessionId: 'other', records: 3 },
    { sessionId: 's', records: 3 },
  ]);
  // Also during writes.
  const { records, problem } = readSqliteLog(path, { sessionId });
  expect(problem).toBeUndefined();
  expect(
    replay(records, { slices: [notes] })
      .read(notes)
      .toArray(),
  ).toEqual(['one', 'two']);
  await second.close();
});

test('records have the same head as in a JSON-lines file', () => {
  const path = newPath();
  const stores = [createSqliteLog(path, { sessionId }), createJsonlLog(`${path}.jsonl`)];
  for (const store of stores) {
    store.append({ type: 'note', text: 'größe' }, 0, 5);
    store.append({ type: 'note', text: '\ud800' }, 1, 6);
    store.close();
  }
  expect(readSqliteLog(path, { sessionId }).head).toBe(readLog(`${path}.jsonl`).head);
});

test('created files are readable only by their owner', () => {
  const path = writeLog(1);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const store = createSqliteLog(path, { sessionId: 'open' });
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  store.close();
});

const edit = (from: string, to: string, seq: number): string =>
  `UPDATE holdfast_records SET text = replace(text, '${from}', '${to}') WHERE seq = ${seq}`;
const move = (from: number, to: number): string => `UPDATE holdfast_records SET seq = ${to} WHERE seq = ${from}`;

test.each([
  ['a deleted row', ['DELETE FROM holdfast_records WHERE seq = 1'], 'sequence', 1],
  [
    'a deleted row with the others renumbered',
    ['DELETE FROM holdfast_records WHERE seq = 1', move(2, 1)],
    'sequence',
    1,
  ],
  ['two rows swapped', [move(1, 9), move(2, 1), move(9, 2)], 'sequence', 1],
  [
    'a row doubled',
    [move(3, 4), 'INSERT INTO holdfast_records SELECT session, 3, text FROM holdfast_records WHERE seq = 2'],
    'sequence',
    3,
  ],
  [
    'an inserted row with a valid number',
    [
      move(3, 4),
      `INSERT INTO holdfast_records SELECT session, 3, replace(text, '"seq":2', '"seq":3') FROM holdfast_records WHERE seq = 2`,
    ],
    'chain',
    3,
  ],
  ['a row edited', [edit('größe 1', 'größe 9', 1)], 'chain', 2],
  ['a link edited', [edit('"prev":"', '"prev":"0', 1)], 'chain', 1],
  ['a number edited', [edit('"seq":2', '"seq":7', 2)], 'sequence', 2],
  ['an edited number', [move(3, 7)], 'sequence', 3],
  ['a number edited below the first', [move(2, -1)], 'sequence', 0],
  [
    'a number edited to the largest',
    ['UPDATE holdfast_records SET seq = 9223372036854775807 WHERE seq = 3'],
    'sequence',
    3,
  ],
  [
    'an edited session of a row',
    ['PRAGMA foreign_keys = OFF', 'UPDATE holdfast_records SET session = 9 WHERE seq = 2'],
    'sequence',
    2,
  ],
  ['text that is not JSON', [`UPDATE holdfast_records SET text = '{"seq":2,' WHERE seq = 2`], 'record', 2],
  ['text that is not a record', [`UPDATE holdfast_records SET text = '[]' WHERE seq = 2`], 'record', 2],
] as const)('%s is found', (_what, statements, expected, seq) => {
  const path = writeLog(4);
  change(path, ...statements);
  const { records, problem } = readSqliteLog(path, { sessionId });
  expect(problem).toMatchObject({ code: 'log.damaged', reason: expected, seq });
  expect(records).toHaveLength(seq);
  expect(() => openSqliteLog(path, { sessionId })).toThrow(
    expect.objectContaining({ code: 'log.damaged', data: { reason: expected, path, sessionId, seq } }),
  );
  // A rejected writer holds no lock: the next attempt fails on the damage again.
  expect(() => openSqliteLog(path, { sessionId })).toThrow(code('log.damaged'));
});

test('log.missing: no database, no session', () => {
  const none = join(folder, 'none.db');
  for (const use of [openSqliteLog, readSqliteLog]) {
    expect(() => use(none, { sessionId })).toThrow(code('log.missing'));
    expect(() => use(writeLog(1), { sessionId: 'x' })).toThrow(code('log.missing'));
  }
  expect(() => listSqliteSessions(none)).toThrow(code('log.missing'));
});

test.each([
  { where: 'table', page: 2 },
  { where: 'index', page: 3 },
])('log.unreadable: damaged $where of the sessions', ({ page }) => {
  const path = writeLog(2, newPath(), 'monday');
  const bytes = readFileSync(path);
  const start = (page - 1) * 4096;
  const damaged = bytes.toString('latin1', start, start + 4096).replaceAll('monday', 'sunday');
  bytes.write(damaged, start, 'latin1');
  writeFileSync(path, bytes);
  for (const use of [openSqliteLog, readSqliteLog]) {
    expect(() => use(path, { sessionId: 'monday' })).toThrow(code('log.unreadable'));
  }
});

test('log.exists: an id is unique', () => {
  expect(() => createSqliteLog(writeLog(1), { sessionId })).toThrow(code('log.exists'));
});

test('log.unreadable, log.write_failed: open', () => {
  const path = join(folder, 'text.db');
  writeFileSync(path, 'no database '.repeat(1_000));
  expect(() => readSqliteLog(path, { sessionId })).toThrow(code('log.unreadable'));
  expect(() => createSqliteLog(path, { sessionId })).toThrow(code('log.write_failed'));
  expect(() => createSqliteLog(join(path, 'below.db'), { sessionId })).toThrow(code('log.write_failed'));
  expect(() => createSqliteLog(folder, { sessionId })).toThrow(code('log.write_failed'));
});

/** A new database during another's write; `meet` is called when it refuses setup. */
function makeBusy(
  meet: (writer: DatabaseSync) => void,
): { readonly path: string; readonly met: () => number } & Disposable {
  const path = join(mkdtempSync(join(folder, 'busy-')), 's.db');
  const writer = new DatabaseSync(path);
  writer.exec('BEGIN IMMEDIATE');
  const { exec } = DatabaseSync.prototype;
  let met = 0;
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, statements) {
    try {
      exec.call(this, statements);
    } catch (error) {
      met += 1;
      meet(writer);
      throw error;
    }
  });
  return {
    path,
    met: () => met,
    [Symbol.dispose]: () => {
      spy.mockRestore();
      writer.close();
    },
  };
}

test('a session in a database under construction waits for it', () => {
  using busy = makeBusy((writer) => {
    if (busy.met() === 3) writer.exec('COMMIT');
  });
  writeLog(2, busy.path);
  expect(busy.met()).toBe(3);
  expect(readSqliteLog(busy.path, { sessionId }).records).toHaveLength(2);
});

test('log.write_failed: open: a database under construction for too long', () => {
  let nowMs = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  using busy = makeBusy(() => {
    nowMs += 4_000;
  });
  expect(() => createSqliteLog(busy.path, { sessionId })).toThrow(code('log.write_failed'));
  expect(busy.met()).toBe(3);
  now.mockRestore();
});

test.each(['', '\ud800'])('options.invalid: the id %j', (id) => {
  expect(() => createSqliteLog(newPath(), { sessionId: id })).toThrow(code('options.invalid'));
});

test('log.locked: an open session cannot be opened again', () => {
  const path = newPath();
  const store = createSqliteLog(path, { sessionId });
  store.append({ type: 'note' }, 0, 1);
  expect(() => openSqliteLog(path, { sessionId })).toThrow(
    expect.objectContaining({ code: 'log.locked', data: { path, sessionId, pid: process.pid, host: hostname() } }),
  );
  store.append({ type: 'note' }, 1, 2);
  store.close();
  const opened = openSqliteLog(path, { sessionId });
  expect(opened.records).toHaveLength(2);
  opened.store.close();
});

test.skipIf(process.platform !== 'linux')('a process with a reused PID is not the writer', () => {
  const path = newPath();
  const before = createSqliteLog(path, { sessionId });
  before.append({ type: 'note' }, 0, 1);
  change(path, `UPDATE holdfast_sessions SET writer = json_set(writer, '$.startedAt', 'another boot:1')`);
  const after = openSqliteLog(path, { sessionId }).store;
  // A writer wrongly taken for dead can write nothing more, and does not affect its successor.
  expect(() => before.append({ type: 'note' }, 1, 1)).toThrow(code('log.locked'));
  before.close();
  expect(() => openSqliteLog(path, { sessionId })).toThrow(code('log.locked'));
  after.append({ type: 'note' }, 1, 2);
  after.close();
  expect(readSqliteLog(path, { sessionId }).records).toHaveLength(2);
});

test('log.write_failed leaves no part of the record; session.closed', () => {
  const path = newPath();
  const store = createSqliteLog(path, { sessionId });
  change(
    path,
    `CREATE TRIGGER full BEFORE INSERT ON holdfast_records WHEN NEW.text LIKE '%refused%' BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
  );
  store.append({ type: 'note' }, 0, 1);
  expect(() => store.append({ type: 'refused' }, 1, 2)).toThrow(code('log.write_failed'));
  store.append({ type: 'note' }, 1, 3);
  store.close();
  store.close();
  expect(() => store.append({ type: 'note' }, 2, 4)).toThrow(code('session.closed'));
  const { records, problem } = readSqliteLog(path, { sessionId });
  expect({ problem, times: records.map(({ atMs }) => atMs) }).toEqual({ problem: undefined, times: [1, 3] });
});
