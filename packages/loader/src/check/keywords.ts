import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LiteralPath } from '../parse/literal.ts';

/**
 * The target of a keyword's subschemas: a nested value (`value`), the value itself (`branch`), the value itself as
 * a mere condition (`condition`), or something else (`other`).
 */
type Role = 'value' | 'branch' | 'condition' | 'other';

/** A JSON Schema keyword. */
interface Keyword {
  /** The expected value, completing "must be …". Subschemas are checked separately. */
  readonly expected?: string;
  readonly fits?: (value: Json) => boolean;
  /** For subschemas: the keyword holds one, a list, or (`isMap`) a map by name. */
  readonly role?: Role;
  readonly isMap?: true;
}

function isTexts(value: Json): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

const count: Keyword = {
  expected: 'an integer of at least 0',
  fits: (value) => Number.isInteger(value) && Number(value) >= 0,
};
const number: Keyword = { expected: 'a number', fits: (value) => typeof value === 'number' };
const text: Keyword = { expected: 'a string', fits: (value) => typeof value === 'string' };
const flag: Keyword = { expected: 'true or false', fits: (value) => typeof value === 'boolean' };
const map = { expected: 'an object of schemas', fits: isPlainObject, isMap: true } as const;

function each(names: string, keyword: Keyword): readonly (readonly [string, Keyword])[] {
  return names.split(' ').map((name) => [name, keyword]);
}

// Keywords of drafts 4 to 2020-12 that are validated, contain schemas, or annotate.
const keywords: ReadonlyMap<string, Keyword> = new Map([
  ...each('minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains', count),
  ...each('minimum maximum exclusiveMinimum exclusiveMaximum', number),
  ...each('description title format pattern $schema $comment contentEncoding contentMediaType', text),
  ...each('uniqueItems deprecated readOnly writeOnly untrusted', flag),
  ['multipleOf', { expected: 'a positive number', fits: (value) => typeof value === 'number' && value > 0 }],
  ['enum', { expected: 'a non-empty list', fits: (value) => Array.isArray(value) && value.length > 0 }],
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

/** The expected kind of value of a keyword, if `value` has another kind. */
export function findExpected(name: string, value: Json): string | undefined {
  const { expected, fits } = keywords.get(name) ?? {};
  return fits?.(value) === false ? expected : undefined;
}

/** A value in the position of a subschema. */
export interface Subschema {
  readonly schema: Json;
  readonly path: LiteralPath;
  readonly role: Role;
}

const mayBeBoolean = /^(?:additional|unevaluated)/;
// `items` is a schema in older drafts.
const mayBeList = /^(?:items|prefixItems|anyOf|oneOf|allOf|additional\w+|unevaluated\w+)$/;

/** The values in the keywords of a schema that hold schemas. */
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

/** A schema and all its subschemas. */
export function* walkSchema(schema: Json, path: LiteralPath = []): Generator<readonly [JsonObject, LiteralPath]> {
  if (!isPlainObject(schema)) return;
  // A plain object within JSON is a JSON object.
  yield [schema as JsonObject, path];
  for (const inner of listSubschemas(schema as JsonObject)) yield* walkSchema(inner.schema, [...path, ...inner.path]);
}
