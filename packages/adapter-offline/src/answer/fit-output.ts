import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { choicesOf, objectAt, resolve, typesOf } from '../words/parameters.ts';
import { stemsOf } from '../words/words.ts';
import { shapeOf } from './report.ts';
import type { Finding } from './results.ts';

/**
 * Builds the object that `schema` describes from a result: properties by name, from the tool's output before its input, and the result's
 * list where the schema has one. Converts and invents nothing. Returns the names of missing properties otherwise.
 */
export function fitOutput(schema: JsonObject, found: Finding | undefined): JsonObject | readonly string[] {
  const root = resolve(schema, schema);
  const properties = Object.entries(objectAt(root, 'properties') ?? {}).map(
    ([name, declared]) => [name, resolve(schema, isPlainObject(declared) ? (declared as JsonObject) : {})] as const,
  );
  const names = properties.map(([name]) => name);
  if (found === undefined) return names;
  const facts = { ...found.arguments, ...(isPlainObject(found.value) ? (found.value as JsonObject) : {}) };
  const lists = properties.filter(([, property]) => typesOf(property).includes('array'));
  const fitted = properties.flatMap(([name, property]) => {
    const rows = lists.length === 1 && lists[0]?.[0] === name ? shapeOf(found.value).rows : undefined;
    const value = [findNamed(facts, name), rows].find((each) => each !== undefined && isOfType(property, each));
    return value === undefined ? [] : [[name, value] as const];
  });
  const required: unknown = root['required'];
  const given = fitted.map(([name]) => name);
  const lacking = names.filter((name) => Array.isArray(required) && required.includes(name) && !given.includes(name));
  // An empty object is not an answer, even if nothing is required.
  if (lacking.length > 0) return lacking;
  return fitted.length === 0 ? names : Object.fromEntries(fitted);
}

/** The value of that name, or of one with the same words: `documentUrl` for `document_url`. */
function findNamed(facts: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(facts, name)) return facts[name];
  const words = stemsOf(name).join(' ');
  return words === '' ? undefined : Object.entries(facts).find(([key]) => stemsOf(key).join(' ') === words)?.[1];
}

/** A rough type check; the caller validates the whole. */
function isOfType(schema: JsonObject, value: Json): boolean {
  const [types, choices] = [typesOf(schema), choicesOf(schema)];
  if (choices.length > 0) return choices.includes(value);
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const isInteger = types.includes('integer') && Number.isInteger(value);
  return types.length === 0 || types.includes(kind) || isInteger;
}
