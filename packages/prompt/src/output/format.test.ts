import type { Schema } from '@holdfast/core';
import type { OutputFormat } from '@holdfast/core/types';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { parseOutput, renderOutputFormat, toOutputFormat } from './format.ts';

const city = v.object({ name: v.pipe(v.string(), v.minLength(1)), people: v.optional(v.number(), 0) });
const one = toOutputFormat(city);
const many = toOutputFormat(v.array(city));
const fence = '```';

function problem(format: OutputFormat, text: string): string {
  const parsed = format.parse(text);
  return parsed.ok ? `read as ${JSON.stringify(parsed.value)}` : parsed.message;
}

test('an object comes back as its schema makes it', () => {
  expect(one.parse(`It is:\n${fence}json\n{"name":"Bonn"}\n${fence}`)).toEqual({
    ok: true,
    value: { name: 'Bonn', people: 0 },
  });
  expectTypeOf(one).toEqualTypeOf<OutputFormat<{ name: string; people: number }>>();
  expectTypeOf(many).toEqualTypeOf<OutputFormat<{ name: string; people: number }[]>>();
});

test('J02: a bad block is not made good by the text after it', () => {
  expect(problem(one, `${fence}json\n{"name":\n${fence}\n{"name":"Bonn"}`)).toMatch(
    /^Your message does not match the required output: .*not JSON/,
  );
});

test.each([
  { text: '[{"name":"Bonn"}]', fits: true },
  { text: '{"items":[{"name":"Bonn"}]}', fits: true },
  { text: '[]', fits: true },
  { text: '{"items":[]}', fits: true },
  { text: 'So: [{"name":"Bonn"}].', fits: true },
  { text: '{"name":"Bonn"}', says: 'a list of objects, got an object with the keys `name`' },
  { text: '{"cities":[{"name":"Bonn"}]}', says: 'got an object with the keys `cities`' },
  { text: '{"items":[{"name":"Bonn"}],"more":1}', says: 'got an object with the keys `items`, `more`' },
  { text: '{"items":{"name":"Bonn"}}', says: 'got an object with `items` that is not a list' },
  { text: '{}', says: 'got an object with no keys' },
  { text: '["Bonn"]', says: '- `[0]`: Invalid type: Expected Object' },
  { text: '{"items":[7]}', says: '- `items[0]`: Invalid type: Expected Object' },
  { text: '[{"name":"Bonn"},{"name":""}]', says: '- `[1].name`: ' },
  { text: '{"items":[{"name":"Bonn","mayor":1}]}', says: '- `items[0].mayor`: Unknown key.' },
  { text: '[[]]', says: '- `[0]`: Must be an object, got a list.' },
])('J04: $text as a list', ({ text, fits = false, says = '' }) => {
  const parsed = many.parse(text);
  expect(parsed.ok).toBe(fits);
  if (!parsed.ok) expect(parsed.message).toContain(says);
});

test('J06: what a schema fills in itself is hidden from the model, and cannot be sent', () => {
  const format = toOutputFormat(
    v.pipe(
      v.object({ name: v.string() }),
      v.transform((shown) => ({ ...shown, source: 'survey' })),
    ),
  );
  expectTypeOf(format).toEqualTypeOf<OutputFormat<{ source: string; name: string }>>();
  expect(JSON.stringify(format.jsonSchema)).not.toContain('source');
  expect(format.parse('{"name":"Bonn"}')).toEqual({ ok: true, value: { name: 'Bonn', source: 'survey' } });
  expect(problem(format, '{"name":"Bonn","source":"me"}')).toContain('`source`: Unknown key.');
});

test('J08: a prompt that declares no output has none to parse', () => {
  expect(() => parseOutput({}, '{"name":"Bonn"}')).toThrow(
    expect.objectContaining({ code: 'prompt.invalid', reason: 'output.undeclared' }),
  );
  expect(() => parseOutput({ output: one }, 'Bonn')).toThrow(expect.objectContaining({ code: 'output.invalid' }));
  const value = parseOutput({ output: one }, '{"name":"Bonn"}');
  expectTypeOf(value).toEqualTypeOf<{ name: string; people: number }>();
  expect(value).toEqual({ name: 'Bonn', people: 0 });
});

test.each([
  { text: '', says: 'it contains no JSON object' },
  { text: 'It is Bonn.', says: 'it contains no JSON object' },
  { text: '42', says: 'it contains no JSON object' },
  { text: '"{\\"name\\":\\"Bonn\\"}"', says: 'it contains no JSON object' },
  { text: '[{"name":"Bonn"}]', says: 'it must be one JSON object, got a list' },
  { text: `${fence}json\nnull\n${fence}`, says: 'it must be one JSON object, got null' },
  { text: `${fence}json\n"Bonn"\n${fence}`, says: 'it must be one JSON object, got a string' },
  { text: '{"name":"Bonn', says: 'its JSON is incomplete' },
  { text: '{"name":"Bonn","name":"Kiel"}', says: 'it has a key twice' },
  { text: '{"name":"Bonn","__proto__":{}}', says: '`__proto__`' },
  { text: '{"name":"Bonn","people":1e999}', says: 'a number that is too large' },
  { text: `{"name":${'['.repeat(64)}${']'.repeat(64)}}`, says: 'deeper than 64 levels' },
  { text: `{"name":"${'x'.repeat(1_048_576)}"}`, says: '1048576 is the limit' },
  { text: `x {"name":"${'x'.repeat(1_048_576)}"}`, says: '1048576 is the limit' },
  { text: '{"name":"Bonn","mayor":"x"}', says: '\n- `mayor`: Unknown key.\n' },
  // The whole text is JSON, though of a kind that is refused; what is in it does not count.
  { text: '[1e999,{"name":"Bonn"}]', says: 'a number that is too large' },
  { text: '{"people":"many"}', says: '`name`' },
])('what is wrong with a message is said: $says', ({ text, says }) => {
  const message = problem(one, text);
  expect(message).toContain(says);
  expect(message).toMatch(/^Your message does not match the required output: /);
  expect(message).toContain('Answer again with only the corrected JSON');
});

