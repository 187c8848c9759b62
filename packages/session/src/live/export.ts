import { HoldfastError, type Json, type Slice } from '@holdfast/core';
import { copyJson, isPlainObject } from '@holdfast/core/internal';
import {
  parseDeclaration,
  type SliceDeclaration,
  sliceConflict,
  toDataSlice,
  toDeclaration,
} from '../state/declaration.ts';
import { PersistentList } from '../state/persistent-list.ts';
import { PersistentMap } from '../state/persistent-map.ts';
import { checkItem, initialState, isInitial, type SliceState, toList, toMap } from '../state/slice.ts';
import { grantsId, type SliceTable } from '../state/table.ts';

/** A slice with its state: a value, the items of a list, or the `[key, item]` pairs of a keyed slice. */
export type ExportedSlice = SliceDeclaration & { readonly state: Json };

/** The state of a session as JSON. */
export type SessionExport = {
  readonly format: 1;
  /** The source session, and its number of records. */
  readonly sessionId: string;
  readonly seq: number;
  /** Sorted by id. */
  readonly slices: readonly ExportedSlice[];
};

/** A validated state of `slice`. */
export interface ReadState {
  readonly slice: Slice;
  readonly state: SliceState;
}

// A state may be 64 levels deep, plus the levels of `slices`, the entry, `state` and a pair.
const maxDepth = 70;

export function toExport(table: SliceTable, sessionId: string, seq: number): SessionExport {
  const slices = table.slices
    .map((slice) => toExportedSlice(slice, table.stateOf(slice)))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return { format: 1, sessionId, seq, slices };
}

/** Validates `data`; `apply` then cannot fail, and `slices` goes into the log. */
export function readExport(
  data: unknown,
  table: SliceTable,
): { readonly slices: readonly ExportedSlice[]; readonly apply: () => void } {
  const copied = copyJson(data, { maxDepth });
  if (!copied.ok) throw invalid(`it is not JSON, or nested too deeply: ${copied.problem}`);
  const { value } = copied;
  if (!isPlainObject(value) || value['format'] !== 1 || !Array.isArray(value['slices'])) {
    throw invalid('it has no `format` 1 and `slices`');
  }
  const { sessionId = '', seq = 0 } = value;
  if (typeof sessionId !== 'string' || !Number.isSafeInteger(seq)) {
    throw invalid('its `sessionId` is not a string, or its `seq` not an integer');
  }
  const states = new Map<string, ReadState>();
  for (const json of value['slices']) {
    const read = readSlice(json, table);
    // Grants hold only for the session in which they were given; the export only reports them.
    if (read.slice.id === grantsId) continue;
    if (states.has(read.slice.id)) throw invalid(`it has the slice \`${read.slice.id}\` twice`);
    states.set(read.slice.id, read);
  }
  for (const slice of table.slices) {
    if (!states.has(slice.id) && slice.id !== grantsId) states.set(slice.id, { slice, state: initialState(slice) });
  }
  return {
    slices: [...states.values()].map(({ slice, state }) => toExportedSlice(slice, state)),
    apply: () => setStates(states.values(), table),
  };
}

/** Replaces states; adds slices that are new. */
export function setStates(states: Iterable<ReadState>, table: SliceTable): void {
  for (const { slice, state } of states) {
    if (table.get(slice.id) === undefined) table.add(slice, []);
    table.setData(slice, state);
  }
}

/**
 * `trusted`: already passed the schema, which may reject its own output.
 * @throws HoldfastError `session.invalid`, `slice.invalid`.
 */
export function readSlice(json: Json, table: SliceTable, trusted = false): ReadState {
  const declaration = parseDeclaration(json);
  if (declaration === undefined || !isPlainObject(json))
    throw invalid('one of its slices has no id, kind, retention or events');
  const { id } = declaration;
  const known = table.get(id);
  if (known === undefined && declaration.events.length > 0) {
    throw new HoldfastError(
      'slice.invalid',
      `The slice \`${id}\` changes by events, but its definition is missing; pass it to \`createSession\`.`,
      { data: { reason: 'unknown', id } },
    );
  }
  if (known !== undefined && (known.kind !== declaration.kind || known.retention !== declaration.retention)) {
    throw sliceConflict(id, 'they differ in kind or retention');
  }
  const slice = known ?? toDataSlice(declaration);
  const state = readState(trusted ? { ...slice, schema: undefined } : slice, json['state']);
  if (state === undefined) throw invalid(`the state of \`${id}\` does not fit a ${slice.kind} slice`);
  return { slice, state };
}

function readState(slice: Slice, json: unknown): SliceState | undefined {
  switch (slice.kind) {
    case 'value':
      if (json === undefined) return undefined;
      // Already copied with the whole data.
      return isInitial(slice, json as Json) ? initialState(slice) : checkItem(slice, json);
    case 'list':
      return Array.isArray(json) ? toList(json.map((item) => checkItem(slice, item))) : undefined;
    case 'keyed': {
      if (!Array.isArray(json) || !json.every(isPair)) return undefined;
      const map = toMap(json.map(([key, item]) => [key, checkItem(slice, item)]));
      return map.size === json.length ? map : undefined;
    }
  }
}

function isPair(json: unknown): json is readonly [string, Json] {
  return Array.isArray(json) && json.length === 2 && typeof json[0] === 'string';
}

export function toExportedSlice(slice: Slice, state: SliceState): ExportedSlice {
  return { ...toDeclaration(slice), state: toJson(state) };
}

function toJson(state: SliceState): Json {
  if (state instanceof PersistentList) return state.toArray();
  if (state instanceof PersistentMap) return [...state].map(([key, item]) => [key, item]);
  return state;
}

function invalid(why: string): HoldfastError {
  return new HoldfastError('session.invalid', `Cannot import: the data is not a session export: ${why}.`, {
    data: { reason: 'import' },
  });
}
