import { HoldfastError, type Json, type Slice } from '@holdfast/core';
import { hasMask, isPlainObject } from '@holdfast/core/internal';
import type { SliceKind } from '@holdfast/core/types';

/** The declaration of a slice in a log: enough to keep its state without its reducers and schema. JSON. */
export type SliceDeclaration = {
  readonly id: string;
  readonly kind: SliceKind;
  readonly retention: Slice['retention'];
  /** For a value slice. */
  readonly initial?: Json;
  /** Event types of its reducers; empty for a slice that changes without events, such as policies' states. */
  readonly events: readonly string[];
};

export function toDeclaration({ id, kind, retention, initial, reducers }: Slice): SliceDeclaration {
  return { id, kind, retention, ...(initial === undefined ? {} : { initial }), events: [...reducers.keys()] };
}

/** The declaration in `json`, or undefined if invalid. */
export function parseDeclaration(json: unknown): SliceDeclaration | undefined {
  if (!isPlainObject(json)) return undefined;
  const { id, kind, retention, initial, events } = json;
  if (typeof id !== 'string' || (kind !== 'value' && kind !== 'list' && kind !== 'keyed')) return undefined;
  if (retention !== 'state' && retention !== 'log') return undefined;
  if (!Array.isArray(events) || !events.every((type) => typeof type === 'string')) return undefined;
  // The caller has parsed or copied JSON.
  return { id, kind, retention, ...(initial === undefined ? {} : { initial: initial as Json }), events };
}

/** A slice with the declared state; it changes without events and has no schema. */
export function toDataSlice({ id, kind, retention, initial }: SliceDeclaration): Slice {
  return Object.freeze({ id, kind, retention, initial, schema: undefined, reducers: noReducers });
}

/** True if both have the same kind, retention and initial state, apart from masks. */
export function isSameShape(one: SliceDeclaration, other: Slice): boolean {
  return (
    one.kind === other.kind &&
    one.retention === other.retention &&
    (JSON.stringify(one.initial ?? null) === JSON.stringify(other.initial ?? null) || hasMask(one.initial ?? null))
  );
}

export function sliceConflict(id: string, why: string): HoldfastError {
  return new HoldfastError('slice.invalid', `Two different slices have the id \`${id}\`: ${why}.`, {
    data: { reason: 'conflict', id },
  });
}

const noReducers: Slice['reducers'] = new Map();
