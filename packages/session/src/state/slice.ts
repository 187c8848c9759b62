import { HoldfastError, type Json, type Operation, type Slice } from '@holdfast/core';
import { copyJson, isPlainObject } from '@holdfast/core/internal';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { PersistentList } from './persistent-list.ts';
import { PersistentMap } from './persistent-map.ts';

/** The state of one slice: JSON, or a persistent collection of it. */
export type SliceState = Json | PersistentList<Json> | PersistentMap<Json>;

/** An operation as the log keeps it: JSON that its slice has checked, so that applying it needs no definition. */
export type Change =
  | { readonly slice: string; readonly op: 'replace'; readonly value: Json }
  | { readonly slice: string; readonly op: 'append'; readonly items: readonly Json[] }
  | { readonly slice: string; readonly op: 'upsert'; readonly key: string; readonly item: Json }
  | { readonly slice: string; readonly op: 'remove'; readonly key: string }
  | { readonly slice: string; readonly op: 'clear' };

/** What has to be known of a slice to keep its state without its reducers. */
type SliceShape = Pick<Slice, 'id' | 'kind' | 'initial'>;

/** The state as it is given to others: nobody can put something else in front of what a collection holds. */
export function handOut(state: SliceState): SliceState {
  // Here, and not for every version that is made on the way: freezing takes longer than making one.
  if (state instanceof PersistentList || state instanceof PersistentMap) Object.freeze(state);
  return state;
}

/** The state of a slice to which nothing has happened yet. */
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
 * The change that `operation` asks for, every item validated, copied and frozen.
 *
 * @throws HoldfastError `slice.value.invalid` (not JSON, or against the schema), `slice.operation.invalid` (not for this kind).
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

/** The state after `change`; the state given stays as it was. @throws HoldfastError `slice.operation.invalid`. */
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

/** One value, or item of a collection, as the slice may hold it. @throws HoldfastError `slice.value.invalid`. */
export function checkItem(slice: Slice, item: unknown): Json {
  const copied = copyJson(item);
  if (!copied.ok) {
    muteRejection(item);
    throw new HoldfastError('slice.value.invalid', `Slice \`${slice.id}\` holds JSON only: ${copied.problem}.`);
  }
  if (slice.schema === undefined) return copied.value;
  const validation = compileSchema(slice.schema).validate(copied.value);
  if (!validation.ok) {
    throw new HoldfastError('slice.value.invalid', `Slice \`${slice.id}\`: ${describeIssues(validation.issues)}`);
  }
  // What a schema fills in or transforms has to be JSON, too.
  if (validation.value === copied.value) return copied.value;
  const checked = copyJson(validation.value);
  if (checked.ok) return checked.value;
  throw new HoldfastError(
    'slice.value.invalid',
    `The schema of slice \`${slice.id}\` makes what is not JSON: ${checked.problem}.`,
  );
}

/** Whether every item of `state` is one that the slice may hold. @throws HoldfastError `slice.value.invalid`. */
export function checkState(slice: Slice, state: SliceState): void {
  if (state instanceof PersistentList) for (const item of state) checkItem(slice, item);
  else if (state instanceof PersistentMap) for (const [, item] of state) checkItem(slice, item);
  else if (!isInitial(slice, state)) checkItem(slice, state);
}

/** An initial value counts whatever the schema says: it is what a slice has before anybody wrote to it. */
export function isInitial({ initial }: SliceShape, state: Json): boolean {
  return JSON.stringify(state) === JSON.stringify(initial ?? null);
}

/** The rejection of a promise where none belongs, which nobody will hear, must not end the process. */
export function muteRejection(misplaced: unknown): void {
  if (typeof misplaced === 'object' && misplaced !== null) void settled(misplaced);
}

async function settled(misplaced: unknown): Promise<void> {
  try {
    await misplaced;
  } catch {
    // That it is out of place has been said already.
  }
}

function checkWhole(slice: Slice, value: unknown): Json | undefined {
  if (slice.kind === 'value') return checkItem(slice, value);
  if (slice.kind === 'list') return Array.isArray(value) ? value.map((item) => checkItem(slice, item)) : undefined;
  if (!isPlainObject(value)) return undefined;
  // Not by assignment: `__proto__` is a key like any other here.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, checkItem(slice, item)]));
}

function checkKey({ id }: Slice, key: unknown): string {
  if (typeof key === 'string') return key;
  throw new HoldfastError('slice.value.invalid', `The keys of slice \`${id}\` are strings, got ${typeof key}.`);
}

function notForKind({ id, kind }: SliceShape, operation: string): HoldfastError {
  return new HoldfastError('slice.operation.invalid', `\`${operation}\` cannot change the ${kind} slice \`${id}\`.`);
}
