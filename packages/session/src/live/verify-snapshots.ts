import type { Json, Slice } from '@holdfast/core';
import { hasMask, isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '../log/log.ts';
import { parseDeclaration, type SliceDeclaration } from '../state/declaration.ts';
import { toExportedSlice } from './export.ts';
import { type Rebuilt, type ReplayOptions, rebuild } from './replay.ts';

export interface SnapshotVerification {
  /** Number of snapshots compared with the records before them. */
  readonly compared: number;
  /** Slices that were not compared because their reducers were not passed. Sorted. */
  readonly unchecked: readonly string[];
  /** The first snapshot that differs. */
  readonly problem?: SnapshotProblem;
}

export interface SnapshotProblem {
  readonly code: 'log.damaged';
  readonly reason: 'snapshot';
  /** Of the snapshot record. */
  readonly seq: number;
  /** The slice that differs, if the difference is in a slice. */
  readonly slice?: string;
  readonly message: string;
}

/**
 * Compares each snapshot of a log with the state rebuilt from the records before it. A difference means that the snapshot and all
 * links after it were forged, or that a reducer is impure. If the first record is a snapshot, the next one is compared with it; the
 * same holds for the first snapshot of a fork without `base`. Slices without reducers, such as policies' states, need no definition.
 *
 * @throws HoldfastError as `replay`, except `replay.failed`.
 */
export function verifySnapshots(
  records: readonly LogRecord[],
  { slices = [], base }: Pick<ReplayOptions, 'slices' | 'base'> = {},
): SnapshotVerification {
  const known = new Set(slices.map(({ id }) => id));
  const idle = listReducing(records).filter(({ id }) => !known.has(id));
  const unchecked = new Set(idle.map(({ id }) => id));
  let compared = 0;
  let problem: SnapshotProblem | undefined;
  const isWhole = records[0]?.['forkedFrom'] === undefined || base !== undefined;
  const from = isWhole ? 0 : records.findIndex(({ type }) => type === 'snapshot');
  rebuild(
    records.slice(Math.max(0, from)),
    { slices: [...slices, ...idle.map(toIdleSlice)], ...(base && { base }) },
    (record, before) => {
      if (record.type !== 'snapshot' || record.seq === before.start.seq) return;
      compared += 1;
      problem ??= compare(record, before, unchecked);
    },
  );
  return { compared, unchecked: [...unchecked].sort(), ...(problem && { problem }) };
}

/** Slices that change by events, as declared in the log. */
function listReducing(records: readonly LogRecord[]): readonly SliceDeclaration[] {
  const byId = new Map<string, SliceDeclaration>();
  for (const record of records) {
    for (const json of declaredIn(record)) {
      const declaration = parseDeclaration(json);
      // Replay reports invalid declarations.
      if (declaration === undefined || declaration.events.length === 0) continue;
      const events = [...(byId.get(declaration.id)?.events ?? []), ...declaration.events];
      byId.set(declaration.id, { ...declaration, events: [...new Set(events)] });
    }
  }
  return [...byId.values()];
}

function declaredIn(record: LogRecord): readonly unknown[] {
  if (record.type === 'slice') return [record];
  const declares = record.type === 'session-start' || record.type === 'snapshot';
  return declares && Array.isArray(record['slices']) ? record['slices'] : [];
}

/** A slice that handles the declared events without effect. */
function toIdleSlice({ events, ...declaration }: SliceDeclaration): Slice {
  const reducers = new Map(events.map((type) => [type, () => undefined]));
  return Object.freeze({ initial: undefined, ...declaration, schema: undefined, reducers });
}

function compare(record: LogRecord, before: Rebuilt, unchecked: ReadonlySet<string>): SnapshotProblem | undefined {
  const { seq, sessionId, forkedFrom, slices, open } = record;
  const { start, rebuilding, openWork } = before;
  const differs = (what: string, slice?: string): SnapshotProblem => ({
    code: 'log.damaged',
    reason: 'snapshot',
    seq,
    ...(slice !== undefined && { slice }),
    message: `The snapshot ${seq} differs from the records before it: ${what}. It was changed afterwards, or a reducer is not pure.`,
  });
  if (!isSame([sessionId, forkedFrom], [start.sessionId, start.forkedFrom]))
    return differs('it belongs to another session');
  const recorded = new Map((Array.isArray(slices) ? slices : []).map((slice) => [idOf(slice), slice]));
  for (const slice of rebuilding.table.slices) {
    const found = recorded.get(slice.id);
    recorded.delete(slice.id);
    if (unchecked.has(slice.id)) continue;
    if (!isPlainObject(found)) return differs(`the slice \`${slice.id}\` is missing`, slice.id);
    const { state } = toExportedSlice(slice, rebuilding.table.stateOf(slice));
    if (!isSame([found['kind'], found['retention'], found['state']], [slice.kind, slice.retention, state]))
      return differs(`the state of \`${slice.id}\` differs`, slice.id);
  }
  const [more] = recorded.keys();
  if (more !== undefined) return differs(`the slice \`${more}\` is unexpected`, more);
  if (!isSame(withoutEnds(open), withoutEnds(openWork.toJson()))) return differs('the open work differs');
  return undefined;
}

function idOf(json: unknown): string {
  return isPlainObject(json) ? String(json['id']) : '';
}

/** Without the interruption marks, which are set on opening the log and not recorded. */
function withoutEnds(open: Json | undefined): unknown {
  return JSON.parse(JSON.stringify(open ?? null), (key, value: unknown) => (key === 'interrupted' ? undefined : value));
}

/** Both come from the same code, so their keys have the same order. */
function isSame(held: unknown, made: unknown): boolean {
  return JSON.stringify(held) === JSON.stringify(made) || matches(held, made);
}

/** True if they differ only by masks: a secret learned later is masked in a snapshot, but not in older records. */
function matches(held: unknown, made: unknown): boolean {
  if (typeof held === 'string') return held === made || hasMask(held);
  if (Array.isArray(held)) {
    return (
      Array.isArray(made) && held.length === made.length && held.every((item, index) => matches(item, made[index]))
    );
  }
  if (!isPlainObject(held) || !isPlainObject(made)) return held === made;
  return matches(Object.entries(held), Object.entries(made));
}
