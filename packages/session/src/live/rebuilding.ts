import { HoldfastError, type Json, type SessionEvent, type Slice } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '../log/log.ts';
import {
  isSameShape,
  parseDeclaration,
  type SliceDeclaration,
  sliceConflict,
  toDataSlice,
} from '../state/declaration.ts';
import { readChange } from '../state/recorded-change.ts';
import { copyEvent, reduceEvent } from '../state/reduce.ts';
import { applyChange, checkOperation, type SliceState } from '../state/slice.ts';
import { SliceTable } from '../state/table.ts';
import { type ReadState, readSlice, setStates } from './export.ts';

type States = ReadonlyMap<string, SliceState>;

/** The state during a replay. */
export class Rebuilding {
  readonly table: SliceTable = new SliceTable();
  /** States that a later `restore` returns to, by record count. They share unchanged parts. */
  readonly kept: Map<number, States> = new Map();
  readonly #definitions: ReadonlyMap<string, Slice>;
  readonly #before: States;
  readonly #targets: ReadonlySet<Json | undefined>;

  constructor(definitions: readonly Slice[], before: States, records: readonly LogRecord[]) {
    const byId = new Map<string, Slice>();
    for (const slice of definitions) {
      if ((byId.get(slice.id) ?? slice) !== slice) throw sliceConflict(slice.id, 'rename one');
      byId.set(slice.id, slice);
    }
    this.#definitions = byId;
    this.#before = before;
    this.#targets = new Set(records.filter(({ type }) => type === 'restore').map(({ toSeq }) => toSeq));
  }

  /** Loads the slices of a snapshot. */
  begin(snapshot: LogRecord): void {
    for (const json of toArray(snapshot['slices'])) {
      this.declare(json);
      const { slice, state } = readSlice(json, this.table, true);
      // As it was produced by reducers or changes.
      if (slice.reducers.size > 0) this.table.setState(slice.id, state);
      else this.table.setData(slice, state);
    }
  }

  /** Keeps the states before record `seq` if a `restore` needs them. */
  keep(seq: number): void {
    if (this.#targets.has(seq)) this.kept.set(seq, this.table.copyStates());
  }

  /** Adds a slice as the log declares it, or adds events to a known one. */
  declare(json: Json): void {
    const declaration = parseDeclaration(json);
    if (declaration === undefined) throw new Error('it declares a slice without id, kind, retention or events');
    const { id, events } = declaration;
    const known = this.table.get(id);
    if (known !== undefined) {
      if (!isSameShape(declaration, known)) throw sliceConflict(id, 'the log declares it twice with different shapes');
      this.#checkEvents(declaration, known);
      for (const type of events) this.table.listen(known, type);
      return;
    }
    const slice = events.length === 0 ? toDataSlice(declaration) : this.#definitionOf(declaration);
    // Only the recorded events: a newer definition may listen to more.
    this.table.add(slice, events);
    const before = this.#before.get(id);
    if (before !== undefined) this.table.setData(slice, before);
  }

  /** Connects every definition to all of its events, and validates states that no reducer produced. */
  finish(): SliceTable {
    const { table } = this;
    for (const slice of table.reducing) {
      const more = [...slice.reducers.keys()].filter((type) => !table.listeningTo(type).includes(slice));
      for (const type of more) table.listen(slice, type);
      // The log must declare this before the first such event.
      if (more.length > 0) table.unnoted.push(slice);
    }
    for (const slice of this.#definitions.values()) table.register(slice);
    return table;
  }

  #definitionOf(declaration: SliceDeclaration): Slice {
    const { id } = declaration;
    const slice = this.#definitions.get(id);
    if (slice === undefined) {
      throw new HoldfastError(
        'replay.failed',
        `Rebuilding the log needs the reducers of slice \`${id}\`; pass its definition in \`slices\`.`,
        { data: { reason: 'slice_missing', id } },
      );
    }
    if (!isSameShape(declaration, slice)) {
      throw sliceConflict(id, 'the log has another kind, retention or initial value');
    }
    this.#checkEvents(declaration, slice);
    return slice;
  }

  #checkEvents({ id, events }: SliceDeclaration, slice: Slice): void {
    const missing = events.find((type) => !slice.reducers.has(type));
    if (missing === undefined) return;
    throw sliceConflict(id, `in the log it handles \`${missing}\`, its definition does not`);
  }
}

/** @throws an error that describes the record's problem. */
export function applyRecord(record: LogRecord, rebuilding: Rebuilding): void {
  const { table } = rebuilding;
  rebuilding.keep(record.seq);
  switch (record.type) {
    case 'session-start':
      if (record.seq > 0) throw new Error('only the first record may be a `session-start`');
      for (const json of toArray(record['slices'])) rebuilding.declare(json);
      return;
    case 'slice':
      rebuilding.declare(record);
      return;
    case 'event':
    case 'feedback':
    case 'tool-call-end':
      // The record of the surrounding call repeats these events.
      if (record['nested'] === true) return;
      for (const json of toArray(record['events'])) applyEvent(json, table);
      for (const json of toArray(record['changes'])) applyRecorded(json, table);
      return;
    case 'restore': {
      const states =
        record['slices'] === undefined
          ? rebuilding.kept.get(Number(record['toSeq']))
          : new Map(readSlices(record, table).map(({ slice, state }) => [slice.id, state]));
      if (states === undefined)
        throw new Error(`it restores ${JSON.stringify(record['toSeq'])}, which is not an earlier record`);
      table.restore(states);
      return;
    }
    case 'reset':
      table.restore(new Map());
      return;
    case 'import':
      setStates(readSlices(record, table), table);
      return;
    default:
    // Other records change no state.
  }
}

function applyEvent(json: Json, table: SliceTable): void {
  if (!isPlainObject(json) || typeof json['type'] !== 'string') throw new Error('it has an event without a type');
  const { type, payload } = json;
  const event = copyEvent({ type, payload } as SessionEvent);
  const slices = table.listeningTo(event.type);
  if (slices.length === 0) throw new Error(`no slice handles \`${event.type}\``);
  for (const slice of slices) table.setState(slice.id, reduceEvent(slice, table.stateOf(slice), event));
}

function applyRecorded(json: Json, table: SliceTable): void {
  const read = readChange(json, table);
  if (read === undefined) throw new Error('it has an invalid change, or one that its slice does not support');
  const { slice, operation } = read;
  // All declared slices without reducers are data slices here, so schemas do not validate items twice.
  table.setData(slice, applyChange(slice, table.stateOf(slice), checkOperation(slice, operation)));
}

function readSlices(record: LogRecord, table: SliceTable): readonly ReadState[] {
  return toArray(record['slices']).map((json) => readSlice(json, table, true));
}

function toArray(json: Json | undefined): readonly Json[] {
  if (json === undefined) return [];
  if (Array.isArray(json)) return json;
  throw new Error('it has no list where one is expected');
}
