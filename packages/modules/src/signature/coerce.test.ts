import type { Json, JsonObject } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coerceValue } from './coerce.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };
const number = { type: 'number' };
const boolean = { type: 'boolean' };
const nothing = { type: 'null' };
const texts = { type: 'array', items: text };
const integers = { type: 'array', items: integer };
const level = { enum: ['low', 'high'] };
const point = { type: 'object', properties: { x: integer, y: integer }, required: ['x'], additionalProperties: false };
const fence = '```';

const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, nothing] });

test.each<[written: Json, schema: JsonObject, value: Json]>([
  ['Paris', text, 'Paris'],
  ['  Paris\n\n', text, 'Paris'],
  ['a\n\n  b', text, 'a\n\n  b'],
  ['', text, ''],
  ['"Paris"', text, '"Paris"'],
  ['`x`', text, '`x`'],
  ['5', text, '5'],
  ['{"a":1}', text, '{"a":1}'],
  ['null', text, 'null'],
  ['None', text, 'None'],
  ['"2024"', { type: 'string', pattern: '^\\d{4}$' }, '2024'],
  ['`2024`', { type: 'string', pattern: '^\\d{4}$' }, '2024'],

  ['null', orNull(text), null],
  ['None', orNull(text), null],
  ['none', orNull(text), 'none'],
  ['nullable', orNull(text), 'nullable'],
  ['', orNull(text), ''],
  ['"x"', orNull(text), '"x"'],
  ['null', { type: ['string', 'null'] }, null],
  ['none', orNull(integer), null],
  ['`null`', orNull(integer), null],
  ['None', { enum: ['None', 'Some', null] }, 'None'],
  ['NULL', { enum: ['None', 'Some', null] }, null],

  ['true', boolean, true],
  ['True', boolean, true],
  ['yes', boolean, true],
  ['Yes.', boolean, true],
  ['**YES**', boolean, true],
  ['"true"', boolean, true],
  ["'no'", boolean, false],
  ['False', boolean, false],
  ['`false`', boolean, false],
  [`${fence}\nfalse\n${fence}`, boolean, false],

  ['1', integer, 1],
  ['1.0', integer, 1],
  ['1.', integer, 1],
  ['+7', integer, 7],
  ['-7', integer, -7],
  ['-0', integer, 0],
  ['1e3', integer, 1000],
  ['"5"', integer, 5],
  ['**42**', integer, 42],
  [`${fence}json\n42\n${fence}`, integer, 42],
  ['.5', number, 0.5],
  ['5.', number, 5],
  ['-1.25E-2', number, -0.0125],
  ['123456789012345680000', number, 123456789012345680000],
  ['2', { enum: [1, 2] }, 2],

  ['low', level, 'low'],
  ['Low', level, 'low'],
  ['`HIGH`', level, 'high'],
  ['"high"', level, 'high'],
  ["'high'", level, 'high'],
  ['High.', level, 'high'],
  ['**low**', level, 'low'],
  ['a', { enum: ['a', 'A'] }, 'a'],
  ['A', { enum: ['a', 'A'] }, 'A'],
  ['Fixed', { const: 'fixed' }, 'fixed'],

  ['["a","b"]', texts, ['a', 'b']],
  ['[]', texts, []],
  ["['a', 'b']", texts, ['a', 'b']],
  ["['it\\'s', \"b's\",]", texts, ["it's", "b's"]],
  [`${fence}json\n["a"]\n${fence}`, texts, ['a']],
  [`${fence}\n[\n "a"\n]\n${fence}`, texts, ['a']],
  ['`["a"]`', texts, ['a']],
  ['"[\\"a\\"]"', texts, ['a']],
  ['- a\n- b c\n', texts, ['a', 'b c']],
  ['* a\r\n* b', texts, ['a', 'b']],
  ['1. a\n2. b\n\n3. c', texts, ['a', 'b', 'c']],
  ['- 5\n- 6', texts, ['5', '6']],
  ['- 5\n- 6.0', integers, [5, 6]],
  ['[1, 2.0]', integers, [1, 2]],
  ['- yes\n- No', { type: 'array', items: boolean }, [true, false]],
  ['- {"x":1}\n- {"x":2}', { type: 'array', items: point }, [{ x: 1 }, { x: 2 }]],

  ['{"x":1}', point, { x: 1 }],
  ["{'x': 1, 'y': 2}", point, { x: 1, y: 2 }],
  ['{"x":1,}', point, { x: 1 }],
  [`${fence}json\n{"x":1}\n${fence}`, point, { x: 1 }],
  ['~~~\n{"x":1}\n~~~', point, { x: 1 }],
  ['{"x":1}', { $ref: '#/$defs/point', $defs: { point } }, { x: 1 }],
  ['null', { anyOf: [{ $ref: '#/$defs/point' }, nothing], $defs: { point } }, null],
  [
    '{"left":{"left":null}}',
    {
      $ref: '#/$defs/tree',
      $defs: { tree: { anyOf: [nothing, { type: 'object', properties: { left: { $ref: '#/$defs/tree' } } }] } },
    },
    { left: { left: null } },
  ],

  ['5', { type: ['integer', 'string'] }, 5],
  ['"5"', { type: ['integer', 'string'] }, '5'],
  ['five', { type: ['integer', 'string'] }, 'five'],
  ['12345678901234567890', { type: ['integer', 'string'] }, '12345678901234567890'],
  ['yes', { type: ['boolean', 'string'] }, 'yes'],
  ['true', { type: ['boolean', 'string'] }, true],
  ['["a"]', { anyOf: [text, texts] }, ['a']],
  ['[a]', { anyOf: [text, texts] }, '[a]'],
  ['{"x":1}', { anyOf: [text, point] }, { x: 1 }],
  ['{"z":1}', { anyOf: [text, point] }, '{"z":1}'],
  ['7', { oneOf: [integer, texts] }, 7],
  ['no', { oneOf: [boolean, integer] }, false],
  ['High', { anyOf: [level, integer] }, 'high'],
  ['5', { allOf: [{ type: ['integer', 'string'] }, { type: 'number' }] }, 5],
  ['yes', { allOf: [{ type: ['boolean', 'string'] }, { type: ['boolean', 'integer'] }] }, true],
  ['5', {}, 5],
  ['yes', {}, 'yes'],
  ['[1', {}, '[1'],

  // Values other than text come from JSON.
  [5, integer, 5],
  [1.0, integer, 1],
  [null, orNull(text), null],
  [['a'], texts, ['a']],
  [true, boolean, true],
])('%j as %j is %j', (written, schema, value) => {
  expect(coerceValue(written, schema)).toEqual({ ok: true, value });
});

