import { append, type Json, type Operation, remove, replace, type SessionEvent, upsert } from '@holdfast/core';
import { copyJson, isPlainObject } from '@holdfast/core/internal';
import type { LogEntry } from '../log/log.ts';
import { isEntry, isList, type Own, type OwnFields, ownFields } from './fields.ts';

/** Returns `json` with masks, or `json` itself if it has no secrets. */
type Redact = (json: Json) => Json;

/** A record, or an event for observers, which may have undefined fields. */
interface Typed {
  readonly type: string;
}

/** Masks all content of `entry`; Holdfast's own fields stay. Returns the same object if nothing is secret. */
export function maskRecord<Entry extends Typed>(entry: Entry, redact: Redact): Entry {
  const content: Json[] = [];
  visitRecord(entry as unknown as LogEntry, (json) => {
    content.push(json);
    return json;
  });
  const masked = maskList(content, redact);
  let next = 0;
  // Has the same fields, with masks in the place of texts.
  return visitRecord(entry as unknown as LogEntry, () => masked[next++] as Json) as unknown as Entry;
}

/** Masks all at once, so that a secret found in one piece is masked in the others. The leading null keeps the list from looking like pairs. */
function maskList(list: readonly Json[], redact: Redact): readonly Json[] {
  const masked = redact([null, ...list]);
  return Array.isArray(masked) ? masked.slice(1) : list;
}

/** The event as slices see it. */
export function maskEvent(event: SessionEvent, redact: Redact): SessionEvent {
  const { events } = maskRecord({ type: 'event', events: [event] }, redact);
  return events[0] ?? event;
}

/** The operation as a policy's slice sees it. Non-JSON values stay, so that the slice rejects them. */
export function maskOperation(operation: Operation, redact: Redact): Operation {
  const mask = (value: unknown): Json | undefined => {
    const copied = copyJson(value);
    if (!copied.ok) return undefined;
    return maskList([copied.value], redact)[0];
  };
  switch (operation.op) {
    case 'clear':
      return operation;
    case 'replace': {
      const value = mask(operation.value);
      return value === undefined ? operation : replace(value);
    }
    case 'append': {
      const items = operation.items.map((item) => mask(item) ?? item);
      return append(...items);
    }
    case 'upsert': {
      const key = mask(operation.key);
      const item = mask(operation.item);
      return typeof key !== 'string' || item === undefined ? operation : upsert(key, item);
    }
    case 'remove': {
      const key = mask(operation.key);
      return typeof key === 'string' ? remove(key) : operation;
    }
  }
}

/** An export with masks. Invalid data stays, so that `import` rejects it. */
export function maskExport<Data>(data: Data, redact: Redact): Data {
  const copied = copyJson(data, { maxDepth: 70 });
  if (!copied.ok || !isPlainObject(copied.value)) return data;
  const { slices } = copied.value;
  if (!Array.isArray(slices)) return data;
  // Has the same fields, with masks in the place of texts.
  return { ...copied.value, slices: maskRecord({ type: 'import', slices }, redact).slices } as Data;
}

/** Called for each piece of content; returns its replacement. */
type Visit = (json: Json) => Json;

function visitRecord(entry: LogEntry, visit: Visit): LogEntry {
  const own = ownFields.get(entry.type);
  // In foreign records field names are content, too.
  if (own === undefined) {
    const { type, ...content } = entry;
    const visited = visit(content);
    if (visited === content || !isPlainObject(visited)) return entry;
    // The type comes first, as everywhere, and is not masked.
    return Object.assign({ type }, visited as typeof content, { type });
  }
  return visitFields(entry, { ...own, type: true }, visit) as LogEntry;
}

function visitFields(object: { readonly [field: string]: Json }, own: OwnFields, visit: Visit): Json {
  let copy: Record<string, Json> | undefined;
  for (const field of Object.keys(object)) {
    const value = object[field];
    if (value === undefined) continue;
    const visited = Object.hasOwn(own, field) ? visitOwn(value, own[field] as Own, visit) : visit(value);
    if (visited === value) continue;
    copy ??= { ...object };
    copy[field] = visited;
  }
  return copy ?? object;
}

function visitOwn(json: Json, own: Own, visit: Visit): Json {
  if (own === true || own === 'name' || own === 'digest') return json;
  if (own === 'code' || own === 'text' || own === 'json' || own === 'object') return visit(json);
  if (own === 'state') return visitState(json, visit);
  if (own === 'record') return isEntry(json) ? visitRecord(json, visit) : visit(json);
  if (!isList(own))
    return isPlainObject(json) ? visitFields(json as { readonly [field: string]: Json }, own, visit) : visit(json);
  if (!Array.isArray(json)) return visit(json);
  return visitItems(json, (item) => visitOwn(item, own[0], visit));
}

/** Items of a keyed slice are pairs, whose keys are not names of secrets: they may be names of tools. */
function visitState(json: Json, visit: Visit): Json {
  if (!Array.isArray(json) || !json.every((item) => Array.isArray(item) && item.length === 2)) return visit(json);
  return visitItems(json, (pair) => (Array.isArray(pair) ? visitItems(pair, visit) : visit(pair)));
}

function visitItems(list: readonly Json[], each: Visit): Json {
  let copy: Json[] | undefined;
  for (const [index, item] of list.entries()) {
    const visited = each(item);
    if (visited === item) continue;
    copy ??= [...list];
    copy[index] = visited;
  }
  return copy ?? list;
}
