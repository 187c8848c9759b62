import type { JsonObject } from '@holdfast/core';
import type { ConversationFormat } from '@holdfast/core/types';
import { tinyFormat } from '@holdfast/model-tiny';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { ask, callsOf, loadTiny, objectOf, user } from './fixtures.ts';
import { toGrammar } from './grammar.ts';

// Always calls, at a high temperature.
const format: ConversationFormat = { ...tinyFormat, say: tinyFormat.call };
const wild = await loadTiny({ format, temperature: 3, seed: 5, maxTokens: 200 });
afterAll(() => wild.close());

async function argumentsOf(text: string, inputSchema: JsonObject): Promise<unknown> {
  const tools = [{ name: 'do_it', description: 'do it', inputSchema }];
  return callsOf(await ask(wild, { messages: user(text), tools }))[0]?.arguments;
}

const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** True if the value occurs in the text at word boundaries. Checks every position, independent of the grammar. */
function standsIn(value: string, text: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    const before = Array.from(text.slice(0, at)).at(-1);
    const after = Array.from(text.slice(end))[0];
    const cuts =
      (isWord(before) && isWord(Array.from(value)[0])) || (isWord(Array.from(value).at(-1)) && isWord(after));
    if (!cuts) return value !== '' && value.trim() === value;
  }
  return false;
}

const words = fc.oneof(
  fc.constantFrom(
    'hall',
    'docs/a.txt',
    '"x y"',
    'a\\b',
    '12.5',
    '-3',
    '7kg',
    '2026-11-03',
    'a_b',
    'é',
    '漢字',
    '🙂',
    '\n',
    '\t',
    "it's",
  ),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);

test('property: strings and numbers of a call occur in the request', async () => {
  let texts = 0;
  let numbers = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(words, { minLength: 1, maxLength: 12 }), async (parts) => {
      const request = parts.join(' ').trim();
      fc.pre(request !== '');
      const schema = objectOf(
        {
          text: { type: 'string' },
          count: { type: 'integer' },
          short: { type: 'string', maxLength: 4 },
          rate: { type: 'number' },
        },
        ['text'],
      );
      const written = await argumentsOf(request, schema);
      // Cut off, or with invalid UTF-8: nothing to check.
      if (written === undefined || JSON.stringify(written).includes('\u{FFFD}')) return;
      const { text, short, count, rate } = written as { text: string; short?: string; count?: number; rate?: number };
      texts += 1;
      expect(standsIn(text, request), text).toBe(true);
      if (short !== undefined) {
        expect(standsIn(short, request), short).toBe(true);
        expect(Array.from(short).length).toBeLessThanOrEqual(4);
      }
      const found = [...request.matchAll(/-?\d+(\.\d+)?/g)].map(([one]) => Math.abs(Number(one)));
      for (const value of [count, rate]) {
        if (value === undefined) continue;
        numbers += 1;
        expect(found).toContain(Math.abs(value));
      }
      if (count !== undefined) expect(Number.isInteger(count)).toBe(true);
    }),
    {
      numRuns: 12,
      examples: [[['12.5', 'hall', '7kg']], [['add', '3', 'and', '4']]],
    },
  );
  expect({ texts, numbers }).toEqual({
    texts: expect.toSatisfy((count) => count > 2),
    numbers: expect.toSatisfy((count) => count > 0),
  });
});

const count = { type: 'integer' };

test.each<[what: string, request: string, schema: JsonObject, wanted: unknown]>([
  ['an optional number is left out where the request has none', 'tidy up', objectOf({ count }, []), {}],
  ['an optional integer, where it has a fraction only', 'add 2.5 of it', objectOf({ count }, []), {}],
  ['a text of a least length', 'go on', objectOf({ a: { type: 'string', minLength: 3 } }), { a: 'go on' }],
  ['a required number is any where there is none', 'tidy up', objectOf({ count }), { count: expect.any(Number) }],
  ['the only number is it', 'wait 45s please', objectOf({ count }), { count: 45 }],
  ['a number in a word is none', 'open B7 and v2_3', objectOf({ count }, []), {}],
  [
    'a date is told by its parts',
    'on 2026-11-03',
    objectOf({ count }),
    { count: expect.toSatisfy((value) => [2026, 11, 3].includes(value)) },
  ],
  ['the only text is it', 'tomatoes', objectOf({ a: { type: 'string' } }), { a: 'tomatoes' }],
  [
    'what a list has, too',
    'tomatoes',
    objectOf({ a: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 } }),
    { a: ['tomatoes', 'tomatoes'] },
  ],
  [
    'a choice need not stand there',
    'now',
    objectOf({ a: { enum: ['red'] }, b: { const: 4 } }, ['a', 'b']),
    { a: 'red', b: 4 },
  ],
  ['nor a yes or no', 'now', objectOf({ a: { type: 'boolean' } }), { a: expect.any(Boolean) }],
])('%s', async (_what, request, schema, wanted) => {
  expect(await argumentsOf(request, schema)).toEqual(wanted);
});

test.each<[what: string, request: string, property: JsonObject]>([
  ['a text where none is so short', 'tomatoes', { type: 'string', maxLength: 3 }],
  ['a text where nothing was said', ' ', { type: 'string' }],
  ['a number that no double holds', 'pay 12345678901234567890', count],
])('an optional property without a match is left out: %s', (_what, request, property) => {
  const schema = objectOf({ a: property }, []);
  expect(toGrammar([schema]).text).toContain(String.raw`"\"a\""`);
  expect(toGrammar([schema], [request]).text).not.toContain(String.raw`"\"a\""`);
});

test('lengths that need too long a list are not enforced, and reported', () => {
  const long = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');
  const schema = objectOf({ a: { type: 'string', maxLength: 200 } });
  expect(toGrammar([schema], [long]).lowered).toEqual([{ path: '/properties/a', keyword: 'maxLength' }]);
  expect(toGrammar([schema], [long.slice(0, 200)]).lowered).toEqual([]);
  const text = toGrammar([objectOf({ a: { type: 'string' }, b: { type: 'string' } })], [long]).text;
  expect(text.length).toBeLessThan(50 * 800);
});

test('texts that are too long allow any value', () => {
  const schema = objectOf({ a: { type: 'string' }, b: { type: 'string' }, c: { type: 'integer' } }, ['a']);
  expect(toGrammar([schema], ['a '.repeat(501)])).toEqual(toGrammar([schema]));
});
