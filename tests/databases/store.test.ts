import { hostname } from 'node:os';
import { type LogRecord, openSession, type SessionLogs, type SessionStore } from '@holdfast/session';
import {
  type OpenPostgresLogOptions,
  openPostgresLog,
  type PostgresLog,
  type PostgresOptions,
  postgresStore,
  readPostgresLog,
} from '@holdfast/session/postgres';
import { type StoreConformanceOptions, storeConformance } from '@holdfast/testing/conformance';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PostgresServer } from './postgres-server.ts';

let server: PostgresServer;
let pool: Pool;
beforeAll(async () => {
  server = await PostgresServer.start();
  pool = server.pool(await server.newDatabase());
});
afterAll(() => server[Symbol.asyncDispose]());

let sessions = 0;
function newId(): string {
  sessions += 1;
  return `session ${sessions}`;
}

const open = async (options: OpenPostgresLogOptions): Promise<PostgresLog> =>
  (await openPostgresLog(pool, options)).store;

function postgres(options: PostgresOptions): StoreConformanceOptions<PostgresLog> {
  return {
    create: () => open({ ...options, sessionId: newId() }),
    read: async (store) => (await readPostgresLog(pool, store)).records,
    reopen: ({ sessionId }) => openPostgresLog(pool, { ...options, sessionId }),
  };
}

const suites = {
  'with all records': storeConformance(postgres({})),
  'with many snapshots': storeConformance(postgres({ snapshotAfterBytes: 5_000 })),
};
const checks = Object.entries(suites).flatMap(([store, suite]) => suite.map((check) => ({ store, ...check })));

test.each(checks)('$store: $name', async ({ run }) => {
  await expect(run()).resolves.toBeUndefined();
});

const records = (store: SessionStore, from = 0): readonly LogRecord[] => [...(store.read?.(from) ?? [])];

/** Ends a lease as time would, by the database's clock. */
async function endLease(sessionId: string): Promise<void> {
  await pool.query("UPDATE holdfast_sessions SET leased_until = clock_timestamp() - interval '1 ms' WHERE id = $1", [
    sessionId,
  ]);
}

test('records that wait together are one statement', async () => {
  const texts: string[] = [];
  const counting = {
    query: (text: string, values?: unknown[]) => {
      texts.push(text);
      return pool.query(text, values);
    },
  };
  const { store } = await openPostgresLog(counting, { sessionId: newId() });
  texts.length = 0;
  for (let seq = 0; seq < 500; seq += 1) store.append({ type: 'note' }, seq, 1);
  await store.sync();
  expect(texts).toHaveLength(1);
  store.append({ type: 'note' }, 500, 1);
  await store.sync();
  expect(texts).toHaveLength(2);
  store.close();
  await store.closed();
  expect((await readPostgresLog(pool, store)).records).toHaveLength(501);
});

test('log.locked: who has the session, and until when; free again once closed', async () => {
  const sessionId = newId();
  const store = await open({ sessionId, leaseMs: 5_000 });
  const error: unknown = await open({ sessionId }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'log.locked', data: { holder: expect.stringContaining(String(process.pid)) } });
  const { leaseMs } = (error as { data: { leaseMs: number } }).data;
  expect(leaseMs).toBeGreaterThan(4_000);
  expect(leaseMs).toBeLessThanOrEqual(5_000);
  store.close();
  await store.closed();
  (await open({ sessionId })).close();
});

test('a writer whose lease has ended appends nothing more, whether or not it was taken over', async () => {
  for (const takenOver of [false, true]) {
    const sessionId = newId();
    const before = await open({ sessionId });
    before.append({ type: 'note' }, 0, 1);
    await before.sync();
    await endLease(sessionId);
    const after = takenOver ? await open({ sessionId }) : undefined;
    before.append({ type: 'late' }, 1, 1);
    await expect(before.sync()).rejects.toMatchObject({ code: 'log.locked' });
    expect(before.lost.aborted).toBe(true);
    expect(() => before.append({ type: 'late' }, 2, 1)).toThrow(expect.objectContaining({ code: 'log.locked' }));
    before.close();
    await expect(before.closed()).rejects.toMatchObject({ code: 'log.locked' });
    after?.append({ type: 'note' }, 1, 1);
    after?.close();
    await after?.closed();
    const { records: kept, problem } = await readPostgresLog(pool, { sessionId });
    expect({ types: kept.map(({ type }) => type), problem }).toEqual({
      types: takenOver ? ['note', 'note'] : ['note'],
      problem: undefined,
    });
  }
});

