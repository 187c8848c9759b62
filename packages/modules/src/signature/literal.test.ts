import type { Json } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLiteral } from './literal.ts';

test.each<[text: string, value: Json]>([
  ['{"a":[1,true,null]}', { a: [1, true, null] }],
  ["{'a': [1, True, None, False]}", { a: [1, true, null, false] }],
  ["['it\\'s', \"it's\", 'say \"x\"', '\\n\\t\\\\ \\x41\\u00e9']", ["it's", "it's", 'say "x"', '\n\t\\ A\u00e9']],
  ['[1, /* one */ 2,]', [1, 2]],
  ['{a: 1}', { a: 1 }],
  ['{"a": 1,\n}', { a: 1 }],
  ['["a\nb"]', ['a\nb']],
  ['[-1.5e3, \'True\', "None"]', [-1500, 'True', 'None']],
  ["'a'", 'a'],
  ['"a"', 'a'],
  ['5', 5],
])('%j is %j', (text, value) => {
  expect(readLiteral(text)).toEqual({ ok: true, value });
});

test.each([
  ...['', 'a', 'True', '[a]', '[Nothing]', "['a' 'b']", "['a", "['a\\q']", "['\\x4']", "['it's', 'b']", "['it's']"],
  ...[
    '[,]',
    '[1,,2]',
    '[1 2]',
    '{,}',
    "{'a'}",
    "{1: 'a'}",
    "{'a': 1, 'a': 2}",
    "{'__proto__': 1}",
    '(1, 2)',
    '[1] [2]',
  ],
  ...['[1, # one\n2]', "['a\\/b']", "['a'.b]", '[+1]', '[1e999]', "[b'x']", "[f'x']", "['a', ...]", '[.5]', '[0x10]'],
])('rejects %j', (text) => {
  expect(readLiteral(text)).toMatchObject({ ok: false });
});

/** The value in Python syntax, with one kind of quotation marks. */
function write(value: Json, quote: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') {
    return `${quote}${value.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`)}${quote}`;
  }
  if (typeof value !== 'object') return JSON.stringify(value);
  const items = Array.isArray(value)
    ? value.map((item) => write(item, quote))
    : Object.entries(value).map(([key, item]) => `${write(key, quote)}: ${write(item, quote)}`);
  const list = items.map((item) => `${item},`).join(' ');
  return Array.isArray(value) ? `[${list}]` : `{${list}}`;
}

test('property: Python literals are read back', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.constantFrom("'", '"'), (json, quote) => {
      const value = JSON.parse(JSON.stringify(json)) as Json;
      fc.pre(!JSON.stringify(value).includes('"__proto__"'));
      expect(readLiteral(write(value, quote))).toEqual({ ok: true, value });
    }),
  );
});

test('property: JSON is read as JSON', () => {
  const pieces = fc.constantFrom(
    ...['[', ']', '{', '}', '"', "'", ',', ':', '1', 'a', 'True', 'null', '\\', 'n', ' ', '-', '.'],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        return; // Nothing to compare with.
      }
      fc.pre(readLiteral(text).ok);
      expect(readLiteral(text)).toEqual({ ok: true, value });
    }),
    { numRuns: 830 },
  );
});
