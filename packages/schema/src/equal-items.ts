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

/** A copy of a schema with keywords changed, or left out if `change` returns `undefined`. Literals and property names stay. */
export function mapKeywords(
  node: Json,
  change: (keyword: string, value: Json) => Json | undefined,
  isMap = false,
): Json {
  if (Array.isArray(node)) return node.map((inner) => mapKeywords(inner, change));
  if (!isPlainObject(node)) return node;
  return Object.fromEntries(
    Object.entries(node as JsonObject).flatMap(([key, value]) => {
      const changed = isMap ? value : change(key, value);
      if (changed === undefined) return [];
      const isLiteral = !isMap && literals.has(key);
      return [[key, isLiteral ? changed : mapKeywords(changed, change, !isMap && maps.has(key))]];
    }),
  );
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
