import { describeThrown } from '@holdfast/core/internal';
import type { LogEntry, LogRecord } from './log.ts';

/** Listeners called for every record. Their errors are logged and break nothing. */
export class RecordListeners {
  readonly all: ReadonlySet<(record: LogRecord) => void>;
  readonly #listeners = new Set<(record: LogRecord) => void>();
  readonly #note: (failure: LogEntry) => void;

  constructor(note: (failure: LogEntry) => void) {
    this.#note = note;
    this.all = this.#listeners;
  }

  /** Returns a function that removes the listener: true once. */
  add(listener: (record: LogRecord) => void): () => boolean {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(record: LogRecord): void {
    for (const listener of this.#listeners) {
      try {
        // The type also admits async functions.
        const answer: unknown = listener(record);
        if (typeof answer !== 'object' || answer === null) continue;
        // A late failure would otherwise end the process.
        Promise.resolve(answer).catch((thrown: unknown) => this.#noteFailure(record, thrown));
      } catch (thrown) {
        this.#noteFailure(record, thrown);
      }
    }
  }

  #noteFailure({ type, seq }: LogRecord, thrown: unknown): void {
    // A listener that fails on its own failure record would loop forever.
    if (type === 'subscriber-error') return;
    this.#note({ type: 'subscriber-error', recordSeq: seq, message: describeThrown(thrown) });
  }
}
