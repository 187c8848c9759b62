import {
  type Clock,
  HoldfastError,
  isHoldfastError,
  type Json,
  type Redactor,
  type Slice,
  systemClock,
  type Vault,
} from '@holdfast/core';
import { describeCode, describeThrown, isPlainObject } from '@holdfast/core/internal';
import { type LogRecord, memoryStore, type SessionStore } from '../log/log.ts';
import { OpenWorkLedger } from '../log/open-work.ts';
import { LiveSession } from './live-session.ts';
import { applyRecord, Rebuilding } from './rebuilding.ts';
import { tendVault } from './sealed.ts';
import type { Session } from './session.ts';
import type { ForkOrigin } from './snapshot.ts';

export interface ReplayOptions {
  /** Definitions of the slices with reducers. Slices without, such as policies' states, come from the log alone. */
  readonly slices?: readonly Slice[];
  /** For a fork: the session it was forked from, replayed to that record. */
  readonly base?: Session;
  /** Receives the following records; it already holds the replayed ones. Default: such a memory store. */
  readonly store?: SessionStore;
  readonly clock?: Clock;
  /** As in `createSession`, for the following records. */
  readonly redactor?: Redactor | undefined;
  /** As in `createSession`, with the content that the previous process kept. */
  readonly vault?: Vault | undefined;
}

/**
 * Rebuilds a session from its log, or from a snapshot and the records after it, and continues after the last record. Runs reducers,
 * but no policies or tools. The rebuilt state equals the original if reducers are pure; an impure one goes undetected.
 *
 * @throws HoldfastError `slice.invalid` (a definition differs from the recorded one),
 * `replay.failed` with `seq` in `data`; `slice.invalid` if a policy's schema rejects its state.
 */
export function replay(records: readonly LogRecord[], options: ReplayOptions = {}): Session {
  const { store = memoryStore(records), clock = systemClock, redactor, vault } = options;
  let snapshotSeq: number | undefined;
  const { start, rebuilding, openWork } = rebuild(records, options, ({ type, seq }) => {
    if (type === 'snapshot') snapshotSeq = seq;
  });
  openWork.interrupt();
  const session = new LiveSession({
    id: start.sessionId,
    nonce: start.nonce,
    store,
    clock,
    table: rebuilding.finish(),
    redactor,
    vault,
    seq: start.seq + records.length,
    forkedFrom: start.forkedFrom,
    openWork,
    ...(snapshotSeq !== undefined && { snapshotSeq }),
  });
  tendVault(session, records);
  return session;
}

/** The result of replaying records. */
export interface Rebuilt {
  readonly start: Start;
  readonly rebuilding: Rebuilding;
  readonly openWork: OpenWorkLedger;
}

/** `look` sees each record with the state before it. @throws HoldfastError as `replay`, except the last of its codes. */
export function rebuild(
  records: readonly LogRecord[],
  { slices = [], base }: Pick<ReplayOptions, 'slices' | 'base'>,
  look: (record: LogRecord, before: Rebuilt) => void,
): Rebuilt {
  const start = readStart(records[0]);
  const rebuilding = new Rebuilding(slices, statesBefore(start, base), records);
  const openWork = readOpenWork(start);
  const rebuilt = { start, rebuilding, openWork };
  for (const [index, record] of records.entries()) {
    const seq = start.seq + index;
    try {
      if (record.seq !== seq) throw new Error(`record ${seq} is missing: this one has the number ${record.seq}`);
      look(record, rebuilt);
      if (index === 0 && record.type === 'snapshot') rebuilding.begin(record);
      else applyRecord(record, rebuilding);
      openWork.note(record, record.seq, record.atMs);
    } catch (thrown) {
      if (isHoldfastError(thrown) && passedOn.has(describeCode(thrown))) throw thrown;
      throw invalid(seq, `(\`${record.type}\`) cannot be replayed: ${describeThrown(thrown)}`, thrown);
    }
  }
  return rebuilt;
}

function readOpenWork({ seq, open }: Start): OpenWorkLedger {
  try {
    return OpenWorkLedger.fromJson(open);
  } catch (thrown) {
    throw invalid(seq, `(\`snapshot\`) cannot be replayed: ${describeThrown(thrown)}`, thrown);
  }
}

const passedOn: ReadonlySet<string> = new Set(['replay.failed: slice_missing', 'slice.invalid: conflict']);

export interface Start {
  readonly sessionId: string;
  readonly nonce: string;
  /** Of the first record. */
  readonly seq: number;
  readonly forkedFrom: ForkOrigin | undefined;
  /** Of a snapshot, which also has the states. */
  readonly open?: Json | undefined;
}

function readStart(record: LogRecord | undefined): Start {
  const isSnapshot = record?.type === 'snapshot';
  if (record === undefined || !(record.type === 'session-start' || isSnapshot)) {
    throw invalid(
      record?.seq ?? 0,
      'is neither a `session-start` nor a `snapshot`; replay a log from its beginning, or from a snapshot.',
    );
  }
  const { seq, sessionId, nonce, slices, forkedFrom, open, content } = record;
  if (content === 'none') {
    throw new HoldfastError(
      'replay.failed',
      "The log was written with `content: 'none'`: it has no state to rebuild.",
      { data: { reason: 'no_content' } },
    );
  }
  if (typeof sessionId !== 'string' || !Array.isArray(slices)) {
    throw invalid(
      seq,
      'does not list its slices; an earlier version of this package wrote it, and such logs cannot be replayed.',
    );
  }
  const digits = typeof nonce === 'string' ? nonce : '';
  const start = { sessionId, nonce: digits, seq, ...(isSnapshot && { open: open ?? null }) };
  if (forkedFrom === undefined) return { ...start, forkedFrom };
  if (!isPlainObject(forkedFrom)) throw invalid(seq, 'has an invalid `forkedFrom`.');
  return { ...start, forkedFrom: { sessionId: forkedFrom['sessionId'] ?? null, seq: forkedFrom['seq'] ?? null } };
}

function statesBefore(
  { sessionId, forkedFrom, open }: Start,
  base: Session | undefined,
): ReturnType<Session['snapshot']>['states'] {
  if (forkedFrom === undefined) {
    if (base === undefined) return new Map();
    throw new HoldfastError(
      'replay.failed',
      `The session \`${sessionId}\` is not a fork; replay it without \`base\`.`,
      { data: { reason: 'base_foreign' } },
    );
  }
  if (open !== undefined) return new Map();
  const origin = `session \`${String(forkedFrom.sessionId)}\` after ${String(forkedFrom.seq)} records`;
  if (base === undefined) {
    throw new HoldfastError(
      'replay.failed',
      `The session \`${sessionId}\` is a fork of ${origin}; replay that session and pass it as \`base\`.`,
      { data: { reason: 'base_missing', sessionId: String(forkedFrom.sessionId), seq: Number(forkedFrom.seq) } },
    );
  }
  const { sessionId: baseId, seq, states } = base.snapshot();
  if (baseId === forkedFrom.sessionId && seq === forkedFrom.seq) return states;
  throw new HoldfastError(
    'replay.failed',
    `The session \`${sessionId}\` is a fork of ${origin}, but \`base\` is session \`${baseId}\` after ${seq} records.`,
    { data: { reason: 'base_foreign' } },
  );
}

function invalid(seq: number, what: string, cause?: unknown): HoldfastError {
  return new HoldfastError('replay.failed', `Record ${seq} ${what}`, {
    data: { reason: 'record', seq },
    ...(cause === undefined ? {} : { cause }),
  });
}
