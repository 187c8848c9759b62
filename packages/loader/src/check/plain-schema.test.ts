import { type JsonObject, jsonSchema } from '@holdfast/core';
import { compileJsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPlainSchema } from './plain-schema.ts';
import { checkSchema } from './schema.ts';

const object = (properties: unknown, more: object = {}): JsonObject =>
  ({ type: 'object', properties, ...more }) as JsonObject;

test.each([
  ['nothing', object({})],
  [
    'one of each',
    object({ a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'number' }, d: { type: 'boolean' } }),
  ],
  [
    'lists',
    object({ a: { type: 'array', items: { type: 'array', items: { type: 'string' } }, minItems: 1, maxItems: 1 } }),
  ],
  [
    'limits and defaults',
    object({
      a: { type: 'integer', minimum: 1, maximum: 9, default: 9 },
      b: { type: 'string', minLength: 1, maxLength: 1, default: 'x' },
    }),
  ],
  ['choices', object({ a: { type: 'string', enum: ['x', 'y'], default: 'y' }, b: { type: 'number', enum: [1] } })],
  [
    'what is required',
    object({ a: { type: 'string' } }, { required: ['a'], additionalProperties: false, description: 'd', title: 't' }),
  ],
])('plain: %s', (_, schema) => {
  expect(isPlainSchema(schema)).toBe(true);
});

test.each([
  ['no properties', { type: 'object' }],
  ['another type', { type: 'string', properties: {} }],
  ['several types', object({ a: { type: ['string', 'null'] } })],
  ['no type', object({ a: {} })],
  ['a property that is none', object({ a: true })],
  ['another keyword', object({ a: { type: 'string', pattern: 'x' } })],
  ['a format', object({ a: { type: 'string', format: 'uri' } })],
  ['a reference', object({ a: { $ref: '#' } })],
  ['an object within', object({ a: { type: 'object', properties: {} } })],
  ['a branch', object({}, { anyOf: [] })],
  ['a list without items', object({ a: { type: 'array' } })],
  ['a keyword of another type', object({ a: { type: 'boolean', minLength: 1 } })],
  ['a limit that is none', object({ a: { type: 'number', minimum: '1' } })],
  ['limits that nothing fits', object({ a: { type: 'number', minimum: 2, maximum: 1 } })],
  ['a length that is none', object({ a: { type: 'string', minLength: -1 } })],
  ['a length that is no whole number', object({ a: { type: 'string', maxLength: 1.5 } })],
  ['no choices', object({ a: { type: 'string', enum: [] } })],
  ['choices that are no list', object({ a: { type: 'string', enum: 'x' } })],
  ['a choice that is a list', object({ a: { type: 'string', enum: [[]] } })],
  ['a default of another type', object({ a: { type: 'string', default: 1 } })],
  ['a default that is no whole number', object({ a: { type: 'integer', default: 1.5 } })],
  ['a default beyond the limit', object({ a: { type: 'integer', maximum: 1, default: 2 } })],
  ['a default that is too long', object({ a: { type: 'string', maxLength: 1, default: 'xy' } })],
  ['a default that is no ASCII', object({ a: { type: 'string', maxLength: 1, default: '😀' } })],
  ['a default that is no choice', object({ a: { type: 'string', enum: ['x'], default: 'y' } })],
  ['a description that is none', object({ a: { type: 'string', description: 1 } })],
  ['a title that is none', object({}, { title: null })],
  ['something required that is not there', object({}, { required: ['a'] })],
  ['something required that every object has', object({}, { required: ['toString'] })],
  ['what is required being no list', object({}, { required: 'a' })],
  ['open to a schema', object({}, { additionalProperties: {} })],
])('to be looked at: %s', (_, schema) => {
  expect(isPlainSchema(schema as JsonObject)).toBe(false);
});

const scalar = fc.oneof(
  fc.constantFrom('', 'x', 'xyz', 'é', 0, 1, -1, 2, 1.5, true, false, null),
  fc.integer(),
  fc.string(),
);
const limit = fc.constantFrom(0, 1, 2, 5, -1, 1.5);
const keywords = fc.record(
  {
    type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'null'),
    description: fc.constantFrom('d', 1),
    default: scalar,
    enum: fc.array(scalar, { maxLength: 3 }),
    minimum: limit,
    maximum: limit,
    minLength: limit,
    maxLength: limit,
    minItems: limit,
    items: fc.constantFrom({ type: 'string' }, { type: 'integer', default: 1 }, {}),
  },
  { requiredKeys: ['type'] },
);

test('what is plain has nothing wrong with it, and its defaults fit', () => {
  let plain = 0;
  const keys = fc.subarray(
    ['description', 'default', 'enum', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'items'],
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(keywords, keys, fc.constantFrom(['a'], [], undefined), (all, kept, required) => {
      const property = Object.fromEntries(
        Object.entries(all).filter(([name]) => name === 'type' || kept.includes(name)),
      );
      const schema = object({ a: property }, required === undefined ? {} : { required });
      if (!isPlainSchema(schema)) return;
      plain += 1;
      const found: string[] = [];
      checkSchema(schema, ['parameters'], ({ message }) => found.push(message));
      expect(found).toEqual([]);
      compileJsonSchema(jsonSchema(schema));
      if (property['default'] === undefined) return;
      expect(compileJsonSchema(jsonSchema(property as JsonObject)).validate(property['default'])).toMatchObject({
        ok: true,
      });
    }),
    { numRuns: 830 },
  );
  // Otherwise it would show nothing.
  expect(plain).toBeGreaterThan(15);
});
