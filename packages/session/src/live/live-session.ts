import { type Clock, HoldfastError, type SessionEvent, type Slice, systemClock } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { RecordListeners } from '../log/listeners.ts';
import {
  abandonStore,
  type LogEntry,
  type LogRecord,
  memoryStore,
  readStore,
  type SessionStore,
  toLogRecord,
} from '../log/log.ts';
import type { CallPlace, OpenCall } from '../log/open-call.ts';
import { type OpenWork, OpenWorkLedger } from '../log/open-work.ts';
import { checkContent, withoutContent } from '../redact/content.ts';
import { toDeclaration } from '../state/declaration.ts';
import { handOut } from '../state/slice.ts';
import { SliceTable } from '../state/table.ts';
import { checkEntry, checkRetention } from './check-entry.ts';
import { checkRedactor, checkSessionOptions } from './check-options.ts';
import { CloseListeners } from './close-listeners.ts';
import { readExport, type SessionExport, toExport } from './export.ts';
import { checkNonce, createNonce, createSessionId } from './id.ts';
import type { SessionParts } from './parts.ts';
import { tendVault } from './sealed.ts';
import type { Session, SessionOptions, SessionSnapshot } from './session.ts';
import type { SessionTransaction, TransactionRoot } from './session-transaction.ts';
import { checkRestorable, type ForkOrigin, toRestoredSlices, toSnapshotEntry } from './snapshot.ts';
import { StagedTransaction } from './transaction.ts';

/** Makes a session; the log's first record is its `session-start`. */
export function createSession(given: SessionOptions = {}): Session {
  checkSessionOptions(given);
  const { slices = [], ...options } = given;
  const table = new SliceTable();
  for (const slice of slices) table.register(slice);
  return startSession(table, options);
}

/** The log begins with the slices of `table`, and with where they come from. */
function startSession(table: SliceTable, options: SessionOptions, forkedFrom?: ForkOrigin): Session {
  const { store = memoryStore(), clock = systemClock } = options;
  const { id = createSessionId(clock.now()), nonce = createNonce() } = options;
  checkContent(options.content);
  checkNonce(nonce);
  const session = new LiveSession({ ...options, id, nonce, forkedFrom, store, clock, table, seq: 0 });
  table.unnoted.length = 0;
  const origin = { ...(nonce === '' ? {} : { nonce }), ...(forkedFrom && { forkedFrom }) };
  try {
    session.write({ type: 'session-start', sessionId: id, ...origin, slices: table.slices.map(toDeclaration) });
  } catch (error) {
    abandonStore(store);
    throw error;
  }
  if (options.vault !== undefined) tendVault(session, []);
  return session;
}

