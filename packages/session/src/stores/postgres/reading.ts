import type { LogRecord } from '../../log/log.ts';
import { type PostgresDatabase, run } from './database.ts';
import { checkSessionId } from './open.ts';
import {
  deletedSession,
  findSession,
  lockedSession,
  missingSession,
  type PostgresLogProblem,
  readRows,
  sessionColumns,
  toSession,
} from './rows.ts';
import { checkSchema } from './schema.ts';

/** The verified part of a session's log. */
export interface PostgresLogReading {
  /** In order, up to the first problem. */
  readonly records: readonly LogRecord[];
  /** The link that the next record would carry; note it elsewhere to detect missing rows at the end later. */
  readonly head: string;
  readonly problem?: PostgresLogProblem;
}

/** A session of a database. */
export interface PostgresSession {
  readonly sessionId: string;
  /** Number of records, unverified; of a deleted session, the number it had. */
  readonly records: number;
  /** The link after its last record, also of a deleted session. */
  readonly head: string;
  /** Who has it open for writing, and how long its lease lasts by the database's clock, in milliseconds. */
  readonly holder?: string;
  readonly leaseMs?: number;
  /** When it was deleted, in milliseconds since 1970. */
  readonly deletedAtMs?: number;
}

export interface ListPostgresSessionsOptions {
  /** Only sessions created after this one. */
  readonly after?: string;
  /** Default: 1,000. */
  readonly limit?: number;
  /** Only the one with this id. */
  readonly sessionId?: string;
}

/**
 * Reads and verifies all of a session's log without writing, also during writes; a damaged log still returns its valid beginning.
 * @throws HoldfastError `log.missing`, `log.database`.
 */
export async function readPostgresLog(
  database: PostgresDatabase,
  { sessionId }: { readonly sessionId: string },
): Promise<PostgresLogReading> {
  await checkSchema(database);
  const session = await findSession(database, sessionId);
  if (session === undefined) throw missingSession(sessionId);
  if (session.deletedAtMs !== undefined) throw deletedSession(session);
  const { records, place, problem } = await readRows(database, session.key, { end: session.end });
  if (problem !== undefined) {
    // Deleted while it was read.
    const now = await findSession(database, sessionId);
    if (now?.deletedAtMs !== undefined) throw deletedSession(now);
  }
  return { records, head: place.head, ...(problem && { problem }) };
}

/** The sessions of a database in order of creation. @throws HoldfastError `log.database`. */
export async function listPostgresSessions(
  database: PostgresDatabase,
  { after, limit = 1_000, sessionId: only }: ListPostgresSessionsOptions = {},
): Promise<readonly PostgresSession[]> {
  await checkSchema(database);
  const { rows } = await run(database, listing, [after ?? null, limit, only ?? null]);
  return rows.map((row) => {
    const { sessionId, end, holder, leaseMs, deletedAtMs } = toSession(row);
    return {
      sessionId,
      records: end.seq,
      head: end.head,
      ...(leaseMs > 0 && holder !== undefined && { holder, leaseMs }),
      ...(deletedAtMs !== undefined && { deletedAtMs }),
    };
  });
}

const listing = `SELECT ${sessionColumns} FROM holdfast_sessions
WHERE key > coalesce((SELECT key FROM holdfast_sessions WHERE id = $1), 0)
  AND ($3::text IS NULL OR id = $3) ORDER BY holdfast_sessions.key LIMIT $2`;

/**
 * Deletes the records of a session that is not open. Its row stays: the number of its records, the link after the last one, and the
 * time, so that its id is never used again. Returns that row; deleting again returns the same.
 * @throws HoldfastError `log.locked`, `log.missing`, `log.database`.
 */
export async function deletePostgresSession(
  database: PostgresDatabase,
  { sessionId }: { readonly sessionId: string },
): Promise<PostgresSession> {
  checkSessionId(sessionId);
  await checkSchema(database);
  await run(database, deleting, [sessionId]);
  const found = await findSession(database, sessionId);
  if (found === undefined) throw missingSession(sessionId);
  if (found.deletedAtMs === undefined) throw lockedSession(sessionId, found);
  return { sessionId, records: found.end.seq, head: found.end.head, deletedAtMs: found.deletedAtMs };
}

const deleting = `WITH gone AS (
  UPDATE holdfast_sessions SET deleted_at = clock_timestamp(), fence = fence + 1, holder = NULL, leased_until = NULL
  WHERE id = $1 AND deleted_at IS NULL AND (leased_until IS NULL OR leased_until <= clock_timestamp())
  RETURNING key
) DELETE FROM holdfast_records USING gone WHERE session = gone.key`;
