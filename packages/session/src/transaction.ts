import {
  copyJson,
  HoldfastError,
  isOperation,
  type Json,
  type Operation,
  type SessionEvent,
  type Slice,
  type ToolSession,
} from '@holdfast/core';
import type { LogEntry } from './log.ts';
import { applyOperation, type SliceState } from './slice-state.ts';

/** What a transaction needs of its session. */
export interface TransactionHost {
  read<State>(slice: Slice<State>): State;
  listeningTo(type: string): readonly Slice[];
  commitStates(entry: LogEntry, states: ReadonlyMap<Slice, SliceState>): void;
}

/**
 * The staged changes of one call. Reads see them at once; the session sees them after `commit`, which writes one record, or never.
 * After the end every method but `discard` throws HoldfastError `context.closed`.
 */
export interface SessionTransaction extends ToolSession {
  /** The events staged so far, in order. */
  readonly events: readonly SessionEvent[];
  /** The operations applied so far without an event, in order, as JSON. */
  readonly changes: readonly Json[];
  /** @throws HoldfastError `event.invalid` (not JSON), `event.unhandled`, or what a reducer throws. */
  dispatch(event: SessionEvent): void;
  /** Writes a record of its own at once. @throws as `dispatch`, and `event.retention` for an event that a `state` slice listens to. */
  publish(event: SessionEvent): void;
  /** Changes a slice without an event: how policies' states move. The commit record holds the operations. */
  apply(slice: Slice, operations: readonly Operation[]): void;
  /**
   * Writes `entry` as the one record of the call and lets the changes be seen. The entry has to hold `events` and `changes`:
   * they are what a log is replayed from.
   */
  commit(entry: LogEntry): void;
  /** Drops what is staged. Does nothing after the end. */
  discard(): void;
}

export class StagedTransaction implements SessionTransaction {
  readonly #host: TransactionHost;
  #events: SessionEvent[] | undefined;
  #staged: Map<Slice, SliceState> | undefined;
  #changes: Json[] | undefined;
  #open = true;

  constructor(host: TransactionHost) {
    this.#host = host;
  }

  get events(): readonly SessionEvent[] {
    return this.#events ?? none;
  }

  get changes(): readonly Json[] {
    return this.#changes ?? none;
  }

  read<State>(slice: Slice<State>): State {
    this.#checkOpen();
    const current = this.#host.read(slice); // Also registers the slice.
    const staged = this.#staged?.get(slice);
    return staged === undefined ? current : (staged as State);
  }

  dispatch(event: SessionEvent): void {
    this.#checkOpen();
    const { reduced, states } = this.#reduce(event);
    for (const [slice, state] of states) this.#stage(slice, state);
    this.#events ??= [];
    this.#events.push(reduced);
  }

  publish(event: SessionEvent): void {
    this.#checkOpen();
    for (const slice of this.#host.listeningTo(event.type)) {
      if (slice.retention !== 'log') {
        throw new HoldfastError(
          'event.retention',
          `\`${event.type}\` changes the state slice \`${slice.id}\`; dispatch it instead.`,
        );
      }
    }
    const { reduced, states } = this.#reduce(event);
    this.#host.commitStates({ type: 'event', events: [{ ...reduced }] }, states);
  }

  apply(slice: Slice, operations: readonly Operation[]): void {
    this.#checkOpen();
    if (operations.length === 0) return;
    const state = applyAll(slice, this.read(slice) as SliceState, operations);
    this.#stage(slice, state);
    this.#changes ??= [];
    for (const operation of operations) this.#changes.push(toRecord(slice, operation));
  }

  commit(entry: LogEntry): void {
    this.#checkOpen();
    this.#host.commitStates(entry, this.#staged ?? noStates);
    this.#open = false;
  }

  discard(): void {
    this.#open = false;
    this.#staged = undefined;
  }

  #checkOpen(): void {
    if (!this.#open)
      throw new HoldfastError('context.closed', 'The call has ended: its session can no longer be used.');
  }

  #stage(slice: Slice, state: SliceState): void {
    this.#staged ??= new Map();
    this.#staged.set(slice, state);
  }

  // All slices or none: nothing is staged before every reducer has answered.
  #reduce({ type, payload }: SessionEvent): { reduced: SessionEvent; states: ReadonlyMap<Slice, SliceState> } {
    const copied = copyJson(payload);
    if (!copied.ok)
      throw new HoldfastError('event.invalid', `The payload of \`${type}\` is not JSON: ${copied.problem}.`);
    const slices = this.#host.listeningTo(type);
    if (slices.length === 0) {
      throw new HoldfastError(
        'event.unhandled',
        `No slice of the session listens to \`${type}\`; pass its slice to \`createSession\`.`,
      );
    }
    const states = new Map<Slice, SliceState>();
    for (const slice of slices) {
      const state = this.read(slice);
      const answer = slice.reducers.get(type)?.(state, copied.value);
      if (answer !== undefined) states.set(slice, applyAll(slice, state as SliceState, toOperations(slice, answer)));
    }
    return { reduced: { type, payload: copied.value }, states };
  }
}

const none: readonly never[] = Object.freeze([]);
const noStates: ReadonlyMap<Slice, SliceState> = new Map();

function applyAll(slice: Slice, state: SliceState, operations: readonly Operation[]): SliceState {
  return operations.reduce((current, operation) => applyOperation(slice, current, operation), state);
}

function toOperations(slice: Slice, answer: unknown): readonly Operation[] {
  const operations: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  if (operations.every(isOperation)) return operations;
  throw new HoldfastError(
    'slice.operation.invalid',
    `A reducer of \`${slice.id}\` must answer operations (\`replace\`, \`append\`, …).`,
  );
}

/** An operation as the log keeps it. Its values have passed `applyOperation`, so they are JSON. */
function toRecord(slice: Slice, operation: Operation): Json {
  switch (operation.op) {
    case 'append':
      return { slice: slice.id, op: 'append', items: operation.items.map(asJson) };
    case 'upsert':
      return { slice: slice.id, op: 'upsert', key: operation.key, item: asJson(operation.item) };
    case 'remove':
      return { slice: slice.id, op: 'remove', key: operation.key };
    case 'replace':
      return { slice: slice.id, op: 'replace', value: asJson(operation.value) };
    case 'clear':
      return { slice: slice.id, op: 'clear' };
  }
}

// `applyOperation` has copied the same value before, so it is JSON.
function asJson(value: unknown): Json {
  const copied = copyJson(value);
  return copied.ok ? copied.value : null;
}
