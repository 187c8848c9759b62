import type { StandardSchema } from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { compileHostSchema, compileSchema } from './compile-schema.ts';

test('a type that JSON Schema cannot express allows anything in it, but is still validated', () => {
  const schema = v.object({ day: v.date(), tags: v.map(v.string(), v.number()), name: v.string() });
  const { jsonSchema, validate } = compileHostSchema(schema);
  expect(jsonSchema).toMatchObject({
    properties: { day: {}, name: { type: 'string' } },
    required: ['day', 'tags', 'name'],
  });
  const good = { day: new Date(0), tags: new Map([['a', 1]]), name: 'n' };
  expect(validate(good)).toEqual({ ok: true, value: good });
  expect(validate({ ...good, day: '1970-01-01' })).toMatchObject({ ok: false, issues: [{ path: 'day' }] });
  expect(validate({ ...good, more: 1 })).toMatchObject({ ok: false, issues: [{ path: 'more' }] });
});

test('the same schema is unsupported for a model, regardless of which is compiled first', () => {
  const schema = v.object({ day: v.date() });
  const unsupported = expect.objectContaining({ code: 'schema.invalid', reason: 'unsupported' });
  expect(() => compileSchema(schema)).toThrow(unsupported);
  expect(compileHostSchema(schema)).toBe(compileHostSchema(schema));
  expect(() => compileSchema(schema)).toThrow(unsupported);
});

test('asynchronous and unknown schemas are rejected alike', () => {
  expect(() => compileHostSchema(v.objectAsync({}))).toThrow(
    expect.objectContaining({ code: 'schema.invalid', reason: 'async' }),
  );
  const foreign: StandardSchema = { '~standard': { version: 1, vendor: 'none', validate: (value) => ({ value }) } };
  expect(() => compileHostSchema(foreign)).toThrow(
    expect.objectContaining({ code: 'schema.invalid', reason: 'unsupported' }),
  );
});

test('a library that provides JSON Schema is told to ignore what it cannot express', () => {
  const asked: unknown[] = [];
  const standard = {
    version: 1 as const,
    vendor: 'other',
    validate: (value: unknown) => ({ value }),
    jsonSchema: {
      input(options: unknown) {
        asked.push(options);
        return { type: 'object', properties: { day: {} } };
      },
    },
  };
  compileHostSchema({ '~standard': standard });
  compileSchema({ '~standard': standard });
  expect(asked).toEqual([
    { target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } },
    { target: 'draft-2020-12' },
  ]);
});