test.each<[written: Json, schema: JsonObject, message: string]>([
  ['many', integer, 'must be a number, got `many`'],
  ['', integer, 'must be a number, got nothing'],
  ['1,234', integer, 'must be a number, got `1,234`'],
  ['1_000', integer, 'must be a number'],
  ['1 000', integer, 'must be a number'],
  ['$5', number, 'must be a number'],
  ['5%', number, 'must be a number'],
  ['5 apples', integer, 'must be a number'],
  ['five', integer, 'must be a number'],
  ['007', integer, 'must be a number'],
  ['0x10', integer, 'must be a number'],
  ['NaN', number, 'must be a number'],
  ['Infinity', number, 'must be a number'],
  ['1e999', number, 'must be a number'],
  ['.', number, 'must be a number'],
  ['9007199254740993', integer, 'must be a number'],
  ['12345678901234567890', number, 'must be a number'],
  ['1.5', integer, 'does not fit: '],
  ['7', { type: 'integer', maximum: 5 }, 'does not fit: '],
  ['null', integer, 'must be a number'],
  [null, integer, 'must be a number, got null'],
  [true, integer, 'must be a number, got true or false'],
  ['1', boolean, 'must be true or false, got `1`'],
  ['0', boolean, 'must be true or false'],
  [1, boolean, 'must be true or false, got a number'],
  ['yes, because it is', boolean, 'must be true or false'],
  ['true false', boolean, 'must be true or false'],
  [42, text, 'must be text, got a number'],
  [null, text, 'must be text, got null'],
  ['medium', level, 'does not fit: '],
  ['low or high', level, 'does not fit: '],
  ['LOW', { enum: ['low', 'Low'] }, 'does not fit: '],
  ['', level, 'does not fit: '],
  ['a, b', texts, 'must be a list as JSON, got `a, b`'],
  ['Paris', texts, 'must be a list as JSON'],
  ['', texts, 'must be a list as JSON, got nothing'],
  ['["a"', texts, 'must be a list as JSON, got `["a"`: it is not JSON'],
  ['["a"] or ["b"]', texts, 'must be a list as JSON'],
  ['Here: ["a"]', texts, 'must be a list as JSON'],
  ["['it's', 'b']", texts, 'must be a list as JSON'],
  ["['a' 'b']", texts, 'must be a list as JSON'],
  ["['a\\q']", texts, 'must be a list as JSON'],
  ['[a, b]', texts, 'must be a list as JSON'],
  ['[1]', texts, 'does not fit: '],
  ['["1"]', integers, 'does not fit: '],
  ['- a\nb', texts, 'must be a list as JSON'],
  ['- a\n  - b', texts, 'must be a list as JSON'],
  ['- a\n* b', texts, 'must be a list as JSON'],
  ['- 5\n- x', integers, 'does not fit: '],
  ['{"x":1,"z":2}', point, 'does not fit: '],
  ['{"y":1}', point, 'does not fit: '],
  ['{"x":"1"}', point, 'does not fit: '],
  ['{"x":1,"x":2}', point, 'must be a JSON object, got `{"x":1,"x":2}`: it has a key twice'],
  ['{"__proto__":{"x":1}}', point, '`__proto__` is not accepted as a key'],
  ['[{"x":1}]', point, 'must be a JSON object'],
  ['x', { anyOf: [integer, boolean, nothing] }, 'must be null or true or false or a number, got `x`'],
  ['a\u202eb`c', integer, "must be a number, got `a\\u{202e}b'c`"],
])('%j is not a %j: %s', (written, schema, message) => {
  const coerced = coerceValue(written, schema);
  expect(coerced.ok ? coerced.value : coerced.message).toContain(message);
});

