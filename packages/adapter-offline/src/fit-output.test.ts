import type { Json, JsonObject, Message, Model } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitOutput } from './fit-output.ts';
import { allTools, type Call, play, type Reply, succeed } from './fixtures.ts';
import { offlineModel } from './offline-model.ts';
import { type Finding, toFinding } from './results.ts';

function object(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

function found(value: Json, given: JsonObject = {}): Finding {
  return toFinding('look', given, true, JSON.stringify(value));
}

const text = { type: 'string' };
const integer = { type: 'integer' };
const place = object({ file: text, line: integer });

test.each<{ what: string; schema: JsonObject; findings: readonly Finding[]; value: Json | undefined }>([
  { what: 'properties by name', schema: object({ a: integer }), findings: [found({ a: 1, b: 2 })], value: { a: 1 } },
  {
    what: 'the last thing that fits',
    schema: object({ a: integer }),
    findings: [found({ a: 1 }), found({ a: 2 }), found({ b: 3 })],
    value: { a: 2 },
  },
  {
    what: 'names in another spelling',
    schema: object({ document_url: text }),
    findings: [found({ documentUrl: 'u' })],
    value: { document_url: 'u' },
  },
  {
    what: 'an exact name before another spelling',
    schema: object({ a_b: text }),
    findings: [found({ aB: 'x', a_b: 'y' })],
    value: { a_b: 'y' },
  },
  {
    what: 'what was asked for',
    schema: object({ city: text, degrees: integer }),
    findings: [found({ degrees: 21 }, { city: 'Rome' })],
    value: { city: 'Rome', degrees: 21 },
  },
  {
    what: 'what was given over what was asked for',
    schema: object({ city: text }),
    findings: [found({ city: 'Roma' }, { city: 'Rome' })],
    value: { city: 'Roma' },
  },
  {
    what: 'an optional property',
    schema: object({ a: integer, b: text }, ['a']),
    findings: [found({ a: 1 })],
    value: { a: 1 },
  },
  {
    what: 'one that is there and does not fit',
    schema: object({ a: integer, b: text }, ['a']),
    findings: [found({ a: 1, b: 2 })],
    value: { a: 1 },
  },
  {
    what: 'a list',
    schema: object({ items: { type: 'array', items: place } }),
    findings: [found([{ file: 'a', line: 1, more: true }])],
    value: { items: [{ file: 'a', line: 1 }] },
  },
  {
    what: 'a list beside facts',
    schema: object({ todos: { type: 'array', items: place }, count: integer }),
    findings: [found({ count: 1, found: [{ file: 'a', line: 1 }] })],
    value: { count: 1, todos: [{ file: 'a', line: 1 }] },
  },
  {
    what: 'an empty list',
    schema: object({ items: { type: 'array', items: place } }),
    findings: [found([])],
    value: { items: [] },
  },
  {
    what: 'a nested object',
    schema: object({ at: place }),
    findings: [found({ at: { file: 'a', line: 1, x: 1 } })],
    value: { at: { file: 'a', line: 1 } },
  },
  {
    what: 'a definition',
    schema: { ...object({ at: { $ref: '#/$defs/at' } }), $defs: { at: place } },
    findings: [found({ at: { file: 'a', line: 1 } })],
    value: { at: { file: 'a', line: 1 } },
  },
  {
    what: 'a choice',
    schema: object({ state: { enum: ['open', 'closed'] } }),
    findings: [found({ state: 'open' })],
    value: { state: 'open' },
  },
  { what: 'a number', schema: object({ a: { type: 'number' } }), findings: [found({ a: 1 })], value: { a: 1 } },
  {
    what: 'null',
    schema: object({ a: { type: ['string', 'null'] } }),
    findings: [found({ a: null })],
    value: { a: null },
  },
  { what: 'anything', schema: object({ a: {} }), findings: [found({ a: [1, { b: 2 }] })], value: { a: [1, { b: 2 }] } },
  {
    what: 'a text about it all',
    schema: object({ summary: text, a: integer }),
    findings: [found({ a: 1 })],
    value: { summary: 'All.', a: 1 },
  },
  { what: 'a text about nothing', schema: object({ answer: text }), findings: [], value: { answer: 'All.' } },
  {
    what: 'a text that was found',
    schema: object({ summary: text }),
    findings: [found({ summary: 'Mine.' })],
    value: { summary: 'Mine.' },
  },
  {
    what: 'parts of several things',
    schema: object({ a: integer, b: integer }),
    findings: [found({ a: 1 }), found({ b: 2 })],
    value: undefined,
  },
  { what: 'another type', schema: object({ a: text }), findings: [found({ a: 1 })], value: undefined },
  { what: 'a fraction', schema: object({ a: integer }), findings: [found({ a: 1.5 })], value: undefined },
  {
    what: 'another choice',
    schema: object({ state: { enum: ['open'] } }),
    findings: [found({ state: 'shut' })],
    value: undefined,
  },
  {
    what: 'a list of other things',
    schema: object({ items: { type: 'array', items: place } }),
    findings: [found([{ file: 'a' }])],
    value: undefined,
  },
  {
    what: 'two lists to choose from',
    schema: object({ a: { type: 'array' }, b: { type: 'array' } }),
    findings: [found([1])],
    value: undefined,
  },
  {
    what: 'a text of a certain form',
    schema: object({ summary: { type: 'string', maxLength: 3 } }),
    findings: [],
    value: undefined,
  },
  { what: 'a summary that is no text', schema: object({ summary: integer }), findings: [], value: undefined },
  {
    what: 'a text in a nested object',
    schema: object({ at: object({ text }) }),
    findings: [found({ at: {} })],
    value: undefined,
  },
  {
    what: 'nothing that is required, and nothing found',
    schema: object({ a: integer }, []),
    findings: [],
    value: undefined,
  },
  { what: 'an object without properties', schema: object({}), findings: [], value: {} },
  {
    what: 'an inherited name',
    schema: object({ constructor: {}, toString: {} }),
    findings: [found({ a: 1 })],
    value: undefined,
  },
])('$what', ({ schema, findings, value }) => {
  const fitted = fitOutput(schema, findings, 'All.');
  expect(fitted.ok ? fitted.value : undefined).toEqual(value);
});

test('what is lacking is what the closest thing lacks', () => {
  const schema = object({ a: integer, b: integer, c: integer });
  expect(fitOutput(schema, [found({ a: 1 }), found({ a: 1, b: 2 }), found({ c: 3 })], '')).toEqual({
    ok: false,
    lacking: ['c'],
  });
  expect(fitOutput(schema, [], '')).toEqual({ ok: false, lacking: ['a', 'b', 'c'] });
});

const name = fc.constantFrom('a', 'b', 'text', '__proto__', 'constructor', '$', '');
const { property } = fc.letrec<{ property: unknown }>((tie) => ({
  property: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>({}, text, integer, { enum: [1, 'a'] }, { $ref: '#' }, { $ref: '#/$defs/a' }, null, 7),
    fc.record({ type: fc.constantFrom('array', ['array', 'null'], 1), items: tie('property') }),
    fc.record({ type: fc.constant('object'), properties: fc.dictionary(name, tie('property')) }),
    fc.record({ anyOf: fc.array(tie('property')) }),
  ),
}));
const anySchema = fc.record(
  { properties: fc.dictionary(name, property), required: fc.oneof(fc.array(name), fc.jsonValue()) },
  { requiredKeys: [] },
);
const anyValue = fc.oneof(
  fc.dictionary(name, fc.jsonValue()),
  fc.array(fc.dictionary(name, fc.jsonValue())),
  fc.jsonValue(),
);

