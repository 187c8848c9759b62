import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasEscapedKey } from './registry-file.ts';

test.each([
  ['{"a":"\\n"}', false],
  ['{"a":["\\\\","b"],"c":1}', false],
  ['{"a":"\\":"}', false],
  ['{"a":"\\\\","b":1}', false],
  ['{"\\n":1}', true],
  ['{"a\\\\" \t\r\n: 1}', true],
  ['{"a":"\\"","\\u0061":1}', true],
  ['', false],
])('%j: %j', (text, escaped) => {
  expect(hasEscapedKey(text)).toBe(escaped);
});

test('it is so when a key is not written as it is', () => {
  const key = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', ':', ' ') });
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 3 }, key, fc.array(tie('any')), fc.dictionary(key, tie('any'))),
  })).any;
  const isEscaped = (any: unknown): boolean => {
    if (typeof any !== 'object' || any === null) return false;
    const keys = Array.isArray(any) ? [] : Object.keys(any);
    return keys.some((one) => JSON.stringify(one) !== `"${one}"`) || Object.values(any).some(isEscaped);
  };
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (any, space) => {
      expect(hasEscapedKey(JSON.stringify(any, undefined, space))).toBe(isEscaped(any));
    }),
  );
});
