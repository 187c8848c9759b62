import type { Json } from '@holdfast/core';
import { isPlainObject, nearestNames } from '@holdfast/core/internal';
import type { LogRecord } from '@holdfast/session';

/** The ids of all calls of a log, including child sessions, in the order of first mention. */
export function listCallIds(records: readonly LogRecord[]): readonly string[] {
  const ids = new Set<string>();
  for (const record of records) collectIds(record, ids);
  return [...ids];
}

function collectIds(record: Readonly<Record<string, Json | undefined>>, ids: Set<string>): void {
  // Depth is bounded: the records are parsed JSON.
  for (
    let inner: unknown = record;
    isPlainObject(inner);
    inner = inner['type'] === 'child-record' ? inner['entry'] : null
  ) {
    const { type, callId, calls, pending } = inner;
    if (typeof callId === 'string') ids.add(callId);
    if (type === 'approval-request' && isPlainObject(pending) && typeof pending['callId'] === 'string')
      ids.add(pending['callId']);
    for (const call of type === 'model-message' && Array.isArray(calls) ? calls : []) {
      if (isPlainObject(call) && typeof call['id'] === 'string') ids.add(call['id']);
    }
  }
}

/** Shortens ids as far as they stay unique. */
export function shortenCallIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const known = new Set(ids);
  const roots = ids.filter((id) => toParent(id, known) === undefined).toSorted();
  const short = new Map(
    roots.map((id, index) => {
      const shared = Math.max(countShared(id, roots[index - 1]), countShared(id, roots[index + 1]));
      return [id, id.length <= keptLength ? id : id.slice(0, Math.max(leastLength, shared + 1)).toWellFormed()];
    }),
  );
  // Shorter ones first: a nested id begins with its parent's.
  for (const id of ids.filter((one) => !short.has(one)).toSorted((one, other) => one.length - other.length)) {
    const parent = toParent(id, known) ?? '';
    short.set(id, `${short.get(parent) ?? parent}${id.slice(parent.length)}`);
  }
  return short;
}

const keptLength = 12;
const leastLength = 8;

/** The ids that `given` can stand for: an exact match, or those that begin with it. The parent's part of a nested id may be shortened. */
export function matchCallId(given: string, ids: readonly string[]): readonly string[] {
  const known = new Set(ids);
  return known.has(given) ? [given] : ids.filter((id) => isMeant(id, given, known));
}

function isMeant(id: string, given: string, known: ReadonlySet<string>): boolean {
  if (id === given) return true;
  const parent = toParent(id, known);
  if (parent === undefined) return id.startsWith(given);
  const slash = given.lastIndexOf('/');
  return slash > 0 && id.slice(parent.length) === given.slice(slash) && isMeant(parent, given.slice(0, slash), known);
}

/** The id of the enclosing call. */
function toParent(id: string, known: ReadonlySet<string>): string | undefined {
  const parent = id.slice(0, Math.max(0, id.lastIndexOf('/')));
  return known.has(parent) ? parent : undefined;
}

/** The ids most similar to `given`, at most three; if none are similar, the last ones. */
export function findNearest(given: string, ids: readonly string[]): readonly string[] {
  const nearest = nearestNames(given, ids);
  return nearest.length > 0 ? nearest : ids.slice(-3);
}

export function quoteIds(ids: readonly string[]): string {
  return ids.map((id) => `\`${id}\``).join(', ');
}

function countShared(one: string, other = ''): number {
  let count = 0;
  while (count < one.length && one[count] === other[count]) count += 1;
  return count;
}
