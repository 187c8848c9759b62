import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createSession, type LogRecord, memoryStore, type OpenedLog, replay, type SessionStore } from '../index.ts';
import { createJsonlLog, openJsonlLog } from '../jsonl.ts';
import { createSqliteLog, openSqliteLog } from '../sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-nonce-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('sessions and forks have their own 64 random bits', () => {
  const sessions = [createSession({ id: 's' }), createSession({ id: 's' })];
  const forked = sessions[0]?.fork({ id: 's' });
  const nonces = [...sessions, forked].map((session) => session?.nonce);
  for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{16}$/);
  expect(new Set(nonces).size).toBe(3);
});

test('an import keeps the nonce, which belongs to the log', () => {
  const other = createSession({ id: 's' });
  const { nonce } = other;
  other.import(createSession({ id: 's' }).export());
  expect(other.nonce).toBe(nonce);
});

const own = { sessionId: 's' };
const often = { snapshotAfterBytes: 1 };
const stores: readonly [string, () => SessionStore, () => OpenedLog][] = [
  ['jsonl', () => createJsonlLog(join(folder, 'a.jsonl')), () => openJsonlLog(join(folder, 'a.jsonl'))],
  [
    'jsonl with snapshots',
    () => createJsonlLog(join(folder, 'b.jsonl'), often),
    () => openJsonlLog(join(folder, 'b.jsonl')),
  ],
  ['sqlite', () => createSqliteLog(join(folder, 'a.db'), own), () => openSqliteLog(join(folder, 'a.db'), own)],
  [
    'sqlite with snapshots',
    () => createSqliteLog(join(folder, 'b.db'), { ...own, ...often }),
    () => openSqliteLog(join(folder, 'b.db'), own),
  ],
];

test.each(stores)('a session reopened twice keeps its nonce: %s', async (what, create, open) => {
  const session = createSession({ id: 's', store: create() });
  session.record({ type: 'note' });
  await session.close();
  for (let count = 0; count < 2; count += 1) {
    const { records, store } = open();
    expect(records[0]?.type).toBe(what.endsWith('snapshots') ? 'snapshot' : 'session-start');
    const again = replay(records, { store });
    expect(again.nonce).toBe(session.nonce);
    again.record({ type: 'note' });
    await again.close();
  }
});

test('a log without a nonce stays without one, as does its snapshot', () => {
  const records: LogRecord[] = [{ seq: 0, atMs: 0, type: 'session-start', sessionId: 's', slices: [] }];
  expect(replay(records).nonce).toBe('');
  const store = memoryStore();
  expect(createSession({ nonce: '', store }).nonce).toBe('');
  expect(store.records[0]).not.toHaveProperty('nonce');
});

test.each(['a/b', 'a.b', 'x'.repeat(65), 5 as unknown as string])('options.invalid: the nonce %j', (nonce) => {
  expect(() => createSession({ nonce })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});
