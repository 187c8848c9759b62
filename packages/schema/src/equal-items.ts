import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject, toCanonicalJson } from '@holdfast/core/internal';

// Pairwise comparison of a list this long takes a million steps; of the longest list a model can send, minutes.
const longList = 1000;

/** True if a value contains, at any depth, a list of more than a thousand items. */
export function hasLongList(value: unknown): boolean {
  const waiting = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next) && next.length > longList) return true;
    for (const inner of Object.values(next)) if (typeof inner === 'object' && inner !== null) waiting.push(inner);
  }
  return false;
}

/** True if two items are the same JSON, ignoring key order. Linear in the size of the list. */
export function hasEqualItems(list: readonly unknown[]): boolean {
  const met = new Set<unknown>();
  for (const item of list) {
    // The items are JSON. The quote keeps a string from equaling an object's or a list's text.
    const key =
      typeof item === 'string'
        ? `'${item}`
        : typeof item === 'object' && item !== null
          ? toCanonicalJson(item as Json)
          : item;
    if (met.has(key)) return true;
    met.add(key);
  }
  return false;
}

/** The schema without `uniqueItems`, or `undefined` if it has none. Literals and property names are left alone. */
export function withoutUniqueItems(schema: JsonObject): JsonObject | undefined {
  let found = false;

  function strip(node: Json, isMap: boolean): Json {
    if (Array.isArray(node)) return node.map((inner) => strip(inner, false));
    if (!isPlainObject(node)) return node;
    const members = Object.entries(node as JsonObject).filter(([key, inner]) => {
      const isUnique = !isMap && key === 'uniqueItems' && inner === true;
      found ||= isUnique;
      return !isUnique;
    });
    return Object.fromEntries(
      members.map(([key, inner]) => [key, !isMap && literals.has(key) ? inner : strip(inner, !isMap && maps.has(key))]),
    );
  }

  const stripped = strip(schema, false) as JsonObject;
  return found ? stripped : undefined;
}

/** Keywords whose values are examples of values, not schemas. */
export const literals: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose values are schemas by name. */
export const maps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
