import { freezeOpen, HoldfastError, type Json } from '@holdfast/core';

/** What is recorded: a type and its fields, JSON throughout. */
export interface LogEntry {
  readonly type: string;
  readonly [field: string]: Json;
}

/** One record of a session's log. */
export type LogRecord = LogEntry & {
  /** Counts from 0 without a gap. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
};

/**
 * Keeps a session's log. `append` returns when the record would survive the end of the process, as far as the store promises
 * that; `seq` counts from 0, `atMs` is its time. The entry is never changed afterwards.
 */
export interface SessionStore {
  append(entry: LogEntry, seq: number, atMs: number): void;
  close(): void;
  /** False: what it holds ends with the process. Default true. */
  readonly lasting?: boolean;
  /** What it holds, in order, from the record `fromSeq` (default 0) on; also what is before the snapshot that it was opened at. */
  read?(fromSeq?: number): Iterable<LogRecord>;
  /** Resolves when everything appended so far survives a loss of power. Absent: `append` promises no more than it does. */
  sync?(): Promise<void>;
  /** Reading the log would be shorter with a snapshot: the session should write one next. */
  readonly snapshotDue?: boolean;
}

/** A log that was there before and is gone on with: `replay(records, { slices, store })` has its session again. */
export interface OpenedLog {
  /** Whole and verified, in order. */
  readonly records: readonly LogRecord[];
  /** Appends after them. */
  readonly store: SessionStore;
}

/** A store that keeps records in memory for as long as it lives itself. `append` throws HoldfastError `log.sequence` to a second writer. */
export interface MemoryStore extends SessionStore {
  /** Made anew at every look. */
  readonly records: readonly LogRecord[];
  read(fromSeq?: number): Iterable<LogRecord>;
}

/** `records`: what it holds from the start, for a session that goes on after them. */
export function memoryStore(records: readonly LogRecord[] = []): MemoryStore {
  const entries: LogEntry[] = [];
  const times: number[] = [];
  const start = records.length === 0 ? 0 : (records[0]?.seq ?? 0) + records.length;
  function* read(fromSeq = 0): Generator<LogRecord> {
    for (const record of records) if (record.seq >= fromSeq) yield freezeOpen(record);
    for (let index = Math.max(0, fromSeq - start); index < entries.length; index += 1) {
      const entry = entries[index];
      if (entry !== undefined) yield toLogRecord(entry, start + index, times[index] ?? 0);
    }
  }
  return {
    lasting: false,
    get records() {
      return [...read()];
    },
    read,
    append(entry, seq, atMs) {
      const next = start + entries.length;
      if (seq !== next) {
        throw new HoldfastError(
          'log.sequence',
          `The log goes on with record ${next}, not ${seq}; does a second session write to it?`,
          { data: { seq, expected: next } },
        );
      }
      entries.push(entry);
      times.push(atMs);
    },
    close() {
      // Nothing to let go of: the records stay readable.
    },
  };
}

export function toLogRecord(entry: LogEntry, seq: number, atMs: number): LogRecord {
  return freezeOpen({ seq, atMs, ...entry });
}

/** @throws HoldfastError `log.not_readable`. */
export function readStore(store: SessionStore, sessionId: string, fromSeq: number | undefined): Iterable<LogRecord> {
  if (store.read !== undefined) return store.read(fromSeq);
  throw new HoldfastError(
    'log.not_readable',
    `The store of the session \`${sessionId}\` cannot be read; what goes on with earlier work needs one with \`read\`.`,
  );
}

/** Closes the store of a session that could not begin. */
export function abandonStore(store: SessionStore): void {
  try {
    store.close();
  } catch {
    // What kept the session from beginning is what its owner has to know.
  }
}
