import type { DatabaseSync } from 'node:sqlite';
import { HoldfastError } from '@holdfast/core';
import { beginning, type ChainPlace, type ChainProblem, linkOf, parseRecord } from '../../log/chain.ts';
import type { LogRecord } from '../../log/log.ts';
import type { SnapshotGauge } from '../../log/snapshot-gauge.ts';

/** The row of a session. */
export interface SessionRow {
  readonly key: number;
  readonly writer: string | null;
  /** After its last record. */
  readonly end: ChainPlace;
}

/** The row of a session, if there is one. */
export function findSession(database: DatabaseSync, sessionId: string): SessionRow | undefined {
  // The index gives the key, the table everything else. Integers as text: a damaged one may be too large for JavaScript.
  const found = database.prepare('SELECT CAST(key AS TEXT) AS key FROM holdfast_sessions WHERE id = ?').get(sessionId);
  if (found === undefined) return undefined;
  const key = Number(found['key']);
  const row = database
    .prepare('SELECT id, writer, CAST(records AS TEXT) AS records, head FROM holdfast_sessions WHERE key = ?')
    .get(key);
  if (row?.['id'] !== sessionId) return undefined;
  const { writer, records, head } = row;
  return {
    key,
    writer: typeof writer === 'string' ? writer : null,
    end: { seq: Number(records), head: String(head) },
  };
}

/** The row of a session. @throws HoldfastError `log.missing`; `log.unreadable` when the table that should have it is damaged. */
export function getSession(database: DatabaseSync, path: string, sessionId: string): SessionRow {
  const session = findSession(database, sessionId);
  if (session !== undefined) return session;
  const data = { path, sessionId };
  const finding = String(database.prepare('PRAGMA integrity_check(holdfast_sessions)').get()?.['integrity_check']);
  if (finding === 'ok') {
    throw new HoldfastError('log.missing', `There is no session \`${sessionId}\` in \`${path}\`.`, { data });
  }
  const message = `The session database \`${path}\` is damaged: ${finding}. Whether it has the session \`${sessionId}\` is unknown; put a copy of the file back.`;
  throw new HoldfastError('log.unreadable', message, { data });
}

/** Some of a session's rows, as far as they can be trusted. */
export interface RowsReading {
  /** In order, up to the first problem. */
  readonly records: readonly LogRecord[];
  /** After the last of them. */
  readonly place: ChainPlace;
  readonly problem?: SqliteLogProblem;
}

export interface SqliteLogProblem extends ChainProblem {
  /** The record that was expected. */
  readonly seq: number;
}

export interface ReadRowsOptions {
  /** Where to begin. Default: with the first record. */
  readonly place?: ChainPlace;
  /** Stops after the record with which it has read so many bytes. Default: reads all. */
  readonly maxBytes?: number;
  /** Told of every record. */
  readonly gauge?: SnapshotGauge;
}

/** Reads and verifies the rows from a place on. */
export function readRows(
  database: DatabaseSync,
  key: number,
  { place = beginning, maxBytes = Number.POSITIVE_INFINITY, gauge }: ReadRowsOptions = {},
): RowsReading {
  const records: LogRecord[] = [];
  let { seq, head } = place;
  let bytes = 0;
  // From the beginning also what is numbered below it, which nobody of us has written.
  const rows = database
    // As text, for somebody may have written a number that is none of JavaScript's.
    .prepare(
      'SELECT CAST(seq AS TEXT) AS number, text FROM holdfast_records WHERE session = ? AND seq >= ? ORDER BY seq',
    )
    .iterate(key, seq === 0 ? -Infinity : seq);
  for (const row of rows) {
    const text = String(row['text']);
    const number = String(row['number']);
    const parsed = number === String(seq) ? parseRow(database, key, { text, seq, head }) : missingRow(seq, number);
    if ('code' in parsed) return { records, place: { seq, head }, problem: { ...parsed, seq } };
    records.push(parsed.record);
    head = linkOf(text);
    seq += 1;
    const size = Buffer.byteLength(text);
    gauge?.note(parsed.record.type, size);
    bytes += size;
    if (bytes >= maxBytes) break;
  }
  return { records, place: { seq, head } };
}

