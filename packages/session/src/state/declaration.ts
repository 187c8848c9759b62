import { HoldfastError, type Json, type Slice, type SliceKind } from '@holdfast/core';
import { hasMask, isPlainObject } from '@holdfast/core/internal';

/** What a log says of a slice: enough to keep its state, all but what its reducers and its schema do. JSON. */
export type SliceDeclaration = {
  readonly id: string;
  readonly kind: SliceKind;
  readonly retention: Slice['retention'];
  /** Of a value slice. */
  readonly initial?: Json;
  /** Types of events that its reducers listen to; empty for a slice that changes without events, as policies' states do. */
  readonly events: readonly string[];
};

export function toDeclaration({ id, kind, retention, initial, reducers }: Slice): SliceDeclaration {
  return { id, kind, retention, ...(initial === undefined ? {} : { initial }), events: [...reducers.keys()] };
}

/** The declaration in `json`, or undefined when it is none. */
export function parseDeclaration(json: unknown): SliceDeclaration | undefined {
  if (!isPlainObject(json)) return undefined;
  const { id, kind, retention, initial, events } = json;
  if (typeof id !== 'string' || (kind !== 'value' && kind !== 'list' && kind !== 'keyed')) return undefined;
  if (retention !== 'state' && retention !== 'log') return undefined;
  if (!Array.isArray(events) || !events.every((type) => typeof type === 'string')) return undefined;
  // Whoever calls this has parsed or copied JSON.
  return { id, kind, retention, ...(initial === undefined ? {} : { initial: initial as Json }), events };
}

/** A slice that holds what was declared; it changes without events and no schema checks it. */
export function toDataSlice({ id, kind, retention, initial }: SliceDeclaration): Slice {
  return Object.freeze({ id, kind, retention, initial, schema: undefined, reducers: noReducers });
}

/** Whether both begin with the same state, as far as masks let that be seen, and keep it in the same way. */
export function isSameShape(one: SliceDeclaration, other: Slice): boolean {
  return (
    one.kind === other.kind &&
    one.retention === other.retention &&
    (JSON.stringify(one.initial ?? null) === JSON.stringify(other.initial ?? null) || hasMask(one.initial ?? null))
  );
}

export function sliceConflict(id: string, why: string): HoldfastError {
  return new HoldfastError('slice.conflict', `Two different slices have the id \`${id}\`: ${why}.`, { data: { id } });
}

const noReducers: Slice['reducers'] = new Map();
