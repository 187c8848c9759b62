import { Buffer } from 'node:buffer';
import type { Json } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor } from '../redact.ts';

const key = 'a key known only to the host';

const pieces = [
  '"',
  "'",
  '\\',
  '\\"',
  '{',
  '}',
  '[',
  ']',
  ':',
  '=',
  ' ',
  ',',
  '%',
  '%25',
  '\\u00',
  '\n',
  '[redacted:',
  '[redacted:0123456789ab]',
  'password',
  '"password":',
  'token=',
  'Authorization: Bearer ',
  '--api-key ',
  '<secret>',
  '://a:',
  '@',
  'sk-proj-abcdefghij0123456789',
  'eyJhbGciOiJ9.eyJzdWIi.',
  'text',
  'AKIAABCDEFGHIJKLMNOP',
];

function forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify({ deep: secret }),
    JSON.stringify(JSON.stringify({ password: secret })),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    secret.toUpperCase(),
    secret.toLowerCase(),
  ];
}

const oneSecret = fc
  .string({ unit: 'binary', minLength: 6, maxLength: 30 })
  // A value that occurs nowhere else in the test.
  .map((text) => `q7${text}w`);

interface Case {
  readonly secrets: readonly string[];
  readonly json: Json;
}

const cases: fc.Arbitrary<Case> = fc.uniqueArray(oneSecret, { minLength: 1, maxLength: 4 }).chain((secrets) => {
  const text = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(...secrets.flatMap(forms))), { maxLength: 8 })
    .map((parts) => parts.join(''));
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.nat(1_000),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(text, fc.constant('apiKey')), tie('json'), { maxKeys: 3 }),
    ),
  }));
  return fc.record({ secrets: fc.constant(secrets), json });
});

test('masking is idempotent, leaves no encoding of a secret, and keeps everything else', () => {
  let masked = 0;
  fc.assert(
    fc.property(cases, ({ secrets, json }) => {
      const redactor = createRedactor({ key });
      for (const known of secrets) redactor.learn(known);
      const once = redactor.redact(json);
      expect(redactor.redact(once)).toBe(once);
      const left = textsIn(once);
      for (const form of secrets.flatMap(forms)) expect(left.filter((text) => text.includes(form))).toEqual([]);
      expect(createRedactor({ key, keys: [], patterns: [] }).redact(json)).toBe(json);
      if (once !== json) masked += 1;
    }),
    { numRuns: 150 },
  );
  expect(masked).toBeGreaterThan(30);
});

function textsIn(json: Json): readonly string[] {
  if (typeof json === 'string') return [json];
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([name, inner]) => [name, ...textsIn(inner)]);
}
