import { isPlainObject, type Json, type JsonObject, toCanonicalJson } from '@holdfast/core';

// Comparing each item of a list with each other one takes a million comparisons at this size, and minutes at what a model may send.
const longList = 1000;

/** Whether a value holds a list of more than a thousand items, in itself or anywhere below. */
export function hasLongList(value: unknown): boolean {
  const waiting = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next) && next.length > longList) return true;
    for (const inner of Object.values(next)) if (typeof inner === 'object' && inner !== null) waiting.push(inner);
  }
  return false;
}

/** Whether two items are the same JSON, whatever the order of their keys. Takes time in proportion to the size of the list. */
export function hasEqualItems(list: readonly unknown[]): boolean {
  const met = new Set<unknown>();
  for (const item of list) {
    // What a list of a checked value holds is JSON. No text begins as an object's or list's does here.
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

/** The schema without `uniqueItems`; `undefined` where it says that nowhere. Literals and names are left as they are. */
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