test('whatever is described and found: what comes has all that is required, and nothing that is not declared', () => {
  const run = fc.property(anySchema, fc.array(anyValue, { maxLength: 3 }), (schema, values) => {
    // JSON, which is all that a schema can be.
    const described = JSON.parse(JSON.stringify(schema)) as JsonObject & typeof schema;
    const fitted = fitOutput(
      described,
      values.map((value) => found(JSON.parse(JSON.stringify(value)) as Json)),
      'All.',
    );
    if (!fitted.ok) {
      expect(fitted.lacking).not.toEqual([]);
      return;
    }
    const declared = Object.keys(described.properties ?? {});
    const required: readonly unknown[] = Array.isArray(described.required) ? described.required : [];
    expect(declared).toEqual(expect.arrayContaining(Object.keys(fitted.value)));
    expect(Object.keys(fitted.value)).toEqual(
      expect.arrayContaining(declared.filter((each) => required.includes(each))),
    );
  });
  fc.assert(run, { numRuns: 50 });
});

function asking(output: JsonObject): Model {
  const model = offlineModel();
  return { ...model, stream: (request) => model.stream({ ...request, output }) };
}

const counted = object({ words: integer, path: text });

test('the JSON that is asked for is all that is said', async () => {
  const { calls, answer } = await play('Count the words in a.txt', allTools, succeed, asking(counted));
  expect(calls).toEqual([['count_words', { path: 'a.txt' }]]);
  expect(answer).toBe('{"words":12,"path":"a.txt"}');
});

