import type { JsonObject } from '@holdfast/core';
import { expect, test } from 'vitest';
import { renderType } from './render.ts';

/** The bounds that Zod adds to every integer. */
const exact = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

test.each<{ schema: JsonObject; expected: string }>([
  { schema: { type: 'string' }, expected: 'string' },
  { schema: { type: 'integer', title: 'Count', default: 3 }, expected: 'integer' },
  { schema: { type: 'boolean' }, expected: 'boolean' },
  { schema: {}, expected: 'any JSON value' },
  { schema: { enum: ['red', 'dark green'] }, expected: 'one of: red; dark green' },
  { schema: { type: 'string', enum: ['a;b', 'c'] }, expected: 'one of: "a;b"; "c"' },
  { schema: { enum: [' a', '', 'line\nbreak'] }, expected: 'one of: " a"; ""; "line\\nbreak"' },
  { schema: { enum: [1, 2] }, expected: 'one of: 1; 2' },
  { schema: { const: 'yes' }, expected: 'always yes' },
  { schema: { type: ['string', 'null'] }, expected: 'string or null' },
  { schema: { anyOf: [{ type: 'number' }, { type: 'null' }] }, expected: 'number or null' },
  { schema: { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] }, expected: 'one of: a; b or null' },
  { schema: { type: 'array' }, expected: 'JSON array' },
  { schema: { type: 'array', items: { type: 'string' } }, expected: 'JSON array of string' },
  {
    schema: { type: 'integer', minimum: 1, maximum: 20 },
    expected: 'integer with the JSON Schema {"maximum":20,"minimum":1}',
  },
  { schema: { type: 'integer', ...exact }, expected: 'integer' },
  { schema: { type: 'array', items: { type: 'integer', ...exact } }, expected: 'JSON array of integer' },
  { schema: { anyOf: [{ type: 'integer', ...exact }, { type: 'null' }] }, expected: 'integer or null' },
  {
    schema: { type: 'integer', ...exact, minimum: 0 },
    expected: 'integer with the JSON Schema {"minimum":0}',
  },
  {
    schema: { type: 'array', items: { type: 'string' }, maxItems: 3 },
    expected: 'JSON with the JSON Schema {"items":{"type":"string"},"maxItems":3,"type":"array"}',
  },
  {
    schema: { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: false },
    expected:
      'JSON with the JSON Schema {"additionalProperties":false,"properties":{"b":{"type":"string"}},"type":"object"}',
  },
  {
    schema: { anyOf: [{ type: 'number', minimum: 1 }, { type: 'null' }] },
    expected: 'JSON with the JSON Schema {"anyOf":[{"minimum":1,"type":"number"},{"type":"null"}]}',
  },
])('$expected', ({ schema, expected }) => {
  expect(renderType(schema)).toBe(expected);
});
