import type { Schema } from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { compileSchema, describeIssues } from './index.ts';
import { jsonSchema } from './json.ts';

const list = (items: v.GenericSchema): Schema => v.object({ list: v.array(items) });
const numbers = { list: Array.from({ length: 400_000 }, () => 1) };
const objects = { list: Array.from({ length: 100_000 }, () => ({ extra: 1 })) };
const listOf = (items: object): Schema =>
  jsonSchema({ type: 'object', properties: { list: { type: 'array', items: { ...items } } } });

test.each([
  { what: 'valibot, wrong types', schema: list(v.string()), value: numbers },
  { what: 'valibot, a check', schema: list(v.pipe(v.number(), v.minValue(5))), value: numbers },
  { what: 'valibot, a union', schema: list(v.union([v.string(), v.boolean()])), value: numbers },
  { what: 'valibot, a strict object', schema: list(v.strictObject({})), value: objects },
  { what: 'valibot, undeclared keys', schema: list(v.object({})), value: objects },
  { what: 'JSON Schema, wrong types', schema: listOf({ type: 'string' }), value: numbers },
  { what: 'JSON Schema, undeclared keys', schema: listOf({ type: 'object' }), value: objects },
])('only the first of hundreds of thousands of issues are listed: $what', ({ schema, value }) => {
  const { validate } = compileSchema(schema);
  const checked = validate(value);
  const issues = checked.ok ? [] : checked.issues;
  expect(issues.length).toBeGreaterThan(0);
  expect(issues.length).toBeLessThanOrEqual(50);
  expect(describeIssues(issues).length).toBeLessThan(10_000);
});

test('short lists of issues are complete, and valid long lists pass although a union tries a failing branch first', () => {
  const { validate } = compileSchema(v.object({ a: v.array(v.string()), b: v.number() }));
  const few = validate({ a: Array(40).fill(1), b: 'x' });
  expect(few.ok ? [] : few.issues).toHaveLength(41);
  const either = compileSchema(list(v.union([v.strictObject({ a: v.string() }), v.object({ extra: v.number() })])));
  expect(either.validate(objects)).toMatchObject({ ok: true });
  const fallback = compileSchema(list(v.fallback(v.object({ extra: v.string() }), { extra: '' })));
  expect(fallback.validate(objects)).toMatchObject({ ok: true, value: { list: { length: 100_000 } } });
});

test('global messages and the language of valibot still apply', () => {
  v.setGlobalConfig({ lang: 'de' });
  v.setSchemaMessage(({ expected }) => `erwartet ${expected}`, 'de');
  try {
    expect(compileSchema(v.object({ a: v.string() })).validate({ a: 1 })).toMatchObject({
      issues: [{ message: 'erwartet string' }],
    });
  } finally {
    v.deleteGlobalConfig();
    v.deleteSchemaMessage('de');
  }
});

test('a default that is an object is not frozen', () => {
  const given = { open: true };
  const { validate } = compileSchema(
    v.object({ a: v.optional(v.any(), given), b: v.optional(v.array(v.any()), [given]) }),
  );
  const checked = validate({});
  const value = checked.ok ? checked.value : undefined;
  expect(value).toEqual({ a: given, b: [given] });
  expect(value?.a).not.toBe(given);
  expect(value?.b[0]).not.toBe(given);
});
