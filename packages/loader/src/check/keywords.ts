import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import type { LiteralPath } from '../parse/literal.ts';

/**
 * What a schema in a keyword describes: a value within the value (`value`), the value itself (`branch`), the same value, but only as a
 * condition on it (`condition`), or something else (`other`).
 */
type Role = 'value' | 'branch' | 'condition' | 'other';

/** A keyword of JSON Schema. */
interface Keyword {
  /** What its value has to be, for people after "must be". Schemas in it are checked by themselves. */
  readonly expected?: string;
  readonly fits?: (value: Json) => boolean;
  /** Of the schemas in it: it holds one, a list of them, or (`isMap`) several by name. */
  readonly role?: Role;
  readonly isMap?: true;
}

function isTexts(value: Json): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

const count: Keyword = {
  expected: 'a whole number from 0',
  fits: (value) => Number.isInteger(value) && Number(value) >= 0,
};
const number: Keyword = { expected: 'a number', fits: (value) => typeof value === 'number' };
const text: Keyword = { expected: 'a text', fits: (value) => typeof value === 'string' };
const flag: Keyword = { expected: 'true or false', fits: (value) => typeof value === 'boolean' };
const map = { expected: 'an object of schemas', fits: isPlainObject, isMap: true } as const;

function each(names: string, keyword: Keyword): readonly (readonly [string, Keyword])[] {
  return names.split(' ').map((name) => [name, keyword]);
}

// Those of drafts 4 to 2020-12 that are checked, lead to others that are, or only say something to a reader.
const keywords: ReadonlyMap<string, Keyword> = new Map([
  ...each('minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains', count),
  ...each('minimum maximum exclusiveMinimum exclusiveMaximum', number),
  ...each('description title format pattern $schema $comment contentEncoding contentMediaType', text),
  ...each('uniqueItems deprecated readOnly writeOnly', flag),
  ['multipleOf', { expected: 'a number above 0', fits: (value) => typeof value === 'number' && value > 0 }],
  ['enum', { expected: 'a list with at least one value', fits: (value) => Array.isArray(value) && value.length > 0 }],
  ['examples', { expected: 'a list', fits: (value) => Array.isArray(value) }],
  ['required', { expected: 'a list of property names', fits: isTexts }],
  [
    'dependentRequired',
    {
      expected: 'an object of lists of property names',
      fits: (value) => isPlainObject(value) && Object.values(value as JsonObject).every(isTexts),
    },
  ],
  ...each('properties patternProperties', { ...map, role: 'value' }),
  ...each('$defs definitions dependentSchemas', { ...map, role: 'other' }),
  ...each('items prefixItems additionalItems unevaluatedItems additionalProperties unevaluatedProperties', {
    role: 'value',
  }),
  ...each('anyOf oneOf allOf', { role: 'branch' }),
  ...each('not if then else', { role: 'condition' }),
  ...each('contains propertyNames', { role: 'other' }),
  ...each('type const default contentSchema dependencies $vocabulary', {}),
  ...each('$id $anchor $ref $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor', {}),
]);

export function isKeyword(name: string): boolean {
  return keywords.has(name);
}

/** What the value of a keyword has to be, where it is something else. */
export function findExpected(name: string, value: Json): string | undefined {
  const { expected, fits } = keywords.get(name) ?? {};
  return fits?.(value) === false ? expected : undefined;
}

/** Something that stands in the place of a schema within a schema. */
export interface Subschema {
  readonly schema: Json;
  readonly path: LiteralPath;
  readonly role: Role;
}

const mayBeBoolean = /^(?:additional|unevaluated)/;
// `items` is one in older drafts.
const mayBeList = /^(?:items|prefixItems|anyOf|oneOf|allOf|additional\w+|unevaluated\w+)$/;

/** What stands in the keywords of a schema that hold schemas. */
export function listSubschemas(schema: JsonObject): readonly Subschema[] {
  const found: Subschema[] = [];
  for (const key of Object.keys(schema)) {
    const { role, isMap } = keywords.get(key) ?? {};
    const value = schema[key];
    if (role === undefined || value === undefined || (typeof value === 'boolean' && mayBeBoolean.test(key))) continue;
    const isSeveral = isMap === true ? isPlainObject(value) : Array.isArray(value) && mayBeList.test(key);
    if (isSeveral)
      for (const [name, inner] of Object.entries(value as JsonObject))
        found.push({ schema: inner, path: [key, name], role });
    else if (isMap !== true) found.push({ schema: value, path: [key], role });
  }
  return found;
}

/** A schema and all those in it. */
export function* walkSchema(schema: Json, path: LiteralPath = []): Generator<readonly [JsonObject, LiteralPath]> {
  if (!isPlainObject(schema)) return;
  // What is a plain object among JSON is a JSON object.
  yield [schema as JsonObject, path];
  for (const inner of listSubschemas(schema as JsonObject)) yield* walkSchema(inner.schema, [...path, ...inner.path]);
}
