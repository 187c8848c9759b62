import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';

/**
 * Whether a schema is one of those that most tools have, which need not be looked at any further: an object of texts, numbers, booleans and
 * lists of them, with limits that make sense and defaults that fit. False says nothing.
 */
export function isPlainSchema(schema: JsonObject): boolean {
  const { type, properties, required } = schema;
  if (type !== 'object' || !isPlainObject(properties) || !hasOnly(schema, objectKeys) || !hasTexts(schema))
    return false;
  const open = schema['additionalProperties'];
  if (open !== undefined && typeof open !== 'boolean') return false;
  for (const name of Object.keys(properties)) {
    if (!isPlainProperty(properties[name] as Json)) return false;
  }
  if (required === undefined) return true;
  return isList(required) && required.every((name) => typeof name === 'string' && Object.hasOwn(properties, name));
}

const objectKeys: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'description',
  'title',
]);
const sharedKeys = ['type', 'description', 'title', 'default', 'enum'];
const keysByType: ReadonlyMap<Json | undefined, ReadonlySet<string>> = new Map([
  ['string', new Set([...sharedKeys, 'minLength', 'maxLength'])],
  ['number', new Set([...sharedKeys, 'minimum', 'maximum'])],
  ['integer', new Set([...sharedKeys, 'minimum', 'maximum'])],
  ['boolean', new Set(['type', 'description', 'title', 'default'])],
  ['array', new Set(['type', 'description', 'title', 'items', 'minItems', 'maxItems'])],
]);

function isPlainProperty(property: Json): boolean {
  if (!isPlainObject(property)) return false;
  const schema = property as JsonObject;
  const { type, items } = schema;
  const keys = keysByType.get(type);
  if (keys === undefined || !hasOnly(schema, keys) || !hasTexts(schema)) return false;
  if (!hasRange(schema, 'minimum', 'maximum') || !hasCounts(schema, 'minLength', 'maxLength')) return false;
  if (!hasCounts(schema, 'minItems', 'maxItems')) return false;
  if (type === 'array') return items !== undefined && isPlainProperty(items);
  const choices = schema['enum'];
  if (choices !== undefined && !(isList(choices) && choices.length > 0 && choices.every(isScalar))) return false;
  return schema['default'] === undefined || fits(schema['default'], schema);
}

function hasOnly(schema: JsonObject, keys: ReadonlySet<string>): boolean {
  for (const key of Object.keys(schema)) if (!keys.has(key)) return false;
  return true;
}

function hasTexts({ description, title }: JsonObject): boolean {
  return (
    (description === undefined || typeof description === 'string') && (title === undefined || typeof title === 'string')
  );
}

function hasRange(schema: JsonObject, low: string, high: string): boolean {
  const [least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY] = [schema[low], schema[high]];
  return typeof least === 'number' && typeof most === 'number' && least <= most;
}

function hasCounts(schema: JsonObject, low: string, high: string): boolean {
  const isCount = (value: Json | undefined): boolean =>
    value === undefined || (Number.isInteger(value) && Number(value) >= 0);
  return isCount(schema[low]) && isCount(schema[high]) && hasRange(schema, low, high);
}

function fits(value: Json, schema: JsonObject): boolean {
  const choices = schema['enum'];
  if (choices !== undefined && !(choices as readonly Json[]).includes(value)) return false;
  const [minimum = value, maximum = value] = [schema['minimum'], schema['maximum']];
  const [minLength = 0, maxLength = Number.POSITIVE_INFINITY] = [schema['minLength'], schema['maxLength']];
  switch (schema['type']) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'string':
      // How long other texts are is for the validator to say.
      return (
        typeof value === 'string' &&
        /^[\x20-\x7e]*$/.test(value) &&
        value.length >= Number(minLength) &&
        value.length <= Number(maxLength)
      );
    default:
      if (typeof value !== 'number' || (schema['type'] === 'integer' && !Number.isInteger(value))) return false;
      return value >= Number(minimum) && value <= Number(maximum);
  }
}

function isScalar(value: Json): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
