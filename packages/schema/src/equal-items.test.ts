import type { JsonObject } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasEqualItems } from './equal-items.ts';
import { compileJsonSchema, jsonSchema } from './json.ts';

const tags: JsonObject = {
  type: 'object',
  properties: {
    uniqueItems: { type: 'array', uniqueItems: true, items: { type: ['integer', 'string', 'array'], items: {} } },
    other: { type: 'array', items: { type: 'integer' } },
    deep: { type: 'object', properties: { list: { $ref: '#/$defs/list' } } },
  },
  $defs: { list: { type: 'array', uniqueItems: true, items: { type: 'object', additionalProperties: true } } },
};
const { validate } = compileJsonSchema(jsonSchema(tags));
const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);

// Compared pairwise, this would take a minute.
test('a list of distinct items as long as a model can send is checked quickly', () => {
  expect(validate({ uniqueItems: numbers(200_000) })).toMatchObject({ ok: true });
  expect(validate({ uniqueItems: [...numbers(200_000), 7] })).toMatchObject({
    ok: false,
    issues: [{ path: 'uniqueItems', message: 'Contains equal items.' }],
  });
  const objects = numbers(5000).map((id) => ({ id, name: 'x' }));
  expect(validate({ deep: { list: objects } })).toMatchObject({ ok: true });
  expect(validate({ deep: { list: [...objects, { name: 'x', id: 3 }] } })).toMatchObject({
    ok: false,
    issues: [{ path: 'deep.list' }],
  });
});

test('short lists beside a long one are checked, lists without `uniqueItems` are not', () => {
  const long = Array(5000).fill(1);
  expect(validate({ other: long, uniqueItems: [1, 2, '1'] })).toMatchObject({ ok: true });
  expect(validate({ other: long, uniqueItems: [1, 2, 1] })).toMatchObject({ ok: false });
  expect(validate({ other: [...long, 'x'], uniqueItems: [1] })).toMatchObject({ ok: false });
  expect(validate({ other: [1, 1], uniqueItems: [1, 1] })).toMatchObject({ ok: false });
});

test('property: two items are equal if they are the same JSON', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom(null, true, false, 0, 1, '', '0', 'null', '[]', '{}', "'0", 'true'),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b'), tie('value')),
    ),
  }));
  const unique = compileJsonSchema(jsonSchema({ type: 'array', uniqueItems: true, items: {} }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 6 }), (list) => {
      expect(hasEqualItems(list)).toBe(!unique.validate(list).ok);
    }),
    { numRuns: 170 },
  );
});
