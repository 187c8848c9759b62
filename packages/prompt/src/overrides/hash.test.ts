import { createHash } from 'node:crypto';
import type { Json } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashOverridden } from './document.ts';

test('a hash is the SHA-256 of compact JSON with its keys in order, and nothing has none', async () => {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(await hashOverridden('Héllo\n')).toBe(hash('"Héllo\\n"'));
  expect(await hashOverridden([{ b: 1, a: [null, { d: true, c: 'x' }] }])).toBe(
    hash('[{"a":[null,{"c":"x","d":true}],"b":1}]'),
  );
  expect(await hashOverridden('')).toBe(hash('""'));
  expect(await hashOverridden(null)).toBeNull();
});

/** Reorders the keys of every object in it. */
function shuffle(json: Json): Json {
  if (Array.isArray(json)) return json.map(shuffle);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json)
      .reverse()
      .map(([key, inner]) => [key, shuffle(inner)]),
  );
}

const json = fc.jsonValue({ maxDepth: 4 }).map((value): Json => JSON.parse(JSON.stringify(value)));
// Also halves of surrogate pairs, which UTF-8 has no bytes for.
const text = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  maxLength: 4,
});

test('two texts have one hash exactly when they are one text', async () => {
  const near = fc.constantFrom('a', 'a ', ' a', 'A', 'a\n', 'á', 'a\u0301', '\ud800', '\udc00', '\ufffd', '"\\ud800"');
  await fc.assert(
    fc.asyncProperty(fc.oneof(near, text), fc.oneof(near, text), async (one, other) => {
      expect((await hashOverridden(one)) === (await hashOverridden(other))).toBe(one === other);
    }),
  );
});

test('JSON keeps its hash under another order of keys, and under nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(json, json, async (one, other) => {
      const hash = await hashOverridden(one);
      expect(await hashOverridden(shuffle(one))).toBe(hash);
      const equal = JSON.stringify(shuffle(shuffle(one))) === JSON.stringify(other);
      if (hash === (await hashOverridden(other))) expect(other).toEqual(one);
      else expect(equal).toBe(false);
    }),
  );
});
