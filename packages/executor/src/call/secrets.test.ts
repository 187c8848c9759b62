import { defineTool, type JsonObject, type Redactor, type Schema, toolError, toolOk } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { toRedactor } from '@holdfast/session/redact';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { learnReturned } from './ending.ts';
import { compileTools, learnArguments } from './prepare.ts';
import type { CompiledTool } from './types.ts';

function compile(inputSchema: Schema, outputSchema: Schema = v.null()): CompiledTool {
  const tool = defineTool({ name: 'login', description: 'Logs in.', inputSchema, outputSchema });
  const compiled = compileTools([tool]).byName.get('login');
  if (compiled === undefined) throw new Error('unreachable');
  return compiled;
}

function learn(): { readonly redactor: Redactor; readonly learned: string[] } {
  const learned: string[] = [];
  const redactor = toRedactor({ redact: (json) => json, learn: (secret) => void learned.push(secret) });
  return { learned, redactor };
}

function secretsOf(schema: Schema, value: unknown): readonly string[] {
  const { redactor, learned } = learn();
  learnArguments(redactor, compile(schema), value);
  return learned.sort();
}

const secretText = v.pipe(v.string(), v.metadata({ writeOnly: true }));
const properties = { user: { type: 'string' }, password: { type: 'string', writeOnly: true } };
const plain = jsonSchema({ type: 'object', properties });

describe('marks', () => {
  test.each<readonly [string, Schema, unknown]>([
    ['valibot metadata', v.object({ user: v.string(), password: secretText }), { user: 'u', password: 's' }],
    ['valibot, optional', v.object({ password: v.optional(secretText) }), { password: 's' }],
    ['valibot, nullable', v.object({ password: v.nullable(secretText) }), { password: 's' }],
    ['valibot, with a default', v.object({ password: v.optional(secretText, 's') }), { password: 's' }],
    [
      'valibot, transformed',
      v.object({
        password: v.pipe(
          secretText,
          v.transform((text) => text.length),
        ),
      }),
      { password: 's' },
    ],
    [
      'valibot, in lists',
      v.object({ logins: v.array(v.object({ password: secretText })) }),
      { logins: [{ password: 's' }] },
    ],
    ['valibot, in records', v.object({ logins: v.record(v.string(), secretText) }), { logins: { ann: 's' } }],
    [
      'valibot, in variants',
      v.object({
        auth: v.variant('by', [
          v.object({ by: v.literal('x'), x: secretText }),
          v.object({ by: v.literal('y'), y: v.string() }),
        ]),
      }),
      { auth: { by: 'x', x: 's' } },
    ],
    ['valibot, in unions', v.object({ auth: v.union([v.number(), secretText]) }), { auth: 's' }],
    ['valibot, in tuples', v.object({ pair: v.tuple([v.string(), secretText]) }), { pair: ['u', 's'] }],
    [
      'valibot, in intersections',
      v.intersect([v.object({ user: v.string() }), v.object({ password: secretText })]),
      { user: 'u', password: 's' },
    ],
    [
      'a whole object',
      v.object({ card: v.pipe(v.object({ number: v.string() }), v.metadata({ writeOnly: true })) }),
      { card: { number: 's' } },
    ],
    ['plain JSON Schema', plain, { user: 'u', password: 's' }],
    [
      'format password',
      jsonSchema({ type: 'object', properties: { password: { type: 'string', format: 'password' } } }),
      { password: 's' },
    ],
    [
      'references',
      jsonSchema({
        type: 'object',
        properties: { a: { $ref: '#/$defs/secret' } },
        $defs: { secret: { type: 'string', writeOnly: true } },
      }),
      { a: 's' },
    ],
    [
      'recursion',
      jsonSchema({
        type: 'object',
        properties: { password: { type: 'string', writeOnly: true }, next: { $ref: '#' } },
      }),
      { next: { next: { password: 's' } } },
    ],
    [
      'allOf',
      jsonSchema({
        type: 'object',
        allOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: { writeOnly: true } } }],
      }),
      { a: 's' },
    ],
    [
      'anyOf',
      jsonSchema({
        type: 'object',
        anyOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: { type: 'string', writeOnly: true } } }],
      }),
      { a: 's' },
    ],
    [
      'if and then',
      // An object literal with `then` is taken for a promise.
      jsonSchema(JSON.parse('{"type":"object","if":{},"then":{"properties":{"a":{"writeOnly":true}}}}') as JsonObject),
      { a: 's' },
    ],
    [
      'patterns of names',
      jsonSchema({ type: 'object', patternProperties: { '^x-': { type: 'string', writeOnly: true } } }),
      { 'x-a': 's' },
    ],
    [
      'other names',
      jsonSchema({ type: 'object', additionalProperties: { type: 'string', writeOnly: true } }),
      { any: 's' },
    ],
    [
      'items by place',
      jsonSchema({
        type: 'object',
        properties: { a: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'string', writeOnly: true }] } },
      }),
      { a: ['u', 's'] },
    ],
    [
      'a draft without prefixItems',
      jsonSchema({
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { a: { type: 'array', items: [{ type: 'string' }, { type: 'string', writeOnly: true }] } },
      }),
      { a: ['u', 's'] },
    ],
  ])('%s', (_kind, schema, value) => {
    expect(secretsOf(schema, value)).toEqual(['s']);
    // As a model sends it.
    expect(secretsOf(schema, JSON.stringify(value))).toContain('s');
  });

  test('numbers are secrets by their digits', () => {
    const schema = jsonSchema({ type: 'object', properties: { pin: { type: 'integer', writeOnly: true } } });
    expect(secretsOf(schema, { pin: 4711 })).toEqual(['4711']);
    expect(secretsOf(schema, '{"pin": 4711')).toEqual(['4711']);
  });

  test('what is not marked is none, and looked at no further', () => {
    const schema = jsonSchema({
      type: 'object',
      properties: { a: { type: 'string' }, b: { const: { writeOnly: false } } },
    });
    expect(secretsOf(schema, { a: 'x', b: 'y' })).toEqual([]);
    const { redactor, learned } = learn();
    redactor.learnArguments(undefined, { password: 'x' });
    expect(learned).toEqual([]);
    expect(secretsOf(plain, { password: '', user: 'u' })).toEqual([]);
    expect(secretsOf(plain, null)).toEqual([]);
  });
});

