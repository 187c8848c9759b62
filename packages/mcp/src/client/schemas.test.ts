import type { JsonObject } from '@holdfast/core';
import { expect, test } from 'vitest';
import { openSchema, resultSchema } from './schemas.ts';

const open = { additionalProperties: true };
const object = { type: 'object' };

const rows: readonly { readonly what: string; readonly schema: JsonObject; readonly opened: JsonObject }[] = [
  { what: 'an object', schema: object, opened: { ...object, ...open } },
  { what: 'properties without a type', schema: { properties: {} }, opened: { properties: {}, ...open } },
  {
    what: 'a closed object, which stays closed',
    schema: { ...object, additionalProperties: false },
    opened: { ...object, additionalProperties: false },
  },
  { what: 'what is not an object', schema: { type: 'string' }, opened: { type: 'string' } },
  {
    what: 'objects in properties of any name',
    schema: { ...object, properties: { const: object, type: { type: 'string' } } },
    opened: { ...object, properties: { const: { ...object, ...open }, type: { type: 'string' } }, ...open },
  },
  {
    what: 'objects in lists and definitions',
    schema: { anyOf: [object, { type: 'null' }], $defs: { a: object }, items: object },
    opened: {
      anyOf: [{ ...object, ...open }, { type: 'null' }],
      $defs: { a: { ...object, ...open } },
      items: { ...object, ...open },
    },
  },
  {
    what: 'literals, which are values and no schemas',
    schema: { const: object, enum: [object], default: object, examples: [object] },
    opened: { const: object, enum: [object], default: object, examples: [object] },
  },
  {
    what: 'unevaluated properties, which would all count as evaluated',
    schema: { ...object, unevaluatedProperties: false },
    opened: { ...object, unevaluatedProperties: false },
  },
];

test.each(rows)('opened: $what', ({ schema, opened }) => {
  expect(openSchema(schema)).toEqual(opened);
});

test.each([
  { outputSchema: object, structured: 'x', path: 'structuredContent' },
  {
    outputSchema: { ...object, properties: { a: { type: 'number' } } },
    structured: { a: 'x' },
    path: 'structuredContent.a',
  },
  { outputSchema: { type: 'array', items: { type: 'number' } }, structured: ['x'], path: 'structuredContent[0]' },
])('an issue is at $path', ({ outputSchema, structured, path }) => {
  const validation = resultSchema(outputSchema).compile().validate({ content: [], structuredContent: structured });
  expect(validation).toMatchObject({ ok: false, issues: [{ path }] });
});
