import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LogEntry, memoryStore, type SessionStore } from '@holdfast/session';
import { jsonlStore, openJsonlLog, readLog } from '@holdfast/session/jsonl';
import { openSqliteLog, readSqliteLog, sqliteStore } from '@holdfast/session/sqlite';
import { type ConformanceCheck, storeConformance } from '@holdfast/testing';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-stores-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let places = 0;
const place = (): string => {
  places += 1;
  return String(places);
};

const suites: Readonly<Record<string, readonly ConformanceCheck[]>> = {
  memory: storeConformance({
    create: () => memoryStore(),
    read: ({ records }) => records,
    reopen: (store) => ({ records: store.records, store }),
    inMemory: true,
  }),
  jsonl: storeConformance({
    create: () => jsonlStore(join(folder, `${place()}.jsonl`)),
    read: ({ path }) => readLog(path).records,
    reopen: ({ path }) => openJsonlLog(path),
  }),
  sqlite: storeConformance({
    // One database for all: what one session does shows in no other.
    create: () => sqliteStore(join(folder, 'sessions.db'), { sessionId: place() }),
    read: ({ path, sessionId }) => readSqliteLog(path, { sessionId }).records,
    reopen: ({ path, sessionId }) => openSqliteLog(path, { sessionId }),
  }),
};

const checks = Object.entries(suites).flatMap(([store, suite]) => suite.map((check) => ({ store, ...check })));

test.each(checks.filter(({ skipped }) => skipped === undefined))('$store: $name', async ({ run }) => {
  await expect(run()).resolves.toBeUndefined();
});

test('what cannot be asked of a store says so, and does not pass', async () => {
  const skipped = checks.filter((check) => check.skipped !== undefined);
  expect(skipped.map(({ store, name }) => `${store}: ${name}`)).toEqual([
    'memory: an entry that is no JSON is refused and leaves nothing behind',
    'memory: a record that does not follow the last one is refused and leaves nothing behind',
    'memory: a log that is open is not opened by a second writer',
  ]);
  for (const { run } of skipped) await expect(run()).rejects.toMatchObject({ code: 'conformance.skipped' });
});

test('without `reopen`, what needs it is skipped', () => {
  const suite = storeConformance({ create: () => memoryStore(), read: ({ records }) => records });
  expect(suite.filter(({ skipped }) => skipped === 'no `reopen` was given').map(({ name }) => name)).toEqual([
    'a log is gone on with, again and again',
    'a log that is open is not opened by a second writer',
  ]);
});

/** Stores that break one promise each, by the check that has to find it. */
const broken: Readonly<Record<string, (append: SessionStore['append']) => SessionStore['append']>> = {
  'records come back in order': (append) => (entry, seq, atMs) => (seq === 199 ? undefined : append(entry, seq, atMs)),
  'a value 500 levels deep': (append) => (entry, seq, atMs) =>
    append(JSON.stringify(entry).length > 2_000 ? { type: entry.type } : entry, seq, atMs),
  'half surrogates': (append) => (entry, seq, atMs) =>
    append(JSON.parse(JSON.stringify(entry).replaceAll('\\ud800', '\ufffd')) as LogEntry, seq, atMs),
  'keys that mean something': (append) => (entry, seq, atMs) =>
    append(
      Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, copyByHand(value)])) as LogEntry,
      seq,
      atMs,
    ),
  'is no JSON is refused': (append) => (entry, seq, atMs) => {
    try {
      append(entry, seq, atMs);
    } catch {
      append({ type: 'note' }, seq, atMs);
    }
  },
  'what is rebuilt from its log': (append) => (entry, seq, atMs) =>
    append(entry.type === 'event' ? { ...entry, events: [] } : entry, seq, atMs),
};

/** As careless code copies: `copy[key] = value`. */
function copyByHand(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) copy[key] = item;
  return copy;
}

test.each(Object.entries(broken))('a store that breaks a promise is found: %s', async (name, change) => {
  const suite = storeConformance({
    create: () => {
      const store = jsonlStore(join(folder, `${place()}.jsonl`));
      return { ...store, append: change(store.append) };
    },
    read: ({ path }) => readLog(path).records,
  });
  const check = suite.find((candidate) => candidate.name.includes(name));
  await expect(check?.run()).rejects.toMatchObject({ code: 'conformance.failed' });
});

test('a log that a second writer can open is found', async () => {
  const suite = storeConformance({
    create: () => sqliteStore(join(folder, 'twice.db'), { sessionId: place() }),
    read: ({ path, sessionId }) => readSqliteLog(path, { sessionId }).records,
    reopen: () => ({ records: [], store: memoryStore() }),
  });
  const check = suite.find(({ name }) => name.includes('second writer'));
  await expect(check?.run()).rejects.toMatchObject({ code: 'conformance.failed' });
});
