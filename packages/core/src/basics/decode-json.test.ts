import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeJson } from './decode-json.ts';

test('nodejs/node#63785: keys are decoded correctly, whatever was read before', () => {
  decodeJson('{"h":[],"\\\\":0}');
  expect(decodeJson('{"h":1,"\\"":2}')).toEqual({ h: 1, '"': 2 });
  decodeJson('{"path":[],"x\\\\":0}');
  expect(decodeJson('{"path":1,"x\\u0079":2}')).toEqual({ path: 1, xy: 2 });
});

const key = fc.string({ unit: fc.constantFrom('a', '\\', '"', '\n', 'k', '0', ' ', ':', '😀'), maxLength: 4 });
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, 1, '\\', 'a":', ''),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** The same JSON with every possible character escaped. */
function escapeAll(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"/g, (raw) => {
    const units = [...Array(JSON.parse(raw).length).keys()].map((at) => (JSON.parse(raw) as string).charCodeAt(at));
    return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
  });
}

test('JSON reads back as written', () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 6 }), fc.constantFrom(undefined, 2), (values, indent) => {
      for (const one of values) {
        const text = JSON.stringify(one, undefined, indent);
        expect(JSON.stringify(decodeJson(text), undefined, indent)).toBe(text);
        expect(decodeJson(escapeAll(text))).toEqual(one);
      }
    }),
    { numRuns: 170 },
  );
});

test.each([
  [
    '{"\\\\":1,"a":2,"\\\\":3}',
    [
      ['\\', 3],
      ['a', 2],
    ],
  ],
  ['{"\\\\":1,"\\u005c":2}', [['\\', 2]]],
  [
    '{"\\\\":1,"\\u0032":0,"1":0}',
    [
      ['1', 0],
      ['2', 0],
      ['\\', 1],
    ],
  ],
  [
    '{"\\\\":0,"__proto__":1}',
    [
      ['\\', 0],
      ['__proto__', 1],
    ],
  ],
  [
    '{"\\\\":0,"__pr\\u006fto__":1}',
    [
      ['\\', 0],
      ['__proto__', 1],
    ],
  ],
  [
    '{"\\\\":0,"kk":1,"kk0":2}',
    [
      ['\\', 0],
      ['kk', 1],
      ['kk0', 2],
    ],
  ],
])('%s reads as `JSON.parse` should', (text, entries) => {
  expect(Object.entries(decodeJson(text) as object)).toEqual(entries);
});

test('invalid JSON is a SyntaxError', () => {
  expect(() => decodeJson('{"\\":1}')).toThrow(SyntaxError);
});

test('very long JSON with many escapes', () => {
  const long = '\\n'.repeat(5_000_000);
  expect(decodeJson(`{"\\\\":"${long}","${'k'.repeat(1_000_000)}":1}`)).toMatchObject({ '\\': '\n'.repeat(5_000_000) });
});
