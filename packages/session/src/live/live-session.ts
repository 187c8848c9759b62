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
import { tendVault } from './sealed.ts';
import type { Session, SessionOptions, SessionSnapshot } from './session.ts';
import type { SessionTransaction, TransactionRoot } from './session-transaction.ts';
import { checkRestorable, type ForkOrigin, type SessionParts, toRestoredSlices, toSnapshotEntry } from './snapshot.ts';
import { StagedTransaction } from './transaction.ts';

/** Creates a session; the first record of its log is `session-start`. */
export function createSession(given: SessionOptions = {}): Session {
  checkSessionOptions(given);
  const { slices = [], ...options } = given;
  const table = new SliceTable();
  for (const slice of slices) table.register(slice);
  return startSession(table, options);
}

/** Writes the slices of `table` and the origin of a fork into the first record. */
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
  readonly forkedFrom: ForkOrigin | undefined;
  readonly redactor: SessionOptions['redactor'];
  readonly vault: SessionOptions['vault'];
  readonly content: 'full' | 'none';
  readonly #clock: Clock;
  readonly #store: SessionStore;
  readonly #listeners = new RecordListeners((failure) => this.#note(failure));
  readonly #closeListeners = new CloseListeners();
  readonly #openWork: OpenWorkLedger;
  /** Records written as part of another one, not yet passed to subscribers. */
  readonly #untold: LogRecord[] = [];
  #seq: number;
  /** Number of the last snapshot record, from which the log can be replayed. */
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
    this.forkedFrom = parts.forkedFrom;
    checkRedactor(parts.redactor);
    this.redactor = parts.redactor;
    this.vault = parts.vault;
    this.content = parts.content ?? 'full';
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#seq = parts.seq;
    this.#snapshotSeq = parts.snapshotSeq ?? -1;
  }

  register(slice: Slice): void {
    this.table.register(slice);
  }

  read<State>(slice: Slice<State>): State {
    // Its definition determines the type of a slice's state; `checkOperation` has checked every item.
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

  get lost(): AbortSignal | undefined {
    return this.#store.lost;
  }

  get host(): string | undefined {
    return this.#store.host;
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
      // Set before the first listener runs, which may call `close` again.
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#closing = promise;
      this.#close().then(resolve, reject);
    }
    return this.#closing;
  }

  async #close(): Promise<void> {
    const note = (message: string): void => this.record({ type: 'close-error', message });
    try {
      // Not awaited without listeners: callers that do not await `close` rely on the store being closed.
      if (this.#closeListeners.size > 0) await this.#closeListeners.run(note);
    } finally {
      this.#closed = true;
      this.#store.close();
    }
    await this.#store.closed?.();
  }

  /** Appends a record, then changes state with `apply`, then notifies subscribers. */
  write(entry: LogEntry, apply?: () => void): void {
    const noted = this.append(this.redactor === undefined ? entry : this.redactor.maskRecord(entry));
    apply?.();
    this.notify(noted);
  }

  append(entry: LogEntry): LogEntry {
    if (this.table.unnoted.length > 0) this.#noteSlices();
    return this.#appendOne(entry);
  }

  // Written before the next record, not on first use, so that reading writes nothing.
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
    // Fast path: most records end calls that left nothing open.
    if (noted.type !== 'tool-call-end' || this.#openWork.calls.size > 0 || this.host !== undefined)
      this.#openWork.note(noted, this.#seq, this.#lastAtMs);
    this.#seq += 1;
    return noted;
  }

  #checkOpen(): void {
    if (this.#closed) throw new HoldfastError('session.closed', `The session \`${this.id}\` is closed.`);
  }

  /** Called after a record's state change. */
  notify(entry: LogEntry): void {
    if (this.#listeners.all.size > 0) this.#tellAll(entry);
    // Without content a log has no state and cannot be resumed.
    if (this.#store.snapshotDue === true && this.content !== 'none') this.#writeSnapshot();
  }

  #writeSnapshot(): void {
    // A store that cannot write a snapshot may keep asking for one.
    if (this.#inSnapshot) return;
    this.#inSnapshot = true;
    try {
      this.write(toSnapshotEntry(this, this.#openWork), () => {
        this.#snapshotSeq = this.#seq - 1;
      });
    } catch (thrown) {
      this.#note({ type: 'snapshot-failed', message: describeThrown(thrown) });
    } finally {
      this.#inSnapshot = false;
    }
  }

  /** Notifies listeners of the last record. */
  #tellAll(entry: LogEntry): void {
    const record = toLogRecord(entry, this.#seq - 1, this.#lastAtMs);
    for (const before of this.#untold.splice(0)) this.#listeners.tell(before);
    this.#listeners.tell(record);
  }

  #note(failure: LogEntry): void {
    try {
      this.record(failure);
    } catch {
      // The event has happened, so its writer must not fail; the next write reports the broken store or closed session.
    }
  }
}

/** Fast check for the end of most calls. */
function changesNothing(entry: LogEntry): boolean {
  if (entry.type !== 'tool-call-end' || entry['changes'] !== undefined) return false;
  const { events } = entry;
  return Array.isArray(events) && events.length === 0 && !('seq' in entry || 'prev' in entry || 'atMs' in entry);
}
