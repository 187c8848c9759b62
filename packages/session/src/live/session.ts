import type { Clock, Redactor, SessionEvent, SessionReader, Slice, Vault } from '@holdfast/core';
import type { LogEntry, LogRecord, SessionStore } from '../log/log.ts';
import type { CallPlace, OpenCall } from '../log/open-call.ts';
import type { OpenWork } from '../log/open-work.ts';
import type { SliceState } from '../state/slice.ts';
import type { SessionExport } from './export.ts';
import type { SessionTransaction } from './session-transaction.ts';

export interface SessionOptions {
  /** Default: the time and random digits. */
  readonly id?: string;
  /**
   * Part of the idempotency key of every call, kept in the log: sessions with the same id have different keys, and a reopened session
   * keeps its own. At most 64 letters and digits; `''` for none. Default: 64 random bits.
   */
  readonly nonce?: string | undefined;
  /** Slices whose reducers listen from the start; others join when they are first read. */
  readonly slices?: readonly Slice[];
  /** Default: `memoryStore()`. */
  readonly store?: SessionStore;
  readonly clock?: Clock;
  /** Masks secrets in events before reducers see them, and in records before they are written. Forks inherit it. */
  readonly redactor?: Redactor | undefined;
  /**
   * With a redactor: keeps the arguments of pending and running calls until they end, so that another process can resume them.
   * For this session only. Without a vault the arguments are lost with the process.
   */
  readonly vault?: Vault | undefined;
  /**
   * `none` keeps arguments, values, texts and state out of the log, which then records who did what, when, and how it ended, but
   * cannot be replayed. Default `full`.
   */
  readonly content?: 'full' | 'none' | undefined;
}

/** The state of every slice at one moment. Taking and restoring one costs the same at any size of state. */
export interface SessionSnapshot {
  readonly sessionId: string;
  /** Number of log records at that moment. */
  readonly seq: number;
  readonly states: ReadonlyMap<string, SliceState>;
}

/** An append-only log and the typed state computed from its events. */
export interface Session extends SessionReader {
  readonly id: string;
  /** `''` if the log has none. */
  readonly nonce: string;
  readonly redactor: Redactor | undefined;
  readonly vault: Vault | undefined;
  /** `full` if the log has arguments, values, texts and state. */
  readonly content: 'full' | 'none';
  /**
   * Makes the slice's reducers listen; the log declares the slice before its next record.
   * @throws HoldfastError `slice.invalid` if its id has another definition, or for a bad value.
   */
  register(slice: Slice): void;
  /** Records an event and applies it. For changes outside of a tool call. @throws HoldfastError `event.invalid`, or what a reducer throws. */
  dispatch(event: SessionEvent): void;
  /** Records an entry that changes no state. @throws HoldfastError `session.invalid` for an entry that replay would apply. */
  record(entry: LogEntry): void;
  /** Opens a transaction for the changes of one call. */
  begin(): SessionTransaction;
  /** True if the log outlives the process. */
  readonly lasting: boolean;
  /** Work that has not ended, according to the log: pending, running and interrupted runs and calls. */
  openWork(): OpenWork;
  /** One open call; costs the same however many are open. */
  openCall(place: CallPlace): OpenCall | undefined;
  /**
   * The stored records from number `fromSeq` (default 0) on.
   * @throws HoldfastError `log.unreadable` if the store cannot be read.
   */
  records(fromSeq?: number): Iterable<LogRecord>;
  /** Resolves when all records so far survive a power failure; `undefined` if the store does not promise that. */
  sync(): Promise<void> | undefined;
  /** Aborts when this process may no longer write the session, because another one may continue it; running calls then end. */
  readonly lost?: AbortSignal | undefined;
  /** The name of this machine, if its store is shared with others. */
  readonly host?: string | undefined;
  snapshot(): SessionSnapshot;
  /**
   * Restores `state` slices, except grants withdrawn since; `log` slices keep their items.
   * @throws HoldfastError `session.invalid`, `slice.invalid`.
   */
  restore(snapshot: SessionSnapshot): void;
  /** Returns `state` slices to their initial values; `log` slices keep their items. */
  reset(): void;
  /** A new session with the same slices and states, at a constant cost. Later changes stay separate. */
  fork(options?: Omit<SessionOptions, 'slices'>): Session;
  /** The complete state as JSON, for `import`. */
  export(): SessionExport;
  /**
   * Replaces the state of every slice with an export, validated by the slices' schemas. Slices missing from it are reset; grants stay
   * those of this session. `data` may be untrusted: all of it is checked before anything changes.
   *
   * @throws HoldfastError `session.invalid`, `slice.invalid` (its reducers are missing).
   */
  import(data: unknown): void;
  /** Calls `listener` after every record; its errors are recorded and break nothing. Returns a function that unsubscribes: true once. */
  subscribe(listener: (record: LogRecord) => void): () => boolean;
  /**
   * Calls `listener` once before the store closes, the last added first. Its errors are recorded and do not stop the others. It may
   * still write, but must not await `close` itself. @throws HoldfastError `session.closed`.
   */
  onClose(listener: () => void | Promise<void>): void;
  /**
   * Closes the store, synchronously if there are no close listeners. Later writes throw HoldfastError `session.closed`; state can
   * still be read. Rejects with the store's error.
   */
  close(): Promise<void>;
}
