import { compileJsonSchema, jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { readMetadata } from '../scan/metadata.ts';
import { formats } from './schema.ts';

/** For each format a matching and an almost matching string. */
const samples: Readonly<Record<string, { readonly good: string; readonly bad: string }>> = {
  date: { good: '2024-02-29', bad: '2024-02-30' },
  time: { good: '23:59:59Z', bad: '24:00:00Z' },
  'date-time': { good: '2024-02-29T12:00:00+01:00', bad: '275761-01-01T00:00:00Z' },
  duration: { good: 'P1DT2H', bad: 'P1H' },
  email: { good: 'ada@example.com', bad: 'ada@' },
  hostname: { good: 'example.com', bad: 'exam ple.com' },
  ipv4: { good: '127.0.0.1', bad: '127.0.0.256' },
  ipv6: { good: '::1', bad: '::1::' },
  uri: { good: 'https://example.com/a', bad: '/a' },
  'uri-reference': { good: '../a?b', bad: 'a b' },
  'uri-template': { good: '/a/{b}', bad: '/a/{b' },
  uuid: { good: '123e4567-e89b-12d3-a456-426614174000', bad: '123e4567e89b12d3a456426614174000' },
  regex: { good: '^a$', bad: '(' },
  'json-pointer': { good: '/a/0', bad: 'a' },
  'relative-json-pointer': { good: '0/a', bad: '/a' },
};

function schemaOf(format: string): string {
  return `{ type: 'object', properties: { text: { type: 'string', format: '${format}' } }, required: ['text'] }`;
}

async function read(format: string) {
  const metadata = `name: 'subject', function: 'work', description: 'x', dangerous: false, parameters: ${schemaOf(format)}`;
  return readMetadata(`export const METADATA = { ${metadata} };\nexport function work(input) {}`, 'subject.mjs');
}

test('every supported format has a sample below', () => {
  expect(Object.keys(samples).sort()).toEqual([...formats].sort());
});

test.each(Object.entries(samples))('%s is supported, and checked', async (format, { good, bad }) => {
  const reading = await read(format);
  if (reading.type === 'refused' || reading.metadata.parameters === undefined) throw new Error('The format is good.');
  const { validate } = compileJsonSchema(jsonSchema(reading.metadata.parameters));
  expect(validate({ text: good })).toMatchObject({ ok: true });
  expect(validate({ text: bad })).toMatchObject({ ok: false });
});

test.each(['url', 'int32', 'toString', '__proto__', ''])('%j is refused as unchecked', async (format) => {
  expect(await read(format)).toMatchObject({
    type: 'refused',
    diagnostics: [
      {
        code: 'tool.schema.invalid',
        reason: 'format',
        message: expect.stringContaining('parameters.properties.text.format'),
      },
    ],
  });
});

const hostile = [
  `${'a'.repeat(50_000)}!`,
  `http://${'a'.repeat(50_000)}!`,
  `"${'a'.repeat(50_000)}`,
  `a@${'a.'.repeat(25_000)}!`,
  `{${'a,'.repeat(25_000)}!`,
  `x:${'//a'.repeat(20_000)} `,
  `${'%41'.repeat(20_000)}%`,
  '::'.repeat(25_000),
  `P${'1'.repeat(50_000)}`,
];

test.each([...formats])('checking %s takes bounded time for any string', (format) => {
  const { validate } = compileJsonSchema(jsonSchema({ type: 'string', format }));
  for (const text of hostile) expect(typeof validate(text).ok).toBe('boolean');
});