test.each<[what: string, written: string, schema: JsonObject, message: string]>([
  ['digits', '9'.repeat(100_000), number, 'must be a number'],
  ['letters', 'x'.repeat(1_000_000), { type: 'string', maxLength: 5 }, 'does not fit: '],
  ['lists in lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, texts, 'nested deeper'],
  ['unclosed lists', '['.repeat(100_000), texts, 'it is not JSON'],
  ['a large object', `{${'"k":1,'.repeat(400_000)}"x":1}`, point, 'characters long'],
  ['many items', '- x\n'.repeat(10_000), integers, 'does not fit: '],
  ['items beyond the limit', '- x\n'.repeat(1_000_000), texts, 'must be a list'],
  ['quotation marks', `['${"\\'".repeat(400_000)}`, texts, 'must be a list'],
])('the message about %s is short', (_, written, schema, message) => {
  const coerced = coerceValue(written, schema);
  expect(coerced.ok ? 'taken' : coerced.message).toContain(message);
  expect(JSON.stringify(coerced).length).toBeLessThan(800);
});

test.each<[written: Json, schema: JsonObject, value: Json]>([
  ['null', orNull(text), 'null'],
  [' x ', text, ' x '],
  ['High', level, 'high'],
  ['5', integer, 5],
  ['5', { type: ['integer', 'string'] }, '5'],
])('a JSON string that fits is kept: %j as %j is %j', (written, schema, value) => {
  expect(coerceValue(written, schema, { from: 'json' })).toEqual({ ok: true, value });
});

// In none of these can text be taken for another type.
const schemas = fc.constantFrom<JsonObject>(
  integer,
  number,
  boolean,
  texts,
  integers,
  orNull(boolean),
  orNull(integers),
  { type: ['integer', 'boolean', 'array', 'null'] },
  {},
);

test('property: JSON is read back', () => {
  fc.assert(
    fc.property(fc.jsonValue(), schemas, (json, schema) => {
      fc.pre(!JSON.stringify(json).includes('__proto__'));
      const value = JSON.parse(JSON.stringify(json)) as Json;
      const fits = coerceValue(value, schema).ok;
      if (fits && typeof value !== 'string')
        expect(coerceValue(JSON.stringify(value), schema)).toEqual({ ok: true, value });
    }),
  );
});

test('property: any text is a value of the schema or rejected, and text is never changed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), schemas, (written, schema) => {
      expect(coerceValue(written, text)).toEqual({ ok: true, value: written.trim() });
      const coerced = coerceValue(written, schema);
      if (coerced.ok) expect(coerceValue(coerced.value, schema)).toEqual(coerced);
    }),
  );
});

test('an integer is never changed: kept to the last digit or rejected', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), (value) => {
      const coerced = coerceValue(String(value), integer);
      if (coerced.ok) expect(String(coerced.value)).toBe(String(value));
      else expect(value > 2n ** 53n || value < -(2n ** 53n)).toBe(true);
    }),
  );
});

test('a circular reference allows anything and terminates', () => {
  const endless = { anyOf: [{ $ref: '#/$defs/endless' }, integer] };
  expect(coerceValue('5', { $ref: '#/$defs/endless', $defs: { endless } })).toMatchObject({ ok: false });
});

test('a schema is compiled once', () => {
  let reads = 0;
  const counted: JsonObject = {
    get type() {
      reads += 1;
      return 'integer';
    },
  };
  coerceValue('1', counted);
  const first = reads;
  coerceValue('2', counted);
  expect(first).toBeGreaterThan(0);
  expect(reads).toBe(first);
});
