import type { Json } from '@holdfast/core';

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
}

/** A log that was there before and is gone on with: `replay(records, { slices, store })` has its session again. */
export interface OpenedLog {
  /** Whole and verified, in order. */
  readonly records: readonly LogRecord[];
  /** Appends after them. */
  readonly store: SessionStore;
}

/** A store that keeps records in memory for as long as it lives itself. */
export interface MemoryStore extends SessionStore {
  /** Made anew at every look. */
  readonly records: readonly LogRecord[];
}

/** `records`: what it holds from the start, for a session that goes on after them. */
export function memoryStore(records: readonly LogRecord[] = []): MemoryStore {
  const entries: LogEntry[] = [];
  const times: number[] = [];
  return {
    get records() {
      return [
        ...records,
        ...entries.map((entry, index) => toLogRecord(entry, records.length + index, times[index] ?? 0)),
      ];
    },
    append(entry, _seq, atMs) {
      entries.push(entry);
      times.push(atMs);
    },
    close() {
      // Nothing to let go of: the records stay readable.
    },
  };
}

export function toLogRecord(entry: LogEntry, seq: number, atMs: number): LogRecord {
  return { seq, atMs, ...entry };
}