test('a list is what was found', async () => {
  const todos = object({ items: { type: 'array', items: place } });
  const { answer } = await play('List all todos', allTools, succeed, asking(todos));
  expect(JSON.parse(answer)).toEqual({
    items: [
      { file: 'src/a.ts', line: 3 },
      { file: 'src/b.ts', line: 9 },
    ],
  });
});

test('what no result has is said in words, and the rest of the answer with it', async () => {
  const priced = object({ words: integer, price: { type: 'number' } });
  const { answer } = await play('Count the words in a.txt', allTools, succeed, asking(priced));
  expect(answer).toMatch(
    /^I am made of rules and cannot answer with the JSON that is asked for: .* gives `price`\.\n\n/u,
  );
  expect(answer).toContain('words: 12');
});

test('a request that no tool fits has a text to give, and nothing else', async () => {
  const answered = await play('Tell me a joke', allTools, succeed, asking(object({ answer: text })));
  expect(JSON.parse(answered.answer)).toEqual({ answer: expect.stringContaining('no tool for that') });
  const { answer } = await play('Tell me a joke', allTools, succeed, asking(counted));
  expect(answer).toMatch(/^I am made of rules and cannot .* gives `words`, `path`\./u);
});

const first: readonly Message[] = [
  { role: 'user', text: 'Count the words in a.txt' },
  { role: 'assistant', text: '', calls: [{ id: '1', name: 'count_words', arguments: { path: 'a.txt' } }] },
  { role: 'tool', callId: '1', name: 'count_words', success: true, text: '{"words":12,"lines":3}' },
];

function unasked(): Reply {
  throw new Error('nothing was to be called');
}

test('what is said between turns is no new request', async () => {
  const messages: Message[] = [...first, { role: 'user', text: 'List all todos, you have 2 minutes left.' }];
  const { answer } = await play(messages, allTools, unasked);
  expect(answer).toContain('words: 12');
});

test('a correction asks for nothing new: the answer is the same', async () => {
  const refused: Message[] = [
    ...first,
    { role: 'assistant', text: '{"words":12}', calls: [] },
    { role: 'user', text: 'Your message is not the output that was asked for: it does not fit. List all todos again.' },
  ];
  const { answer } = await play(refused, allTools, unasked, asking(counted));
  expect(answer).toBe('{"words":12,"path":"a.txt"}');
});

test('what comes after an answer is a new request', async () => {
  const messages: Message[] = [
    ...first,
    { role: 'assistant', text: '{"words":12}', calls: [] },
    { role: 'user', text: 'List all todos' },
  ];
  const calls: Call[] = [];
  await play(messages, allTools, (call) => {
    calls.push(call);
    return succeed(call);
  });
  expect(calls).toEqual([['list_todos', {}]]);
});
