import { defineTool, isHoldfastError, type JsonObject, type Schema, type StandardSchema } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { checkToolExamples } from './check-examples.ts';
import { compileSchema, describeIssues } from './index.ts';
import { jsonSchema } from './json.ts';

const search = v.object({
  q: v.pipe(v.string(), v.minLength(2), v.description('Query text')),
  k: v.optional(v.pipe(v.number(), v.integer()), 3),
  where: v.optional(v.object({ folder: v.string() })),
});

test('descriptions, defaults, limits and closed objects reach the JSON Schema', () => {
  expect(compileSchema(search).jsonSchema).toEqual({
    type: 'object',
    properties: {
      q: { type: 'string', minLength: 2, description: 'Query text' },
      k: { type: 'integer', default: 3 },
      where: {
        type: 'object',
        properties: { folder: { type: 'string' } },
        required: ['folder'],
        additionalProperties: false,
      },
    },
    required: ['q'],
    additionalProperties: false,
  });
});

test('a schema is compiled once', () => {
  expect(compileSchema(search)).toBe(compileSchema(search));
});

const plainSearch = jsonSchema({
  type: 'object',
  properties: {
    q: { type: 'string', minLength: 2 },
    k: { type: 'integer', default: 3 },
    where: { type: 'object', properties: { folder: { type: 'string' } }, required: ['folder'] },
  },
  required: ['q'],
});

const table: { input: unknown; path?: string; value?: unknown }[] = [
  { input: { q: 'ab' }, value: { q: 'ab', k: 3 } },
  { input: { q: 'ab', k: 4, where: { folder: 'x' } }, value: { q: 'ab', k: 4, where: { folder: 'x' } } },
  { input: { q: 'a' }, path: 'q' },
  { input: { q: null }, path: 'q' },
  { input: { q: 'ab', k: '7' }, path: 'k' },
  { input: { q: 'ab', k: 1.7 }, path: 'k' },
  { input: { q: 'ab', k: true }, path: 'k' },
  { input: { q: 'ab', extra: 1 }, path: 'extra' },
  { input: { q: 'ab', toString: 1 }, path: 'toString' },
  { input: { q: 'ab', where: { folder: 'x', deep: 1 } }, path: 'where.deep' },
  { input: JSON.parse('{"q":"ab","__proto__":{"admin":true}}'), path: '__proto__' },
  { input: [], path: '' },
  { input: null, path: '' },
];

test.each([v.any(), v.string(), v.object({ a: v.string() })])(
  'an optional key that objects inherit is optional %#',
  (inner) => {
    for (const key of ['toString', 'constructor', 'hasOwnProperty']) {
      const { validate } = compileSchema<unknown>(v.object({ in: v.object({ [key]: v.optional(inner) }) }));
      const result = validate({ in: {} });
      expect(result.ok && Object.keys((result.value as { in: object }).in)).toEqual([]);
    }
  },
);

test('an inherited key that is present is validated, and its value is kept', () => {
  const { validate } = compileSchema(
    v.object({ toString: v.optional(v.string()), more: v.array(v.object({ a: v.number() })) }),
  );
  expect(validate({ toString: 'x', more: [{ a: 1 }] })).toEqual({
    ok: true,
    value: { toString: 'x', more: [{ a: 1 }] },
  });
  expect(validate({ toString: 1, more: [] })).toMatchObject({ ok: false });
  const loose = compileSchema<{ inner: object }>(v.looseObject({ toString: v.optional(v.string()) }) as never);
  const result = loose.validate({ inner: { a: [{}] } });
  expect(result.ok && Object.getPrototypeOf(result.value.inner)).toBe(Object.prototype);
});

test.each([
  v.object({ in: v.object({ a: v.optional(v.string()) }) }),
  v.object({ in: v.looseObject({}) }),
  jsonSchema({ type: 'object', properties: { in: { type: 'object', properties: { a: {} } } } }),
] satisfies readonly Schema[])('a list is not an object %#', (schema) => {
  expect(compileSchema<unknown>(schema).validate({ in: [] })).toMatchObject({ ok: false });
  expect(compileSchema<unknown>(schema).validate({ in: {} })).toMatchObject({ ok: true });
});

test('a list is accepted where the schema allows lists and objects', () => {
  const either = v.object({ in: v.union([v.object({ a: v.string() }), v.array(v.string())]) });
  expect(compileSchema(either).validate({ in: ['x'] })).toMatchObject({ ok: true });
  expect(compileSchema(either).validate({ in: { a: 'x' } })).toMatchObject({ ok: true });
});

