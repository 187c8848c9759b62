import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';

const schemaKeywords: ReadonlySet<string> = new Set([
  'additionalProperties',
  'unevaluatedProperties',
  'items',
  'not',
  'contains',
]);
const schemaListKeywords: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'prefixItems']);
const schemaMapKeywords: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

/** Keywords that can declare keys which an `additionalProperties` beside them would reject. */
const composing = ['allOf', 'anyOf', 'oneOf', '$ref', 'if', 'dependentSchemas', 'dependencies'];

/**
 * A copy of a JSON Schema with `additionalProperties: false` on every object schema that does not set it. Branches of
 * `allOf` and conditional schemas stay open: closing them would reject the keys of the other branches.
 */
export function closeObjects(schema: JsonObject): JsonObject {
  const copy: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$schema') continue;
    if (schemaKeywords.has(key) && isPlainObject(value)) copy[key] = closeObjects(value as JsonObject);
    else if (schemaListKeywords.has(key) && Array.isArray(value)) copy[key] = value.map(closeNested);
    else if (schemaMapKeywords.has(key) && isPlainObject(value)) {
      copy[key] = Object.fromEntries(Object.entries(value).map(([name, node]) => [name, closeNested(node as Json)]));
    } else copy[key] = copyPlain(value);
  }
  const composed = composing.some((keyword) => Object.hasOwn(schema, keyword));
  const isObject = schema['type'] === 'object' || isPlainObject(schema['properties']);
  if (
    isObject &&
    !composed &&
    schema['additionalProperties'] === undefined &&
    schema['unevaluatedProperties'] === undefined
  ) {
    copy['additionalProperties'] = false;
  }
  return copy;
}

/** The result is frozen; a default that is an object still belongs to the host. */
function copyPlain(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(copyPlain);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyPlain(inner as Json)]));
}

function closeNested(node: Json): Json {
  return isPlainObject(node) ? closeObjects(node as JsonObject) : node;
}
