import { HoldfastError, type Json } from '@holdfast/core';
import { freezeOpen } from '@holdfast/core/internal';

/** The content of a record: a type and JSON fields. */
export interface LogEntry {
  readonly type: string;
  readonly [field: string]: Json;
}

/** One record of a session's log. */
export type LogRecord = LogEntry & {
  /** Starts at 0, without gaps. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
};

/**
 * Stores a session's log. `append` returns when the record survives the end of the process, as far as the store promises
 * that; `seq` counts from 0, `atMs` is its time. The entry is never changed afterwards.
 */
export interface SessionStore {
  append(entry: LogEntry, seq: number, atMs: number): void;
  close(): void;
  /** False if its content is lost with the process. Default true. */
  readonly lasting?: boolean;
  /** The records from `fromSeq` (default 0) on, including those before the snapshot it was opened at. */
  read?(fromSeq?: number): Iterable<LogRecord>;
  /** Resolves when everything appended so far survives a power failure. Absent: `append` promises no more than it does. */
  sync?(): Promise<void>;
  /** True if the session should write a snapshot next, which would shorten reading the log. */
  readonly snapshotDue?: boolean;
  /** Aborts when the store may append nothing more, because another machine may take the log over. Absent: that cannot happen. */
  readonly lost?: AbortSignal;
  /**
   * Of a store that machines share: the name of this one. The log then notes which staged changes only this machine has, until they are
   * applied.
   */
  readonly host?: string | undefined;
  /** Resolves when what `close` began has ended; rejects if records are missing. Absent: `close` itself does that. */
  closed?(): Promise<void>;
}

/** A resumable log: `replay(records, { slices, store })` rebuilds its session. */
export interface OpenedLog {
  /** Complete and verified, in order. */
  readonly records: readonly LogRecord[];
  /** Appends after the records. */
  readonly store: SessionStore;
}

/** A place for logs of sessions, such as a file or a database, for `openSession`. */
export interface SessionLogs {
  /** Opens the log of the session `id`, or starts one without records. */
  open(id: string): OpenedLog | Promise<OpenedLog>;
}

/** A store that keeps records in memory. `append` throws HoldfastError `log.write_failed` to a second writer. */
export interface MemoryStore extends SessionStore {
  /** A new array on every access. */
  readonly records: readonly LogRecord[];
  read(fromSeq?: number): Iterable<LogRecord>;
}

/** `records`: the initial content, for a session that continues after them. */
export function memoryStore(records: readonly LogRecord[] = []): MemoryStore {
  return new MemoryLog(records);
}

// A class, not an object literal with a getter: V8 keeps that getter's closure in the shape of the object, so that every log would
// outlive its session until the next major collection.
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

  // Fields, so that spreading the store into another one keeps them.
  readonly read = (fromSeq?: number): Iterable<LogRecord> => this.#read(fromSeq);
  readonly append = (entry: LogEntry, seq: number, atMs: number): void => this.#append(entry, seq, atMs);
  readonly close = (): void => {
    // Nothing to release: the records stay readable.
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
        'log.write_failed',
        `Expected record ${next} next, got ${seq}; does a second session write to the log?`,
        { data: { reason: 'sequence', seq, expected: next } },
      );
    }
    this.#entries.push(entry);
    this.#times.push(atMs);
  }
}

export function toLogRecord(entry: LogEntry, seq: number, atMs: number): LogRecord {
  return freezeOpen({ seq, atMs, ...entry });
}

/** @throws HoldfastError `log.unreadable`. */
export function readStore(store: SessionStore, sessionId: string, fromSeq: number | undefined): Iterable<LogRecord> {
  if (store.read !== undefined) return store.read(fromSeq);
  throw new HoldfastError(
    'log.unreadable',
    `The store of the session \`${sessionId}\` cannot be read; resuming earlier work needs a store with \`read\`.`,
    { data: { reason: 'unsupported' } },
  );
}

/** Closes the store of a session that could not start. */
export function abandonStore(store: SessionStore): void {
  try {
    store.close();
  } catch {
    // The error that prevented the start is more important.
  }
}

/** The same, and waits until another can open it. */
export async function leaveStore(store: SessionStore): Promise<void> {
  abandonStore(store);
  try {
    await store.closed?.();
  } catch {
    // The error that prevented the start is more important.
  }
}
