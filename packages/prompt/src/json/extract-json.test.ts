import { parseJson } from '@holdfast/core/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { extractJson } from './extract-json.ts';

function extract(text: string): string | undefined {
  const extracted = extractJson(text, (whole) => parseJson(whole).ok);
  return extracted.ok ? extracted.json : undefined;
}

const fence = '```';

test.each<{ what: string; text: string; json: string | undefined }>([
  { what: 'a block marked as JSON', text: `Here:\n${fence}json\n{"a":1}\n${fence}\nDone.`, json: '{"a":1}' },
  { what: 'a mark in capitals', text: `${fence}JSON\n{"a":1}\n${fence}`, json: '{"a":1}' },
  { what: 'a mark of a dialect', text: `${fence}JSON5\n{a:1}\n${fence}`, json: '{a:1}' },
  { what: 'a mark with more after it', text: `${fence}json title="x"\n{"a":1}\n${fence}`, json: '{"a":1}' },
  { what: 'tildes', text: '~~~ json\n{"a":1}\n~~~', json: '{"a":1}' },
  { what: 'a block without a mark', text: `${fence}\n\n  [{"a":1}]\n${fence}`, json: '[{"a":1}]' },
  { what: 'lines that end as in Windows', text: `Here:\r\n${fence}json\r\n{\r\n}\r\n${fence}\r\n`, json: '{\r\n}' },
  { what: 'an indented block', text: `1. Here:\n   ${fence}json\n   {"a":1}\n   ${fence}`, json: '{"a":1}' },
  { what: 'a block within a line’s reach', text: `${fence}json\n{"a":1}${fence}`, json: '{"a":1}' },
  { what: 'a block without an end', text: `${fence}json\n{"a":1}\n`, json: '{"a":1}' },
  { what: 'an empty block', text: `${fence}json\n${fence}\n{"a":1}`, json: '' },
  {
    what: 'a longer fence',
    text: `${fence}\`\`json\n{"a":"\n${fence}\n"}\n${fence}\`\``,
    json: `{"a":"\n${fence}\n"}`,
  },
  { what: 'a fence in a string', text: `${fence}json\n{"a":"${fence}"}\n${fence}`, json: `{"a":"${fence}"}` },
  { what: 'two blocks', text: `${fence}json\n{"a":1}\n${fence}\n${fence}json\n{"a":2}\n${fence}`, json: '{"a":1}' },
  { what: 'a bad block, then good text', text: `${fence}json\n{"a":\n${fence}\n{"a":2}`, json: '{"a":' },
  {
    what: 'a block with a mark after one without',
    text: `${fence}\n{ code }\n${fence}\n${fence}json\n{"a":2}\n${fence}`,
    json: '{"a":2}',
  },
  {
    what: 'blocks of other languages',
    text: `${fence}sh\nnpm i {}\n${fence}\n${fence}\nnpm t\n${fence}\n${fence}\n{"a":2}\n${fence}`,
    json: '{"a":2}',
  },
  {
    what: 'a block within a block of another language',
    text: `${fence}\`md\n${fence}json\n{"a":1}\n${fence}\n${fence}\`\n${fence}json\n{"a":2}\n${fence}`,
    json: '{"a":2}',
  },
  { what: 'code within a line', text: `${fence}json {"a":1}${fence}`, json: '{"a":1}' },
  { what: 'two backticks', text: '``\n{ code }\n``\n{"a":1}', json: '{"a":1}' },
  {
    what: 'two blocks without a mark',
    text: `${fence}\n{"a":1}\n${fence}\n${fence}\n{"a":2}\n${fence}`,
    json: '{"a":1}',
  },
  {
    what: 'a fence at the end of a line of code',
    text: `${fence}sh\necho ${fence}\n${fence}json\n{"a":1}\n${fence}\n${fence}json\n{"a":2}\n${fence}`,
    json: '{"a":2}',
  },
  { what: 'the whole text', text: ' \n{"a":{"b":"```"}}\n', json: '{"a":{"b":"```"}}' },
  { what: 'an empty object as the whole text', text: '{}', json: '{}' },
  { what: 'an empty list as the whole text', text: '[ ]', json: '[ ]' },
  { what: 'a byte order mark', text: '\ufeff{"a":1}', json: '{"a":1}' },
  { what: 'an object in prose', text: 'So it is {"a":1}, I think.', json: '{"a":1}' },
  { what: 'a list in prose', text: 'So: [ {"a":1}, {"a":2} ].', json: '[ {"a":1}, {"a":2} ]' },
  { what: 'several objects', text: '{"a":1} or {"a":2}', json: '{"a":1}' },
  { what: 'braces in strings', text: 'x {"a":"}{\\"}","b":"]"} y', json: '{"a":"}{\\"}","b":"]"}' },
  { what: 'a broken object before a good one', text: 'not {"a": oops} but {"a":1}', json: '{"a": oops}' },
  { what: 'braces of prose and code', text: 'f() {} {x} { return 1; } {"x", "y"} {"a":1}', json: '{"a":1}' },
  { what: 'marks of prose', text: '- [ ] one [1]\n- [x](y) []\n[{}] {"a":1}', json: '{"a":1}' },
  { what: 'a brace that opens nothing', text: 'a `{`, then {"a":1}', json: '{"a":1}' },
  { what: 'an object that does not end', text: 'So: {"a":{"b":1}', json: undefined },
  { what: 'a string that does not end', text: 'So: {"a":"b}', json: undefined },
  { what: 'no JSON', text: 'I could not find it.', json: undefined },
  { what: 'nothing', text: '', json: undefined },
  { what: 'no object', text: '"{\\"a\\":1}"', json: undefined },
])('$what', ({ text, json }) => {
  expect(extract(text)).toBe(json);
});

