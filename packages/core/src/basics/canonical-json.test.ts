import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digestJson, sortKeys, toCanonicalJson } from './canonical-json.ts';
import type { Json } from './json.ts';

test.each<[Json, string]>([
  [{ b: 1, a: { d: [{ y: 0, x: null }], c: 'é' } }, '{"a":{"c":"é","d":[{"x":null,"y":0}]},"b":1}'],
  [{ ä: 1, Z: 2, a: 3 }, '{"Z":2,"a":3,"ä":1}'],
  [{ a: [{ c: 1, b: 2 }], b: 3 }, '{"a":[{"b":2,"c":1}],"b":3}'],
  [{ a: 1, '10': 2, '9': 3 }, '{"9":3,"10":2,"a":1}'],
  ['\ud800', '"\\ud800"'],
  [null, 'null'],
])('%j is %s', (value, text) => {
  expect(toCanonicalJson(value)).toBe(text);
});

test('key order does not change the text, anything else does', () => {
  const json = fc.dictionary(fc.string(), fc.integer(), { noNullPrototype: true });
  fc.assert(
    fc.property(json, json, (one, other) => {
      const reversed = Object.fromEntries(Object.entries(one).reverse());
      expect(toCanonicalJson(reversed)).toBe(toCanonicalJson(one));
      expect(sortKeys(reversed)).toEqual(one);
      expect(toCanonicalJson(one) === toCanonicalJson(other)).toBe(
        JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort()),
      );
    }),
  );
});

test('a digest is SHA-256 of the text', async () => {
  expect(await digestJson({ b: 1, a: 'é' })).toBe(createHash('sha256').update('{"a":"é","b":1}').digest('hex'));
});

test.each([4000, 4093, 4094, 5000])('a text of %i letters has the digest of others', async (length) => {
  const text = 'é'.repeat(length);
  expect(await digestJson(text)).toBe(createHash('sha256').update(`"${text}"`).digest('hex'));
});
