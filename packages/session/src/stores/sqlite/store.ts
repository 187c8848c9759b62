import type { DatabaseSync } from 'node:sqlite';
import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { LogFiles } from '../../disk/files.ts';
import { type ChainPlace, linkOf } from '../../log/chain.ts';
import type { LogEntry, LogRecord, SessionStore } from '../../log/log.ts';
import { Gauged, type SnapshotGauge, type SnapshotOptions } from '../../log/snapshot-gauge.ts';
import { maxLineBytes } from '../jsonl/lines.ts';
import { tooLong } from '../jsonl/store.ts';
import { DiskSync } from '../jsonl/sync.ts';
import { inTransaction, isSqliteError, unreadable } from './database.ts';
import { damagedLog, findPlace, missingRow, readRows } from './rows.ts';
import { lockedSession } from './writer.ts';

/** A store that inserts one row per record. */
export interface SqliteLog extends SessionStore {
  readonly path: string;
  readonly sessionId: string;
  /** Reads in batches. @throws HoldfastError `session.closed`; `log.damaged`, `log.unreadable`. */
  read(fromSeq?: number): Iterable<LogRecord>;
  readonly snapshotDue: boolean;
}

export interface SqliteLogOptions extends SnapshotOptions {
  /** Name of the log in its database. Well-formed Unicode, usually the session's id. */
  readonly sessionId: string;
  /**
   * `process`: a record survives the end of the process as soon as `append` returns. `disk`: the store also has `sync`, which resolves when
   * everything appended so far survives a power failure, as far as the disk is honest; concurrent callers share one sync. It syncs
   * (`fdatasync`) the database's write-ahead log, which SQLite itself does only before copying it into the database. Default: `process`.
   */
  readonly sync?: 'process' | 'disk';
}

/** A database opened for one of its sessions. */
export interface OpenDatabase {
  readonly database: DatabaseSync;
  readonly path: string;
  readonly options: SqliteLogOptions;
  readonly files: LogFiles;
  /** Descriptor of the write-ahead log, if it is synced. */
  readonly syncing?: number;
}

/** A session that only this process may append to. */
export interface HeldSession extends OpenDatabase {
  readonly key: number;
  readonly writer: string;
  /** Position after its last record. */
  readonly place: ChainPlace;
  readonly gauge: SnapshotGauge;
}

export function appendRows(held: HeldSession): SqliteLog {
  const { database, path, key, writer, gauge, files, syncing } = held;
  const { sessionId } = held.options;
  const insert = database.prepare('INSERT INTO holdfast_records (session, seq, text) VALUES (?, ?, ?)');
  // No effect once another process has taken the session over.
  const note = database.prepare('UPDATE holdfast_sessions SET records = ?, head = ? WHERE key = ? AND writer = ?');
  const disk = syncing === undefined ? undefined : new DiskSync(files, syncing);
  let { place } = held;
  const checkOpen = (): void => {
    if (!database.isOpen) throw new HoldfastError('session.closed', `The log of \`${sessionId}\` is closed.`);
  };

  function* read(fromSeq = 0): Generator<LogRecord> {
    let from: ChainPlace | undefined;
    for (let next = Math.max(0, fromSeq); next < place.seq; next = from.seq) {
      checkOpen();
      from ??= reading(path, () => findPlace(database, key, next));
      if (from === undefined) throw damagedLog({ path, sessionId, problem: missingRow(next - 1) });
      const batch = { place: from, maxBytes: batchBytes };
      // The statement ends before records are yielded: the consumer may append, close, or never resume.
      const { records, place: end, problem } = reading(path, () => readRows(database, key, batch));
      yield* records;
      if (problem !== undefined) throw damagedLog({ path, sessionId, problem });
      // The records that this store has appended exist.
      if (records.length === 0) throw damagedLog({ path, sessionId, problem: missingRow(next) });
      from = end;
    }
  }

  return Object.assign(new Gauged(() => database.isOpen && gauge.due), {
    path,
    sessionId,
    read,
    append(entry: LogEntry, seq: number, atMs: number) {
      checkOpen();
      if (disk?.failure !== undefined) throw broken(sessionId, disk.failure);
      if (seq !== place.seq) throw misplaced(held, seq, place.seq);
      const text = JSON.stringify({ seq, prev: place.head, atMs, ...entry });
      const bytes = Buffer.byteLength(text);
      // The limit of JSON-lines logs, so that logs can be moved between the two.
      if (bytes > maxLineBytes) throw tooLong(seq, bytes, { path, sessionId });
      // In case of success or failure the next snapshot is some way off.
      if (entry.type === 'snapshot') gauge.postpone();
      const next: ChainPlace = { seq: seq + 1, head: linkOf(text) };
      const mine = writing(path, () =>
        inTransaction(database, () => {
          if (Number(note.run(next.seq, next.head, key, writer).changes) === 0) return false;
          insert.run(key, seq, text);
          return true;
        }),
      );
      if (!mine) throw lockedSession(path, sessionId);
      disk?.touch();
      gauge.note(entry.type, bytes);
      place = next;
    },
    ...(disk && {
      sync: async () => {
        checkOpen();
        await disk.request();
      },
    }),
    close() {
      if (!database.isOpen) return;
      try {
        writing(path, () =>
          database.prepare('UPDATE holdfast_sessions SET writer = NULL WHERE key = ? AND writer = ?').run(key, writer),
        );
        if (disk?.failure === undefined) disk?.now();
      } finally {
        database.close();
        if (syncing !== undefined) disk?.close(syncing);
      }
    },
  });
}

// Bytes of text read per batch.
const batchBytes = 256 * 1024;

function reading<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw isSqliteError(cause) ? unreadable(path, cause) : cause;
  }
}

function writing<Result>(path: string, write: () => Result): Result {
  try {
    return write();
  } catch (cause) {
    throw new HoldfastError(
      'log.write_failed',
      `The session database \`${path}\` could not be written; is the disk full? (${describeThrown(cause)}) Nothing was done, because it could not be recorded.`,
      { cause },
    );
  }
}

function misplaced({ path, options: { sessionId } }: OpenDatabase, seq: number, expected: number): HoldfastError {
  return new HoldfastError(
    'log.write_failed',
    `Expected record ${expected} of \`${sessionId}\` next, got ${seq}; does a second session write to the log?`,
    { data: { reason: 'sequence', path, sessionId, seq: expected } },
  );
}

function broken(sessionId: string, cause: HoldfastError): HoldfastError {
  return new HoldfastError(
    'log.broken',
    `An earlier sync of the log of \`${sessionId}\` failed; close it, check the disk, and open it again.`,
    { cause },
  );
}
