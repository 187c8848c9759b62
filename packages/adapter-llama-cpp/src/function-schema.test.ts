import type { JsonObject } from '@holdfast/core';
import { expect, test } from 'vitest';
import { objectOf } from './fixtures.ts';
import { toFunctionSchema } from './function-schema.ts';

const text = { type: 'string' };

function objects(...properties: readonly JsonObject[]): unknown {
  return { oneOf: properties.map((one) => ({ type: 'object', properties: one })) };
}

test.each<[what: string, schema: JsonObject, made: unknown]>([
  [
    'required properties',
    objectOf({ a: text, b: { type: 'integer' } }),
    { type: 'object', properties: { a: text, b: { type: 'integer' } } },
  ],
  ['an optional property', objectOf({ a: text, b: text }, ['a']), objects({ a: text, b: text }, { a: text })],
  [
    'two optional ones',
    objectOf({ a: text, b: text }, []),
    objects({ a: text, b: text }, { a: text }, { b: text }, {}),
  ],
  ['no properties', objectOf({}), { type: 'object', additionalProperties: false }],
  ['values by name', { type: 'object', additionalProperties: text }, { type: 'object', additionalProperties: text }],
  ['any object', { type: 'object' }, { type: 'object', additionalProperties: true }],
  [
    'properties without a type',
    { properties: { a: text }, required: ['a'] },
    { type: 'object', properties: { a: text } },
  ],
  ['choices', { enum: ['a', 1, null] }, { enum: ['a', 1, null] }],
  ['one value, described', { const: 'a', description: 'x' }, { const: 'a', description: 'x' }],
  [
    'a list with bounds',
    { type: 'array', items: text, minItems: 1, maxItems: 2 },
    { type: 'array', items: text, minItems: 1, maxItems: 2 },
  ],
  ['several types', { type: ['integer', 'null'] }, { oneOf: [{ type: 'integer' }, { type: 'null' }] }],
  ['either', { anyOf: [text, { type: 'boolean' }] }, { oneOf: [text, { type: 'boolean' }] }],
  ['lengths', { type: 'string', minLength: 1, maxLength: 3 }, { type: 'string', minLength: 1, maxLength: 3 }],
  [
    'a reference',
    { ...objectOf({ a: { $ref: '#/$defs/it' } }), $defs: { it: text } },
    { type: 'object', properties: { a: text } },
  ],
])('%s', (_what, schema, made) => {
  expect(toFunctionSchema(schema)).toEqual({ schema: made, lowered: [] });
});

test.each<[what: string, schema: JsonObject, lowered: unknown]>([
  [
    'a pattern',
    objectOf({ 'a/b': { type: 'string', pattern: 'x' } }),
    [{ path: '/properties/a~1b', keyword: 'pattern' }],
  ],
  [
    'too many optional properties',
    objectOf({ a: text, b: text, c: text, d: text, e: text }, []),
    [{ path: '', keyword: 'required' }],
  ],
  ['a reference elsewhere', { $ref: 'https://example.org/schema' }, [{ path: '', keyword: '$ref' }]],
  ['all of', { allOf: [text] }, [{ path: '', keyword: 'allOf' }]],
])('%s is not enforced, and reported', (_what, schema, lowered) => {
  expect(toFunctionSchema(schema).lowered).toEqual(lowered);
});

test.each<[what: string, schema: JsonObject]>([
  ['values', { enum: [] }],
  ['branches', { anyOf: [] }],
  ['types', { type: [] }],
])("%s, which the binding's grammar does not support, becomes any JSON", (_what, schema) => {
  const { schema: made } = toFunctionSchema(schema);
  expect(made).toMatchObject({ oneOf: expect.any(Array) });
  expect(JSON.stringify(made)).not.toContain('[]');
});

test('nested optional properties and branching recursion stay small', () => {
  let nested: JsonObject = text;
  for (let depth = 0; depth < 8; depth += 1) nested = objectOf({ a: nested, b: text, c: text, d: text }, []);
  const nodes = Array.from({ length: 50 }, () => ({ $ref: '#/$defs/node' }));
  const branching = { $ref: '#/$defs/node', $defs: { node: { anyOf: nodes } } };
  for (const schema of [nested, branching]) {
    const { schema: made, lowered } = toFunctionSchema(schema);
    expect(JSON.stringify(made).length).toBeLessThan(500_000);
    expect(lowered.length).toBeGreaterThan(0);
  }
});

test('recursion ends', () => {
  const schema = { $ref: '#/$defs/node', $defs: { node: objectOf({ next: { $ref: '#/$defs/node' } }) } };
  const { schema: made, lowered } = toFunctionSchema(schema);
  expect(JSON.stringify(made).length).toBeLessThan(5000);
  expect(lowered).toMatchObject([{ keyword: '$ref' }]);
});
