import type { JsonObject } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LoweredKeyword, lowerSchema } from './lower-schema.ts';
import { type LoweringTargetName, loweringTargets, targetsOf } from './lowering-targets.ts';

const closed = { additionalProperties: false } as const;

function object(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), ...closed, ...more };
}

/** Lowered keywords as `path keyword`. */
function list(lowered: readonly LoweredKeyword[]): string[] {
  return lowered.map(({ path, keyword }) => `${path} ${keyword}`);
}

test.each<[LoweringTargetName, string, JsonObject, JsonObject, string[]]>([
  ['none', 'is left alone', { allOf: [{ if: {} }] }, { allOf: [{ if: {} }] }, []],
  [
    'openai',
    'keeps what strict mode has',
    object({ a: { type: 'string', pattern: 'x', format: 'date' } }),
    object({ a: { type: 'string', pattern: 'x', format: 'date' } }),
    [],
  ],
  ['openai', 'closes objects', { ...object({}), additionalProperties: undefined as unknown as false }, object({}), []],
  [
    'openai',
    'loses lengths, other formats, defaults',
    object({ a: { type: 'string', minLength: 1, maxLength: 2, format: 'uri', default: 'x' } }),
    object({ a: { type: 'string' } }),
    ['/properties/a minLength', '/properties/a maxLength', '/properties/a format', '/properties/a default'],
  ],
  [
    'openai',
    'takes oneOf as anyOf',
    object({ a: { oneOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] } }),
    object({ a: { anyOf: [{ type: 'string' }, { type: 'null' }] } }),
    ['/properties/a oneOf', '/properties/a/oneOf/0 minLength'],
  ],
  [
    'openai',
    'drops oneOf beside anyOf',
    object({ a: { anyOf: [{ type: 'string' }], oneOf: [{ type: 'string' }] } }),
    object({ a: { anyOf: [{ type: 'string' }] } }),
    ['/properties/a oneOf'],
  ],
  [
    'openai',
    'goes into arrays and definitions',
    object(
      { a: { type: 'array', items: { $ref: '#/$defs/b~c' } } },
      { $defs: { 'b~c': { type: 'string', minLength: 1 } } },
    ),
    object({ a: { type: 'array', items: { $ref: '#/$defs/b~c' } } }, { $defs: { 'b~c': { type: 'string' } } }),
    ['/$defs/b~0c minLength'],
  ],
  [
    'anthropic',
    'loses bounds',
    object({
      a: { type: 'array', items: { type: 'number', minimum: 1 }, minItems: 2, maxItems: 3 },
      b: { type: 'array', minItems: 1 },
    }),
    object({ a: { type: 'array', items: { type: 'number' } }, b: { type: 'array', minItems: 1 } }),
    ['/properties/a/items minimum', '/properties/a minItems', '/properties/a maxItems'],
  ],
  [
    'anthropic',
    'keeps optional properties and defaults',
    object({ a: { type: 'string', default: 'x' } }, { required: [] }),
    object({ a: { type: 'string', default: 'x' } }, { required: [] }),
    [],
  ],
  [
    'google',
    'writes references out',
    object({ a: { $ref: '#/$defs/b', description: 'A' } }, { $defs: { b: { type: 'string', const: 'x' } } }),
    object({ a: { type: 'string', enum: ['x'], description: 'A' } }),
    ['/properties/a $ref', '/properties/a const'],
  ],
  [
    'google',
    'cuts a recursive schema',
    object({ a: { $ref: '#/$defs/b' } }, { $defs: { b: object({ b: { $ref: '#/$defs/b' } }) } }),
    object({ a: object({ b: {} }) }),
    ['/properties/a $ref', '/properties/a/properties/b $ref'],
  ],
  [
    'google',
    'drops references that lead out',
    object({ a: { $ref: 'https://example.org/a' }, b: { $ref: '#/$defs/none' } }),
    object({ a: {}, b: {} }),
    ['/properties/a $ref', '/properties/b $ref'],
  ],
  [
    'google',
    'loses conditions',
    object({ a: { type: 'string' } }, { if: {}, else: {}, patternProperties: {} }),
    object({ a: { type: 'string' } }),
    [' if', ' else', ' patternProperties'],
  ],
  [
    'tool-input',
    'keeps everything below the root',
    object({ a: { allOf: [{ not: {} }], if: {} } }),
    object({ a: { allOf: [{ not: {} }], if: {} } }),
    [],
  ],
  [
    'tool-input',
    'offers the properties of every branch of the root',
    {
      anyOf: [object({ a: { type: 'string' } }), { $ref: '#/$defs/b' }],
      $defs: { b: object({ a: {}, b: { type: 'number' } }) },
    },
    {
      $defs: { b: object({ a: {}, b: { type: 'number' } }) },
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
    },
    [' anyOf', ' type'],
  ],
])('%s %s', (target, _, schema, expected, lowered) => {
  const given = JSON.parse(JSON.stringify(schema)) as JsonObject;
  const result = lowerSchema(given, target);
  expect(result.schema).toEqual(expected);
  expect(list(result.lowered)).toEqual(lowered);
  expect(result.strict).toBe(true);
  expect(given).toEqual(JSON.parse(JSON.stringify(schema)));
});

