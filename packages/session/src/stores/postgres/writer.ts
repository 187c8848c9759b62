import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { decodeJson } from '@holdfast/core/internal';
import { type ChainPlace, linkOf } from '../../log/chain.ts';
import type { LogEntry, LogRecord, SessionStore } from '../../log/log.ts';
import type { SnapshotGauge } from '../../log/snapshot-gauge.ts';
import { maxLineBytes } from '../jsonl/lines.ts';
import { tooLong } from '../jsonl/store.ts';
import { isTransient, type PostgresDatabase, run } from './database.ts';
import type { Lease, LeaseClock } from './lease.ts';
import { lockedSession } from './rows.ts';

/** A store that inserts one row per record; `sync` resolves when the database has committed them. */
export interface PostgresLog extends SessionStore {
  readonly sessionId: string;
  /** @throws HoldfastError `log.unreadable` for records before those that were loaded. */
  read(fromSeq?: number): Iterable<LogRecord>;
  sync(): Promise<void>;
  readonly snapshotDue: boolean;
  readonly lost: AbortSignal;
  closed(): Promise<void>;
}

export interface HeldSession {
  readonly database: PostgresDatabase;
  readonly sessionId: string;
  readonly host: string;
  readonly key: string;
  readonly fence: string;
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly clock: LeaseClock;
  readonly gauge: SnapshotGauge;
  /** Position after its last record. */
  readonly place: ChainPlace;
  /** The loaded records, up to that position. */
  readonly records: readonly LogRecord[];
  /** After a snapshot, forgets records that no open work needs. */
  readonly forgets: boolean;
}

interface Waiting {
  readonly seq: number;
  readonly text: string;
  readonly bytes: number;
  readonly isSnapshot: boolean;
}

interface Waiter {
  /** Waits for the records before this number. */
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Appends in the background, in order: records that wait together are one statement. */
export class PostgresWriter implements PostgresLog {
  readonly sessionId: string;
  readonly host: string;
  readonly #held: HeldSession;
  /** Parsed, or as text. */
  readonly #records: (LogRecord | string)[];
  #firstSeq: number;
  #place: ChainPlace;
  /** Position after the last record that the database has committed. */
  #committed: ChainPlace;
  readonly #queue: Waiting[] = [];
  #waiters: Waiter[] = [];
  #sending = false;
  #failure: HoldfastError | undefined;
  #closing: Promise<void> | undefined;

