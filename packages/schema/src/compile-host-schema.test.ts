import type { StandardSchema } from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { compileHostSchema, compileSchema } from './compile-schema.ts';

test('what JSON has no word for is any to JSON Schema, and held to all the same', () => {
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

test('for a model the same schema stays unsupported, whichever came first', () => {
  const schema = v.object({ day: v.date() });
  const unsupported = expect.objectContaining({ code: 'schema.unsupported' });
  expect(() => compileSchema(schema)).toThrow(unsupported);
  expect(compileHostSchema(schema)).toBe(compileHostSchema(schema));
  expect(() => compileSchema(schema)).toThrow(unsupported);
});

test('asynchronous schemas and foreign ones are refused alike', () => {
  expect(() => compileHostSchema(v.objectAsync({}))).toThrow(expect.objectContaining({ code: 'schema.async' }));
  const foreign: StandardSchema = { '~standard': { version: 1, vendor: 'none', validate: (value) => ({ value }) } };
  expect(() => compileHostSchema(foreign)).toThrow(expect.objectContaining({ code: 'schema.unsupported' }));
});

test('a library that gives JSON Schema itself is told not to mind', () => {
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