test('a message is bounded, whatever a model made up', () => {
  const keys = Array.from({ length: 500 }, (_, index) => [`${index}${'k'.repeat(1_000)}`, 1]);
  const message = problem(one, JSON.stringify(Object.fromEntries(keys)));
  expect(message.length).toBeLessThan(7_000);
  expect(message).toContain('- and others');
  expect(problem(many, JSON.stringify(Object.fromEntries(keys))).length).toBeLessThan(1_000);
});

test.each<{ what: string; schema: Schema; valid: boolean }>([
  { what: 'an object', schema: v.object({}), valid: true },
  { what: 'objects to choose from', schema: v.variant('t', [v.object({ t: v.literal('a') })]), valid: true },
  {
    what: 'a list of objects to choose from',
    schema: v.array(v.union([v.object({}), v.strictObject({})])),
    valid: true,
  },
  {
    what: 'a part of itself',
    schema: jsonSchema({ $ref: '#/$defs/a', $defs: { a: { type: 'object' } } }),
    valid: true,
  },
  { what: 'properties', schema: jsonSchema({ properties: {} }), valid: true },
  { what: 'one of all', schema: jsonSchema({ allOf: [{}, { type: 'object' }] }), valid: true },
  { what: 'one of one', schema: jsonSchema({ oneOf: [{ type: 'object' }] }), valid: true },
  { what: 'a text', schema: v.string(), valid: false },
  { what: 'a list of texts', schema: v.array(v.string()), valid: false },
  { what: 'a list of anything', schema: jsonSchema({ type: 'array' }), valid: false },
  { what: 'a list of lists', schema: v.array(v.array(v.object({}))), valid: false },
  { what: 'an object or nothing', schema: v.nullable(v.object({})), valid: false },
  { what: 'an object or null', schema: jsonSchema({ type: ['object', 'null'] }), valid: false },
  { what: 'an object or a text', schema: v.union([v.object({}), v.string()]), valid: false },
  {
    what: 'one of an object and a text',
    schema: jsonSchema({ oneOf: [{ type: 'object' }, { type: 'string' }] }),
    valid: false,
  },
  { what: 'anything', schema: jsonSchema({}), valid: false },
  { what: 'nothing but itself', schema: jsonSchema({ $ref: '#' }), valid: false },
  { what: 'nothing to choose from', schema: jsonSchema({ anyOf: [] }), valid: false },
])('$what can be an output: $valid', ({ schema, valid }) => {
  const make = () => toOutputFormat(schema);
  if (valid) expect(make().maxCorrections).toBe(1);
  else expect(make).toThrow(expect.objectContaining({ code: 'prompt.invalid', reason: 'output.schema' }));
});

test.each([-1, 0.5, Number.NaN])('%s corrections are refused', (maxCorrections) => {
  expect(() => toOutputFormat(city, { maxCorrections })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});

test('a schema whose own check throws says so, and parse does not throw', () => {
  const broken = v.pipe(
    v.object({ name: v.string() }),
    v.check(() => {
      throw new Error('no map');
    }),
  );
  expect(problem(toOutputFormat(broken), '{"name":"Bonn"}')).toContain('it could not be checked: no map');
});

test('parse never throws and answers with what fits, whatever a model writes', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    'name',
    '"name":"x"',
    '1',
    '```json\n',
    '\n```\n',
    '\\',
    ' ',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, (written) => {
      const parsed = one.parse(written);
      if (parsed.ok) expect(v.is(city, parsed.value)).toBe(true);
      else expect(parsed.message).not.toBe('');
    }),
    { numRuns: 80 },
  );
});

test('the block of an object', () => {
  expect(renderOutputFormat(one)).toMatchInlineSnapshot(`
    "## Response format (response-format)

    When the work is done, answer with one JSON object that fits this JSON Schema, and with nothing else: no text before or after it, no keys that the schema does not name.

    \`\`\`json
    {"type":"object","properties":{"name":{"type":"string","minLength":1},"people":{"type":"number","default":0}},"required":["name"],"additionalProperties":false}
    \`\`\`"
  `);
});

test('the block of a list', () => {
  expect(renderOutputFormat(many)).toMatchInlineSnapshot(`
    "## Response format (response-format)

    When the work is done, answer with one JSON object that fits this JSON Schema, and with nothing else: no text before or after it, no keys that the schema does not name.

    \`\`\`json
    {"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string","minLength":1},"people":{"type":"number","default":0}},"required":["name"],"additionalProperties":false}}},"required":["items"],"additionalProperties":false}
    \`\`\`"
  `);
});
