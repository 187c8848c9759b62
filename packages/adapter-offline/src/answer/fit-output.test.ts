import type { Json, JsonObject } from '@holdfast/core';
import { expect, test } from 'vitest';
import { fitOutput } from './fit-output.ts';
import { toFinding } from './results.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };

function object(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: 'object', properties, required };
}

test.each<{ what: string; schema: JsonObject; value: Json; given?: JsonObject; fitted: Json }>([
  { what: 'properties by name', schema: object({ a: integer }), value: { a: 1, b: 2 }, fitted: { a: 1 } },
  {
    what: 'names in another spelling',
    schema: object({ document_url: text }),
    value: { documentUrl: 'u' },
    fitted: { document_url: 'u' },
  },
  {
    what: 'what was asked for',
    schema: object({ city: text, n: integer }),
    value: { n: 2 },
    given: { city: 'Rome' },
    fitted: { city: 'Rome', n: 2 },
  },
  {
    what: 'what was given over what was asked for',
    schema: object({ city: text }),
    value: { city: 'Roma' },
    given: { city: 'Rome' },
    fitted: { city: 'Roma' },
  },
  { what: 'the list', schema: object({ items: { type: 'array' } }), value: [1, 2], fitted: { items: [1, 2] } },
  {
    what: 'the list in an object',
    schema: object({ items: { type: 'array' }, total: integer }),
    value: { todos: ['x'], total: 1 },
    fitted: { items: ['x'], total: 1 },
  },
  { what: 'an allowed value', schema: object({ tag: { enum: ['a'] } }), value: { tag: 'a' }, fitted: { tag: 'a' } },
  {
    what: 'a referenced schema',
    schema: { $ref: '#/$defs/x', $defs: { x: object({ a: integer }) } },
    value: { a: 1 },
    fitted: { a: 1 },
  },
  {
    what: 'an optional property that is there',
    schema: object({ a: integer, b: text }, []),
    value: { a: 1 },
    fitted: { a: 1 },
  },
  // Missing values, or values of another type.
  { what: 'a missing property', schema: object({ a: integer, price: integer }), value: { a: 1 }, fitted: ['price'] },
  { what: 'another type', schema: object({ a: integer }), value: { a: 'x' }, fitted: ['a'] },
  { what: 'a number for an integer', schema: object({ a: integer }), value: { a: 1.5 }, fitted: ['a'] },
  { what: 'no allowed value', schema: object({ tag: { enum: ['a'] } }), value: { tag: 'b' }, fitted: ['tag'] },
  { what: 'a text of its own', schema: object({ summary: text }), value: { a: 1 }, fitted: ['summary'] },
  {
    what: 'one list for two',
    schema: object({ a: { type: 'array' }, b: { type: 'array' } }),
    value: [1],
    fitted: ['a', 'b'],
  },
  { what: 'nothing at all', schema: object({ a: integer }, []), value: { b: 1 }, fitted: ['a'] },
])('$what', ({ schema, value, given = {}, fitted }) => {
  expect(fitOutput(schema, toFinding('look', given, true, JSON.stringify(value)))).toEqual(fitted);
});

test('without a result there is no answer', () => {
  expect(fitOutput(object({ answer: text }), undefined)).toEqual(['answer']);
});
