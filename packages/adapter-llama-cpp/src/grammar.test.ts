import type { JsonObject } from '@holdfast/core';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { afterAll, expect, inject, test } from 'vitest';
import { ask, endOf, loadTiny, objectOf, textOf, user } from './fixtures.ts';
import { toGrammar } from './grammar.ts';

const short = { type: 'string', maxLength: 6 };

const schemas: Readonly<Record<string, JsonObject>> = {
  'scalars of every type': objectOf({
    text: short,
    count: { type: 'integer' },
    amount: { type: 'number' },
    yes: { type: 'boolean' },
    no: { type: 'null' },
  }),
  'optional properties in every place': objectOf(
    { a: short, b: { type: 'boolean' }, c: short, d: { type: 'integer' } },
    ['b'],
  ),
  'nothing required': objectOf({ a: { type: 'boolean' }, b: { type: 'boolean' } }, []),
  'no properties': objectOf({}),
  'choices of any type': objectOf({
    pick: { enum: ['red "or" blue', 7, null, true, '\\n', 'é'] },
    only: { const: { a: [1] } },
  }),
  'lists with bounds': objectOf({
    some: { type: 'array', items: { type: 'boolean' }, minItems: 2, maxItems: 4 },
    none: { type: 'array', items: short, maxItems: 0 },
    pair: { type: 'array', prefixItems: [{ type: 'boolean' }, short], items: false, minItems: 2 },
  }),
  'long lists in long lists': objectOf({
    grid: {
      type: 'array',
      maxItems: 1000,
      items: { type: 'array', maxItems: 1000, items: { type: 'string', maxLength: 3 } },
    },
    yes: { type: 'boolean' },
  }),
  'lengths of texts': objectOf({ exact: { type: 'string', minLength: 3, maxLength: 3 } }),
  'either of two': objectOf({
    one: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    two: { type: ['integer', 'null'] },
  }),
  'all of two objects': {
    allOf: [
      { type: 'object', properties: { a: { type: 'boolean' } }, required: ['a'] },
      { type: 'object', properties: { b: { type: 'boolean' } }, required: ['b'] },
    ],
  },
  'a reference': {
    ...objectOf({ at: { $ref: '#/$defs/point' } }),
    $defs: { point: objectOf({ x: { type: 'integer' } }) },
  },
  'what refers to itself': {
    ...objectOf({ tree: { $ref: '#/$defs/node' } }),
    $defs: {
      node: objectOf({ leaf: { type: 'boolean' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }),
    },
  },
  'what is required and not declared': {
    type: 'object',
    properties: { a: { type: 'boolean' } },
    required: ['a', 'b'],
    additionalProperties: { type: 'null' },
  },
  'what is required alone': { type: 'object', required: ['toString'], additionalProperties: { type: 'boolean' } },
  'a reference that is described': {
    ...objectOf({ at: { $ref: '#/$defs/point', description: 'here', type: 'object' } }),
    $defs: { point: objectOf({ x: { type: 'boolean' } }) },
  },
  'names that need care': objectOf({
    'a"b': { type: 'boolean' },
    'c\\d': { type: 'boolean' },
    __proto: { type: 'null' },
  }),
};

const long = inject('long');
const enough = long > 0 ? Math.ceil(20 * long) : 2;
const most = enough * 6;
const model = await loadTiny({ temperature: 3, seed: 8, maxTokens: 120, contextSize: 512 });
afterAll(() => model.close());

test.each(Object.entries(schemas))('%s: generated JSON matches the schema', async (_name, output) => {
  const schema = compileSchema(jsonSchema(output));
  let whole = 0;
  for (let round = 0; round < most && whole < enough; round += 1) {
    const events = await ask(model, { messages: user(`Say something, ${round}`), output });
    // Cut off by a long string: nothing to check.
    if (endOf(events).reason === 'length') continue;
    const text = textOf(events);
    // Invalid UTF-8 bytes: the grammar counts them differently from their replacement characters.
    if (text.includes('\u{FFFD}')) continue;
    whole += 1;
    expect(schema.validate(JSON.parse(text)), text).toMatchObject({ ok: true });
  }
  expect(whole).toBeGreaterThan(0);
});

test('values by name: generated JSON, or a completion of it, matches the schema', async () => {
  const output = { type: 'object', additionalProperties: { type: 'integer' } };
  const schema = compileSchema(jsonSchema(output));
  // Names have no length limit, so most answers are cut off: in a name, an escape or a number, or between them.
  const endings = ['', '}', '0}', ':0}', '":0}', '"":0}', 'n":0}', '0":0}', '00":0}', '000":0}', '0000":0}'];
  const fits = (text: string): boolean => {
    try {
      return schema.validate(JSON.parse(text)).ok;
    } catch {
      return false;
    }
  };
  // A lower temperature, or few names would ever end.
  await using calm = await loadTiny({ temperature: 1, seed: 8, maxTokens: 40, contextSize: 512 });
  let named = 0;
  for (let round = 0; round < 100 && named < enough * 3; round += 1) {
    const text = textOf(await ask(calm, { messages: user(`Say something, ${round}`), output }));
    expect(endings.map((ending) => text + ending).some(fits), text).toBe(true);
    if (text.includes('":')) named += 1;
  }
  expect(named).toBeGreaterThan(0);
});

test.each<[keyword: string, schema: JsonObject, path: string]>([
  ['pattern', objectOf({ a: { type: 'string', pattern: '^x' } }), '/properties/a'],
  ['minimum', objectOf({ a: { type: 'array', items: { type: 'integer', minimum: 3 } } }), '/properties/a/items'],
  ['$ref', objectOf({ 'a/b': { $ref: 'https://example.org/schema' } }), '/properties/a~1b'],
  ['maxLength', objectOf({ a: { type: 'string', maxLength: 100_000 } }), '/properties/a'],
  ['maxItems', objectOf({ a: { type: 'array', items: true, maxItems: 9999 } }), '/properties/a'],
  ['uniqueItems', objectOf({ a: { type: 'array', uniqueItems: true } }), '/properties/a'],
  ['enum', { type: 'object', properties: { a: { enum: [] } } }, '/properties/a'],
  ['anyOf', { type: 'object', properties: { a: { anyOf: [] } } }, '/properties/a'],
  ['false', { type: 'object', properties: { a: false } }, '/properties/a'],
  ['$ref', { $ref: '#' }, ''],
  ['$ref', objectOf({ a: { $ref: '#anchor' } }), '/properties/a'],
  ['required', { ...objectOf({ a: true }), required: ['a', 'b'] }, ''],
  ['minLength', objectOf({ a: { $ref: '#/properties/b', minLength: 2 }, b: { type: 'string' } }), '/properties/a'],
  [
    'allOf',
    objectOf({ a: { allOf: [{ $ref: '#/properties/b' }, { $ref: '#/properties/c' }] }, b: true, c: {} }),
    '/properties/a',
  ],
  ['patternProperties', { type: 'object', patternProperties: { a: {} } }, ''],
])('`%s` is not enforced, and reported', (keyword, schema, path) => {
  expect(toGrammar([schema]).lowered).toEqual([{ path, keyword }]);
});

test('enforced keywords are not reported, and any of several schemas may be generated', () => {
  const { text, lowered } = toGrammar(Object.values(schemas));
  expect(lowered).toEqual([]);
  expect(/^root ::= (.*)$/m.exec(text)?.[1]?.split(' | ').length).toBeGreaterThan(5);
});

test('a deep schema ends in any JSON, which is reported', () => {
  let schema: JsonObject = { type: 'boolean' };
  for (let depth = 0; depth < 500; depth += 1) schema = objectOf({ a: schema });
  const { text, lowered } = toGrammar([schema]);
  expect(text.length).toBeLessThan(20_000);
  expect(lowered.map(({ keyword }) => keyword)).toEqual(['type', 'properties', 'required', 'additionalProperties']);
});

const leaf = { type: 'boolean' };
const circles: Readonly<Record<string, JsonObject>> = {
  'of one': { $ref: '#' },
  'of two': objectOf({ a: { $ref: '#/$defs/a' } }),
  'beside something': objectOf({ a: { $ref: '#/$defs/either' } }),
  'that is met on another way first': objectOf({ a: { $ref: '#/$defs/far' } }),
  'of all': objectOf({ a: { $ref: '#/$defs/all' } }),
};
const $defs = {
  a: { $ref: '#/$defs/b' },
  b: { $ref: '#/$defs/a' },
  either: { anyOf: [{ $ref: '#/$defs/either' }, leaf] },
  far: { anyOf: [objectOf({ p: { $ref: '#/$defs/near' } }), { $ref: '#/$defs/near' }] },
  near: { anyOf: [{ $ref: '#/$defs/far' }, leaf] },
  all: { allOf: [{ $ref: '#/$defs/all' }] },
};

test.each(Object.entries(circles))(
  'a circular reference %s, which a grammar cannot express, is reported',
  async (_name, schema) => {
    const output = { ...schema, $defs };
    const { lowered } = toGrammar([output]);
    expect(lowered.length).toBeGreaterThan(0);
    expect(lowered.every(({ keyword }) => keyword === '$ref')).toBe(true);
    expect(textOf(await ask(model, { output }))).not.toBe('');
  },
);

const many = Array.from({ length: 20_000 }, (_, index) => `value-${index}`);

test.each<[what: string, schema: JsonObject, lowered: unknown]>([
  ['choices', objectOf({ a: { enum: [...many, 7] }, b: leaf }), [{ path: '/properties/a', keyword: 'enum' }]],
  [
    'one choice',
    objectOf({ a: { const: 'x'.repeat(100_000) }, b: leaf }),
    [{ path: '/properties/a', keyword: 'const' }],
  ],
  [
    'properties',
    objectOf({ a: objectOf(Object.fromEntries(many.map((name) => [name, leaf]))), b: leaf }),
    [{ path: '/properties/a', keyword: 'properties' }],
  ],
])('with too many or too long %s, the type and the other keywords are still enforced', (_what, schema, lowered) => {
  const made = toGrammar([schema]);
  expect(made.lowered).toEqual(lowered);
  expect(made.text.length).toBeLessThan(4000);
  expect(made.text).toContain(String.raw`"\"b\"" ":" `);
});

test('a schema with repetitions has a short grammar', () => {
  const bounded = (index: number): JsonObject => ({ type: 'string', maxLength: 1000 + (index % 1000) });
  const lists = Object.fromEntries(many.slice(0, 400).map((name) => [name, { type: 'array', maxItems: 2000 }]));
  const same = Object.fromEntries(many.slice(0, 400).map((name) => [name, { type: 'string', maxLength: 2000 }]));
  for (const schema of [
    objectOf(Object.fromEntries(many.slice(0, 400).map((name, index) => [name, bounded(index)]))),
    objectOf(lists),
    objectOf({ a: { anyOf: many.map((title) => ({ title, type: 'object', properties: lists })) } }),
    { ...objectOf(same), anyOf: many.map((name) => ({ required: [name] })) },
  ]) {
    const { text, lowered } = toGrammar([schema]);
    expect(text.length).toBeLessThan(600_000);
    const repeated = [...text.matchAll(/\{(\d*),(\d*)\}/g)].map(([, least, most]) =>
      Math.max(Number(least), Number(most)),
    );
    expect(repeated.reduce((sum, count) => sum + count, 0)).toBeLessThan(40_000);
    expect(lowered.length).toBeGreaterThan(0);
  }
  expect(toGrammar([objectOf(same)]).lowered).toEqual([]);
});