for (const [kind, schema] of [
  ['valibot', search],
  ['plain JSON Schema', plainSearch],
] as const satisfies readonly (readonly [string, Schema])[]) {
  test.each(table)(`${kind}: $input`, ({ input, path, value }) => {
    const before = JSON.stringify(input);
    const validation = compileSchema<unknown>(schema).validate(input);
    expect(JSON.stringify(input)).toBe(before);
    if (path === undefined) expect(validation).toEqual({ ok: true, value });
    else if (validation.ok) expect.unreachable('accepted');
    else if (path !== '') expect(validation.issues.map((issue) => issue.path)).toContain(path);
  });
}

test('open objects are declared in both kinds of schema', () => {
  const loose = compileSchema(v.looseObject({ a: v.string(), in: v.object({ b: v.string() }) }));
  expect(loose.jsonSchema).toMatchObject({ additionalProperties: true });
  expect(loose.validate({ a: 'x', in: { b: 'y' }, more: 1 })).toMatchObject({ ok: true });
  expect(loose.validate({ a: 'x', in: { b: 'y', more: 1 } })).toMatchObject({ ok: false });
  const record = compileSchema(v.record(v.string(), v.number()));
  expect(record.validate({ anything: 1 })).toMatchObject({ ok: true });
  const plain = compileSchema(jsonSchema({ type: 'object', properties: {}, additionalProperties: { type: 'string' } }));
  expect(plain.validate({ more: 'x' })).toMatchObject({ ok: true });
  expect(plain.validate({ more: 1 })).toMatchObject({ ok: false });
});

test.each([
  { keyword: 'allOf', schema: { allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] } },
  { keyword: 'anyOf', schema: { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] } },
  { keyword: '$ref', schema: { $ref: '#/$defs/x', properties: { a: {} }, $defs: { x: { properties: { b: {} } } } } },
])('under $keyword a key is declared if any branch declares it', ({ schema }) => {
  const { validate } = compileSchema(jsonSchema(schema));
  expect(validate({ a: 1, b: 2 })).toMatchObject({ ok: true });
  expect(validate({ a: 1, c: 2 })).toMatchObject({ ok: false, issues: [{ path: 'c' }] });
});

test('valibot intersections and variants keep every key of their branches', () => {
  const both = compileSchema(v.intersect([v.object({ a: v.string() }), v.object({ b: v.string() })]));
  expect(both.validate({ a: 'x', b: 'y' })).toMatchObject({ ok: true });
  expect(both.validate({ a: 'x', b: 'y', c: 'z' })).toMatchObject({ ok: false });
});

test('a schema without object keywords leaves objects open, even if it describes lists', () => {
  const { validate } = compileSchema(jsonSchema({ items: { type: 'string' } }));
  expect(validate({ anything: 1 })).toMatchObject({ ok: true });
  expect(validate([1])).toMatchObject({ ok: false });
});

test('models see closed objects, but branches of a combination are not closed against each other', () => {
  const shown = (schema: JsonObject): JsonObject => compileSchema(jsonSchema(schema)).jsonSchema;
  expect(shown({ type: 'object', properties: {} })).toMatchObject({ additionalProperties: false });
  const combined = shown({ type: 'object', properties: { a: {} }, allOf: [{ properties: { b: {} } }] });
  expect(combined['additionalProperties']).toBeUndefined();
  expect(combined['allOf']).toEqual([{ properties: { b: {} } }]);
});

test('a recursive reference is followed to the depth of the value', () => {
  const tree = compileSchema(
    jsonSchema({ type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } }),
  );
  expect(tree.validate({ children: [{ children: [{}] }] })).toMatchObject({ ok: true });
  expect(tree.validate({ children: [{ children: [{ x: 1 }] }] })).toMatchObject({
    ok: false,
    issues: expect.arrayContaining([{ path: 'children[0].children[0].x', message: 'Unknown key.' }]),
  });
});

test.each(['toString', 'constructor', 'hasOwnProperty'])('a required `%s` is not satisfied by the prototype', (key) => {
  for (const schema of [
    v.object({ [key]: v.unknown() }),
    jsonSchema({ type: 'object', properties: { [key]: {} }, required: [key] }),
  ] satisfies readonly Schema[]) {
    expect(compileSchema<unknown>(schema).validate({})).toMatchObject({ ok: false });
  }
});

