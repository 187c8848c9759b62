import type { Clock, Redactor, SessionEvent, SessionReader, Slice, Vault } from '@holdfast/core';
import type { LogEntry, LogRecord, SessionStore } from '../log/log.ts';
import type { CallPlace, OpenCall } from '../log/open-call.ts';
import type { OpenWork } from '../log/open-work.ts';
import type { SliceState } from '../state/slice.ts';
import type { SessionExport } from './export.ts';
import type { SessionTransaction } from './session-transaction.ts';

export interface SessionOptions {
  /** Default: made from the time and random digits. */
  readonly id?: string;
  /**
   * A part of the idempotency key of every call, kept in the log: two sessions of one id have different keys, a reopened one keeps its
   * own. At most 64 letters and digits; `''` for none. Default: 64 random bits.
   */
  readonly nonce?: string | undefined;
  /** Slices whose reducers listen from the start; others join when they are first read. */
  readonly slices?: readonly Slice[];
  /** Default: `memoryStore()`. */
  readonly store?: SessionStore;
  readonly clock?: Clock;
  /** Masks secrets in events before reducers see them, and in every record before it is written. Forks have the same. */
  readonly redactor?: Redactor | undefined;
  /**
   * With a redactor: keeps the arguments of calls that wait or were begun until they have ended, so that another process can go on with
   * them. For this session alone. Without one they are gone with the process.
   */
  readonly vault?: Vault | undefined;
  /**
   * `none` keeps arguments, values, texts and state out of the log, which then tells who did what when and how it ended, and cannot
   * be replayed. Default `full`.
   */
  readonly content?: 'full' | 'none' | undefined;
}

/** The state of every slice at one moment. Taking one and going back to one costs the same at any size of state. */
export interface SessionSnapshot {
  readonly sessionId: string;
  /** Records of the log at that moment. */
  readonly seq: number;
  readonly states: ReadonlyMap<string, SliceState>;
}

/** An append-only log and the typed state computed from its events. */
export interface Session extends SessionReader {
  readonly id: string;
  /** `''` where the log has none. */
  readonly nonce: string;
  readonly redactor: Redactor | undefined;
  readonly vault: Vault | undefined;
  /** Whether its log has arguments, values, texts and state. */
  readonly content: 'full' | 'none';
  /**
   * Makes the slice's reducers listen; the log says so before its next record.
   * @throws HoldfastError `slice.conflict` when its id has another definition, `slice.value.invalid`.
   */
  register(slice: Slice): void;
  /** Records an event and applies it. For changes outside of a tool call. @throws HoldfastError `event.unhandled`, or what a reducer throws. */
  dispatch(event: SessionEvent): void;
  /** Records something that changes no state. @throws HoldfastError `record.reserved` for what replay would take for a change. */
  record(entry: LogEntry): void;
  /** Opens the staged changes of one call. */
  begin(): SessionTransaction;
  /** Whether the log outlives the process. */
  readonly lasting: boolean;
  /** What has not ended, by the records alone: runs and calls that wait, are under way, or whose process ended under them. */
  openWork(): OpenWork;
  /** One call of it; at the same cost however many there are. */
  openCall(place: CallPlace): OpenCall | undefined;
  /**
   * The records from the number `fromSeq` (default 0) on, as the store holds them.
   * @throws HoldfastError `log.not_readable` when the store cannot be read.
   */
  records(fromSeq?: number): Iterable<LogRecord>;
  /** Resolves when all that was recorded survives a loss of power; `undefined` when the store does not promise that. */
  sync(): Promise<void> | undefined;
  snapshot(): SessionSnapshot;
  /** Puts `state` slices back, but for grants that were withdrawn since; `log` slices keep what happened. @throws HoldfastError `snapshot.foreign`, `slice.unknown`. */
  restore(snapshot: SessionSnapshot): void;
  /** Puts `state` slices back to their initial values; `log` slices keep what happened. */
  reset(): void;
  /** A new session with the same slices and states, at the same cost whatever they hold. Neither sees what the other does next. */
  fork(options?: Omit<SessionOptions, 'slices'>): Session;
  /** Everything that `import` needs to bring the state back: JSON, without a line of code. */
  export(): SessionExport;
  /**
   * Replaces the state of every slice by what `export` gave, through the slices' schemas; a slice that is not in it goes back to
   * its initial value, and grants stay those of this session. `data` may come from anywhere: all of it is checked before anything changes.
   *
   * @throws HoldfastError `import.invalid`, `slice.unknown` (it needs reducers that are not here), `slice.conflict`, `slice.value.invalid`.
   */
  import(data: unknown): void;
  /** Calls `listener` after every record; what it throws is recorded and breaks nothing. The answer stops it: true once. */
  subscribe(listener: (record: LogRecord) => void): () => boolean;
  /**
   * Calls `listener` once before the store closes, those added last first. What it throws is recorded and stops no other; it may
   * still write, and must not wait for `close` itself. @throws HoldfastError `session.closed`.
   */
  onClose(listener: () => void | Promise<void>): void;
  /**
   * Closes the store, at once when nobody listens for it. Later writes throw HoldfastError `session.closed`; state can still be read.
   * Rejects with what the store throws.
   */
  close(): Promise<void>;
}
