import { hostname } from 'node:os';
import { HoldfastError } from '@holdfast/core';
import { beginning } from '../../log/chain.ts';
import type { LogRecord, OpenedLog, SessionLogs } from '../../log/log.ts';
import { SnapshotGauge, type SnapshotOptions } from '../../log/snapshot-gauge.ts';
import { type PostgresDatabase, run } from './database.ts';
import { leaseClock as clock, Lease } from './lease.ts';
import {
  damagedLog,
  deletedSession,
  findPlace,
  findSession,
  lockedSession,
  readRows,
  type SessionRow,
  sessionColumns,
  toSession,
} from './rows.ts';
import { migrate } from './schema.ts';
import { neededFrom, type PostgresLog, PostgresWriter } from './writer.ts';

export interface PostgresOptions extends SnapshotOptions {
  /**
   * How long the session stays this writer's after its last renewal, in milliseconds: another machine can take it over that long after
   * this one ended without closing it. Renewed after a third; if that fails, running calls stop after two thirds. At least 100. Default
   * 30,000.
   */
  readonly leaseMs?: number;
  /**
   * The name of this machine, under which the log notes staged changes that only it has. Must stay the same as long as its files do.
   * Default: the host name.
   */
  readonly host?: string;
  /**
   * Records before the last snapshot: `load` them, or `skip` those that no open work needs, so that opening a long session stays cheap.
   * Resolving a call that ended in doubt before them then fails with `log.unreadable`. Default `load`.
   */
  readonly earlier?: 'load' | 'skip';
}

export interface OpenPostgresLogOptions extends PostgresOptions {
  readonly sessionId: string;
}

/** A log that was opened, or begun without records. */
export interface OpenedPostgresLog extends OpenedLog {
  readonly store: PostgresLog;
}

/** Stores sessions in a PostgreSQL database, for `openSession`: `openPostgresLog`, with its errors. */
export function postgresStore(database: PostgresDatabase, options: PostgresOptions = {}): SessionLogs {
  return { open: (sessionId) => openPostgresLog(database, { ...options, sessionId }) };
}

/**
 * Opens or begins a session's log, makes the tables if they are missing, and takes the session's lease. `append` returns at once; `sync`
 * resolves when the database has committed the records, as far as its `synchronous_commit` promises. The executor waits for that before
 * it runs a tool with effects, and before it returns a success. `database`: a `Pool` of `pg`, also behind a pooler of transactions.
 *
 * @throws HoldfastError `log.locked` while another writer has the lease, `log.missing` for a deleted session, `log.database`,
 * `options.invalid`; `log.damaged` for a changed log. `sync` rejects with `log.database`, or
 * `log.locked` once the lease is lost; later appends throw `log.broken` or `log.locked`.
 */
export async function openPostgresLog(
  database: PostgresDatabase,
  options: OpenPostgresLogOptions,
): Promise<OpenedPostgresLog> {
  const { sessionId, leaseMs = 30_000, host = hostname(), earlier = 'load' } = options;
  checkSessionId(sessionId);
  if (!Number.isInteger(leaseMs) || leaseMs < 100) {
    throw new HoldfastError('options.invalid', `\`leaseMs\` must be an integer of at least 100, got ${leaseMs}.`);
  }
  const gauge = new SnapshotGauge(options);
  if (typeof host !== 'string' || host === '') {
    throw new HoldfastError(
      'options.invalid',
      `\`host\` must be the name of this machine, got ${JSON.stringify(host)}.`,
    );
  }
  await migrate(database);
  const sentAtMs = clock.now();
  const row = await take(database, { sessionId, leaseMs, host });
  const { key, fence } = row;
  const lease = new Lease({
    leaseMs,
    clock,
    sentAtMs,
    renew: async () => (await run(database, renewing, [key, fence, leaseMs])).count === 1,
    gone: () => lockedSession(sessionId),
  });
  try {
    const { records, from } = await load(database, { row, gauge, earlier });
    lease.check();
    const held = { database, sessionId, host, key, fence, lease, leaseMs, clock, gauge, place: row.end };
    const store = new PostgresWriter({ ...held, records, forgets: earlier === 'skip' });
    return { records: records.slice(from), store };
  } catch (thrown) {
    lease.stop();
    await run(database, releasing, [key, fence]);
    throw thrown;
  }
}