test('valibot checks that JSON Schema cannot express are left out of it and still run', () => {
  const even = compileSchema(
    v.pipe(
      v.number(),
      v.check((value) => value % 2 === 0, 'must be even'),
    ),
  );
  expect(even.jsonSchema).toEqual({ type: 'number' });
  expect(even.validate(3)).toEqual({ ok: false, issues: [{ path: '', message: 'must be even' }] });
});

test('a Standard Schema of another library must provide JSON Schema', () => {
  const standard = (extra: object): StandardSchema => ({
    '~standard': { version: 1, vendor: 'other', validate: (value) => ({ value }), ...extra },
  });
  const given: JsonObject = { type: 'object', properties: { a: { type: 'string' } } };
  const compiled = compileSchema(standard({ jsonSchema: { input: () => given } }));
  expect(compiled.validate({ b: 1 })).toEqual({ ok: false, issues: [{ path: 'b', message: 'Unknown key.' }] });
  expect(codeOf(() => compileSchema(standard({})))).toBe('schema.invalid: unsupported');
});

test.each([
  { code: 'schema.invalid', make: () => compileSchema({} as Schema) },
  { code: 'schema.invalid', make: () => compileSchema(undefined as unknown as Schema) },
  { code: 'schema.invalid', make: () => compileSchema('string' as unknown as Schema) },
  { code: 'schema.invalid', make: () => jsonSchema({ default: () => 1 }) },
  { code: 'schema.invalid: async', make: () => compileSchema(v.pipeAsync(v.string()) as unknown as Schema) },
  {
    code: 'schema.invalid: async',
    make: () =>
      compileSchema({
        '~standard': {
          version: 1,
          vendor: 'other',
          validate: () => Promise.reject(new Error('late')),
          jsonSchema: { input: () => ({}) },
        },
      } as Schema).validate(1),
  },
  { code: 'schema.invalid: unsupported', make: () => compileSchema(v.date()) },
  { code: 'schema.invalid: ref.remote', make: () => compileSchema(jsonSchema({ $ref: 'http://127.0.0.1:9/x.json' })) },
  { code: 'schema.invalid: ref.unknown', make: () => compileSchema(jsonSchema({ $ref: '#/$defs/none' })) },
  { code: 'schema.invalid: pattern.invalid', make: () => compileSchema(jsonSchema({ pattern: '(' })) },
  {
    code: 'schema.invalid: pattern.invalid',
    make: () => compileSchema(jsonSchema({ patternProperties: { '(': {} } })),
  },
  {
    code: 'schema.invalid: draft.unknown',
    make: () => compileSchema(jsonSchema({ $schema: 'http://example.com/mine' })),
  },
])('$code', ({ code, make }) => {
  expect(codeOf(make)).toBe(code);
});

test('schema.invalid: zod_mini: the message for zod/mini says what to use instead', () => {
  const mini = { '~standard': { version: 1, vendor: 'zod', validate: (value: unknown) => ({ value }) } } as Schema;
  expect(() => compileSchema(mini)).toThrow(
    expect.objectContaining({
      code: 'schema.invalid',
      message: expect.stringMatching(/`zod\/mini`.*from `zod`.*jsonSchema\(z\.toJSONSchema\(schema\)\)/),
      data: { vendor: 'zod', reason: 'zod_mini' },
    }),
  );
});

test.each([
  { what: 'dependentSchemas', schema: { dependentSchemas: { card: { properties: { address: { type: 'string' } } } } } },
  {
    what: 'dependencies',
    schema: { dependencies: { card: { properties: { address: { type: 'string' } } }, a: ['b'] } },
  },
  { what: 'else', schema: { if: { required: ['no'] }, else: { properties: { address: { type: 'string' } } } } },
])('a key that only $what declares is accepted, other keys are rejected', ({ schema }) => {
  const type = { type: 'object', properties: { card: { type: 'string' } } } as const;
  const { validate, jsonSchema: shown } = compileSchema(jsonSchema({ ...type, ...schema } as unknown as JsonObject));
  expect(validate({ card: 'c', address: 'a' })).toMatchObject({ ok: true });
  expect(validate({ card: 'c', address: 1 })).toMatchObject({ ok: false });
  expect(validate({ card: 'c', other: 1 })).toMatchObject({ ok: false, issues: [{ path: 'other' }] });
  expect(shown).not.toHaveProperty('additionalProperties');
});

