import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelJsonLimits, parseJson } from './parse-json.ts';

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const keyed = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;

test.each([
  { text: '', reason: 'syntax' },
  { text: '{"a":', reason: 'syntax' },
  { text: '{"a":1,}', reason: 'syntax' },
  { text: '\ufeff{}', reason: 'syntax' },
  { text: '{}{}', reason: 'syntax' },
  { text: '{"a":1,"a":2}', reason: 'duplicate' },
  { text: '{"a":1,"\\u0061":1}', reason: 'duplicate' },
  { text: '[{"b":{"c":":","c":1}}]', reason: 'duplicate' },
  { text: '{"__proto__":{}}', reason: 'key' },
  { text: '{"a":[{"\\u005f_proto__":1}]}', reason: 'key' },
  { text: '[1e999]', reason: 'type' },
  { text: '{"n":9007199254740993}', reason: 'inexact' },
  { text: '{"n":[-9007199254740993.0]}', reason: 'inexact' },
  { text: '{"a":"9007199254740993","b":"\\"","n":12345678901234567890}', reason: 'inexact' },
  { text: deep(65), reason: 'depth' },
  { text: '['.repeat(1_048_576), reason: 'syntax' },
  { text: keyed(10_001), reason: 'size' },
  { text: `"${'x'.repeat(1_048_576)}"`, reason: 'size' },
])('rejected for $reason', ({ text, reason }) => {
  expect(parseJson(text)).toMatchObject({ ok: false, reason });
});

test('exactly the limits are allowed', () => {
  expect(modelJsonLimits).toEqual({ maxDepth: 64, maxKeys: 10_000, maxLength: 1_048_576, exact: true });
  expect(parseJson(deep(64)).ok).toBe(true);
  expect(parseJson(keyed(10_000)).ok).toBe(true);
  expect(parseJson(`"${'x'.repeat(1_048_574)}"`).ok).toBe(true);
});

test.each([
  '9007199254740991',
  '9007199254740992',
  '1e300',
  '10000000000000000',
  '0.12345678901234567',
  '1.5e17',
  '-70029256951890970',
  '9223372036854775808',
  '1000000000000000000000',
  '"9007199254740993"',
])('the number %s keeps its value', (text) => {
  expect(parseJson(`{"n":${text}}`)).toEqual({ ok: true, value: { n: JSON.parse(text) } });
});

test('without `exact` numbers are those of `JSON.parse`', () => {
  expect(parseJson('9007199254740993', {})).toEqual({ ok: true, value: 9_007_199_254_740_992 });
});

test('the caller sets the limits; only depth is limited by default', () => {
  expect(parseJson('[[1]]', { maxDepth: 1 })).toMatchObject({ reason: 'depth' });
  expect(parseJson('{"a":1,"b":2}', { maxKeys: 1 })).toMatchObject({ reason: 'size' });
  expect(parseJson('[1]', { maxLength: 2 })).toMatchObject({ reason: 'size' });
  expect(parseJson(keyed(20_000), {}).ok).toBe(true);
  expect(parseJson(deep(65), {})).toMatchObject({ reason: 'depth' });
});

test('JSON within a string stays a string', () => {
  expect(parseJson('"{\\"a\\":1}"')).toEqual({ ok: true, value: '{"a":1}' });
});

test('output of JSON.stringify reads back, with any keys and strings', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 1, '\t'), (value, space) => {
      const text = JSON.stringify(value, null, space);
      fc.pre(!text.includes('__proto__'));
      const parsed = parseJson(text);
      // `JSON.parse` in the test would have the same bug.
      expect(JSON.stringify(parsed.ok ? parsed.value : parsed, null, space)).toBe(text);
    }),
  );
});

test('a duplicate key is always found', () => {
  const keys = fc.array(fc.constantFrom('a', 'b', ':', '"', '\\', '\\n', '\n', '{"a":1'), { maxLength: 6 });
  fc.assert(
    fc.property(keys, (names) => {
      const text = `{${names.map((name) => `${JSON.stringify(name)}:{"x":[":"]}`).join()}}`;
      expect(parseJson(text).ok).toBe(new Set(names).size === names.length);
    }),
  );
});
