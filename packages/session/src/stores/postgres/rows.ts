import { HoldfastError } from '@holdfast/core';
import { beginning, type ChainPlace, type ChainProblem, linkOf, parseRecord } from '../../log/chain.ts';
import type { LogRecord } from '../../log/log.ts';
import { type PostgresDatabase, type Row, run } from './database.ts';

/** The row of a session. */
export interface SessionRow {
  readonly sessionId: string;
  readonly key: string;
  /** Counts the writers; each append checks that it is still its writer's. */
  readonly fence: string;
  /** Position after its last record. */
  readonly end: ChainPlace;
  /** Number of its last snapshot. */
  readonly snapshot: number | undefined;
  /** Milliseconds until its lease ends, by the database's clock; 0 if it is free. */
  readonly leaseMs: number;
  readonly holder: string | undefined;
  /** Milliseconds since 1970; `undefined` if it has its records. */
  readonly deletedAtMs: number | undefined;
}

// Numbers as text, because drivers differ in how they return large ones.
export const sessionColumns = `id, key::text AS key, fence::text AS fence, records::text AS records, head, snapshot::text AS snapshot,
  greatest(0, ceil(extract(epoch FROM leased_until - clock_timestamp()) * 1000))::text AS lease, holder,
  floor(extract(epoch FROM deleted_at) * 1000)::text AS deleted`;

export function toSession(row: Row): SessionRow {
  const { id, key, fence, records, head, snapshot, lease, holder, deleted } = row;
  return {
    sessionId: String(id),
    key: String(key),
    fence: String(fence),
    end: { seq: Number(records), head: String(head) },
    snapshot: toNumber(snapshot),
    leaseMs: Number(lease ?? 0),
    holder: typeof holder === 'string' ? holder : undefined,
    deletedAtMs: toNumber(deleted),
  };
}

function toNumber(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

export async function findSession(database: PostgresDatabase, sessionId: string): Promise<SessionRow | undefined> {
  const { rows } = await run(database, `SELECT ${sessionColumns} FROM holdfast_sessions WHERE id = $1`, [sessionId]);
  return rows[0] && toSession(rows[0]);
}

/** The verified part of a session's rows. */
export interface RowsReading {
  /** In order, up to the first problem. */
  readonly records: readonly LogRecord[];
  /** After the last of the records. */
  readonly place: ChainPlace;
  readonly problem?: PostgresLogProblem;
}

export interface PostgresLogProblem extends ChainProblem {
  /** Number of the expected record. */
  readonly seq: number;
}

export interface ReadRowsOptions {
  readonly place?: ChainPlace;
  readonly end: ChainPlace;
  /** Notified of every record. */
  readonly note?: (type: string, bytes: number) => void;
}

/** Reads and verifies the rows from a position to the end of the session; records never change, so that a writer may go on meanwhile. */
export async function readRows(
  database: PostgresDatabase,
  key: string,
  { place = beginning, end, note }: ReadRowsOptions,
): Promise<RowsReading> {
  const records: LogRecord[] = [];
  let { seq, head } = place;
  const stop = (problem: PostgresLogProblem): RowsReading => ({ records, place: { seq, head }, problem });
  while (seq < end.seq) {
    // From the beginning also negative numbers, which our stores never write.
    const from = seq === 0 ? String(-(2n ** 63n)) : String(seq);
    const { rows } = await run(database, batch, [key, from, String(end.seq)]);
    for (const row of rows) {
      const text = String(row['text']);
      const number = String(row['number']);
      if (number !== String(seq)) return stop(missingRow(seq, number));
      const parsed = parseRecord(text, { seq, head });
      if ('code' in parsed) return stop({ ...parsed, seq });
      records.push(parsed.record);
      head = linkOf(text);
      seq += 1;
      note?.(parsed.record.type, Buffer.byteLength(text));
    }
    if (rows.length === 0) return stop(missingRow(seq));
  }
  if (head === end.head) return { records, place: { seq, head } };
  return stop({
    code: 'log.damaged',
    reason: 'chain',
    seq,
    message: 'The last record was changed after it was written.',
  });
}

// A batch ends after a thousand rows or a few megabytes: the sum of the rows before is compared, so that one large row is read alone.
const batch = `SELECT number, text FROM (
  SELECT seq, seq::text AS number, text, sum(octet_length(text)) OVER (ORDER BY seq) - octet_length(text) AS before
  FROM (SELECT seq, text FROM holdfast_records WHERE session = $1 AND seq >= $2 AND seq < $3 ORDER BY seq LIMIT 1000) AS next
) AS rows WHERE before < 4194304 ORDER BY seq`;

/** The position before record `seq`, linked to the previous row. `undefined` if that row is missing. */
export async function findPlace(database: PostgresDatabase, key: string, seq: number): Promise<ChainPlace | undefined> {
  if (seq === 0) return beginning;
  const text = 'SELECT text FROM holdfast_records WHERE session = $1 AND seq = $2';
  const { rows } = await run(database, text, [key, String(seq - 1)]);
  return rows[0] && { seq, head: linkOf(String(rows[0]['text'])) };
}

/** `next`: number of the following row, if there is one. */
function missingRow(seq: number, next?: string): PostgresLogProblem {
  const found = next === undefined ? 'it has no row' : `the next row is numbered ${next}`;
  return { code: 'log.damaged', reason: 'sequence', seq, message: `Record ${seq} is missing: ${found}.` };
}

export function damagedLog(sessionId: string, { code, reason, seq, message }: PostgresLogProblem): HoldfastError {
  return new HoldfastError(
    code,
    `The session \`${sessionId}\` in the database is damaged: ${message} \`readPostgresLog\` returns the ${seq} records before that.`,
    { data: { reason, sessionId, seq } },
  );
}

export function missingSession(sessionId: string): HoldfastError {
  return new HoldfastError('log.missing', `There is no session \`${sessionId}\` in the database.`, {
    data: { sessionId },
  });
}

/** A deleted session keeps its id, so that another session is never mistaken for it. */
export function deletedSession({ sessionId, end, deletedAtMs }: SessionRow): HoldfastError {
  const at = new Date(deletedAtMs ?? 0).toISOString();
  return new HoldfastError(
    'log.missing',
    `The session \`${sessionId}\` was deleted at ${at}, with ${end.seq} records; use another id.`,
    { data: { reason: 'deleted', sessionId, records: end.seq, head: end.head, deletedAtMs: deletedAtMs ?? null } },
  );
}

/** `holder`: the row of a session that is leased. Omitted: another writer has taken the session over. */
export function lockedSession(sessionId: string, row?: SessionRow): HoldfastError {
  if (row === undefined) {
    const message = `The session \`${sessionId}\` was taken over by another writer; open it again to continue.`;
    return new HoldfastError('log.locked', message, { data: { sessionId } });
  }
  const { holder = 'a writer', leaseMs } = row;
  const message = `The session \`${sessionId}\` is open in ${holder}; close it there, or wait: its lease ends in ${leaseMs} ms unless it is renewed.`;
  return new HoldfastError('log.locked', message, { data: { sessionId, holder, leaseMs } });
}
