import { defineTool, type Json } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { toSectionTool } from './node.ts';
import { describeType } from './tools.ts';

test('description, type and default of every parameter, in order', () => {
  const tool = defineTool({
    name: 'search',
    description: 'Search the notes.',
    inputSchema: v.object({
      query: v.pipe(v.string(), v.minLength(1), v.description('Words to look for')),
      limit: v.optional(v.pipe(v.number(), v.integer()), 3),
      order: v.optional(v.picklist(['asc', 'desc']), 'asc'),
      tags: v.array(v.string()),
      note: v.nullable(v.string()),
      constructor: v.boolean(),
    }),
    execute: () => null,
  });
  expect([...toSectionTool(tool).parameterDescriptions]).toEqual([
    ['query', { description: 'Words to look for', type: 'string' }],
    ['limit', { type: 'integer', default: 3 }],
    ['order', { type: 'string', default: 'asc' }],
    ['tags', { type: 'array' }],
    ['note', { type: 'string | null' }],
    ['constructor', { type: 'boolean' }],
  ]);
});

test('a tool without arguments has none', () => {
  const input = { name: 'ping', description: 'Answer.', execute: () => null };
  const empty = { ...input, inputSchema: jsonSchema({ type: 'object' }) };
  for (const tool of [input, empty]) expect(toSectionTool(defineTool(tool)).parameterDescriptions.size).toBe(0);
});

test.each<[Json, string]>([
  [{ type: 'string' }, 'string'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ const: 1 }, 'number'],
  [{ const: null }, 'null'],
  [{ enum: ['a', 'b', 1, null, []] }, 'string | number | null | array'],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'string' }] }, 'string | number'],
  [{ oneOf: [{ type: 'object' }, {}] }, 'any'],
  [{ $ref: '#/$defs/a' }, 'any'],
  [true, 'any'],
])('%j is of type %s', (schema, type) => {
  expect(describeType(schema)).toBe(type);
});
