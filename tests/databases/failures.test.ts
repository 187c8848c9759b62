import { hash } from 'node:crypto';
import { openSession } from '@holdfast/session';
import {
  deletePostgresSession,
  listPostgresSessions,
  openPostgresLog,
  type PostgresDatabase,
  postgresStore,
  readPostgresLog,
} from '@holdfast/session/postgres';
import pg, { type Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PostgresServer } from './postgres-server.ts';

let server: PostgresServer;
let database: string;
let pool: Pool;
beforeAll(async () => {
  server = await PostgresServer.start();
  database = await server.newDatabase();
  pool = server.pool(database);
});
afterAll(() => server[Symbol.asyncDispose]());

const uses: Readonly<Record<string, (pool: PostgresDatabase) => Promise<unknown>>> = {
  openPostgresLog: (on) => openPostgresLog(on, { sessionId: 'a' }),
  readPostgresLog: (on) => readPostgresLog(on, { sessionId: 'a' }),
  listPostgresSessions: (on) => listPostgresSessions(on),
  deletePostgresSession: (on) => deletePostgresSession(on, { sessionId: 'a' }),
};

async function writeLog(sessionId: string, count: number): Promise<void> {
  const { store } = await openPostgresLog(pool, { sessionId });
  for (let seq = 0; seq < count; seq += 1) store.append({ type: 'note', text: `größe ${seq}` }, seq, 1);
  store.close();
  await store.closed?.();
}

test('log.database: schema.missing for readers of an empty database; a writer makes the tables, also many at once', async () => {
  const empty = server.pool(await server.newDatabase());
  for (const name of ['readPostgresLog', 'listPostgresSessions', 'deletePostgresSession']) {
    await expect(uses[name]?.(empty)).rejects.toMatchObject({ code: 'log.database', reason: 'schema.missing' });
  }
  const opened = await Promise.all(
    Array.from({ length: 8 }, (_, index) => openPostgresLog(empty, { sessionId: String(index) })),
  );
  for (const { store } of opened) store.close();
  expect(await listPostgresSessions(empty)).toHaveLength(8);
});

const firstRecord = JSON.stringify({ seq: 0, prev: '0'.repeat(64), atMs: 1, type: 'note' });
const firstHead = hash('sha256', firstRecord, 'hex');

/** The tables as the first version made them, which every later one must migrate: never change this text. */
const firstTables = `CREATE TABLE holdfast_schema (version integer NOT NULL);
INSERT INTO holdfast_schema VALUES (1);
CREATE TABLE holdfast_sessions (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, records bigint NOT NULL, head text NOT NULL, snapshot bigint,
  fence bigint NOT NULL, holder text, leased_until timestamptz, created_at timestamptz NOT NULL DEFAULT clock_timestamp(), deleted_at timestamptz
) WITH (fillfactor = 70);
CREATE TABLE holdfast_records (session bigint NOT NULL, seq bigint NOT NULL, text text NOT NULL, PRIMARY KEY (session, seq));
INSERT INTO holdfast_sessions (id, records, head, fence) VALUES ('old', 1, '${firstHead}', 1);
INSERT INTO holdfast_records VALUES (1, 0, '${firstRecord}');`;

test('tables of the first version: their sessions continue, and its writers go on beside this version', async () => {
  const first = server.pool(await server.newDatabase());
  await first.query(firstTables);
  expect((await readPostgresLog(first, { sessionId: 'old' })).records).toHaveLength(1);
  const { records, store } = await openPostgresLog(first, { sessionId: 'old' });
  expect(records).toMatchObject([{ type: 'note' }]);
  store.append({ type: 'note' }, 1, 2);
  store.close();
  await store.closed?.();
  // As the first version begins a session.
  await first.query(`INSERT INTO holdfast_sessions (id, records, head, fence) VALUES ('new', 1, $1, 1)`, [firstHead]);
  await first.query(`INSERT INTO holdfast_records SELECT key, 0, $1 FROM holdfast_sessions WHERE id = 'new'`, [
    firstRecord,
  ]);
  for (const [sessionId, count] of [
    ['old', 2],
    ['new', 1],
  ] as const) {
    const read = await readPostgresLog(first, { sessionId });
    expect({ count: read.records.length, problem: read.problem }).toEqual({ count, problem: undefined });
  }
});

