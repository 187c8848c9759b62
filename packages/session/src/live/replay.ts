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
import { describeThrown, isPlainObject } from '@holdfast/core/internal';
import { type LogRecord, memoryStore, type SessionStore } from '../log/log.ts';
import { OpenWorkLedger } from '../log/open-work.ts';
import { LiveSession } from './live-session.ts';
import { applyRecord, Rebuilding } from './rebuilding.ts';
import { tendVault } from './sealed.ts';
import type { Session } from './session.ts';
import type { ForkOrigin } from './snapshot.ts';

export interface ReplayOptions {
  /** The definitions of the slices that have reducers. Slices without, as policies' states are, come from the log alone. */
  readonly slices?: readonly Slice[];
  /** Of a fork: the session that it was forked from, replayed to that record. */
  readonly base?: Session;
  /** Takes the records that follow; it holds the replayed ones already. Default: a memory store that does. */
  readonly store?: SessionStore;
  readonly clock?: Clock;
  /** As that of `createSession`: for what follows. */
  readonly redactor?: Redactor | undefined;
  /** As that of `createSession`: with what the process before has kept in it. */
  readonly vault?: Vault | undefined;
}

/**
 * Rebuilds a session from its log, or from a snapshot in it and what follows, and goes on after its last record. Runs reducers, never a policy or a tool. What is rebuilt
 * equals what was, as long as reducers are pure: one that is not makes another state, which nothing here can tell.
 *
 * @throws HoldfastError `replay.slice_missing`, `slice.conflict` (a definition is not the recorded one), `replay.record_invalid`
 * with its `seq` in `data`, `replay.base_missing`, `replay.base_foreign`, `replay.no_content`; `slice.value.invalid` for a policy's state that its
 * schema refuses.
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

/** What records have made. */
export interface Rebuilt {
  readonly start: Start;
  readonly rebuilding: Rebuilding;
  readonly openWork: OpenWorkLedger;
}

/** `look` sees each record with what those before it have made. @throws HoldfastError as `replay`, but for the last of its codes. */
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
      if (isHoldfastError(thrown) && passedOn.has(thrown.code)) throw thrown;
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

const passedOn: ReadonlySet<string> = new Set(['replay.slice_missing', 'slice.conflict']);

export interface Start {
  readonly sessionId: string;
  readonly nonce: string;
  /** Of the first record. */
  readonly seq: number;
  readonly forkedFrom: ForkOrigin | undefined;
  /** Of a snapshot: it has the states, too. */
  readonly open?: Json | undefined;
}

function readStart(record: LogRecord | undefined): Start {
  const isSnapshot = record?.type === 'snapshot';
  if (record === undefined || !(record.type === 'session-start' || isSnapshot)) {
    throw invalid(
      record?.seq ?? 0,
      'is no `session-start` and no `snapshot`: a log is replayed from its beginning, or from a snapshot.',
    );
  }
  const { seq, sessionId, nonce, slices, forkedFrom, open, content } = record;
  if (content === 'none') {
    throw new HoldfastError(
      'replay.no_content',
      "The log was written with `content: 'none'`: it tells what happened and has no state to rebuild.",
    );
  }
  if (typeof sessionId !== 'string' || !Array.isArray(slices)) {
    throw invalid(
      seq,
      'does not say which slices there were; an earlier version of this package wrote it, and such logs cannot be replayed.',
    );
  }
  const digits = typeof nonce === 'string' ? nonce : '';
  const start = { sessionId, nonce: digits, seq, ...(isSnapshot && { open: open ?? null }) };
  if (forkedFrom === undefined) return { ...start, forkedFrom };
  if (!isPlainObject(forkedFrom)) throw invalid(seq, 'does not say where it was forked from.');
  return { ...start, forkedFrom: { sessionId: forkedFrom['sessionId'] ?? null, seq: forkedFrom['seq'] ?? null } };
}

function statesBefore(
  { sessionId, forkedFrom, open }: Start,
  base: Session | undefined,
): ReturnType<Session['snapshot']>['states'] {
  if (forkedFrom === undefined) {
    if (base === undefined) return new Map();
    throw new HoldfastError(
      'replay.base_foreign',
      `The session \`${sessionId}\` is no fork; replay it without \`base\`.`,
    );
  }
  if (open !== undefined) return new Map();
  const origin = `session \`${String(forkedFrom.sessionId)}\` after ${String(forkedFrom.seq)} records`;
  if (base === undefined) {
    throw new HoldfastError(
      'replay.base_missing',
      `The session \`${sessionId}\` is a fork of ${origin}; pass that one, replayed, as \`base\`.`,
      { data: { sessionId: String(forkedFrom.sessionId), seq: Number(forkedFrom.seq) } },
    );
  }
  const { sessionId: baseId, seq, states } = base.snapshot();
  if (baseId === forkedFrom.sessionId && seq === forkedFrom.seq) return states;
  throw new HoldfastError(
    'replay.base_foreign',
    `The session \`${sessionId}\` is a fork of ${origin}, but \`base\` is session \`${baseId}\` after ${seq} records.`,
  );
}

function invalid(seq: number, what: string, cause?: unknown): HoldfastError {
  return new HoldfastError('replay.record_invalid', `Record ${seq} ${what}`, {
    data: { seq },
    ...(cause === undefined ? {} : { cause }),
  });
}
