import { describeThrown } from '@holdfast/core/internal';
import type { LogEntry, LogRecord } from './log.ts';

/** Those who are told of every record. What they throw breaks nothing, and is noted. */
export class RecordListeners {
  /** Those that are told. */
  readonly all: ReadonlySet<(record: LogRecord) => void>;
  readonly #listeners = new Set<(record: LogRecord) => void>();
  readonly #note: (failure: LogEntry) => void;

  constructor(note: (failure: LogEntry) => void) {
    this.#note = note;
    this.all = this.#listeners;
  }

  /** The answer removes it again: true once. */
  add(listener: (record: LogRecord) => void): () => boolean {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(record: LogRecord): void {
    for (const listener of this.#listeners) {
      try {
        // An async function is one, too, for the compiler.
        const answer: unknown = listener(record);
        if (typeof answer === 'object' && answer !== null) void this.#hearOut(record, answer);
      } catch (thrown) {
        this.#noteFailure(record, thrown);
      }
    }
  }

  /** Waits for what a listener does later: nobody else would hear of its failure, and it would end the process. */
  async #hearOut(record: LogRecord, answer: unknown): Promise<void> {
    try {
      await answer;
    } catch (thrown) {
      this.#noteFailure(record, thrown);
    }
  }

  #noteFailure({ type, seq }: LogRecord, thrown: unknown): void {
    // One that fails on the record of its failure would go on for ever.
    if (type === 'subscriber-error') return;
    this.#note({ type: 'subscriber-error', recordSeq: seq, message: describeThrown(thrown) });
  }
}