// Never three of a fence's marks at the beginning of a line.
const words = ['so', '{', '}', '[1]', '[ ]', '{x}', 'a``', '\n', ': ', 'a~~', '\r\n'];
const prose = fc.array(fc.constantFrom(...words, '{"y"', '"'));
const object = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
const blank = fc.constantFrom('', ' ', '\n', '\r\n\t');

test('an object that is the only one in prose is found whole', () => {
  const before = fc.array(fc.constantFrom(...words));
  const property = fc.property(before, object, prose, fc.constantFrom(0, 2, '\t'), (head, value, tail, space) => {
    const json = JSON.stringify(value, null, space);
    expect(extract(`${head.join('')} ${json}${tail.join('')}`)).toBe(json);
  });
  fc.assert(property);
});

test('a block marked as JSON is found whatever stands around it', () => {
  fc.assert(
    fc.property(prose, fc.jsonValue(), prose, blank, (head, value, tail, end) => {
      const json = JSON.stringify(value, null, 2);
      const text = `${head.join('')}\n${fence}json\n${json}${end}${fence}\n${tail.join('')}`;
      expect(extract(text)).toBe(json);
    }),
  );
});

test.each([
  ['braces', '{'],
  ['brackets', '['],
  ['keys', '{"a'],
  ['keys and values', '{"a":'],
  ['escapes', '{"\\'],
  ['spaces after braces', '{ \n'],
  ['lists of braces', '[ {'],
  ['fences', '```\n'],
  ['fences with marks', '```js\n'],
  ['fences with brackets', '```\n{\n'],
  ['fences in a line', '```json '],
  ['backticks', '`'],
  ['lines of spaces', '   \n'],
  ['quotation marks', '"'],
])('1 MiB of %s is gone through in no time', (_, piece) => {
  const text = piece.repeat(Math.ceil(1_048_576 / piece.length));
  const start = performance.now();
  extract(text);
  extract(`x ${text} {"a":1}`);
  // It takes a fraction of a second; quadratic work would take many minutes.
  expect(performance.now() - start).toBeLessThan(60_000);
});