// Not exported: only a test knows versions that do not exist yet. A migration only adds.
const schema = new URL('../../packages/session/src/stores/postgres/schema.ts', import.meta.url).href;
const { migrate, migrations } = (await import(schema)) as {
  readonly migrate: (database: PostgresDatabase, steps: readonly string[]) => Promise<void>;
  readonly migrations: readonly string[];
};
const second = `ALTER TABLE holdfast_sessions ADD COLUMN label text NOT NULL DEFAULT 'none';`;
const third = `CREATE TABLE holdfast_marks (session bigint NOT NULL, mark text NOT NULL);
  INSERT INTO holdfast_marks SELECT key, 'migrated' FROM holdfast_sessions;`;
const newer = [...migrations, second, third];

async function newSession(): Promise<Pool> {
  const pool = server.pool(await server.newDatabase());
  const { store } = await openPostgresLog(pool, { sessionId: 'old' });
  store.append({ type: 'note' }, 0, 1);
  store.close();
  await store.closed();
  return pool;
}

async function read(pool: PostgresDatabase, text: string): Promise<unknown> {
  return (await pool.query(text)).rows;
}

test('a store of the first version moves forward through every later one, once, also if many start at once', async () => {
  const pool = await newSession();
  await Promise.all(Array.from({ length: 8 }, () => migrate(pool, newer)));
  await migrate(pool, newer);
  expect(await read(pool, 'SELECT version FROM holdfast_schema')).toEqual([{ version: newer.length }]);
  expect(await read(pool, 'SELECT mark FROM holdfast_marks')).toEqual([{ mark: 'migrated' }]);
  expect(await read(pool, 'SELECT id, label, records FROM holdfast_sessions')).toEqual([
    { id: 'old', label: 'none', records: '1' },
  ]);
  // This version is now the older one: it changes nothing, and says what to do.
  const data = { have: newer.length, know: migrations.length };
  for (const use of Object.values(uses)) {
    await expect(use(pool)).rejects.toMatchObject({ code: 'log.database', reason: 'schema.newer', data });
  }
  await expect(openPostgresLog(pool, { sessionId: 'new' })).rejects.toThrow(/version 3.+up to 1; update/);
  expect(await read(pool, 'SELECT id FROM holdfast_sessions')).toEqual([{ id: 'old' }]);
});

test('a writer of the version before goes on while another machine migrates', async () => {
  const pool = server.pool(await server.newDatabase());
  const { store } = await openPostgresLog(pool, { sessionId: 'open' });
  store.append({ type: 'note' }, 0, 1);
  await store.sync();
  await migrate(pool, newer);
  store.append({ type: 'note' }, 1, 1);
  store.close();
  await store.closed();
  expect(await read(pool, 'SELECT records FROM holdfast_sessions')).toEqual([{ records: '2' }]);
});

test('a migration that fails leaves the version before, as a whole', async () => {
  const pool = await newSession();
  const broken = [...migrations, second, 'CREATE TABLE holdfast_marks (mark text); SELECT 1 / 0;'];
  await expect(migrate(pool, broken)).rejects.toMatchObject({ code: 'log.database', reason: 'failed' });
  expect(await read(pool, 'SELECT version FROM holdfast_schema')).toEqual([{ version: migrations.length }]);
  expect(await read(pool, `SELECT to_regclass('holdfast_marks') AS found`)).toEqual([{ found: null }]);
  expect((await readPostgresLog(pool, { sessionId: 'old' })).records).toHaveLength(1);
});

test('behind a transaction pooler: every statement on a connection of its own', async () => {
  const settings = server.settings(await server.newDatabase());
  const pooler: PostgresDatabase = {
    async query(text, values) {
      const client = new pg.Client(settings);
      await client.connect();
      try {
        return await client.query(text, values);
      } finally {
        await client.end();
      }
    },
  };
  const session = await openSession(postgresStore(pooler, { leaseMs: 60_000, snapshotAfterBytes: 1 }), { id: 's' });
  await expect(openSession(postgresStore(pooler), { id: 's' })).rejects.toMatchObject({ code: 'log.locked' });
  for (let count = 0; count < 5; count += 1) {
    session.record({ type: 'note' });
    await session.sync();
  }
  await session.close();
  const again = await openSession(postgresStore(pooler), { id: 's' });
  again.record({ type: 'note' });
  await again.close();
  const { records, problem } = await readPostgresLog(pooler, { sessionId: 's' });
  expect(problem).toBeUndefined();
  expect(records.filter(({ type }) => type === 'note')).toHaveLength(6);
  expect(await listPostgresSessions(pooler)).toMatchObject([{ sessionId: 's', records: records.length }]);
  await deletePostgresSession(pooler, { sessionId: 's' });
  await expect(readPostgresLog(pooler, { sessionId: 's' })).rejects.toMatchObject({ code: 'log.missing' });
});

