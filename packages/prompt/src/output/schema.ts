import type { Json, JsonObject } from '@holdfast/core';
import { deepFreeze, isPlainObject } from '@holdfast/core/internal';
import { resolvePointer } from '@holdfast/schema/internal';

/** True if the keywords of `schema` admit only objects. References resolve against `root`. */
export function describesObject(schema: unknown, root: JsonObject, met: readonly unknown[] = []): boolean {
  // A circular reference constrains nothing.
  if (!isPlainObject(schema) || met.includes(schema)) return false;
  const within = [...met, schema];
  const { type, properties, anyOf, oneOf, allOf, $ref: reference } = schema;
  if (type !== undefined) return type === 'object';
  if (isPlainObject(properties)) return true;
  const inner = (branch: unknown): boolean => describesObject(branch, root, within);
  if (Array.isArray(anyOf)) return anyOf.length > 0 && anyOf.every(inner);
  if (Array.isArray(oneOf)) return oneOf.length > 0 && oneOf.every(inner);
  if (Array.isArray(allOf) && allOf.some(inner)) return true;
  return typeof reference === 'string' && describesObject(resolvePointer(root, reference), root, within);
}

/**
 * The schema of `{ items: [...] }` for the schema of a list: providers take objects only. Definitions move to the root, where
 * references into them find them; other references are written anew.
 */
export function toNativeList(list: JsonObject): JsonObject {
  const { $defs, definitions, description, ...items } = list;
  return deepFreeze({
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: { items: moveNode(items) },
    required: ['items'],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs: moveAll($defs) }),
    ...(definitions === undefined ? {} : { definitions: moveAll(definitions) }),
  });
}

/** Keywords whose value is data, which may look like a schema. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose value is schemas by name. */
const mapKeywords: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas']);

function moveNode(node: Json): Json {
  if (Array.isArray(node)) return node.map(moveNode);
  if (!isPlainObject(node)) return node;
  return mapValues(node as JsonObject, (value, keyword) => {
    if (keyword === '$ref' && typeof value === 'string') return moveReference(value);
    if (dataKeywords.has(keyword)) return value;
    return mapKeywords.has(keyword) ? moveAll(value) : moveNode(value);
  });
}

function moveAll(schemas: Json): Json {
  return isPlainObject(schemas) ? mapValues(schemas as JsonObject, moveNode) : schemas;
}

function moveReference(reference: string): string {
  if (/^#\/(?:\$defs|definitions)\//.test(reference)) return reference;
  return reference.replace(/^#(?=\/|$)/, '#/properties/items');
}

function mapValues(object: JsonObject, map: (value: Json, key: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}
