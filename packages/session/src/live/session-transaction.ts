import type { Json, Operation, Redactor, SessionEvent, Slice } from '@holdfast/core';
import type { ToolSession } from '@holdfast/core/types';
import type { LogEntry } from '../log/log.ts';
import type { SliceTable } from '../state/table.ts';

/** The part of the session that transactions use. */
export interface TransactionRoot {
  readonly table: SliceTable;
  /** Masks staged secrets: the state must match the log. */
  readonly redactor: Redactor | undefined;
  publish(event: SessionEvent): void;
  /** Returns the entry as logged. The input is already masked. */
  append(entry: LogEntry): LogEntry;
  /** Notifies subscribers of an appended entry. */
  notify(entry: LogEntry): void;
}

/**
 * The staged changes of one call. Reads see them at once; the session sees them after `commit`, which writes one record.
 * Several may be open: a later commit is re-applied to the state that the earlier one left.
 * After its end, or the end of a surrounding transaction, every method but `discard` throws HoldfastError `context.closed`.
 */
export interface SessionTransaction extends ToolSession {
  /** The events staged so far, in order. */
  readonly events: readonly SessionEvent[];
  /** The operations applied without an event so far, in order, as JSON. */
  readonly changes: readonly Json[];
  /** @throws HoldfastError `event.invalid`, or what a reducer throws. */
  dispatch(event: SessionEvent): void;
  /**
   * Writes a record of its own at once, visible to everyone regardless of this transaction's outcome.
   * @throws as `dispatch`, and `event.invalid` for an event that a `state` slice listens to.
   */
  publish(event: SessionEvent): void;
  /**
   * Changes a slice without an event, as policies' states do. The commit record holds the operations.
   * @throws HoldfastError `slice.invalid` also for a slice with reducers, which changes by events.
   */
  apply(slice: Slice, operations: readonly Operation[]): void;
  /**
   * Repeats entries of `changes` from an earlier transaction of this session, maybe in another process.
   * @throws HoldfastError `session.invalid` for an invalid change, or one that its slice does not support.
   */
  reapply(changes: readonly Json[]): void;
  /**
   * Opens a nested transaction. It reads the changes staged here; its commit writes a record at once but changes only this
   * transaction, whose own record must repeat the nested events and changes.
   */
  begin(): SessionTransaction;
  /**
   * Writes `entry` as the one record of the call and makes the changes visible. The entry has the type `tool-call-end`, `feedback` or
   * `event` and holds `events` and `changes`, from which a log is replayed. The record of a nested transaction gets `nested: true`.
   * @throws HoldfastError `session.invalid`; the error of a reducer that runs again on changes committed meanwhile; the error of
   * the store. Nothing has changed then, and the transaction is still open.
   */
  commit(entry: LogEntry): void;
  /** Drops the staged changes. Does nothing after the end. */
  discard(): void;
}