test('log.database: permission, for a role that may only read; it reads', async () => {
  await writeLog('seen', 3);
  await pool.query('CREATE ROLE viewer LOGIN');
  await pool.query('GRANT SELECT ON ALL TABLES IN SCHEMA public TO viewer');
  const viewer = server.pool(database, { user: 'viewer' });
  expect((await readPostgresLog(viewer, { sessionId: 'seen' })).records).toHaveLength(3);
  for (const on of [viewer, server.pool(database, { options: '-c default_transaction_read_only=on' })]) {
    await expect(uses['openPostgresLog']?.(on)).rejects.toMatchObject({ code: 'log.database', reason: 'permission' });
    await expect(deletePostgresSession(on, { sessionId: 'seen' })).rejects.toMatchObject({ reason: 'permission' });
  }
  expect((await readPostgresLog(pool, { sessionId: 'seen' })).records).toHaveLength(3);
});

test.each([
  { reason: 'credentials', options: { user: 'nobody-there' } },
  { reason: 'credentials', options: { database: 'none' } },
  { reason: 'unreachable', options: { host: '/nowhere' } },
  { reason: 'unreachable', options: { host: '127.0.0.1', port: 1 } },
])('log.database: $reason with $options', async ({ reason, options }) => {
  const wrong = new pg.Pool({ ...server.settings(database), ...options });
  for (const use of Object.values(uses)) {
    await expect(use(wrong)).rejects.toMatchObject({ code: 'log.database', reason });
  }
  await wrong.end();
});

test('log.database: credentials with a wrong password, which no error has', async () => {
  const locked = await PostgresServer.start();
  try {
    const admin = locked.pool('postgres');
    await admin.query("CREATE ROLE clerk SUPERUSER LOGIN PASSWORD 'right-7431'");
    const { rows } = await admin.query<{ hba_file: string }>('SHOW hba_file');
    await admin.query(`COPY (SELECT 'local all clerk scram-sha-256') TO '${rows[0]?.hba_file}'`);
    await locked.stop();
    await locked.resume();
    const wrong = locked.pool('postgres', { user: 'clerk', password: 'wrong-7431' });
    for (const use of Object.values(uses)) {
      const thrown: unknown = await use(wrong).catch((error: unknown) => error);
      expect(thrown).toMatchObject({ code: 'log.database', reason: 'credentials' });
      expect(JSON.stringify(thrown) + String(thrown)).not.toContain('7431');
    }
    const right = locked.pool('postgres', { user: 'clerk', password: 'right-7431' });
    const { store } = await openPostgresLog(right, { sessionId: 'a' });
    store.close();
  } finally {
    await locked[Symbol.asyncDispose]();
  }
});

test('log.database: failed, and nothing of the group is written', async () => {
  const { store } = await openPostgresLog(pool, { sessionId: 'full' });
  store.append({ type: 'note' }, 0, 1);
  await store.sync?.();
  await pool.query(`ALTER TABLE holdfast_records ADD CONSTRAINT small CHECK (text NOT LIKE '%refused%')`);
  store.append({ type: 'note' }, 1, 1);
  store.append({ type: 'refused' }, 2, 1);
  await expect(store.sync?.()).rejects.toMatchObject({
    code: 'log.database',
    reason: 'failed',
    data: { state: '23514' },
  });
  expect(() => store.append({ type: 'note' }, 3, 1)).toThrow(expect.objectContaining({ code: 'log.broken' }));
  store.close();
  await expect(store.closed?.()).rejects.toMatchObject({ code: 'log.database' });
  expect((await readPostgresLog(pool, { sessionId: 'full' })).records).toHaveLength(1);
  await pool.query('ALTER TABLE holdfast_records DROP CONSTRAINT small');
});