/** @throws HoldfastError `options.invalid`. */
export function checkSessionId(sessionId: unknown): void {
  const fits =
    typeof sessionId === 'string' &&
    sessionId !== '' &&
    sessionId.length <= 500 &&
    sessionId.isWellFormed() &&
    !sessionId.includes('\0');
  if (fits) return;
  throw new HoldfastError(
    'options.invalid',
    `The id of a session must be 1 to 500 characters of well-formed Unicode without NUL, got ${JSON.stringify(sessionId)}.`,
  );
}

async function take(
  database: PostgresDatabase,
  { sessionId, leaseMs, host }: { readonly sessionId: string; readonly leaseMs: number; readonly host: string },
): Promise<SessionRow> {
  const holder = `process ${process.pid} on \`${host}\``;
  for (;;) {
    const { rows } = await run(database, taking, [sessionId, holder, leaseMs, beginning.head]);
    if (rows[0] !== undefined) return toSession(rows[0]);
    const found = await findSession(database, sessionId);
    if (found?.deletedAtMs !== undefined) throw deletedSession(found);
    // Freed in between: taken at the next attempt.
    if (found !== undefined && found.leaseMs > 0) throw lockedSession(sessionId, found);
  }
}

/** Begins the session, or takes it if nobody has it. By the database's clock only. */
const taking = `INSERT INTO holdfast_sessions AS session (id, records, head, fence, holder, leased_until)
VALUES ($1, 0, $4, 1, $2, clock_timestamp() + $3 * interval '1 millisecond')
ON CONFLICT (id) DO UPDATE SET fence = session.fence + 1, holder = excluded.holder,
  leased_until = clock_timestamp() + $3 * interval '1 millisecond'
WHERE session.deleted_at IS NULL AND (session.leased_until IS NULL OR session.leased_until <= clock_timestamp())
RETURNING ${sessionColumns}`;

const renewing = `UPDATE holdfast_sessions SET leased_until = clock_timestamp() + $3 * interval '1 millisecond'
WHERE key = $1 AND fence = $2 AND leased_until > clock_timestamp()`;

const releasing = 'UPDATE holdfast_sessions SET leased_until = NULL, holder = NULL WHERE key = $1 AND fence = $2';

interface LoadOptions {
  readonly row: SessionRow;
  readonly gauge: SnapshotGauge;
  readonly earlier: 'load' | 'skip';
}

/** `from`: index of the last snapshot in the records. */
async function load(
  database: PostgresDatabase,
  { row, gauge, earlier }: LoadOptions,
): Promise<{ readonly records: readonly LogRecord[]; readonly from: number }> {
  const { sessionId, key, end, snapshot = 0 } = row;
  const readFrom = async (seq: number, note?: SnapshotGauge): Promise<readonly LogRecord[]> => {
    // If the previous row is missing, reading from the beginning reports the problem.
    const place = (await findPlace(database, key, seq)) ?? beginning;
    const noting = note && { note: (type: string, bytes: number) => note.note(type, bytes) };
    const { records, problem } = await readRows(database, key, { place, end, ...noting });
    if (problem !== undefined) throw damagedLog(sessionId, problem);
    return records;
  };
  let records = await readFrom(earlier === 'load' ? 0 : snapshot, gauge);
  const first = records[0];
  if (earlier === 'skip' && first?.type === 'snapshot') {
    const needed = neededFrom(first);
    if (needed < snapshot) records = await readFrom(needed);
  }
  return { records, from: Math.max(0, snapshot - (records[0]?.seq ?? snapshot)) };
}