  constructor(held: HeldSession) {
    this.sessionId = held.sessionId;
    this.host = held.host;
    this.#held = held;
    this.#records = [...held.records];
    this.#firstSeq = held.place.seq - held.records.length;
    this.#place = held.place;
    this.#committed = held.place;
    // A database may not answer for minutes: callers of `sync` get the failure now.
    this.lost.addEventListener('abort', () => this.#fail(this.lost.reason as HoldfastError));
  }

  get lost(): AbortSignal {
    return this.#held.lease.lost;
  }

  get snapshotDue(): boolean {
    return this.#closing === undefined && this.#held.gauge.due;
  }

  append(entry: LogEntry, seq: number, atMs: number): void {
    const { gauge, lease } = this.#held;
    this.#checkOpen();
    if (this.#failure === undefined) lease.check();
    if (this.#failure !== undefined) throw this.#broken(this.#failure);
    const { seq: next, head } = this.#place;
    if (seq !== next) {
      const message = `Expected record ${next} of \`${this.sessionId}\` next, got ${seq}; does a second session write to the log?`;
      const data = { reason: 'sequence', sessionId: this.sessionId, seq: next };
      throw new HoldfastError('log.write_failed', message, { data });
    }
    const text = JSON.stringify({ seq, prev: head, atMs, ...entry });
    const bytes = Buffer.byteLength(text);
    if (bytes > maxLineBytes) throw tooLong(seq, bytes, { sessionId: this.sessionId });
    const isSnapshot = entry.type === 'snapshot';
    if (isSnapshot) gauge.postpone();
    this.#queue.push({ seq, text, bytes, isSnapshot });
    this.#records.push(text);
    this.#place = { seq: seq + 1, head: linkOf(text) };
    gauge.note(entry.type, bytes);
    if (isSnapshot && this.#held.forgets) this.#forget(Math.min(seq, neededFrom(entry)));
    this.#start();
  }

  *read(fromSeq = 0): Generator<LogRecord> {
    const from = Math.max(0, fromSeq);
    if (from < this.#firstSeq) throw this.#notLoaded(from);
    for (let seq = from; seq < this.#place.seq; seq += 1) {
      const record = this.#records[seq - this.#firstSeq];
      if (record === undefined) throw this.#notLoaded(seq);
      yield typeof record === 'string' ? toRecord(record) : record;
    }
  }

  async sync(): Promise<void> {
    this.#checkOpen();
    await this.#settled(this.#place.seq);
  }

  close(): void {
    if (this.#closing !== undefined) return;
    this.#closing = this.#close();
    // `closed` reports the failure.
    this.#closing.catch(() => undefined);
  }

  async closed(): Promise<void> {
    await this.#closing;
  }

  async #close(): Promise<void> {
    const { lease, database, key, fence } = this.#held;
    try {
      await this.#settled(this.#place.seq);
    } finally {
      lease.stop();
    }
    // Otherwise the lease ends by itself.
    await run(database, releasing, [key, fence]);
  }

  #settled(seq: number): Promise<void> {
    if (this.#committed.seq >= seq) return Promise.resolve();
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiters.push({ seq, resolve, reject });
    });
  }

  #start(): void {
    // After the current work, so that records of one moment are one statement.
    if (this.#sending) return;
    this.#sending = true;
    queueMicrotask(() => void this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0 && this.#failure === undefined) {
      const group = takeGroup(this.#queue);
      try {
        await this.#send(group);
      } catch (thrown) {
        if (!isHoldfastError(thrown)) throw thrown;
        this.#held.lease.lose(thrown);
        this.#fail(thrown);
        return;
      }
      const ready = this.#waiters.filter(({ seq }) => seq <= this.#committed.seq);
      this.#waiters = this.#waiters.filter(({ seq }) => seq > this.#committed.seq);
      for (const { resolve } of ready) resolve();
    }
    // At once: who was waiting appends next.
    this.#sending = false;
  }

  /** Repeats the statement while the database cannot be reached: it has an effect once, and tells whether it had it. */
  async #send(group: readonly Waiting[]): Promise<void> {
    const { database, key, fence, lease, leaseMs, clock } = this.#held;
    const end = endOf(group, this.#committed);
    const snapshot = group.findLast(({ isSnapshot }) => isSnapshot)?.seq ?? null;
    const texts = group.map(({ text }) => text);
    for (let attempt = 0; ; attempt += 1) {
      const sentAtMs = clock.now();
      try {
        const values = [key, fence, String(this.#committed.seq), end.head, snapshot, leaseMs, texts];
        const { count } = await run(database, appending, values);
        if (count === group.length) lease.confirm(sentAtMs);
        else if (attempt === 0 || !(await this.#isCommitted(end))) throw lockedSession(this.sessionId);
        this.#committed = end;
        return;
      } catch (thrown) {
        if (!isHoldfastError(thrown) || !isTransient(thrown)) throw thrown;
        // The lease may have been lost to another failure.
        if (this.#failure !== undefined) throw this.#failure;
        lease.check();
        await new Promise<void>((resolve) => {
          clock.after(Math.min(1_000, leaseMs / 12, 25 * 2 ** attempt), resolve, true);
        });
      }
    }
  }

  /** True if an earlier attempt was committed although its answer was lost. */
  async #isCommitted({ seq, head }: ChainPlace): Promise<boolean> {
    const { database, key } = this.#held;
    const { rows } = await run(database, committed, [key, String(seq - 1)]);
    return rows[0] !== undefined && linkOf(String(rows[0]['text'])) === head;
  }

  #fail(why: HoldfastError): void {
    this.#failure ??= why;
    for (const { reject } of this.#waiters.splice(0)) reject(this.#failure);
  }

  #forget(seq: number): void {
    this.#records.splice(0, Math.max(0, seq - this.#firstSeq));
    this.#firstSeq = Math.max(this.#firstSeq, seq);
  }

  #checkOpen(): void {
    if (this.#closing === undefined) return;
    throw new HoldfastError('session.closed', `The log of \`${this.sessionId}\` is closed.`);
  }

  #broken(cause: HoldfastError): HoldfastError {
    if (cause.code === 'log.locked') return cause;
    const message = `An earlier append to \`${this.sessionId}\` failed (${cause.message}); close the session, and open it again to continue.`;
    return new HoldfastError('log.broken', message, { data: { sessionId: this.sessionId }, cause });
  }

  #notLoaded(seq: number): HoldfastError {
    return new HoldfastError(
      'log.unreadable',
      `Record ${seq} of \`${this.sessionId}\` was not loaded; open the session with \`earlier: 'load'\`, or read it with \`readPostgresLog\`.`,
      { data: { reason: 'unsupported', sessionId: this.sessionId, seq } },
    );
  }
}

/** Checks the writer and its lease, and appends: all of it or nothing. */
const appending = `WITH held AS (
  UPDATE holdfast_sessions SET records = records + cardinality($7::text[]), head = $4, snapshot = coalesce($5::bigint, snapshot),
    leased_until = clock_timestamp() + $6 * interval '1 millisecond'
  WHERE key = $1 AND fence = $2 AND records = $3 AND leased_until > clock_timestamp()
  RETURNING key
) INSERT INTO holdfast_records (session, seq, text)
SELECT held.key, $3::bigint + added.place - 1, added.text FROM held, unnest($7::text[]) WITH ORDINALITY AS added(text, place)`;

const committed = 'SELECT text FROM holdfast_records WHERE session = $1 AND seq = $2';

const releasing = 'UPDATE holdfast_sessions SET leased_until = NULL, holder = NULL WHERE key = $1 AND fence = $2';

// Keeps a statement, and what the server needs to run it, to a few megabytes.
const groupBytes = 4 * 1024 * 1024;
const groupRecords = 1_000;

function takeGroup(queue: Waiting[]): readonly Waiting[] {
  let bytes = 0;
  let count = 0;
  for (const waiting of queue) {
    if (count > 0 && (bytes + waiting.bytes > groupBytes || count === groupRecords)) break;
    bytes += waiting.bytes;
    count += 1;
  }
  return queue.splice(0, count);
}

function endOf(group: readonly Waiting[], { seq, head }: ChainPlace): ChainPlace {
  const last = group.at(-1);
  return { seq: seq + group.length, head: last === undefined ? head : linkOf(last.text) };
}

function toRecord(text: string): LogRecord {
  const { prev: _prev, ...record } = decodeJson(text) as LogRecord & { readonly prev: string };
  // Written by `append`.
  return record as LogRecord;
}

/** The first record that open work of a snapshot refers to. */
export function neededFrom({ open }: LogEntry): number {
  const { runs = [], plans = [] } = (open ?? {}) as Partial<Record<'runs' | 'plans', readonly Start[]>>;
  return Math.min(Number.POSITIVE_INFINITY, ...[...runs, ...plans].map(({ seq }) => seq));
}

interface Start {
  readonly seq: number;
}
