import {
  HoldfastError,
  type Json,
  type KeyedState,
  type ListState,
  type Operation,
  type Policy,
  remove,
  replace,
  upsert,
} from '@holdfast/core';
import { isOperation, isPlainObject } from '@holdfast/core/internal';

/*
 * The state of a combinator is one keyed collection of its parts' states, keyed by their ids, which contain no `/`: a value under
 * `<id>`; a list's length under `<id>` and its items under `<id>/<index>`; keyed items under `<id>/<key>`.
 */

/** The state of `part`, as if it stood alone. */
export function readPartState(part: Policy, whole: KeyedState<Json>): unknown {
  switch (part.state?.kind) {
    case undefined:
      return undefined;
    case 'value':
      return whole.has(part.id) ? whole.get(part.id) : part.state.initial;
    case 'list':
      return readList(part.id, whole);
    case 'keyed':
      return new KeyedPart(part.id, whole);
  }
}

/**
 * Translates `update`, the result of a part's `onResult`, to operations on the whole state.
 *
 * @throws HoldfastError `slice.invalid` if it does not fit the kind of the part's state.
 */
export function toWholeOperations(part: Policy, update: unknown, whole: KeyedState<Json>): readonly Operation[] {
  if (update === undefined) return [];
  const operations = toOperations(part, update);
  // The last `clear` or `replace` overrides everything before it.
  const last = operations.findLastIndex(({ op }) => op === 'clear' || op === 'replace');
  const relevant = operations.slice(Math.max(0, last));
  switch (part.state?.kind) {
    case undefined:
      return misfit(part, '`undefined`');
    case 'value':
      return relevant.map((operation) => writeValue(part, operation));
    case 'list':
      return writeList(part, relevant, readList(part.id, whole).size);
    case 'keyed':
      return relevant.flatMap((operation) => writeKeyed(part, operation, new KeyedPart(part.id, whole)));
  }
}

/**
 * `toWholeOperations` for a part's `reserve`.
 *
 * @throws HoldfastError `slice.invalid` also for operations that would undo those of other calls.
 */
export function toReservedOperations(part: Policy, update: unknown, whole: KeyedState<Json>): readonly Operation[] {
  if (update === undefined) return [];
  const operations = toOperations(part, update);
  if (operations.every(({ op }) => op === 'upsert' || op === 'remove')) {
    return toWholeOperations(part, operations, whole);
  }
  return misfit(part, 'only `upsert` and `remove` from `reserve`');
}

function readList(id: string, whole: KeyedState<Json>): ListState<Json> {
  const size = Number(whole.get(id) ?? 0);
  const at = (index: number): Json | undefined => whole.get(`${id}/${index < 0 ? size + index : index}`);
  function* items(): Generator<Json> {
    for (let index = 0; index < size; index += 1) yield at(index) ?? null;
  }
  return { size, at, toArray: () => [...items()], [Symbol.iterator]: items };
}

class KeyedPart implements KeyedState<Json> {
  readonly #prefix: string;
  readonly #whole: KeyedState<Json>;

  constructor(id: string, whole: KeyedState<Json>) {
    this.#prefix = `${id}/`;
    this.#whole = whole;
  }

  get size(): number {
    return [...this].length;
  }

  get(key: string): Json | undefined {
    return this.#whole.get(this.#prefix + key);
  }

  has(key: string): boolean {
    return this.#whole.has(this.#prefix + key);
  }

  toObject(): Record<string, Json> {
    return Object.fromEntries(this);
  }

  *[Symbol.iterator](): Generator<readonly [string, Json]> {
    for (const [key, item] of this.#whole)
      if (key.startsWith(this.#prefix)) yield [key.slice(this.#prefix.length), item];
  }
}

function toOperations(part: Policy, update: unknown): readonly Operation[] {
  if (isOperation(update)) return [update];
  const isValue = part.state?.kind === 'value';
  // For a value state an empty array is a value, otherwise an empty list of operations.
  if (Array.isArray(update) && update.every(isOperation) && !(isValue && update.length === 0)) return update;
  return isValue ? [replace(update)] : misfit(part, 'operations');
}

function writeValue(part: Policy, operation: Operation): Operation {
  switch (operation.op) {
    case 'replace':
      return upsert(part.id, operation.value);
    case 'clear':
      return remove(part.id);
    case 'append':
    case 'upsert':
    case 'remove':
      return misfit(part, 'a value, `replace` or `clear`');
  }
}

function writeList(part: Policy, operations: readonly Operation[], currentSize: number): readonly Operation[] {
  const written: Operation[] = [];
  let size = currentSize;
  const addAll = (items: readonly unknown[]): void => {
    for (const item of items) {
      written.push(upsert(`${part.id}/${size}`, item));
      size += 1;
    }
  };
  const removeAll = (): void => {
    for (; size > 0; size -= 1) written.push(remove(`${part.id}/${size - 1}`));
  };
  for (const operation of operations) {
    switch (operation.op) {
      case 'append':
        addAll(operation.items);
        break;
      case 'clear':
        removeAll();
        break;
      case 'replace':
        removeAll();
        addAll(Array.isArray(operation.value) ? operation.value : misfit(part, 'a list to `replace` its list'));
        break;
      case 'upsert':
      case 'remove':
        misfit(part, '`append`, `replace` or `clear`');
    }
  }
  return [...written, upsert(part.id, size)];
}

function writeKeyed(part: Policy, operation: Operation, current: KeyedState<Json>): readonly Operation[] {
  const under = (key: string): string => `${part.id}/${key}`;
  const removeAll = (): Operation[] => [...current].map(([key]) => remove(under(key)));
  switch (operation.op) {
    case 'upsert':
      return [upsert(under(operation.key), operation.item)];
    case 'remove':
      return [remove(under(operation.key))];
    case 'clear':
      return removeAll();
    case 'replace': {
      const { value } = operation;
      if (!isPlainObject(value)) return misfit(part, 'an object to `replace` its items');
      return [...removeAll(), ...Object.entries(value).map(([key, item]) => upsert(under(key), item))];
    }
    case 'append':
      return misfit(part, '`upsert`, `remove`, `replace` or `clear`');
  }
}

function misfit(part: Policy, expected: string): never {
  throw new HoldfastError(
    'slice.invalid',
    `The policy \`${part.id}\` must return ${expected}, because of the kind of its state.`,
    { data: { reason: 'operation.invalid', policy: part.id } },
  );
}
