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

/** Keeps a session's log. `append` returns when the record would survive the end of the process, as far as the store promises that. */
export interface SessionStore {
  append(record: LogRecord): void;
  close(): void;
}

/** A store that keeps records in memory for as long as it lives itself. */
export interface MemoryStore extends SessionStore {
  readonly records: readonly LogRecord[];
}

export function memoryStore(): MemoryStore {
  const records: LogRecord[] = [];
  return {
    records,
    append(record) {
      records.push(record);
    },
    close() {
      // Nothing to let go of: the records stay readable.
    },
  };
}
