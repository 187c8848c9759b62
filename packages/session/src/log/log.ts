import { HoldfastError, type Json } from '@holdfast/core';
import { freezeOpen } from '@holdfast/core/internal';

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

/** Where the logs of sessions are kept, as `openSession` takes it: a file, a database. */
export interface SessionLogs {
  /** Opens the log of the session `id`, or begins one: then there are no records. */
  open(id: string): OpenedLog | Promise<OpenedLog>;
}

/** A store that keeps records in memory for as long as it lives itself. `append` throws HoldfastError `log.sequence` to a second writer. */
export interface MemoryStore extends SessionStore {
  /** Made anew at every look. */
  readonly records: readonly LogRecord[];
  read(fromSeq?: number): Iterable<LogRecord>;
}

/** `records`: what it holds from the start, for a session that goes on after them. */
export function memoryStore(records: readonly LogRecord[] = []): MemoryStore {
  return new MemoryLog(records);
}

// A class, and no object with a getter of its own: V8 keeps the closure of such a getter, with all that it sees, in the shape of the
// object, which is old from the start, so that every log would outlive its session until the next major collection.
class MemoryLog implements MemoryStore {
  readonly lasting = false;
  readonly #before: readonly LogRecord[];
  readonly #start: number;
  readonly #entries: LogEntry[] = [];
  readonly #times: number[] = [];

  constructor(records: readonly LogRecord[]) {
    this.#before = records;
    this.#start = records.length === 0 ? 0 : (records[0]?.seq ?? 0) + records.length;
  }

  get records(): readonly LogRecord[] {
    return [...this.#read()];
  }

  // Fields, so that a store that is spread into another one keeps them.
  readonly read = (fromSeq?: number): Iterable<LogRecord> => this.#read(fromSeq);
  readonly append = (entry: LogEntry, seq: number, atMs: number): void => this.#append(entry, seq, atMs);
  readonly close = (): void => {
    // Nothing to let go of: the records stay readable.
  };

  *#read(fromSeq = 0): Generator<LogRecord> {
    for (const record of this.#before) if (record.seq >= fromSeq) yield freezeOpen(record);
    for (let index = Math.max(0, fromSeq - this.#start); index < this.#entries.length; index += 1) {
      const entry = this.#entries[index];
      if (entry !== undefined) yield toLogRecord(entry, this.#start + index, this.#times[index] ?? 0);
    }
  }

  #append(entry: LogEntry, seq: number, atMs: number): void {
    const next = this.#start + this.#entries.length;
    if (seq !== next) {
      throw new HoldfastError(
        'log.sequence',
        `The log goes on with record ${next}, not ${seq}; does a second session write to it?`,
        { data: { seq, expected: next } },
      );
    }
    this.#entries.push(entry);
    this.#times.push(atMs);
  }
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
