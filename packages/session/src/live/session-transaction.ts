import type { Json, Operation, Redactor, SessionEvent, Slice, ToolSession } from '@holdfast/core';
import type { LogEntry } from '../log/log.ts';
import type { SliceTable } from '../state/table.ts';

/** What transactions need of their session. */
export interface TransactionRoot {
  readonly table: SliceTable;
  /** Keeps secrets out of what is staged: state is what the log says. */
  readonly redactor: Redactor | undefined;
  publish(event: SessionEvent): void;
  /** Answers with what the log has of it. The entry has been masked. */
  append(entry: LogEntry): LogEntry;
  /** Tells subscribers of what was appended. */
  notify(entry: LogEntry): void;
}

/**
 * The staged changes of one call. Reads see them at once; the session sees them after `commit`, which writes one record, or never.
 * Several may be open at a time: what one commits after another is re-applied on what the other left.
 * After the end, also of a transaction that this one is nested in, every method but `discard` throws HoldfastError `context.closed`.
 */
export interface SessionTransaction extends ToolSession {
  /** The events staged so far, in order. */
  readonly events: readonly SessionEvent[];
  /** The operations applied so far without an event, in order, as JSON. */
  readonly changes: readonly Json[];
  /** @throws HoldfastError `event.invalid` (not JSON), `event.unhandled`, or what a reducer throws. */
  dispatch(event: SessionEvent): void;
  /**
   * Writes a record of its own at once, seen by everybody whatever becomes of the transaction.
   * @throws as `dispatch`, and `event.retention` for an event that a `state` slice listens to.
   */
  publish(event: SessionEvent): void;
  /**
   * Changes a slice without an event: how policies' states move. The commit record holds the operations.
   * @throws HoldfastError `slice.operation.invalid` also for a slice that has reducers: that one changes by events.
   */
  apply(slice: Slice, operations: readonly Operation[]): void;
  /**
   * Makes changes that a transaction of this session has had in its `changes`, maybe before the process was another.
   * @throws HoldfastError `change.invalid` for what is none, or of a slice that does not change this way.
   */
  reapply(changes: readonly Json[]): void;
  /**
   * Opens a transaction nested in this one: it reads what is staged here, and its commit writes a record at once but changes
   * this transaction only, whose own record then has to hold the nested events and changes, too.
   */
  begin(): SessionTransaction;
  /**
   * Writes `entry` as the one record of the call and lets the changes be seen. The entry has the type `tool-call-end`, `feedback` or `event`
   * and holds `events` and `changes`: they are what a log is replayed from. The record of a nested transaction gets `nested: true`.
   * @throws HoldfastError `commit.entry_invalid`, or what a reducer throws when it is run again on what somebody else has committed
   * in the meantime, or the store; then nothing has changed and the transaction is still open.
   */
  commit(entry: LogEntry): void;
  /** Drops what is staged. Does nothing after the end. */
  discard(): void;
}
