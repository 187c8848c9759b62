import { HoldfastError, isHoldfastError, type Json, type Slice } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { planSlice } from '@holdfast/planning';
import { visibilitySlice } from '@holdfast/prompt';
import { type LogRecord, replay, type Session, type SessionExport } from '@holdfast/session';
import * as v from 'valibot';

/** Slices whose reducers are part of this program. */
const known: readonly Slice[] = [planSlice, visibilitySlice];

/** A slice whose reducers are not part of this program. */
export interface MissingSlice {
  readonly id: string;
  readonly kind: Slice['kind'];
  readonly retention: Slice['retention'];
  /** Only for a value. */
  readonly initial?: Json | undefined;
  /** The events that change it. */
  readonly events: readonly string[];
}

/** The state rebuilt from a log. */
export interface Replayed {
  readonly session: Session;
  /** Without the missing slices. */
  readonly state: SessionExport;
  readonly missing: readonly MissingSlice[];
}

const declaration: v.GenericSchema<unknown, MissingSlice> = v.object({
  id: v.string(),
  kind: v.picklist(['value', 'list', 'keyed']),
  retention: v.picklist(['state', 'log']),
  initial: v.optional(v.custom<Json>(() => true)),
  events: v.array(v.string()),
});

/**
 * Rebuilds the state after `records`. Runs no tools, policies or models, and only this program's reducers. Slices with other reducers
 * are left out, which does not affect the rest: slices do not see each other.
 *
 * @throws HoldfastError as `replay`, except `replay.failed`.
 */
export function replayLog(records: readonly LogRecord[]): Replayed {
  const declared = [...listReducing(records).values()];
  const present = listKnown(declared);
  const missing = declared.filter(({ id }) => !present.some((slice) => slice.id === id));
  try {
    const session = replay(records, { slices: [...present, ...missing.map(toIdleSlice)] });
    const exported = session.export();
    const left = new Set(missing.map(({ id }) => id));
    return { session, state: { ...exported, slices: exported.slices.filter(({ id }) => !left.has(id)) }, missing };
  } catch (thrown) {
    throw withHint(thrown);
  }
}

/** The slices of `declared` whose reducers are part of this program. */
export function listKnown(declared: readonly MissingSlice[]): readonly Slice[] {
  return known.filter((slice) => declared.some((other) => isSame(slice, other)));
}

/** The event-driven slices of a log, by id. */
export function listReducing(records: readonly LogRecord[]): ReadonlyMap<string, MissingSlice> {
  const slices = new Map<string, MissingSlice>();
  for (const record of records) {
    const declared =
      record.type === 'session-start' || record.type === 'snapshot'
        ? record['slices']
        : record.type === 'slice'
          ? [record]
          : [];
    for (const json of Array.isArray(declared) ? declared : []) {
      const parsed = v.safeParse(declaration, json);
      // `replay` reports an invalid declaration with its position.
      if (!parsed.success || parsed.output.events.length === 0) continue;
      const events = [...(slices.get(parsed.output.id)?.events ?? []), ...parsed.output.events];
      slices.set(parsed.output.id, { ...parsed.output, events: [...new Set(events)] });
    }
  }
  return slices;
}

/** True if this program knows the slice, in this version. */
function isSame(slice: Slice, { id, kind, retention, initial, events }: MissingSlice): boolean {
  return (
    slice.id === id &&
    slice.kind === kind &&
    slice.retention === retention &&
    JSON.stringify(slice.initial) === JSON.stringify(initial) &&
    events.every((type) => slice.reducers.has(type))
  );
}

/** Accepts the events of the slice without changing its state, which is therefore unreliable. */
export function toIdleSlice({ id, kind, retention, initial, events }: MissingSlice): Slice {
  const reducers = new Map(events.map((type) => [type, () => undefined]));
  return Object.freeze({ id, kind, retention, initial, schema: undefined, reducers });
}

function withHint(thrown: unknown): unknown {
  if (!isHoldfastError(thrown) || !isPlainObject(thrown.data)) return thrown;
  const { seq } = thrown.data;
  if (thrown.reason !== 'record' || typeof seq !== 'number' || seq < 1) return thrown;
  const hint = `\`--at ${seq - 1}\` shows the state before this record.`;
  return new HoldfastError(thrown.code, thrown.message, { data: { reason: thrown.reason, seq, hint }, cause: thrown });
}
