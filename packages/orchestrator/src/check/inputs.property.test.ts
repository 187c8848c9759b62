import type { Json, JsonObject } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPath } from '../plan/value-path.ts';
import { typeOf } from './schema-types.ts';
import { planOf, testTool, testTools, violationsOf } from './test-plans.ts';

const input: JsonObject = {
  type: 'object',
  properties: {
    text: { type: 'string', minLength: 1, pattern: '^[a-z]' },
    count: { type: 'integer', minimum: 1, maximum: 20 },
    list: {
      type: 'array',
      items: {
        type: 'object',
        properties: { key: { type: 'string' }, value: { type: 'number', default: 1 } },
        required: ['key', 'value'],
      },
      minItems: 1,
      maxItems: 3,
      uniqueItems: true,
    },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
    holds: { type: 'array', contains: { const: 'x' } },
    either: {
      anyOf: [
        { type: 'string' },
        { type: 'object', properties: { deep: { type: 'boolean' } }, required: ['deep'] },
        { type: 'array', items: { type: 'integer' } },
      ],
    },
    map: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } }, maxProperties: 2 },
    chain: { $ref: '#/$defs/link' },
    names: { type: 'object', patternProperties: { '^n': { type: 'number' } }, propertyNames: { maxLength: 3 } },
    fixed: { const: { a: [1, { b: 2 }] } },
    choice: { enum: [[1, 2], { c: 3 }, 'x'] },
    nullable: { type: ['object', 'null'], properties: { a: { type: 'string' } }, required: ['a'] },
    bounded: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'], minProperties: 1 },
  },
  required: ['text'],
  $defs: {
    link: {
      type: 'object',
      properties: { value: { type: 'integer' }, next: { $ref: '#/$defs/link' } },
      required: ['value'],
    },
  },
};
const types = ['null', 'boolean', 'number', 'string', 'array', 'object'];
const tools = [
  ...testTools,
  testTool('rich', { input }),
  testTool('gives', { output: input }),
  ...types.map((type) => testTool(`takes_${type}`, { input: { type: 'object', properties: { x: { type } } } })),
];

const word = fc.stringMatching(/^[a-z]{1,4}$/);
const { link } = fc.letrec<{ readonly link: unknown }>((tie) => ({
  link: fc.record(
    { value: fc.integer(), next: fc.option(tie('link'), { nil: undefined, maxDepth: 3 }) },
    { requiredKeys: ['value'] },
  ),
}));

/** Inputs that match the schema. */
const good = fc
  .record(
    {
      text: word,
      count: fc.integer({ min: 1, max: 20 }),
      list: fc
        .uniqueArray(word, { minLength: 1, maxLength: 3 })
        .map((keys) => keys.map((key, index) => (index === 0 ? { key } : { key, value: index }))),
      pair: fc.tuple(word, fc.integer()),
      holds: fc.array(fc.constantFrom('y', 1)).map((items) => [...items, 'x']),
      either: fc.oneof(word, fc.record({ deep: fc.boolean() }), fc.array(fc.integer(), { maxLength: 3 })),
      map: fc.dictionary(word, fc.array(word, { maxLength: 2 }), { maxKeys: 2 }),
      chain: link,
      names: fc.dictionary(fc.constantFrom('n', 'nn', 'n1'), fc.integer()),
      fixed: fc.constant({ a: [1, { b: 2 }] }),
      choice: fc.constantFrom([1, 2], { c: 3 }, 'x'),
      nullable: fc.constantFrom(null, { a: 'x' }),
      bounded: fc.constant({ a: 1 }),
    },
    { requiredKeys: ['text'] },
  )
  // Drops members that are `undefined`.
  .map((inputs): JsonObject => JSON.parse(JSON.stringify(inputs)));

/** Replaces the numbered places in `holes` by references. */
function punch(inputs: JsonObject, holes: ReadonlySet<number>): JsonObject {
  let place = 0;
  const visit = (value: Json): Json => {
    place += 1;
    if (holes.has(place))
      return typeof value === 'string' && place % 2 === 0 ? 'a{{STEPS.0.x}}' : { $from: 0, path: 'x' };
    if (Array.isArray(value)) return (value as readonly Json[]).map(visit);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)]));
  };
  return Object.fromEntries(Object.entries(inputs).map(([key, inner]) => [key, visit(inner)]));
}

const holes = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 5 }).map((places) => new Set(places));
const check = (inputs: JsonObject): Promise<readonly string[]> =>
  violationsOf(planOf({ id: 0, tool: 'a' }, { id: 1, tool: 'rich', inputs }), { tools });

test('inputs that may become valid are accepted, wherever they hold references', async () => {
  await fc.assert(
    fc.asyncProperty(good, holes, async (inputs, places) => {
      expect(await check(punch(inputs, places))).toEqual([]);
    }),
    { numRuns: 170 },
  );
});

test.each([
  {
    what: 'an unknown input',
    spoil: (inputs: JsonObject) => ({ ...inputs, other: 1 }),
    found: 'plan.invalid: input.unknown nodes[1].inputs.other',
  },
  {
    what: 'a wrong input',
    spoil: (inputs: JsonObject) => ({ ...inputs, count: 21 }),
    found: 'plan.input.type nodes[1].inputs.count',
  },
  {
    what: 'a missing input',
    spoil: (inputs: JsonObject) => Object.fromEntries(Object.entries(inputs).filter(([key]) => key !== 'text')),
    found: 'plan.input.missing nodes[1].inputs.text',
  },
  {
    what: 'a nested wrong input',
    spoil: (inputs: JsonObject) => ({ ...inputs, chain: { value: 1, next: { value: 'x' } } }),
    found: 'plan.input.type nodes[1].inputs.chain.next.value',
  },
])('$what is found whatever other places hold references', async ({ spoil, found }) => {
  await fc.assert(
    fc.asyncProperty(good, holes, async (inputs, places) => {
      // Spoiled after the holes were made, so that none replaces the fault.
      expect(await check(spoil(punch(inputs, places)))).toContain(found);
    }),
  );
});

/** The paths and values of all places in a value. */
function placesIn(value: Json, path: readonly (string | number)[] = []): readonly (readonly [typeof path, Json])[] {
  const inner: readonly (readonly [string | number, Json])[] = Array.isArray(value)
    ? [...(value as readonly Json[]).entries()]
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
      : [];
  return [[path, value], ...inner.flatMap(([step, item]) => placesIn(item, [...path, step]))];
}

test('a reference is accepted if the result may have the expected type', async () => {
  await fc.assert(
    fc.asyncProperty(good, fc.nat(), async (value, number) => {
      const places = placesIn(value);
      const [path, found] = places[number % places.length] ?? [[], value];
      const nodes = [
        { id: 0, tool: 'gives' },
        { id: 1, tool: `takes_${typeOf(found)}`, inputs: { x: { $from: 0, path: formatPath(path) } } },
      ];
      expect(await violationsOf(planOf(...nodes), { tools })).toEqual([]);
    }),
    { numRuns: 170 },
  );
});
