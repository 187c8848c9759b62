import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { append, defineSlice } from '@holdfast/core';
import { afterAll, expect, test } from 'vitest';
import { jsonlStore, openJsonlLog } from '../jsonl.ts';
import { memoryStore, type SessionLogs, type SessionStore } from '../log/log.ts';
import { openSqliteLog, sqliteStore } from '../sqlite.ts';
import { createSession } from './live-session.ts';
import { openSession } from './open-session.ts';

const folder = mkdtempSync(join(tmpdir(), 'open-session-'));
afterAll(() => rmSync(folder, { recursive: true }));

const notes = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { 'note-added': (_state, payload) => append(payload) },
});
const slices = [notes];
const database = join(folder, 'sessions.db');
const memory = memoryStore();
const file = join(folder, 'session.jsonl');
const code = (expected: string) => expect.objectContaining({ code: expected });

test.each<[string, () => SessionLogs | SessionStore]>([
  ['jsonlStore', () => jsonlStore(file)],
  ['sqliteStore', () => sqliteStore(database)],
  ['memoryStore', () => memory],
])('the same id creates a session and then resumes it: %s', async (_name, store) => {
  const first = await openSession(store(), { id: 'monday', slices });
  first.dispatch({ type: 'note-added', payload: 'one' });
  await first.close();
  const second = await openSession(store(), { id: 'monday', slices });
  second.dispatch({ type: 'note-added', payload: 'two' });
  await second.close();
  const third = await openSession(store(), { id: 'monday', slices });
  expect([third.id, third.nonce === first.nonce, third.read(notes).toArray()]).toEqual([
    'monday',
    true,
    ['one', 'two'],
  ]);
  await third.close();
});

test('a database holds many sessions; without an id a new one is created', async () => {
  const store = sqliteStore(database);
  const [one, two, monday] = [
    await openSession(store),
    await openSession(store),
    await openSession(store, { id: 'monday', slices }),
  ];
  expect(new Set([one.id, two.id, monday.id]).size).toBe(3);
  expect([[...one.records()].length, monday.read(notes).size]).toEqual([1, 2]);
  for (const session of [one, two, monday]) await session.close();
});

test('a file holds one session: opened without an id, rejected with a wrong id, and left unlocked', async () => {
  const store = jsonlStore(join(folder, 'one.jsonl'));
  await (await openSession(store, { id: 'monday' })).close();
  await expect(openSession(store, { id: 'tuesday' })).rejects.toMatchObject({
    code: 'session.invalid',
    reason: 'other_id',
  });
  const again = await openSession(store);
  expect(again.id).toBe('monday');
  await expect(openSession(store)).rejects.toEqual(code('log.locked'));
  await again.close();
});

test('a session that cannot be resumed leaves its log unlocked', async () => {
  const path = join(folder, 'slices.jsonl');
  const store = jsonlStore(path);
  const session = await openSession(store, { slices });
  session.dispatch({ type: 'note-added', payload: 'one' });
  await session.close();
  await expect(openSession(store)).rejects.toEqual(code('replay.failed'));
  await expect(openSession(store, { slices, content: 'none' })).rejects.toEqual(code('replay.failed'));
  openJsonlLog(path).store.close();
});

test('a session that cannot be resumed is rejected once its store has let it go', async () => {
  const released = Promise.withResolvers<void>();
  const store = memoryStore();
  await (await openSession(store, { id: 'monday' })).close();
  let isSettled = false;
  const slow = Object.assign(store, { closed: () => released.promise });
  const opening = openSession(slow, { id: 'tuesday' }).finally(() => {
    isSettled = true;
  });
  opening.catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isSettled).toBe(false);
  released.resolve();
  await expect(opening).rejects.toThrow(code('session.invalid'));
});

test('an empty file starts a session; a damaged one is rejected and left unchanged', async () => {
  const empty = join(folder, 'empty.jsonl');
  writeFileSync(empty, '');
  const session = await openSession(jsonlStore(empty), { id: 'begun' });
  expect(session.id).toBe('begun');
  await session.close();
  const damaged = join(folder, 'damaged.jsonl');
  writeFileSync(damaged, '{"seq":7}\n');
  await expect(openSession(jsonlStore(damaged))).rejects.toEqual(
    expect.objectContaining({ code: expect.stringMatching(/^log\./) }),
  );
});

test('of two concurrent creators of one session, one wins', async () => {
  const store = sqliteStore(database);
  const both = await Promise.allSettled(['race', 'race'].map((id) => openSession(store, { id })));
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(() => openSqliteLog(database, { sessionId: 'race' })).toThrow(code('log.locked'));
  for (const each of both) if (each.status === 'fulfilled') await each.value.close();
});

test('options.invalid: a wrong store, an unknown key, `createSession` with an unopened store', async () => {
  const blind: SessionStore = { append: () => undefined, close: () => undefined };
  await expect(openSession(blind)).rejects.toEqual(code('log.unreadable'));
  // @ts-expect-error Not a store.
  await expect(openSession(undefined)).rejects.toEqual(code('options.invalid'));
  // @ts-expect-error `sessionId` is the name of low-level logs.
  await expect(openSession(memoryStore(), { sessionId: 'a' })).rejects.toEqual(code('options.invalid'));
  // @ts-expect-error The store must be opened first.
  expect(() => createSession({ store: jsonlStore(file) })).toThrow('openSession(store, { id })');
});
