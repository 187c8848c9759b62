import { HoldfastError, type Json, type Operation, type Slice } from '@holdfast/core';
import { copyJson, isPlainObject } from '@holdfast/core/internal';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { PersistentList } from './persistent-list.ts';
import { PersistentMap } from './persistent-map.ts';

/** The state of a slice: JSON, or a persistent collection of JSON. */
export type SliceState = Json | PersistentList<Json> | PersistentMap<Json>;

/** An operation as logged: JSON validated by its slice, so that applying it needs no definition. */
export type Change =
  | { readonly slice: string; readonly op: 'replace'; readonly value: Json }
  | { readonly slice: string; readonly op: 'append'; readonly items: readonly Json[] }
  | { readonly slice: string; readonly op: 'upsert'; readonly key: string; readonly item: Json }
  | { readonly slice: string; readonly op: 'remove'; readonly key: string }
  | { readonly slice: string; readonly op: 'clear' };

/** The part of a slice needed to keep its state without reducers. */
type SliceShape = Pick<Slice, 'id' | 'kind' | 'initial'>;

/** Freezes a state before it is handed out, so that a reader cannot shadow its methods. */
export function handOut(state: SliceState): SliceState {
  // Not in every intermediate version: freezing takes longer than creating one.
  if (state instanceof PersistentList || state instanceof PersistentMap) Object.freeze(state);
  return state;
}

/** The state of a slice without events. */
export function initialState(slice: SliceShape): SliceState {
  switch (slice.kind) {
    case 'value':
      return slice.initial ?? null;
    case 'list':
      return PersistentList.empty();
    case 'keyed':
      return PersistentMap.empty();
  }
}

/**
 * Converts an operation to a change, with every item validated, copied and frozen.
 *
 * @throws HoldfastError `slice.invalid` (not JSON, rejected by the schema, or of the wrong kind).
 */
export function checkOperation(slice: Slice, operation: Operation): Change {
  const { id, kind } = slice;
  switch (operation.op) {
    case 'clear':
      return { slice: id, op: 'clear' };
    case 'append':
      if (kind !== 'list') break;
      return { slice: id, op: 'append', items: operation.items.map((item) => checkItem(slice, item)) };
    case 'upsert':
      if (kind !== 'keyed') break;
      return { slice: id, op: 'upsert', key: checkKey(slice, operation.key), item: checkItem(slice, operation.item) };
    case 'remove':
      if (kind !== 'keyed') break;
      return { slice: id, op: 'remove', key: checkKey(slice, operation.key) };
    case 'replace': {
      const value = checkWhole(slice, operation.value);
      if (value !== undefined) return { slice: id, op: 'replace', value };
      muteRejection(operation.value);
    }
  }
  throw notForKind(slice, operation.op);
}

/** The state after `change`; the given state is not modified. @throws HoldfastError `slice.invalid`. */
export function applyChange(slice: SliceShape, state: SliceState, change: Change): SliceState {
  switch (change.op) {
    case 'clear':
      return initialState(slice);
    case 'append':
      if (!(state instanceof PersistentList)) break;
      return change.items.reduce<PersistentList<Json>>((list, item) => list.append(item), state);
    case 'upsert':
      if (!(state instanceof PersistentMap)) break;
      return state.set(change.key, change.item);
    case 'remove':
      if (!(state instanceof PersistentMap)) break;
      return state.delete(change.key);
    case 'replace':
      if (slice.kind === 'value') return change.value;
      if (slice.kind === 'list' && Array.isArray(change.value)) return toList(change.value);
      if (slice.kind === 'keyed' && typeof change.value === 'object' && change.value !== null) {
        return toMap(Object.entries(change.value));
      }
  }
  throw notForKind(slice, change.op);
}

export function toList(items: Iterable<Json>): PersistentList<Json> {
  let list = PersistentList.empty<Json>();
  for (const item of items) list = list.append(item);
  return list;
}

export function toMap(entries: Iterable<readonly [string, Json]>): PersistentMap<Json> {
  let map = PersistentMap.empty<Json>();
  for (const [key, item] of entries) map = map.set(key, item);
  return map;
}

/** Validates a value or an item of a collection. @throws HoldfastError `slice.invalid`. */
export function checkItem(slice: Slice, item: unknown): Json {
  const copied = copyJson(item);
  if (!copied.ok) {
    muteRejection(item);
    throw new HoldfastError('slice.invalid', `Slice \`${slice.id}\` holds JSON only: ${copied.problem}.`, {
      data: { reason: 'value.invalid' },
    });
  }
  if (slice.schema === undefined) return copied.value;
  const validation = compileSchema(slice.schema).validate(copied.value);
  if (!validation.ok) {
    throw new HoldfastError('slice.invalid', `Slice \`${slice.id}\`: ${describeIssues(validation.issues)}`, {
      data: { reason: 'value.invalid' },
    });
  }
  // Defaults and transforms of a schema must be JSON, too.
  if (validation.value === copied.value) return copied.value;
  const checked = copyJson(validation.value);
  if (checked.ok) return checked.value;
  throw new HoldfastError(
    'slice.invalid',
    `The schema of slice \`${slice.id}\` returned a value that is not JSON: ${checked.problem}.`,
    { data: { reason: 'value.invalid' } },
  );
}

/** Validates every item of `state`. @throws HoldfastError `slice.invalid`. */
export function checkState(slice: Slice, state: SliceState): void {
  if (state instanceof PersistentList) for (const item of state) checkItem(slice, item);
  else if (state instanceof PersistentMap) for (const [, item] of state) checkItem(slice, item);
  else if (!isInitial(slice, state)) checkItem(slice, state);
}

/** True for the initial value, which is valid regardless of the schema. */
export function isInitial({ initial }: SliceShape, state: Json): boolean {
  return JSON.stringify(state) === JSON.stringify(initial ?? null);
}

/** Handles the rejection of a misplaced promise, which would otherwise end the process. */
export function muteRejection(misplaced: unknown): void {
  void Promise.allSettled([misplaced]);
}

function checkWhole(slice: Slice, value: unknown): Json | undefined {
  if (slice.kind === 'value') return checkItem(slice, value);
  if (slice.kind === 'list') return Array.isArray(value) ? value.map((item) => checkItem(slice, item)) : undefined;
  if (!isPlainObject(value)) return undefined;
  // Not by assignment: `__proto__` is an ordinary key here.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, checkItem(slice, item)]));
}

function checkKey({ id }: Slice, key: unknown): string {
  if (typeof key === 'string') return key;
  throw new HoldfastError('slice.invalid', `Keys of slice \`${id}\` must be strings, got ${typeof key}.`, {
    data: { reason: 'value.invalid' },
  });
}

function notForKind({ id, kind }: SliceShape, operation: string): HoldfastError {
  return new HoldfastError('slice.invalid', `\`${operation}\` cannot change the ${kind} slice \`${id}\`.`, {
    data: { reason: 'operation.invalid' },
  });
}
