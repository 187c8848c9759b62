import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import { choicesOf, objectAt, resolve } from './parameters.ts';
import type { Finding } from './results.ts';
import { shapeOf } from './tables.ts';
import { splitName, stemOf } from './words.ts';

/** The output that was asked for, or the names of what nothing gives. */
export type FittedOutput =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly lacking: readonly string[] };

/**
 * Makes the object that `schema` describes of one thing that was found, the last one first: properties by their names, a list
 * where the schema has one, and `prose` where it asks for a text about it all. Nothing is converted and nothing is made up.
 */
export function fitOutput(schema: JsonObject, findings: readonly Finding[], prose: string): FittedOutput {
  const fitting: Fitting = { root: schema, prose };
  let closest: readonly string[] | undefined;
  for (const finding of [...findings.toReversed(), undefined]) {
    const lacking: string[] = [];
    const value = fitObject(resolve(schema, schema), finding === undefined ? {} : toSource(finding), fitting, lacking);
    // Nothing at all is no answer, though nothing were required.
    if (Object.keys(value).length === 0 && lacking.length === 0) lacking.push(...namesOf(schema));
    if (lacking.length === 0) return { ok: true, value };
    if (closest === undefined || lacking.length < closest.length) closest = lacking;
  }
  return { ok: false, lacking: closest ?? [] };
}

function namesOf(schema: JsonObject): readonly string[] {
  return Object.keys(objectAt(resolve(schema, schema), 'properties') ?? {});
}

interface Fitting {
  readonly root: JsonObject;
  readonly prose: string | undefined;
}

interface Source {
  /** Beside what the tool gave, what it was asked for: the city that the weather is of. */
  readonly facts?: JsonObject;
  readonly rows?: readonly Json[];
}

function toSource({ arguments: given, value }: Finding): Source {
  const { rows, rowsName } = shapeOf(value);
  const isList = Array.isArray(value) || rowsName !== '';
  return { facts: { ...given, ...(isPlainObject(value) ? (value as JsonObject) : {}) }, ...(isList ? { rows } : {}) };
}

function fitObject(schema: JsonObject, { facts = {}, rows }: Source, fitting: Fitting, lacking: string[]): JsonObject {
  const properties = Object.entries(objectAt(schema, 'properties') ?? {});
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const lists = properties.filter(([, property]) => typesOf(toSchema(property, fitting)).has('array'));
  const entries: (readonly [string, Json])[] = [];
  for (const [name, declared] of properties) {
    const property = toSchema(declared, fitting);
    const isOnlyList = lists.length === 1 && lists[0]?.[0] === name;
    let value = fitValue(property, findNamed(facts, name), fitting);
    if (value === undefined && isOnlyList) value = fitValue(property, rows, fitting);
    if (value === undefined && isProse(name, property)) value = fitting.prose;
    if (value !== undefined) entries.push([name, value]);
    else if (required.includes(name)) lacking.push(name);
  }
  return Object.fromEntries(entries);
}

function toSchema(declared: Json, { root }: Fitting): JsonObject {
  return isPlainObject(declared) ? resolve(root, declared as JsonObject) : {};
}

/** The value of that name, else of one with the same words: `documentUrl` for `document_url`. */
function findNamed(facts: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(facts, name)) return facts[name];
  const words = toWords(name);
  return words === '' ? undefined : Object.entries(facts).find(([key]) => toWords(key) === words)?.[1];
}

function toWords(name: string): string {
  return splitName(name).map(stemOf).join(' ');
}

/** `value` as far as the schema has a place for it; `undefined` when it is something else. */
function fitValue(schema: JsonObject, value: Json | undefined, fitting: Fitting): Json | undefined {
  if (value === undefined) return undefined;
  const choices = choicesOf(schema);
  if (choices.length > 0) return choices.includes(value) ? value : undefined;
  const types = typesOf(schema);
  if (types.size > 0 && !types.has(kindOf(value)) && !(types.has('number') && kindOf(value) === 'integer'))
    return undefined;
  if (Array.isArray(value)) {
    const items = toSchema(schema['items'] ?? {}, fitting);
    const fitted = (value as readonly Json[]).map((item) => fitValue(items, item, fitting));
    return fitted.includes(undefined) ? undefined : (fitted as readonly Json[]);
  }
  if (!isPlainObject(value) || objectAt(schema, 'properties') === undefined) return value;
  const lacking: string[] = [];
  const fitted = fitObject(schema, { facts: value as JsonObject }, { ...fitting, prose: undefined }, lacking);
  return lacking.length > 0 ? undefined : fitted;
}

/** Empty where any will do. */
function typesOf({ type }: JsonObject): ReadonlySet<unknown> {
  return new Set(Array.isArray(type) ? type : type === undefined ? [] : [type]);
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

const proseNames = /^(?:answer|conclusion|explanation|message|report|response|summary|text)$/u;

function isProse(name: string, schema: JsonObject): boolean {
  const isText = typesOf(schema).has('string') && choicesOf(schema).length === 0;
  const isFree = ['format', 'pattern', 'maxLength'].every((keyword) => schema[keyword] === undefined);
  return isText && isFree && proseNames.test(name);
}
