import { type Schema, Validator } from '@cfworker/json-schema';
import type { JsonObject } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBoundedCheck } from './bounded-check.ts';
import { compileJsonSchema, jsonSchema } from './json.ts';

const expression = { $ref: '#/$defs/expression' };
const binary = (op: string): JsonObject => ({
  type: 'object',
  properties: { op: { const: op }, left: expression, right: expression },
  required: ['op', 'left', 'right'],
});
const tree: JsonObject = {
  type: 'object',
  properties: { root: expression },
  $defs: {
    expression: {
      anyOf: [
        { type: 'object', properties: { op: { const: 'not' }, inner: expression }, required: ['op', 'inner'] },
        binary('and'),
        binary('or'),
        { type: 'string' },
      ],
    },
  },
};

function nest(depth: number, leaf: unknown, wrap: (inner: unknown) => unknown): unknown {
  let value = leaf;
  for (let level = 0; level < depth; level += 1) value = wrap(value);
  return value;
}

// Unbounded, each of these doubles with every level and would never end.
test.each([
  { what: 'that fits', value: nest(60, 'x', (inner) => ({ op: 'not', inner })), ok: true },
  { what: 'that does not fit deep down', value: nest(60, 1, (inner) => ({ op: 'not', inner })), ok: false },
  {
    what: 'of another operator at every level',
    value: nest(60, 1, (left) => ({ op: 'xor', left, right: 'x' })),
    ok: false,
  },
])('a tree of 60 levels $what is checked quickly', ({ value, ok }) => {
  expect(compileJsonSchema(jsonSchema(tree)).validate({ root: value })).toMatchObject({ ok });
});

test('a schema that checks everything twice rejects values over its bound and accepts others', () => {
  const node = { $ref: '#/$defs/node' };
  const branch = { type: 'object', properties: { inner: node } };
  const { validate } = compileJsonSchema(
    jsonSchema({ type: 'object', properties: { inner: node }, $defs: { node: { anyOf: [branch, branch] } } }),
  );
  expect(validate(nest(10, {}, (inner) => ({ inner })))).toMatchObject({ ok: true });
  expect(validate(nest(60, {}, (inner) => ({ inner })))).toMatchObject({
    ok: false,
    issues: [{ path: '', message: expect.stringContaining('Too large for its schema') }],
  });
  // The bound is per value.
  expect(validate({ inner: {} })).toMatchObject({ ok: true });
});

test('exponentially nested definitions are rejected, a list of many references is not', () => {
  const doubling: JsonObject = Object.fromEntries(
    Array.from({ length: 40 }, (_, index): [string, JsonObject] => [
      `d${index}`,
      index === 39 ? { type: 'string' } : { allOf: [1, 2].map(() => ({ $ref: `#/$defs/d${index + 1}` })) },
    ]),
  );
  const { validate } = compileJsonSchema(jsonSchema({ $ref: '#/$defs/d0', $defs: doubling }));
  expect(validate('x')).toMatchObject({ ok: false });
  const list = { type: 'array', items: { $ref: '#/$defs/text' }, $defs: { text: { type: 'string' } } };
  expect(compileJsonSchema(jsonSchema(list)).validate(Array(100_000).fill('x'))).toMatchObject({ ok: true });
});

test('a long list of errors is cut', () => {
  const { validate } = compileJsonSchema(jsonSchema({ type: 'array', items: { type: 'integer' } }));
  const checked = validate(Array(1000).fill('x'));
  expect(checked).toMatchObject({ ok: false });
  expect(checked.ok ? [] : checked.issues).toHaveLength(50);
  expect(checked.ok ? {} : checked.issues.at(-1)).toEqual({ path: '', message: 'More issues are not listed.' });
  // On a stack overflow only the first error is reported.
  const most = validate(Array(200_000).fill('x'));
  expect(most.ok ? [] : most.issues[0]).toMatchObject({ path: '[0]' });
});

const name = fc.constantFrom('a', 'b');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, 1, 'a', 'bb'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value')),
  ),
}));
const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => {
  const inner = tie('schema');
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  return {
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.record({ type: fc.constantFrom('string', 'integer', 'object', 'array', 'null', 'boolean') }),
      fc.record({ const: fc.constantFrom(0, 'a', null) }),
      fc.constant({ $ref: '#/$defs/shared' }),
      fc.record({ anyOf: list }),
      fc.record({ oneOf: list }),
      fc.record({ allOf: list, unevaluatedProperties: fc.boolean() }, { requiredKeys: ['allOf'] }),
      fc.record({ not: inner }),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      fc.tuple(inner, inner).map(([first, second]) => ({ if: first, ['then']: second, else: first })),
      fc.record({ items: inner, contains: inner, uniqueItems: fc.boolean() }, { requiredKeys: ['items'] }),
      fc.record({ properties: fc.dictionary(name, inner), required: fc.uniqueArray(name) }),
      fc.record({ patternProperties: fc.record({ '^a': inner }), additionalProperties: inner }),
      fc.record({ dependentSchemas: fc.dictionary(name, inner), propertyNames: inner }),
    ),
  };
});

test('property: the bounded check finds the same errors as the unbounded one', () => {
  let wrong = 0;
  fc.assert(
    fc.property(schema, schema, value, (root, shared, candidate) => {
      const whole = { ...root, $defs: { shared: { anyOf: [shared, { type: 'string' }] } } };
      // Written by the arbitrary above; a reference of `shared` to itself is endless.
      fc.pre(!JSON.stringify(shared).includes('$ref'));
      const expected = new Validator(structuredClone(whole) as Schema, '2020-12', false).validate(candidate);
      const errors = createBoundedCheck(structuredClone(whole) as Schema, '2020-12')(candidate);
      expect(errors).toEqual(expected.valid ? [] : expected.errors);
      if (!expected.valid) wrong += 1;
    }),
    { numRuns: 330 },
  );
  expect(wrong).toBeGreaterThan(5);
});

test.each([
  { what: 'of an open object', value: { '\ud83d': 1 } },
  { what: 'of an object within', value: { inner: { 'a\udc00': 1 } } },
])('a key $what with an unpaired surrogate is rejected without a throw', ({ value }) => {
  const { validate } = compileJsonSchema(
    jsonSchema({ type: 'object', additionalProperties: { type: ['integer', 'object'], additionalProperties: true } }),
  );
  const message = 'A key contains an unpaired surrogate, which is not valid text.';
  expect(validate(value)).toEqual({ ok: false, issues: [{ path: '', message }] });
  expect(validate({ '\u{1f600}': 1, inner: { '\u{1f600}': '\ud83d' } })).toMatchObject({ ok: true });
});
