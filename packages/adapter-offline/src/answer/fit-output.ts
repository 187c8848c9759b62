import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import { choicesOf, objectAt, resolve, typesOf } from '../words/parameters.ts';
import { stemsOf } from '../words/words.ts';
import { shapeOf } from './report.ts';
import type { Finding } from './results.ts';

/**
 * Makes the object that `schema` describes of a result: properties by their names, of what the tool gave before what it was asked for,
 * and a list where the schema has one. Nothing is converted or made up. A list of names: what the result does not give.
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
  // Nothing at all is no answer, though nothing were required.
  if (lacking.length > 0) return lacking;
  return fitted.length === 0 ? names : Object.fromEntries(fitted);
}

/** The value of that name, else of one with the same words: `documentUrl` for `document_url`. */
function findNamed(facts: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(facts, name)) return facts[name];
  const words = stemsOf(name).join(' ');
  return words === '' ? undefined : Object.entries(facts).find(([key]) => stemsOf(key).join(' ') === words)?.[1];
}

/** Whether the schema may have a place for it; whoever asked validates the whole. */
function isOfType(schema: JsonObject, value: Json): boolean {
  const [types, choices] = [typesOf(schema), choicesOf(schema)];
  if (choices.length > 0) return choices.includes(value);
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const isInteger = types.includes('integer') && Number.isInteger(value);
  return types.length === 0 || types.includes(kind) || isInteger;
}