test.each([
  ['a deleted row', 'DELETE FROM holdfast_records WHERE session = $1 AND seq = 1', 'sequence', 1],
  ['the last row deleted', 'DELETE FROM holdfast_records WHERE session = $1 AND seq = 3', 'sequence', 3],
  ['an edited number', 'UPDATE holdfast_records SET seq = 7 WHERE session = $1 AND seq = 2', 'sequence', 2],
  ['a number below the first', 'UPDATE holdfast_records SET seq = -1 WHERE session = $1 AND seq = 2', 'sequence', 0],
  [
    'an edited row',
    `UPDATE holdfast_records SET text = replace(text, 'ö', 'o') WHERE session = $1 AND seq = 1`,
    'chain',
    2,
  ],
  [
    'the last row edited',
    `UPDATE holdfast_records SET text = replace(text, 'ö', 'o') WHERE session = $1 AND seq = 3`,
    'chain',
    4,
  ],
  ['text that is not a record', `UPDATE holdfast_records SET text = '[]' WHERE session = $1 AND seq = 2`, 'record', 2],
] as const)('%s is found', async (what, statement, reason, seq) => {
  await writeLog(what, 4);
  const { rows } = await pool.query<{ key: string }>('SELECT key FROM holdfast_sessions WHERE id = $1', [what]);
  await pool.query(statement, [rows[0]?.key]);
  const { records, problem } = await readPostgresLog(pool, { sessionId: what });
  expect(problem).toMatchObject({ code: 'log.damaged', reason, seq });
  expect(records).toHaveLength(seq);
  // A rejected writer leaves no lease: the next attempt fails on the damage again.
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(openPostgresLog(pool, { sessionId: what })).rejects.toMatchObject({
      code: 'log.damaged',
      reason,
      data: { sessionId: what, seq },
    });
  }
});

test('a deleted session leaves its number of records, its head and its id', async () => {
  await writeLog('old', 5);
  const { head } = await readPostgresLog(pool, { sessionId: 'old' });
  const open = await openPostgresLog(pool, { sessionId: 'old' });
  await expect(deletePostgresSession(pool, { sessionId: 'old' })).rejects.toMatchObject({ code: 'log.locked' });
  open.store.close();
  await open.store.closed?.();
  const left = await deletePostgresSession(pool, { sessionId: 'old' });
  expect(left).toEqual({ sessionId: 'old', records: 5, head, deletedAtMs: expect.any(Number) });
  expect(await deletePostgresSession(pool, { sessionId: 'old' })).toEqual(left);
  expect((await listPostgresSessions(pool)).find(({ sessionId }) => sessionId === 'old')).toEqual(left);
  const gone = { code: 'log.missing', reason: 'deleted', data: { records: 5, head } };
  await expect(readPostgresLog(pool, { sessionId: 'old' })).rejects.toMatchObject(gone);
  await expect(openSession(postgresStore(pool), { id: 'old' })).rejects.toMatchObject(gone);
  await expect(readPostgresLog(pool, { sessionId: 'never' })).rejects.toMatchObject({
    code: 'log.missing',
    reason: undefined,
  });
  await expect(deletePostgresSession(pool, { sessionId: 'never' })).rejects.toMatchObject({ code: 'log.missing' });
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int FROM holdfast_records JOIN holdfast_sessions ON key = session WHERE id = $1',
    ['old'],
  );
  expect(rows[0]?.count).toBe(0);
});

test('sessions are listed in order of creation, a page at a time', async () => {
  const own = server.pool(await server.newDatabase());
  for (const sessionId of ['c', 'a', 'b']) (await openPostgresLog(own, { sessionId })).store.close();
  const ids = async (options: object): Promise<readonly string[]> =>
    (await listPostgresSessions(own, options)).map(({ sessionId }) => sessionId);
  expect(await ids({})).toEqual(['c', 'a', 'b']);
  expect(await ids({ limit: 2 })).toEqual(['c', 'a']);
  expect(await ids({ after: 'a' })).toEqual(['b']);
  expect(await ids({ sessionId: 'b' })).toEqual(['b']);
  expect(await ids({ sessionId: 'd' })).toEqual([]);
});
