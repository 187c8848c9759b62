import type { JsonObject } from '@holdfast/core';
import { expect, test } from 'vitest';
import { compileJsonSchema, jsonSchema } from './json.ts';

test('the format `url` is checked as a URI at any depth, in bounded time', () => {
  const url = { type: 'string', format: 'url' } as const;
  const { validate } = compileJsonSchema(
    jsonSchema({
      type: 'object',
      properties: {
        default: url,
        list: { type: 'array', items: url },
        either: { anyOf: [url, { $ref: '#/$defs/const' }] },
      },
      $defs: { const: url },
    }),
  );
  const stalling = `http://${'a'.repeat(100)}!`;
  const good = 'https://example.com/a?b=c';
  expect(validate({ default: good, list: [good], either: good })).toMatchObject({ ok: true });
  for (const bad of ['example com', `${stalling} `]) {
    expect(validate({ default: bad })).toMatchObject({ ok: false });
    expect(validate({ list: [good, bad] })).toMatchObject({ ok: false });
    expect(validate({ either: bad })).toMatchObject({ ok: false });
  }
});

test('values that only look like a schema with that format are unchanged', () => {
  const { validate } = compileJsonSchema(
    jsonSchema({
      type: 'object',
      properties: { kind: { const: { format: 'url' } }, format: { enum: ['url', { format: 'url' }] } },
    }),
  );
  expect(validate({ kind: { format: 'url' }, format: 'url' })).toMatchObject({ ok: true });
  expect(validate({ format: { format: 'url' } })).toMatchObject({ ok: true });
  expect(validate({ kind: { format: 'uri' } })).toMatchObject({ ok: false });
});

test.each(['const', 'enum', 'default', 'examples'])('a property called `%s` is checked like any other', (name) => {
  const compile = (schema: JsonObject) => () =>
    compileJsonSchema(jsonSchema({ type: 'object', properties: { [name]: schema } }));
  expect(compile({ type: 'string', pattern: '(' })).toThrow(
    expect.objectContaining({ code: 'schema.invalid', reason: 'pattern.invalid' }),
  );
  expect(compile({ $ref: 'http://127.0.0.1/x' })).toThrow(
    expect.objectContaining({ code: 'schema.invalid', reason: 'ref.remote' }),
  );
  expect(compile({ $ref: '#/$defs/none' })).toThrow(
    expect.objectContaining({ code: 'schema.invalid', reason: 'ref.unknown' }),
  );
  expect(compile({ type: 'string', pattern: '^a' })()).toBeDefined();
});
