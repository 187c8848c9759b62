import {
  type Clock,
  describeThrown,
  HoldfastError,
  isHoldfastError,
  isPlainObject,
  type Json,
  type Slice,
  systemClock,
} from '@holdfast/core';
import { LiveSession } from './live-session.ts';
import { type LogRecord, memoryStore, type SessionStore } from './log.ts';
import { OpenWorkLedger } from './open-work.ts';
import { applyRecord, Rebuilding } from './rebuilding.ts';
import type { Session } from './session.ts';

export interface ReplayOptions {
  /** The definitions of the slices that have reducers. Slices without, as policies' states are, come from the log alone. */
  readonly slices?: readonly Slice[];
  /** Of a fork: the session that it was forked from, replayed to that record. */
  readonly base?: Session;
  /** Takes the records that follow; it holds the replayed ones already. Default: a memory store that does. */
  readonly store?: SessionStore;
  readonly clock?: Clock;
}

/**
 * Rebuilds a session from its log and goes on after its last record. Runs reducers, never a policy or a tool. What is rebuilt
 * equals what was, as long as reducers are pure: one that is not makes another state, which nothing here can tell.
 *
 * @throws HoldfastError `replay.slice_missing`, `slice.conflict` (a definition is not the recorded one), `replay.record_invalid`
 * with its `seq` in `data`, `replay.base_missing`, `replay.base_foreign`; `slice.value.invalid` for a policy's state that its
 * schema refuses.
 */
export function replay(records: readonly LogRecord[], options: ReplayOptions = {}): Session {
  const { slices = [], base, store = memoryStore(records), clock = systemClock } = options;
  const start = readStart(records[0]);
  const rebuilding = new Rebuilding(slices, statesBefore(start, base), records);
  const openWork = new OpenWorkLedger();
  for (const [index, record] of records.entries()) {
    try {
      if (record.seq !== index) throw new Error(`record ${index} is missing: this one has the number ${record.seq}`);
      applyRecord(record, rebuilding);
      openWork.note(record, record.seq, record.atMs);
    } catch (thrown) {
      if (isHoldfastError(thrown) && passedOn.has(thrown.code)) throw thrown;
      throw invalid(index, `(\`${record.type}\`) cannot be replayed: ${describeThrown(thrown)}`, thrown);
    }
  }
  openWork.interrupt();
  return new LiveSession({
    id: start.sessionId,
    store,
    clock,
    table: rebuilding.finish(),
    seq: records.length,
    openWork,
  });
}

const passedOn: ReadonlySet<string> = new Set(['replay.slice_missing', 'slice.conflict']);

interface Start {
  readonly sessionId: string;
  readonly forkedFrom: { readonly sessionId: Json | undefined; readonly seq: Json | undefined } | undefined;
}

function readStart(record: LogRecord | undefined): Start {
  if (record?.type !== 'session-start')
    throw invalid(0, 'is no `session-start`: a log is replayed from its beginning.');
  const { sessionId, slices, forkedFrom } = record;
  if (typeof sessionId !== 'string' || !Array.isArray(slices)) {
    throw invalid(
      0,
      'does not say which slices there were; an earlier version of this package wrote it, and such logs cannot be replayed.',
    );
  }
  if (forkedFrom === undefined) return { sessionId, forkedFrom };
  if (!isPlainObject(forkedFrom)) throw invalid(0, 'does not say where it was forked from.');
  return { sessionId, forkedFrom: { sessionId: forkedFrom['sessionId'], seq: forkedFrom['seq'] } };
}

function statesBefore(
  { sessionId, forkedFrom }: Start,
  base: Session | undefined,
): ReturnType<Session['snapshot']>['states'] {
  if (forkedFrom === undefined) {
    if (base === undefined) return new Map();
    throw new HoldfastError(
      'replay.base_foreign',
      `The session \`${sessionId}\` is no fork; replay it without \`base\`.`,
    );
  }
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
