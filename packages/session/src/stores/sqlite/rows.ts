import type { DatabaseSync } from 'node:sqlite';
import { HoldfastError } from '@holdfast/core';
import { beginning, type ChainPlace, type ChainProblem, linkOf, parseRecord } from '../../log/chain.ts';
import type { LogRecord } from '../../log/log.ts';
import type { SnapshotGauge } from '../../log/snapshot-gauge.ts';

/** The row of a session. */
export interface SessionRow {
  readonly key: number;
  readonly writer: string | null;
  /** Position after its last record. */
  readonly end: ChainPlace;
}

/** The row of a session, if there is one. */
export function findSession(database: DatabaseSync, sessionId: string): SessionRow | undefined {
  // The index gives the key, the table the rest. Integers as text: a damaged one may exceed JavaScript's range.
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

/** The row of a session. @throws HoldfastError `log.missing`; `log.unreadable` if the table is damaged. */
export function getSession(database: DatabaseSync, path: string, sessionId: string): SessionRow {
  const session = findSession(database, sessionId);
  if (session !== undefined) return session;
  const data = { path, sessionId };
  const finding = String(database.prepare('PRAGMA integrity_check(holdfast_sessions)').get()?.['integrity_check']);
  if (finding === 'ok') {
    throw new HoldfastError('log.missing', `There is no session \`${sessionId}\` in \`${path}\`.`, { data });
  }
  const message = `The session database \`${path}\` is damaged: ${finding}. It may contain the session \`${sessionId}\`; restore a copy of the file.`;
  throw new HoldfastError('log.unreadable', message, { data });
}

/** The verified part of a session's rows. */
export interface RowsReading {
  /** In order, up to the first problem. */
  readonly records: readonly LogRecord[];
  /** After the last of the records. */
  readonly place: ChainPlace;
  readonly problem?: SqliteLogProblem;
}

export interface SqliteLogProblem extends ChainProblem {
  /** Number of the expected record. */
  readonly seq: number;
}

export interface ReadRowsOptions {
  /** Start position. Default: the first record. */
  readonly place?: ChainPlace;
  /** Stops after the record that reaches this many bytes. Default: reads all. */
  readonly maxBytes?: number;
  /** Notified of every record. */
  readonly gauge?: SnapshotGauge;
}

/** Reads and verifies the rows from a position on. */
export function readRows(
  database: DatabaseSync,
  key: number,
  { place = beginning, maxBytes = Number.POSITIVE_INFINITY, gauge }: ReadRowsOptions = {},
): RowsReading {
  const records: LogRecord[] = [];
  let { seq, head } = place;
  let bytes = 0;
  // From the beginning also negative numbers, which our stores never write.
  const rows = database
    // As text, because an edited number may not be a JavaScript number.
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

/** Compares the end of a log with its session's row: if they differ, one is damaged. */
export function compareEnd(reading: RowsReading, { seq, head }: ChainPlace): RowsReading {
  const { place, problem } = reading;
  if (problem !== undefined || (place.seq === seq && place.head === head)) return reading;
  const found: SqliteLogProblem =
    place.seq === seq
      ? { code: 'log.damaged', reason: 'chain', seq, message: 'The last record was changed after it was written.' }
      : {
          code: 'log.damaged',
          reason: 'sequence',
          seq: place.seq,
          message: `It has ${place.seq} records and should have ${seq}.`,
        };
  return { ...reading, problem: found };
}

// SQLite returns invalid UTF-8 as U+FFFD: the bytes of such a row may differ from its text.
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
      return { code: 'log.damaged', reason: 'record', message: `Record ${seq} is not valid UTF-8 text.` };
    }
  }
  return parseRecord(text, { seq, head });
}

/** Reads and verifies the rows from the last snapshot on, and its link to the previous row. */
export function readTail(database: DatabaseSync, key: number, gauge: SnapshotGauge): RowsReading {
  const seq = findLastSnapshot(database, key);
  // If the previous row is missing, reading from the beginning reports the problem.
  const place = seq === undefined ? undefined : findPlace(database, key, seq);
  return readRows(database, key, { gauge, ...(place && { place }) });
}

/** The position before record `seq`, linked to the previous row. `undefined` if that row is missing. */
export function findPlace(database: DatabaseSync, key: number, seq: number): ChainPlace | undefined {
  if (seq === 0) return beginning;
  const row = database.prepare('SELECT text FROM holdfast_records WHERE session = ? AND seq = ?').get(key, seq - 1);
  return row && { seq, head: linkOf(String(row['text'])) };
}

/**
 * Searches backwards, only over rows that are read next anyway, and parses only those that may be a snapshot. A snapshot's type is its
 * first own field and lies within the searched part; a snapshot in another format is skipped, and reading starts further back.
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

/** Other records may contain the same text. */
function isSnapshot(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly type?: unknown }).type === 'snapshot';
  } catch {
    return false;
  }
}

/** `next`: number of the following row, if there is one. */
export function missingRow(seq: number, next?: string): SqliteLogProblem {
  const found = next === undefined ? 'it has no row' : `the next row is numbered ${next}`;
  return { code: 'log.damaged', reason: 'sequence', seq, message: `Record ${seq} is missing: ${found}.` };
}

export function damagedLog({
  path,
  sessionId,
  problem: { code, reason, seq, message },
}: {
  readonly path: string;
  readonly sessionId: string;
  readonly problem: SqliteLogProblem;
}): HoldfastError {
  return new HoldfastError(
    code,
    `The session \`${sessionId}\` in \`${path}\` is damaged: ${message} \`readSqliteLog\` returns the ${seq} records before that.`,
    { data: { reason, path, sessionId, seq } },
  );
}