describe('text', () => {
  test.each([
    ['cut off', '{"user":"u","password":"hunter', ['hunter']],
    ['cut off within an escape', '{"password":"hun\\u00', ['hun\\u00']],
    ['a key twice', '{"password":"first","password":"second"}', ['first', 'second']],
    ['escapes in the name and the value', '{"pass\\u0077ord":"h\\u0075nter"}', ['h\\u0075nter', 'hunter']],
    ['escapes in a name, cut off', '{"pass\\u0077ord":"hunter', ['hunter']],
    ['within a JSON text', JSON.stringify({ user: JSON.stringify({ password: 'hun"ter' }) }), ['hun"ter']],
    ['in the place of an object', JSON.stringify(JSON.stringify({ password: 'hunter' })), ['hunter']],
    ['of another type', '{"password":["a1",{"b":"c1"}],"user":"u"}', ['a1', 'c1']],
    ['of another type, cut off', '{"password":["a1",{"b":"c1"', ['a1', 'b', 'c1']],
    ['not JSON at all', 'login "password" : "hunter" now', ['hunter']],
  ])('%s', (_how, text, secrets) => {
    const found = secretsOf(plain, text);
    for (const secret of secrets) expect(found).toContain(secret);
    expect(found).not.toContain('u');
  });

  test('in the place of an object, within a value', () => {
    const schema = jsonSchema({ type: 'object', properties: { login: { type: 'object', properties } } });
    expect(secretsOf(schema, { login: '{"user":"u","password":"hunter"}' })).toEqual(['hunter']);
    expect(secretsOf(schema, { login: '{"user":"u","password":"hunter' })).toEqual(['hunter']);
  });

  test.each([
    '"',
    '\\"',
    '"password":',
    '"password":{',
    '"password":"',
    '"password":[',
    '\\',
    '"password":\\"',
    '{"a":',
  ])('a megabyte of %j is gone through in time', (unit) => {
    // Some hundred milliseconds; a search that takes the square of it takes many minutes.
    expect(Array.isArray(secretsOf(plain, unit.repeat(1_048_576 / unit.length)))).toBe(true);
  });
});

describe('what a redactor learns', () => {
  const schema: JsonObject = { type: 'object', properties };

  test('the secrets of arguments and of results, by their own schemas', () => {
    const output = jsonSchema({ type: 'object', properties: { session: { type: 'string', writeOnly: true } } });
    const compiled = compile(jsonSchema(schema), output);
    const { redactor, learned } = learn();
    learnArguments(redactor, compiled, '{"password":"a","session":"b"}');
    learnReturned(redactor, compiled, { password: 'c', session: 'd' });
    learnReturned(redactor, compiled, toolOk({ session: 'e' }));
    learnReturned(redactor, compiled, toolError('no', { value: { session: 'f' } }));
    expect(learned).toEqual(['a', 'd', 'e', 'f']);
  });

  test('nothing of a tool that is not there, and nothing happens without a redactor', () => {
    const { redactor, learned } = learn();
    learnArguments(redactor, undefined, { password: 'a' });
    learnReturned(undefined, compile(plain), { password: 'a' });
    expect(learned).toEqual([]);
    const compiled = compile(jsonSchema(schema));
    const trap = {
      get password(): string {
        throw new Error('looked at');
      },
    };
    learnArguments(undefined, compiled, trap);
    learnReturned(undefined, compiled, trap);
  });

  test('nothing of what cannot be read', () => {
    const { redactor, learned } = learn();
    const compiled = compile(v.object({}), jsonSchema(schema));
    const trap = {
      get password(): string {
        throw new Error('unreadable');
      },
    };
    learnReturned(redactor, compiled, trap);
    learnReturned(redactor, compiled, { password: () => 'a' });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    learnReturned(redactor, compiled, proxy);
    expect(learned).toEqual([]);
  });
});