test('two writers race for a session: one has it', async () => {
  const sessionId = newId();
  const results = await Promise.allSettled(Array.from({ length: 12 }, () => open({ sessionId })));
  const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  expect(opened).toHaveLength(1);
  for (const error of refused) expect(error).toMatchObject({ code: 'log.locked' });
  for (const store of opened) store.close();
});

test('`earlier: skip` loads what the open work needs, and says so of the rest', async () => {
  const sessionId = newId();
  const store = await open({ sessionId });
  const entries = Array.from({ length: 10 }, () => ({ type: 'note' }));
  const snapshot = { type: 'snapshot', sessionId, slices: [], open: { runs: [{ run: 4, seq: 4 }], calls: [] } };
  for (const [seq, entry] of [...entries, snapshot, { type: 'note' }].entries()) store.append(entry, seq, 1);
  store.close();
  await store.closed();
  const opened = await openPostgresLog(pool, { sessionId, earlier: 'skip' });
  expect(opened.records.map(({ seq }) => seq)).toEqual([10, 11]);
  expect(records(opened.store, 4).map(({ seq }) => seq)).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
  expect(() => records(opened.store, 3)).toThrow(
    expect.objectContaining({ code: 'log.unreadable', reason: 'unsupported' }),
  );
  opened.store.append({ ...snapshot, open: { runs: [], calls: [] } }, 12, 1);
  expect(records(opened.store, 12).map(({ seq }) => seq)).toEqual([12]);
  expect(() => records(opened.store, 11)).toThrow(
    expect.objectContaining({ code: 'log.unreadable', reason: 'unsupported' }),
  );
  opened.store.close();
  await opened.store.closed();
  expect((await readPostgresLog(pool, { sessionId })).records).toHaveLength(13);
});

test.each([
  { what: 'no character', sessionId: '' },
  { what: 'NUL', sessionId: 'a\0b' },
  { what: 'half a surrogate', sessionId: '\ud800' },
  { what: 'too many characters', sessionId: 'x'.repeat(501) },
])('options.invalid: an id with $what', async ({ sessionId }) => {
  await expect(open({ sessionId })).rejects.toMatchObject({ code: 'options.invalid' });
});

test('resource.elsewhere: counted changes that only another machine has', async () => {
  const id = newId();
  const on = (host?: string): SessionLogs => postgresStore(pool, { ...(host && { host }), leaseMs: 5_000 });
  const session = await openSession(on('a'), { id });
  session.record({ type: 'resources-staged', callId: 'c', mark: 'm', host: 'a', resources: ['files'] });
  session.record({ type: 'tool-call-end', callId: 'c', events: [], mark: 'm' });
  await session.close();
  for (const other of ['b', undefined]) {
    await expect(openSession(on(other), { id })).rejects.toMatchObject({
      code: 'resource.elsewhere',
      data: { host: 'a', here: other ?? hostname(), resources: ['files'] },
    });
  }
  await (await openSession(on('a'), { id })).close();
  await (await openSession(on('b'), { id, abandon: 'a' })).close();
  await (await openSession(on('b'), { id })).close();
});

test.each(['', 1])('options.invalid: the machine %j', async (host) => {
  await expect(open({ sessionId: newId(), host: host as string })).rejects.toMatchObject({ code: 'options.invalid' });
});

test.each([0, 99, 1.5, Number.NaN])('options.invalid: a lease of %s ms', async (leaseMs) => {
  await expect(open({ sessionId: newId(), leaseMs })).rejects.toMatchObject({ code: 'options.invalid' });
});