test('a constant that looks like a reference stays a constant', () => {
  expect(
    compileSchema(jsonSchema({ const: { $ref: 'http://example.com' } })).validate({ $ref: 'http://example.com' }),
  ).toMatchObject({ ok: true });
});

test.each([
  [{ input: { q: 'ab' }, output: { hits: 1 } }, undefined],
  [{ input: { q: 'a' }, output: { hits: 1 } }, 'its input: `q`'],
  [{ input: { q: 'ab', more: 1 }, output: { hits: 1 } }, 'its input: `more`'],
  [{ input: { q: 'ab' }, output: { hits: 'x' } }, 'its output: `hits`'],
  [{ input: { q: 'ab' }, output: undefined }, 'its output: `value` is undefined'],
])('tool.invalid: example.invalid: %j', (example, problem) => {
  const tool = defineTool({
    name: 'search',
    description: 'Searches.',
    inputSchema: search,
    outputSchema: v.object({ hits: v.number() }),
    examples: [{ description: 'One', ...example } as never],
  });
  const check = (): void => checkToolExamples(tool);
  if (problem === undefined) expect(check).not.toThrow();
  else
    expect(check).toThrow(
      expect.objectContaining({
        code: 'tool.invalid',
        reason: 'example.invalid',
        message: expect.stringContaining(problem),
      }),
    );
});

test.each([
  ['a record', v.object({ in: v.record(v.string(), v.any()) })],
  ['an open object', v.object({ in: v.looseObject({ a: v.optional(v.number()) }) })],
  ['an object with a rest', v.object({ in: v.objectWithRest({}, v.any()) })],
] as const)('%s is rejected where the validator would drop it', (_what, schema) => {
  const { validate } = compileSchema<unknown>(schema);
  for (const key of ['__proto__', 'prototype', 'constructor']) {
    const validation = validate({ in: JSON.parse(`{"b":1,"${key}":2}`) });
    expect(validation).toEqual({ ok: false, issues: [{ path: `in.${key}`, message: 'Unknown key.' }] });
  }
  expect(validate({ in: { toString: 1, b: 1 } })).toEqual({ ok: true, value: { in: { toString: 1, b: 1 } } });
  expect(validate({ in: { b: { constructor: 1 } } })).toMatchObject({ ok: true });
});

test('issues are formatted as one line', () => {
  expect(
    describeIssues([
      { path: 'a', message: 'Bad.' },
      { path: '', message: 'Worse.' },
    ]),
  ).toBe('`a`: Bad; Worse.');
});

test('property: a value accepted by a closed plain schema has no undeclared keys', () => {
  const { validate } = compileSchema(plainSearch);
  const key = fc.constantFrom('q', 'k', 'where', 'folder', '__proto__', 'constructor', 'x');
  const value = fc.oneof(fc.string(), fc.integer(), fc.dictionary(key, fc.string()));
  fc.assert(
    fc.property(fc.dictionary(key, value), (input) => {
      const validation = validate(input);
      if (!validation.ok) return;
      for (const name of Object.keys(Object(validation.value))) expect(['q', 'k', 'where']).toContain(name);
    }),
  );
});

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return isHoldfastError(error) ? describeCode(error) : String(error);
  }
  return undefined;
}

test('an object given as a default is not frozen', () => {
  const fallback = { tags: ['a'] };
  const { jsonSchema } = compileSchema(
    v.object({ meta: v.optional(v.object({ tags: v.array(v.string()) }), fallback) }),
  );
  expect(jsonSchema).toMatchObject({ properties: { meta: { default: { tags: ['a'] } } } });
  fallback.tags.push('b');
  expect(fallback).toEqual({ tags: ['a', 'b'] });
  expect(jsonSchema).toMatchObject({ properties: { meta: { default: { tags: ['a'] } } } });
});

test('a plain JSON Schema is kept as it was given', () => {
  const given = { type: 'object', properties: { a: { type: 'string' } } };
  const schema = jsonSchema(given);
  given.type = 'array';
  expect(schema.schema['type']).toBe('object');
});

test('a plain JSON Schema without the code that checks it is not compiled', () => {
  const bare = { type: 'json-schema', schema: { type: 'object' } } as unknown as Schema;
  expect(() => compileSchema(bare)).toThrow(
    expect.objectContaining({ code: 'feature.missing', message: expect.stringContaining('`@holdfast/schema/json`') }),
  );
});
