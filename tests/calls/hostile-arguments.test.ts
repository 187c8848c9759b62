import { isDeepStrictEqual } from 'node:util';
import { runInNewContext } from 'node:vm';
import { definePolicy, defineTool, type Tool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { byModel, directly, expectOneEnd, makeWorld, makeWriter } from './call-fixtures.ts';
import { checkBrokenInput, checkHostileText, checkHostileValues, HostileCalls } from './hostile-calls.ts';

// Ten thousand calls; `npm run long` makes a million.
test('hostile text: what a strict parser refuses enters no handler', async () => {
  const calls = new HostileCalls();
  await checkHostileText(calls, { numRuns: 500 });
  const kinds = ['duplicate_key', 'malformed', 'not_json', 'not_object', 'reserved_key', 'too_deep'];
  expect([...calls.kinds.keys()]).toEqual(
    expect.arrayContaining([...kinds.map((kind) => `arguments.invalid: ${kind}`), 'arguments.invalid', 'ok']),
  );
});

test('hostile values: only plain, frozen JSON enters a handler', async () => {
  const calls = new HostileCalls();
  await checkHostileValues(calls, { numRuns: 500 });
  expect(calls.kinds.get('ok')).toBeGreaterThan(20);
  expect(calls.kinds.get('arguments.invalid: not_json')).toBeGreaterThan(150);
});

test('broken input: a handler is entered exactly when the input has the shape that its schema describes', async () => {
  const calls = new HostileCalls();
  await checkBrokenInput(calls, { numRuns: 800 });
  expect(calls.kinds.get('ok')).toBeGreaterThan(150);
  expect(calls.kinds.get('arguments.invalid')).toBeGreaterThan(150);
});

test('broken input: a value under the key `__proto__` is refused even by an open schema', async () => {
  // A seed that once failed.
  const found = { seed: 1_015_408_626, path: '102:0:1:0:0:2:85:86:85:85' };
  const calls = new HostileCalls();
  await checkBrokenInput(calls, { numRuns: 2_500, ...found });
  expect(calls.kinds.get('arguments.invalid: reserved_key')).toBeGreaterThan(0);
});

const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
const keyed = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;
const filled = (length: number): string => `{"q":"${'x'.repeat(length - 8)}"}`;
const anything = jsonSchema({ type: 'object', additionalProperties: true });
const withDate = jsonSchema({ type: 'object', properties: { day: { type: 'string', format: 'date' } } });
const withTime = jsonSchema({ type: 'object', properties: { at: { type: 'string', format: 'date-time' } } });
const inherited = (schema: (entries: v.ObjectEntries) => v.GenericSchema, value: v.GenericSchema): v.GenericSchema =>
  schema({ toString: value, constructor: value });

interface Case {
  readonly id: string;
  readonly what: string;
  readonly raw: unknown;
  /** Default: an object with anything in it. */
  readonly inputSchema?: Tool['inputSchema'];
  /** `undefined`: the call succeeds with `input`. */
  readonly code?: string;
  readonly reason?: string;
  readonly input?: unknown;
}

// The numbers are those of the repository's list of hostile cases.
const cases: readonly Case[] = [
  {
    id: 'C1',
    what: 'a key twice',
    raw: '{"path":"/safe","path":"/etc/passwd"}',
    code: 'arguments.invalid',
    reason: 'duplicate_key',
  },
  {
    id: 'C1',
    what: 'a key twice, once in escapes',
    raw: '{"path":1,"\\u0070ath":2}',
    code: 'arguments.invalid',
    reason: 'duplicate_key',
  },
  {
    id: 'C1',
    what: 'a key twice deep down',
    raw: '{"a":[{"b":{"c":1,"c":1}}]}',
    code: 'arguments.invalid',
    reason: 'duplicate_key',
  },
  { id: 'C1', what: 'one key in two objects', raw: '{"a":{"b":1},"b":1}', input: { a: { b: 1 }, b: 1 } },
  {
    id: 'C3',
    what: '`__proto__`',
    raw: '{"__proto__":{"polluted":true}}',
    code: 'arguments.invalid',
    reason: 'reserved_key',
  },
  {
    id: 'C3',
    what: '`__proto__` in escapes',
    raw: '{"\\u005f_proto__":{"polluted":true}}',
    code: 'arguments.invalid',
    reason: 'reserved_key',
  },
  {
    id: 'C3',
    what: '`__proto__` in a list',
    raw: '{"a":[{"__proto__":{"polluted":true}}]}',
    code: 'arguments.invalid',
    reason: 'reserved_key',
  },
  {
    id: 'C3',
    what: '`__proto__` decoded',
    raw: JSON.parse('{"a":{"__proto__":{"polluted":true}}}'),
    code: 'arguments.invalid',
    reason: 'reserved_key',
  },
  {
    id: 'C3',
    what: '`constructor.prototype`',
    raw: '{"constructor":{"prototype":{"polluted":true}}}',
    input: { constructor: { prototype: { polluted: true } } },
  },
  { id: 'C5', what: '64 levels', raw: nested(64), input: JSON.parse(nested(64)) },
  { id: 'C5', what: '65 levels', raw: nested(65), code: 'arguments.invalid', reason: 'too_deep' },
  { id: 'C5', what: '64 levels, decoded', raw: JSON.parse(nested(64)), input: JSON.parse(nested(64)) },
  { id: 'C5', what: '65 levels, decoded', raw: JSON.parse(nested(65)), code: 'arguments.invalid', reason: 'too_deep' },
  {
    id: 'C5',
    what: 'a million brackets',
    raw: `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
    code: 'arguments.invalid',
    reason: 'too_deep',
  },
  { id: 'C7', what: '1 MiB', raw: filled(1_048_576), input: JSON.parse(filled(1_048_576)) },
  { id: 'C7', what: '1 MiB and one', raw: filled(1_048_577), code: 'arguments.invalid', reason: 'too_large' },
  { id: 'C7', what: 'a text of 2 MiB', raw: filled(2_097_152), code: 'arguments.invalid', reason: 'too_large' },
  {
    id: 'C7',
    what: 'a text of 2 MiB, decoded',
    raw: JSON.parse(filled(2_097_152)),
    code: 'arguments.invalid',
    reason: 'too_large',
  },
  { id: 'C7', what: '10,000 keys', raw: keyed(10_000), input: JSON.parse(keyed(10_000)) },
  {
    id: 'C7',
    what: '100,000 keys',
    raw: keyed(100_000).slice(0, 1_000_000),
    code: 'arguments.invalid',
    reason: 'malformed',
  },
  { id: 'C7', what: '10,001 keys', raw: keyed(10_001), code: 'arguments.invalid', reason: 'too_large' },
  {
    id: 'C7',
    what: '10,001 keys, decoded',
    raw: JSON.parse(keyed(10_001)),
    code: 'arguments.invalid',
    reason: 'too_large',
  },
  {
    id: 'C7',
    what: 'a key of 1 MiB',
    raw: `{"${'k'.repeat(1_048_576)}":1}`,
    code: 'arguments.invalid',
    reason: 'too_large',
  },
  {
    id: 'C7',
    what: 'a key of 1 MiB, decoded',
    raw: { ['k'.repeat(1_048_576)]: 1 },
    code: 'arguments.invalid',
    reason: 'too_large',
  },
  {
    id: 'C7',
    what: 'a list that says it is endless',
    raw: { a: endless() },
    code: 'arguments.invalid',
    reason: 'too_large',
  },
  { id: 'C9', what: 'half a character', raw: '{"q":"\\ud800"}', input: { q: '\ud800' } },
  { id: 'C9', what: 'half a character in a name', raw: '{"\\udfff":1}', code: 'arguments.invalid' },
  { id: 'C9', what: 'NUL and control characters', raw: '{"q":"\\u0000\\u001b[31m"}', input: { q: '\u0000\u001b[31m' } },
  { id: 'C9', what: 'a byte order mark', raw: '\ufeff{}', code: 'arguments.invalid', reason: 'malformed' },
  {
    id: 'C11',
    what: 'no `toString`',
    raw: '{}',
    inputSchema: inherited(v.object, v.string()),
    code: 'arguments.invalid',
  },
  {
    id: 'C11',
    what: 'no `toString`, whatever it is',
    raw: '{}',
    inputSchema: inherited(v.object, v.unknown()),
    code: 'arguments.invalid',
  },
  {
    id: 'C11',
    what: 'no `toString` in an open object',
    raw: {},
    inputSchema: inherited(v.looseObject, v.any()),
    code: 'arguments.invalid',
  },
  {
    id: 'C11',
    what: 'no `toString` by JSON Schema',
    raw: '{}',
    inputSchema: jsonSchema({ type: 'object', properties: { toString: {} }, required: ['toString'] }),
    code: 'arguments.invalid',
  },
  {
    id: 'C11',
    what: 'no optional `toString`',
    raw: '{}',
    inputSchema: inherited(v.object, v.optional(v.string())),
    input: {},
  },
  {
    id: 'C11',
    what: 'no optional `toString`, whatever it is',
    raw: '{}',
    inputSchema: inherited(v.object, v.optional(v.any())),
    input: {},
  },
  {
    id: 'C11',
    what: 'a `toString` of its own',
    raw: '{"toString":"x","constructor":"y"}',
    inputSchema: inherited(v.object, v.string()),
    input: { toString: 'x', constructor: 'y' },
  },
  { id: 'C13', what: 'JSON in JSON', raw: '"{\\"q\\":1}"', code: 'arguments.invalid', reason: 'not_object' },
  { id: 'C13', what: 'an object', raw: { q: [1, null] }, input: { q: [1, null] } },
  { id: 'C13', what: 'an empty text', raw: '', input: {} },
  { id: 'C13', what: 'blanks', raw: ' \n\t', input: {} },
  { id: 'C13', what: 'nothing', raw: undefined, input: {} },
  { id: 'C13', what: 'null', raw: null, code: 'arguments.invalid', reason: 'not_object' },
  { id: 'C13', what: 'null as text', raw: 'null', code: 'arguments.invalid', reason: 'not_object' },
  { id: 'C13', what: 'a list', raw: [{}], code: 'arguments.invalid', reason: 'not_object' },
  { id: 'C13', what: 'a list as text', raw: '[{}]', code: 'arguments.invalid', reason: 'not_object' },
  { id: 'C13', what: 'a number', raw: 7, code: 'arguments.invalid', reason: 'not_object' },
  { id: 'C13', what: 'a text that is not JSON', raw: "{'q':1}", code: 'arguments.invalid', reason: 'malformed' },
  { id: 'C13', what: 'a fenced block', raw: '```json\n{"q":1}\n```', code: 'arguments.invalid', reason: 'malformed' },
  { id: 'C13', what: 'two objects', raw: '{}{}', code: 'arguments.invalid', reason: 'malformed' },
  {
    id: 'C13',
    what: 'a list for an inner object',
    raw: '{"a":[]}',
    inputSchema: v.object({ a: v.object({}) }),
    code: 'arguments.invalid',
  },
  { id: 'C25', what: 'a Map', raw: new Map([['q', 1]]), code: 'arguments.invalid', reason: 'not_json' },
  { id: 'C25', what: 'a Date inside', raw: { q: new Date(0) }, code: 'arguments.invalid', reason: 'not_json' },
  { id: 'C25', what: 'an object of another realm', raw: runInNewContext('({ q: [1] })'), input: { q: [1] } },
  {
    id: 'numbers',
    what: 'a number that is too large',
    raw: '{"q":1e999}',
    code: 'arguments.invalid',
    reason: 'not_json',
  },
  {
    id: 'numbers',
    what: 'a number that is too small, deep down',
    raw: '{"q":[{"n":-1e999}]}',
    code: 'arguments.invalid',
    reason: 'not_json',
  },
  {
    id: 'numbers',
    what: 'Infinity, decoded',
    raw: { q: Number.POSITIVE_INFINITY },
    code: 'arguments.invalid',
    reason: 'not_json',
  },
  {
    id: 'C27',
    what: 'a day that is none',
    raw: '{"day":"2024-02-30"}',
    inputSchema: withDate,
    code: 'arguments.invalid',
  },
  { id: 'C27', what: 'a leap day', raw: '{"day":"2024-02-29"}', inputSchema: withDate, input: { day: '2024-02-29' } },
  {
    id: 'C27',
    what: 'a leap day of 2023',
    raw: '{"day":"2023-02-29"}',
    inputSchema: withDate,
    code: 'arguments.invalid',
  },
  {
    id: 'C27',
    what: 'the year 275761',
    raw: '{"day":"275761-01-01"}',
    inputSchema: withDate,
    code: 'arguments.invalid',
  },
  {
    id: 'C27',
    what: 'a time without a zone',
    raw: '{"at":"2024-02-29T10:00:00"}',
    inputSchema: withTime,
    code: 'arguments.invalid',
  },
  {
    id: 'C27',
    what: 'a zone that is none',
    raw: '{"at":"2024-02-29T10:00:00+25:00"}',
    inputSchema: withTime,
    code: 'arguments.invalid',
  },
];

test.each(cases)('$id: $what', async ({ raw, inputSchema = anything, code, reason, input }) => {
  for (const run of [directly, byModel]) {
    const world = makeWorld();
    const inputs: unknown[] = [];
    const tool = { ...makeWriter(() => 1, { inputSchema }) };
    const keeping: Tool = { ...tool, execute: (given) => inputs.push(given) };
    const { session, filesystem, clock } = world;
    const looked = await world.look();
    const options = { tools: [keeping], session, resources: { filesystem }, clock };
    const ended = await run({ id: 'c', name: 'write', arguments: raw }, options);
    const end = expectOneEnd(ended, world);
    expect(ended.outcome).toMatchObject({ kind: code === undefined ? 'ok' : 'invalid', code, reason });
    // Not `toStrictEqual`, which takes a `constructor` among the arguments for that of the arguments.
    expect(isDeepStrictEqual([inputs, end.input], code === undefined ? [[input], input] : [[], undefined])).toBe(true);
    if (typeof raw === 'string') expect(end.rawArguments).toBe(raw);
    expect(ended.outcome.text.length).toBeLessThanOrEqual(1_024);
    expect(await world.look()).toBe(looked);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    if (run === byModel) expect(ended).toMatchObject({ status: 'completed', answered: ended.outcome.text });
  }
});

test('C9, C25: what arguments said is kept in the log without a change of meaning', async () => {
  const world = makeWorld();
  const raw = { q: '\ud800\u0000', n: -0 };
  const tool = makeWriter(() => 1, { inputSchema: anything });
  await directly({ id: 'c', name: 'write', arguments: raw }, { tools: [tool], session: world.session });
  const written: unknown = JSON.parse(JSON.stringify(world.ends('c')[0]));
  expect(written).toMatchObject({ rawArguments: { q: '\ud800\u0000', n: 0 }, input: { q: '\ud800\u0000', n: 0 } });
});

test.each([
  ['directly', directly],
  ['by a model', byModel],
])('C25: decoded arguments are read once when called %s, so that what is told is what was done', async (_how, run) => {
  const world = makeWorld();
  let reads = 0;
  const raw = Object.defineProperty({}, 'q', {
    enumerable: true,
    get: () => {
      reads += 1;
      return reads === 1 ? 'first' : 'later';
    },
  });
  const tool = makeWriter(() => 1, { inputSchema: v.object({ q: v.string() }) });
  const ended = await run({ id: 'c', name: 'write', arguments: raw }, { tools: [tool], session: world.session });
  expect(expectOneEnd(ended, world)).toMatchObject({ rawArguments: { q: 'first' }, input: { q: 'first' } });
  expect(reads).toBe(1);
});

test.each(['__proto__', 'constructor', 'prototype', 'hasownproperty', 'then', 'tostring', 'valueof'])(
  'B1: `%s` does not name a tool, not even one that exists',
  async (name) => {
    expect(() => defineTool({ name, description: 'Reserved.', execute: () => 1 })).toThrow(
      expect.objectContaining({
        code: 'tool.invalid',
        reason: expect.stringMatching(/^name\.(reserved|invalid)$/) as string,
      }),
    );
    await expectUnknown(name);
  },
);

test.each([
  ['in capitals', 'WRITE'],
  ['with a capital', 'Write'],
  ['behind a blank', ' write'],
  ['before a blank', 'write '],
  ['before a line break', 'write\n'],
  ['in a namespace', 'tools.write'],
  ['in another namespace', 'functions.write'],
  ['with a Cyrillic letter', 'wr\u0456te'],
  ['with half a character', 'writ\ud800'],
  ['with a zero-width blank', 'write\u200b'],
  ['with a wide letter', '\uff57rite'],
  ['that is empty', ''],
  ['of 100,000 letters', 'w'.repeat(100_000)],
])('B5: a name %s is another one, and no policy is asked about it', async (_what, name) => {
  await expectUnknown(name);
  expect(name).not.toBe('write');
});

test.each([undefined, null, 42, Symbol('write'), {}, ['write'], { toString: () => 'write' }])(
  'a name that is not text does not name a tool: %s',
  async (name) => {
    const world = makeWorld();
    const tool = makeWriter(() => 1);
    const ended = await directly(
      { id: 'c', name: name as string, arguments: '' },
      { tools: [tool], session: world.session },
    );
    expectOneEnd(ended, world);
    expect(ended.outcome).toMatchObject({ kind: 'unknown-tool', code: 'tool.unknown' });
    expect(tool.entered.count).toBe(0);
  },
);

async function expectUnknown(name: string): Promise<void> {
  for (const run of [directly, byModel]) {
    const world = makeWorld();
    const tool = makeWriter(() => 1);
    const policies = [definePolicy({ name: 'never', check: () => expect.unreachable() })];
    const ended = await run({ id: 'c', name, arguments: '{}' }, { tools: [tool], session: world.session, policies });
    expect(expectOneEnd(ended, world)).toMatchObject({ name, decisions: [], rawArguments: '{}' });
    expect(ended.outcome).toMatchObject({ kind: 'unknown-tool', code: 'tool.unknown', name });
    expect(ended.outcome.text).toContain('write');
    expect(ended.outcome.text.length).toBeLessThanOrEqual(1_024);
    expect(tool.entered.count).toBe(0);
    if (run === byModel) expect(ended).toMatchObject({ status: 'completed', answered: ended.outcome.text });
  }
}

/** Says that it holds a thousand million items; gives up before a test would have to wait for all of them. */
function endless(): unknown {
  let reads = 0;
  return new Proxy([], {
    get(_target, key) {
      if (key === 'length') return 1_000_000_000;
      reads += 1;
      if (reads > 1_000_000) throw new Error('read a million items of it');
      return 1;
    },
  });
}
