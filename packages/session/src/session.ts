import {
  type Clock,
  describeThrown,
  HoldfastError,
  type SessionEvent,
  type SessionReader,
  type Slice,
  systemClock,
} from '@holdfast/core';
import { type LogEntry, type LogRecord, memoryStore, type SessionStore, toLogRecord } from './log.ts';
import { initialState, type SliceState } from './slice-state.ts';
import { type SessionTransaction, type StagedState, StagedTransaction, type TransactionRoot } from './transaction.ts';

export interface SessionOptions {
  /** Default: made from the time and random digits. */
  readonly id?: string;
  /** Slices whose reducers listen from the start; others join when they are first read. */
  readonly slices?: readonly Slice[];
  /** Default: `memoryStore()`. */
  readonly store?: SessionStore;
  readonly clock?: Clock;
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
  /** Makes the slice's reducers listen. @throws HoldfastError `slice.conflict` when its id has another definition. */
  register(slice: Slice): void;
  /** Records an event and applies it. For changes outside of a tool call. @throws HoldfastError `event.unhandled`, or what a reducer throws. */
  dispatch(event: SessionEvent): void;
  /** Records something that changes no state. */
  record(entry: LogEntry): void;
  /** Opens the staged changes of one call. */
  begin(): SessionTransaction;
  snapshot(): SessionSnapshot;
  /** Puts `state` slices back; `log` slices keep what happened. @throws HoldfastError `snapshot.foreign`, `slice.unknown`. */
  restore(snapshot: SessionSnapshot): void;
  /** Calls `listener` after every record; what it throws is recorded and breaks nothing. The answer stops it: true once. */
  subscribe(listener: (record: LogRecord) => void): () => boolean;
  /** Closes the store. Later writes throw HoldfastError `session.closed`. */
  close(): void;
}

/** Makes a session; the log's first record is its `session-start`. */
export function createSession(options: SessionOptions = {}): Session {
  return new LiveSession(options);
}

class LiveSession implements Session, TransactionRoot {
  readonly id: string;
  readonly #clock: Clock;
  readonly #store: SessionStore;
  readonly #slices = new Map<string, Slice>();
  readonly #states = new Map<string, SliceState>();
  readonly #byEvent = new Map<string, Slice[]>();
  readonly reducing: Slice[] = [];
  readonly #listeners = new Set<(record: LogRecord) => void>();
  #seq = 0;
  #lastAtMs = 0;
  #closed = false;

  constructor({
    slices = [],
    store = memoryStore(),
    clock = systemClock,
    id = createSessionId(clock.now()),
  }: SessionOptions) {
    this.id = id;
    this.#clock = clock;
    this.#store = store;
    for (const slice of slices) this.register(slice);
    this.record({ type: 'session-start', sessionId: id });
  }

  register(slice: Slice): void {
    const known = this.#slices.get(slice.id);
    if (known === slice) return;
    if (known !== undefined && !isSameState(known, slice)) {
      throw new HoldfastError('slice.conflict', `Two different slices have the id \`${slice.id}\`; rename one.`);
    }
    this.#slices.set(slice.id, slice);
    if (known !== undefined) return;
    this.#states.set(slice.id, initialState(slice));
    if (slice.reducers.size > 0) this.reducing.push(slice);
    for (const type of slice.reducers.keys()) {
      const listening = this.#byEvent.get(type);
      if (listening === undefined) this.#byEvent.set(type, [slice]);
      else listening.push(slice);
    }
  }

  read<State>(slice: Slice<State>): State {
    // The state of a slice has the type that its definition says; `checkOperation` has checked every item.
    return this.stateOf(slice) as State;
  }

  stateOf(slice: Slice): SliceState {
    if (this.#slices.get(slice.id) !== slice) this.register(slice);
    return this.#states.get(slice.id) ?? null;
  }

  dispatch(event: SessionEvent): void {
    const transaction = this.begin();
    try {
      transaction.dispatch(event);
      transaction.commit({ type: 'event', events: transaction.events.map((staged) => ({ ...staged })) });
    } finally {
      transaction.discard();
    }
  }

  record(entry: LogEntry): void {
    this.append(entry);
    this.notify(entry);
  }

  publish(event: SessionEvent): void {
    for (const slice of this.listeningTo(event.type)) {
      if (slice.retention !== 'log') {
        throw new HoldfastError(
          'event.retention',
          `\`${event.type}\` changes the state slice \`${slice.id}\`; dispatch it instead.`,
        );
      }
    }
    this.dispatch(event);
  }

  begin(): SessionTransaction {
    return new StagedTransaction(this);
  }

  listeningTo(type: string): readonly Slice[] {
    return this.#byEvent.get(type) ?? [];
  }

  setStates(staged: Iterable<StagedState>): void {
    for (const { slice, state } of staged) this.#states.set(slice.id, state);
  }

  snapshot(): SessionSnapshot {
    return Object.freeze({ sessionId: this.id, seq: this.#seq, states: new Map(this.#states) });
  }

  restore({ sessionId, seq, states }: SessionSnapshot): void {
    if (sessionId !== this.id) {
      throw new HoldfastError(
        'snapshot.foreign',
        `A snapshot of session \`${sessionId}\` cannot be restored into \`${this.id}\`.`,
      );
    }
    for (const id of states.keys()) {
      if (!this.#slices.has(id))
        throw new HoldfastError('slice.unknown', `The snapshot has the slice \`${id}\`, which this session never met.`);
    }
    const entry = { type: 'restore', toSeq: seq };
    this.append(entry);
    for (const slice of this.#slices.values()) {
      if (slice.retention === 'state') this.#states.set(slice.id, states.get(slice.id) ?? initialState(slice));
    }
    this.notify(entry);
  }

  subscribe(listener: (record: LogRecord) => void): () => boolean {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#store.close();
  }

  #noteFailure({ type, seq }: LogRecord, thrown: unknown): void {
    // One that fails on the record of its failure would go on for ever.
    if (type === 'subscriber-error') return;
    try {
      this.record({ type: 'subscriber-error', recordSeq: seq, message: describeThrown(thrown) });
    } catch {
      // What was recorded has happened, so its writer must not fail; the next write meets the same broken store and says so.
    }
  }

  append(entry: LogEntry): void {
    if (this.#closed) throw new HoldfastError('session.closed', `The session \`${this.id}\` is closed.`);
    this.#lastAtMs = this.#clock.now();
    this.#store.append(entry, this.#seq, this.#lastAtMs);
    this.#seq += 1;
  }

  /** Tells listeners of the record that was appended last. */
  notify(entry: LogEntry): void {
    if (this.#listeners.size === 0) return;
    const record = toLogRecord(entry, this.#seq - 1, this.#lastAtMs);
    for (const listener of this.#listeners) {
      try {
        listener(record);
      } catch (thrown) {
        this.#noteFailure(record, thrown);
      }
    }
  }
}

// Policies made anew for every run declare the same state again: equal data and no reducers is the same slice.
function isSameState(known: Slice, other: Slice): boolean {
  return (
    known.kind === other.kind &&
    known.retention === other.retention &&
    known.reducers.size === 0 &&
    other.reducers.size === 0 &&
    JSON.stringify(known.initial) === JSON.stringify(other.initial)
  );
}

function createSessionId(nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '-').replace('T', '-');
  const random = crypto.getRandomValues(new Uint8Array(4));
  return `${time}-${[...random].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