export class LiveSession implements Session, TransactionRoot {
  readonly id: string;
  readonly nonce: string;
  readonly table: SliceTable;
  readonly redactor: SessionOptions['redactor'];
  readonly vault: SessionOptions['vault'];
  readonly content: 'full' | 'none';
  readonly #clock: Clock;
  readonly #store: SessionStore;
  readonly #listeners = new RecordListeners((failure) => this.#note(failure));
  readonly #closeListeners = new CloseListeners();
  readonly #openWork: OpenWorkLedger;
  /** Records that were written on the way to another one, of which subscribers do not know yet. */
  readonly #untold: LogRecord[] = [];
  readonly #forkedFrom: ForkOrigin | undefined;
  #seq: number;
  /** Number of the last snapshot record, from which the log may be replayed. */
  #snapshotSeq: number;
  #lastAtMs = 0;
  #inSnapshot = false;
  #closed = false;
  #closing: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.id = parts.id;
    this.nonce = parts.nonce;
    this.#openWork = parts.openWork ?? new OpenWorkLedger();
    this.table = parts.table;
    checkRedactor(parts.redactor);
    this.redactor = parts.redactor;
    this.vault = parts.vault;
    this.content = parts.content ?? 'full';
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#seq = parts.seq;
    this.#forkedFrom = parts.forkedFrom;
    this.#snapshotSeq = parts.snapshotSeq ?? -1;
  }

  register(slice: Slice): void {
    this.table.register(slice);
  }

  read<State>(slice: Slice<State>): State {
    // The state of a slice has the type that its definition says; `checkOperation` has checked every item.
    return handOut(this.table.stateOf(slice)) as State;
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
    if (!changesNothing(entry)) checkEntry(entry);
    this.write(entry);
  }

  publish(event: SessionEvent): void {
    checkRetention(event.type, this.table);
    this.dispatch(event);
  }

  begin(): SessionTransaction {
    return new StagedTransaction(this);
  }

  get lasting(): boolean {
    return this.#store.lasting !== false;
  }

  openWork(): OpenWork {
    return this.#openWork.read();
  }

  openCall(place: CallPlace): OpenCall | undefined {
    return this.#openWork.calls.size === 0 ? undefined : this.#openWork.find(place);
  }

  records(fromSeq?: number): Iterable<LogRecord> {
    return readStore(this.#store, this.id, fromSeq);
  }

  sync(): Promise<void> | undefined {
    return this.#store.sync?.();
  }

  snapshot(): SessionSnapshot {
    return Object.freeze({ sessionId: this.id, seq: this.#seq, states: this.table.handOutStates() });
  }

  restore({ sessionId, seq, states }: SessionSnapshot): void {
    checkRestorable({ sessionId, states }, this.id, this.table);
    const slices = seq > this.#snapshotSeq ? {} : { slices: toRestoredSlices(states, this.table) };
    this.write({ type: 'restore', toSeq: seq, ...slices }, () => this.table.restore(states));
  }

  reset(): void {
    this.write({ type: 'reset' }, () => this.table.restore(new Map()));
  }

  fork(options: Omit<SessionOptions, 'slices'> = {}): Session {
    const own = { clock: this.#clock, redactor: this.redactor, content: this.content };
    return startSession(this.table.fork(), { ...own, ...options }, { sessionId: this.id, seq: this.#seq });
  }

  export(): SessionExport {
    const data = toExport(this.table, this.id, this.#seq);
    return this.redactor === undefined ? data : this.redactor.maskExport(data);
  }

  import(data: unknown): void {
    const read = readExport(this.redactor === undefined ? data : this.redactor.maskExport(data), this.table);
    this.write({ type: 'import', slices: read.slices }, read.apply);
  }

  subscribe(listener: (record: LogRecord) => void): () => boolean {
    return this.#listeners.add(listener);
  }

  onClose(listener: () => void | Promise<void>): void {
    this.#checkOpen();
    this.#closeListeners.add(listener);
  }

  close(): Promise<void> {
    if (this.#closing === undefined) {
      // Known before the first listener runs, which may call `close` again.
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#closing = promise;
      this.#close().then(resolve, reject);
    }
    return this.#closing;
  }

  async #close(): Promise<void> {
    const note = (message: string): void => this.record({ type: 'close-error', message });
    try {
      // Not awaited when there is nothing to wait for: callers who do not wait for `close` count on a closed store.
      if (this.#closeListeners.size > 0) await this.#closeListeners.run(note);
    } finally {
      this.#closed = true;
      this.#store.close();
    }
  }

  /** Appends a record, then lets `apply` change state, then tells subscribers. */
  write(entry: LogEntry, apply?: () => void): void {
    const noted = this.append(this.redactor === undefined ? entry : this.redactor.maskRecord(entry));
    apply?.();
    this.notify(noted);
  }

  append(entry: LogEntry): LogEntry {
    if (this.table.unnoted.length > 0) this.#noteSlices();
    return this.#appendOne(entry);
  }

  // Before the next record, and not when they are met, so that reading writes nothing.
  #noteSlices(): void {
    const { unnoted } = this.table;
    for (let slice = unnoted[0]; slice !== undefined; slice = unnoted[0]) {
      const declared = { type: 'slice', ...toDeclaration(slice) };
      const entry = this.#appendOne(this.redactor === undefined ? declared : this.redactor.maskRecord(declared));
      unnoted.shift();
      if (this.#listeners.all.size > 0) this.#untold.push(toLogRecord(entry, this.#seq - 1, this.#lastAtMs));
    }
  }

  #appendOne(entry: LogEntry): LogEntry {
    this.#checkOpen();
    const noted = this.content === 'none' ? withoutContent(entry, this.redactor) : entry;
    this.#lastAtMs = this.#clock.now();
    this.#store.append(noted, this.#seq, this.#lastAtMs);
    // Most records are the ends of calls that left nothing open.
    if (noted.type !== 'tool-call-end' || this.#openWork.calls.size > 0)
      this.#openWork.note(noted, this.#seq, this.#lastAtMs);
    this.#seq += 1;
    return noted;
  }

  #checkOpen(): void {
    if (this.#closed) throw new HoldfastError('session.closed', `The session \`${this.id}\` is closed.`);
  }

  /** Follows a record whose change of state is made. */
  notify(entry: LogEntry): void {
    if (this.#listeners.all.size > 0) this.#tellAll(entry);
    // Without content a log has no states, and nothing goes on from it.
    if (this.#store.snapshotDue === true && this.content !== 'none') this.#writeSnapshot();
  }

  #writeSnapshot(): void {
    // A store that cannot take one may go on asking for it.
    if (this.#inSnapshot) return;
    this.#inSnapshot = true;
    try {
      const entry = toSnapshotEntry({
        id: this.id,
        nonce: this.nonce,
        forkedFrom: this.#forkedFrom,
        table: this.table,
        openWork: this.#openWork,
      });
      this.write(entry, () => {
        this.#snapshotSeq = this.#seq - 1;
      });
    } catch (thrown) {
      this.#note({ type: 'snapshot-failed', message: describeThrown(thrown) });
    } finally {
      this.#inSnapshot = false;
    }
  }

  /** Tells listeners of the record that was appended last. */
  #tellAll(entry: LogEntry): void {
    const record = toLogRecord(entry, this.#seq - 1, this.#lastAtMs);
    for (const before of this.#untold.splice(0)) this.#listeners.tell(before);
    this.#listeners.tell(record);
  }

  #note(failure: LogEntry): void {
    try {
      this.record(failure);
    } catch {
      // What was recorded has happened, so its writer must not fail; the next write meets the same broken store, or the closed
      // session, and says so.
    }
  }
}

/** Of the end of most calls that much is seen at once. */
function changesNothing(entry: LogEntry): boolean {
  if (entry.type !== 'tool-call-end' || entry['changes'] !== undefined) return false;
  const { events } = entry;
  return Array.isArray(events) && events.length === 0 && !('seq' in entry || 'prev' in entry || 'atMs' in entry);
}
