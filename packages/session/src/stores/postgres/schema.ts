import { isHoldfastError } from '@holdfast/core';
import { newerSchema, type PostgresDatabase, run } from './database.ts';

/**
 * Each makes a version of the tables from the one before, and never changes once released. A process of the version before may still be
 * writing, so that a migration only adds.
 */
export const migrations: readonly string[] = [
  // The row of a session changes with every append: with room on its page PostgreSQL need not write an index.
  `CREATE TABLE holdfast_sessions (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    records bigint NOT NULL,
    head text NOT NULL,
    snapshot bigint,
    fence bigint NOT NULL,
    holder text,
    leased_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    deleted_at timestamptz
  ) WITH (fillfactor = 70);
  CREATE TABLE holdfast_records (
    session bigint NOT NULL,
    seq bigint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (session, seq)
  );`,
];

/** Brings the tables to the newest version. @throws HoldfastError `log.database`. */
export async function migrate(database: PostgresDatabase, steps: readonly string[] = migrations): Promise<void> {
  const version = await readVersion(database);
  if (version > steps.length) throw newerSchema(version, steps.length);
  if (version < steps.length) await run(database, toScript(steps));
}

/** For readers, who migrate nothing. @throws HoldfastError `log.database`. */
export async function checkSchema(database: PostgresDatabase): Promise<void> {
  const { rows } = await run(database, readingVersion);
  const version = Number(rows[0]?.['version']);
  if (version > migrations.length) throw newerSchema(version, migrations.length);
}

const readingVersion = 'SELECT version FROM holdfast_schema';

async function readVersion(database: PostgresDatabase): Promise<number> {
  try {
    const { rows } = await run(database, readingVersion);
    return Number(rows[0]?.['version'] ?? 0);
  } catch (thrown) {
    if (isHoldfastError(thrown) && thrown.reason === 'schema.missing') return 0;
    throw thrown;
  }
}

/** One statement, so that it happens as a whole or not at all; the lock ends with it. */
function toScript(steps: readonly string[]): string {
  const each = steps.map(
    (step, index) => `IF version < ${index + 1} THEN
  ${step}
  UPDATE holdfast_schema SET version = ${index + 1};
END IF;`,
  );
  return `DO $holdfast$
DECLARE version integer;
BEGIN
  PERFORM pg_advisory_xact_lock(${lockKey});
  CREATE TABLE IF NOT EXISTS holdfast_schema (version integer NOT NULL);
  INSERT INTO holdfast_schema SELECT 0 WHERE NOT EXISTS (SELECT FROM holdfast_schema);
  SELECT holdfast_schema.version INTO version FROM holdfast_schema;
  ${each.join('\n  ')}
END $holdfast$`;
}

// Any number that other programs are unlikely to lock.
const lockKey = 7_203_391_842_115;
