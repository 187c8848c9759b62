import { checkOptions, type OptionRules } from '../basics/check-options.ts';
import { HoldfastError } from '../basics/errors.ts';
import { deepFreeze, type Json } from '../basics/json.ts';
import { ReadOnlyMap } from '../basics/read-only.ts';
import type { Schema } from '../basics/schema.ts';

const operationBrand: unique symbol = Symbol.for('holdfast.operation');

/** A change to a slice, created by `replace`, `append`, `upsert`, `remove` or `clear`. */
export type Operation =
  | { readonly [operationBrand]: true; readonly op: 'replace'; readonly value: unknown }
  | { readonly [operationBrand]: true; readonly op: 'append'; readonly items: readonly unknown[] }
  | { readonly [operationBrand]: true; readonly op: 'upsert'; readonly key: string; readonly item: unknown }
  | { readonly [operationBrand]: true; readonly op: 'remove'; readonly key: string }
  | { readonly [operationBrand]: true; readonly op: 'clear' };

/** Sets a value slice, or the whole content of a list (an array) or keyed slice (an object). */
export function replace(value: unknown): Operation {
  return { [operationBrand]: true, op: 'replace', value };
}

/** Adds items at the end of a list slice. */
export function append(...items: readonly unknown[]): Operation {
  return { [operationBrand]: true, op: 'append', items };
}

/** Sets one item of a keyed slice. */
export function upsert(key: string, item: unknown): Operation {
  return { [operationBrand]: true, op: 'upsert', key, item };
}

/** Removes one item of a keyed slice; a missing key is not an error. */
export function remove(key: string): Operation {
  return { [operationBrand]: true, op: 'remove', key };
}

/** Returns a slice to its initial value. */
export const clear: Operation = Object.freeze({ [operationBrand]: true as const, op: 'clear' });

/** True if `value` was created by one of the operations above. */
export function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && operationBrand in value;
}

/** An event. Session state changes only through events. */
export interface SessionEvent {
  readonly type: string;
  readonly payload: Json;
}

/** The state of a list slice: persistent, so a reference to it is a snapshot. */
export interface ListState<Item> extends Iterable<Item> {
  readonly size: number;
  /** The item at `index`, negative from the end, `undefined` outside. */
  at(index: number): Item | undefined;
  toArray(): Item[];
}

/** The state of a keyed slice: persistent. Iteration order depends only on the keys, not on when they were set. */
export interface KeyedState<Item> extends Iterable<readonly [string, Item]> {
  readonly size: number;
  get(key: string): Item | undefined;
  has(key: string): boolean;
  toObject(): Record<string, Item>;
}

/** `value`: one JSON value. `list`: items in order. `keyed`: items by string. */
export type SliceKind = 'value' | 'list' | 'keyed';

/** Converts an event to changes. Pure and synchronous; an error fails the call that dispatched the event. */
export interface Reducer<State> {
  // A method, so that a reducer may declare its payload type; the slice's schema checks the result.
  reduce(state: State, payload: Json): Operation | readonly Operation[] | undefined;
}

/** Typed session state, computed from events. */
export interface Slice<State = unknown> {
  readonly id: string;
  readonly kind: SliceKind;
  readonly schema: Schema | undefined;
  readonly initial: Json | undefined;
  readonly reducers: ReadonlyMap<string, Reducer<State>['reduce']>;
  /** `state` rolls back with a failed call; `log` keeps its items. */
  readonly retention: 'state' | 'log';
}

/** The argument of `defineSlice`, besides `kind` and the `initial` of a value slice. */
export interface SliceDefinition<State, Item> {
  /** Matches `^[a-z0-9][a-z0-9._/:-]{0,199}$`. Unique in a session. */
  readonly id: string;
  /** Schema of the value, or of one item of a list or keyed slice. */
  readonly schema?: Schema<Item>;
  /** By event type. */
  readonly reducers: Readonly<Record<string, Reducer<State>['reduce']>>;
  /** Default `state`. */
  readonly retention?: 'state' | 'log';
}

const rules: OptionRules = {
  id: 'text!',
  kind: 'text!',
  schema: 'any',
  initial: 'any',
  reducers: 'object!',
  retention: 'text',
};

const sliceId = /^[a-z0-9][a-z0-9._/:-]{0,199}$/;

/**
 * Declares a slice. `kind` is `value` (needs `initial`), `list` or `keyed`.
 *
 * @throws HoldfastError `slice.invalid` for a bad id, or a value slice without `initial`.
 */
export function defineSlice<Item extends Json>(
  definition: SliceDefinition<Item, Item> & { readonly kind: 'value'; readonly initial: Item },
): Slice<Item>;
export function defineSlice<Item extends Json>(
  definition: SliceDefinition<ListState<Item>, Item> & { readonly kind: 'list' },
): Slice<ListState<Item>>;
export function defineSlice<Item extends Json>(
  definition: SliceDefinition<KeyedState<Item>, Item> & { readonly kind: 'keyed' },
): Slice<KeyedState<Item>>;
export function defineSlice(
  definition: SliceDefinition<never, Json> & { readonly kind: SliceKind; readonly initial?: Json },
): Slice<never> {
  checkOptions('defineSlice', definition, rules);
  const { id, kind, schema, initial, reducers, retention = 'state' } = definition;
  for (const [type, reduce] of Object.entries<unknown>(reducers)) {
    if (typeof reduce === 'function') continue;
    throw new HoldfastError('slice.invalid', `The reducer \`${type}\` of the slice \`${id}\` must be a function.`, {
      data: { id },
    });
  }
  if (!['value', 'list', 'keyed'].includes(kind)) {
    throw new HoldfastError('slice.invalid', `\`kind\` of the slice \`${id}\` must be value, list or keyed.`, {
      data: { id },
    });
  }
  if (!sliceId.test(id)) {
    throw new HoldfastError('slice.invalid', `The slice id \`${id}\` must match ${sliceId.source}.`, { data: { id } });
  }
  if (kind === 'value' && initial === undefined) {
    throw new HoldfastError('slice.invalid', `The value slice \`${id}\` needs \`initial\`.`, { data: { id } });
  }
  return Object.freeze({
    id,
    kind,
    schema,
    initial: initial === undefined ? undefined : deepFreeze(structuredClone(initial)),
    reducers: new ReadOnlyMap(Object.entries(reducers)),
    retention,
  });
}

/** Reads session state. */
export interface SessionReader {
  read<State>(slice: Slice<State>): State;
}