/** A log whose end is not what its session's row says is damaged, or the row is. */
export function compareEnd(reading: RowsReading, { seq, head }: ChainPlace): RowsReading {
  const { place, problem } = reading;
  if (problem !== undefined || (place.seq === seq && place.head === head)) return reading;
  const found: SqliteLogProblem =
    place.seq === seq
      ? { code: 'log.chain', seq, message: 'The last record was changed after it was written.' }
      : { code: 'log.sequence', seq: place.seq, message: `It has ${place.seq} records and should have ${seq}.` };
  return { ...reading, problem: found };
}

// What is no UTF-8 comes back as U+FFFD: a row that has one may hold other bytes than its text tells.
function parseRow(
  database: DatabaseSync,
  key: number,
  { text, seq, head }: ChainPlace & { readonly text: string },
): ReturnType<typeof parseRecord> {
  if (text.includes('\ufffd')) {
    const row = database
      .prepare('SELECT CAST(text AS BLOB) AS bytes FROM holdfast_records WHERE session = ? AND seq = ?')
      .get(key, seq);
    const bytes = row?.['bytes'];
    if (!(bytes instanceof Uint8Array) || !Buffer.from(text).equals(bytes)) {
      return { code: 'log.record.invalid', message: `Record ${seq} is no text.` };
    }
  }
  return parseRecord(text, { seq, head });
}

/** Reads and verifies the rows from the last snapshot on, and that it follows the row before it. */
export function readTail(database: DatabaseSync, key: number, gauge: SnapshotGauge): RowsReading {
  const seq = findLastSnapshot(database, key);
  // Without the row before it, whatever is wrong with the log shows from the beginning.
  const place = seq === undefined ? undefined : findPlace(database, key, seq);
  return readRows(database, key, { gauge, ...(place && { place }) });
}

/** The place before the record `seq`: its link is the last row's. `undefined` when there is no such row. */
export function findPlace(database: DatabaseSync, key: number, seq: number): ChainPlace | undefined {
  if (seq === 0) return beginning;
  const row = database.prepare('SELECT text FROM holdfast_records WHERE session = ? AND seq = ?').get(key, seq - 1);
  return row && { seq, head: linkOf(String(row['text'])) };
}

/**
 * Backwards from the end, so at most over what is read next in any case, and without parsing. A snapshot's type is the first field
 * that is its own, and what comes before that is shorter than the part that is looked through; any other is read from further back.
 */
function findLastSnapshot(database: DatabaseSync, key: number): number | undefined {
  const rows = database
    .prepare(
      `SELECT CAST(seq AS TEXT) AS number, text FROM holdfast_records WHERE session = ? AND instr(substr(text, 1, 200), '"type":"snapshot"') > 0 ORDER BY seq DESC`,
    )
    .iterate(key);
  for (const { number, text } of rows) if (isSnapshot(String(text))) return Number(number);
  return undefined;
}

/** Other records may have such a field somewhere in theirs. */
function isSnapshot(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly type?: unknown }).type === 'snapshot';
  } catch {
    return false;
  }
}

/** `next`: how the row after it is numbered, when there is one. */
export function missingRow(seq: number, next?: string): SqliteLogProblem {
  const found = next === undefined ? 'it has no row' : `the next row is numbered ${next}`;
  return { code: 'log.sequence', seq, message: `Record ${seq} is missing: ${found}.` };
}

export function damagedLog({
  path,
  sessionId,
  problem: { code, seq, message },
}: {
  readonly path: string;
  readonly sessionId: string;
  readonly problem: SqliteLogProblem;
}): HoldfastError {
  return new HoldfastError(
    code,
    `The session \`${sessionId}\` in \`${path}\` is damaged: ${message} \`readSqliteLog\` gives the ${seq} records before that.`,
    { data: { path, sessionId, seq } },
  );
}
