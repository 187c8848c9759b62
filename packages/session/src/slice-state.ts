import { copyJson, HoldfastError, type Json, type Operation, type Slice } from '@holdfast/core';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { PersistentList } from './persistent-list.ts';
import { PersistentMap } from './persistent-map.ts';

/** The state of one slice: JSON, or a persistent collection of it. */
export type SliceState = Json | PersistentList<Json> | PersistentMap<Json>;

/** The state of a slice to which nothing has happened yet. */
export function initialState(slice: Slice): SliceState {
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
 * The state after `operation`. Every item is validated, copied and frozen; the state given stays as it was.
 *
 * @throws HoldfastError `slice.value.invalid` (not JSON, or against the schema), `slice.operation.invalid` (not for this kind).
 */
export function applyOperation(slice: Slice, state: SliceState, operation: Operation): SliceState {
  if (operation.op === 'clear') return initialState(slice);
  if (slice.kind === 'value' && operation.op === 'replace') return checkItem(slice, operation.value);
  if (state instanceof PersistentList) {
    if (operation.op === 'append') {
      return operation.items.reduce<PersistentList<Json>>((list, item) => list.append(checkItem(slice, item)), state);
    }
    if (operation.op === 'replace' && Array.isArray(operation.value)) {
      return operation.value.reduce<PersistentList<Json>>(
        (list, item) => list.append(checkItem(slice, item)),
        PersistentList.empty(),
      );
    }
  }
  if (state instanceof PersistentMap) {
    if (operation.op === 'upsert') return state.set(operation.key, checkItem(slice, operation.item));
    if (operation.op === 'remove') return state.delete(operation.key);
    if (operation.op === 'replace' && typeof operation.value === 'object' && operation.value !== null) {
      return Object.entries(operation.value).reduce<PersistentMap<Json>>(
        (map, [key, item]) => map.set(key, checkItem(slice, item)),
        PersistentMap.empty(),
      );
    }
  }
  throw new HoldfastError(
    'slice.operation.invalid',
    `\`${operation.op}\` cannot change the ${slice.kind} slice \`${slice.id}\`.`,
  );
}

function checkItem(slice: Slice, item: unknown): Json {
  const copied = copyJson(item);
  if (!copied.ok) {
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