test.each<[LoweringTargetName, string, JsonObject, string[]]>([
  ['openai', 'an optional property', object({ a: object({ b: {} }, { required: [] }) }), ['/properties/a required']],
  [
    'openai',
    'an open object',
    object({}, { additionalProperties: { type: 'string', minLength: 1 } }),
    [' additionalProperties'],
  ],
  [
    'anthropic',
    'a recursive schema',
    object(
      { a: { $ref: '#/$defs/b' } },
      { $defs: { b: object({ c: { anyOf: [{ $ref: '#/$defs/c' }] } }), c: object({ b: { $ref: '#/$defs/b' } }) } },
    ),
    ['/properties/a $ref', '/$defs/b/properties/c/anyOf/0 $ref', '/$defs/c/properties/b $ref'],
  ],
  ['anthropic', 'a recursive root', object({ a: { $ref: '#' } }), ['/properties/a $ref']],
  ['anthropic', 'an open object', object({}, { additionalProperties: true }), [' additionalProperties']],
  ['openai', 'a choice at the root', { type: 'object', anyOf: [object({ a: {} })] }, [' anyOf']],
  ['openai', 'a root that is not an object', { type: 'array', items: {} }, [' type']],
])('%s has no strict mode for %s', (target, _, schema, lowered) => {
  const result = lowerSchema(schema, target);
  expect(result).toMatchObject({ schema, strict: false });
  expect(list(result.lowered)).toEqual(lowered);
});

test('a property called __proto__ stays a property', () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string","minLength":1}},"required":["__proto__"]}',
  ) as JsonObject;
  const result = lowerSchema(schema, 'openai');
  expect(list(result.lowered)).toEqual(['/properties/__proto__ minLength']);
  expect(JSON.stringify(result.schema)).toContain('"__proto__":{"type":"string"}');
});

test.each([
  ['openai.responses', 'tool-input', 'openai'],
  ['azure.chat', 'tool-input', 'openai'],
  ['anthropic.messages', 'tool-input', 'anthropic'],
  ['vertex.anthropic.messages', 'tool-input', 'anthropic'],
  ['google.generative-ai', 'google', 'google'],
  ['openai-compatible.chat', 'none', 'none'],
  ['mine', 'none', 'none'],
])('the schemas of %s', (provider, input, output) => {
  expect(targetsOf(provider)).toEqual({ input, output });
});

test('every target names its source', () => {
  expect(Object.values(loweringTargets).map(({ source }) => source.length > 0)).toEqual([true, true, true, true, true]);
});

test('a schema that expands to millions of references is cut', () => {
  const names = Array.from({ length: 30 }, (_, index) => index);
  const step = (index: number): JsonObject =>
    object({ a: { $ref: `#/$defs/${index}` }, b: { $ref: `#/$defs/${index}` } });
  const $defs = Object.fromEntries(names.map((index) => [String(index), index === 29 ? {} : step(index + 1)]));
  const { schema, lowered } = lowerSchema({ ...step(0), $defs }, 'google');
  expect(lowered.length).toBeLessThan(5_000);
  expect(lowered.some(({ reason }) => reason.startsWith('more than'))).toBe(true);
  expect(JSON.stringify(schema)).not.toContain('$ref');
});

const keywords = [
  'type',
  'properties',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  '$ref',
  '$defs',
  'required',
  'enum',
  'format',
  'minItems',
  'additionalProperties',
  'not',
  'if',
];
const { node: anySchema } = fc.letrec<{ node: JsonObject; value: unknown }>((tie) => ({
  node: fc.dictionary(fc.constantFrom(...keywords), tie('value'), { maxKeys: 4 }) as fc.Arbitrary<JsonObject>,
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('object', 'array', 'uri', '#', '#/$defs/a', true, 2, null),
    fc.array(tie('node'), { maxLength: 2 }),
    tie('node'),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('node')),
  ),
}));

test('property: lowering terminates, does not mutate its input and is idempotent', () => {
  const targets = Object.keys(loweringTargets) as LoweringTargetName[];
  fc.assert(
    fc.property(anySchema, fc.constantFrom(...targets), (schema, target) => {
      const before = JSON.stringify(schema);
      const first = lowerSchema(schema, target);
      expect(JSON.stringify(schema)).toBe(before);
      if (!first.strict) {
        expect(first.schema).toBe(schema);
        expect(first.lowered).not.toEqual([]);
        return;
      }
      const second = lowerSchema(first.schema, target);
      expect(second.schema).toEqual(first.schema);
      expect(second.lowered).toEqual([]);
    }),
  );
});
