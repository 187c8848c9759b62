import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toPrintable, toPrintableBlock } from './printable.ts';

test.each([
  { text: 'plain text, äöü, 漢字, ✔️', printed: 'plain text, äöü, 漢字, ✔️' },
  { text: '\x1b[31mred\x1b[0m', printed: '\\x1b[31mred\\x1b[0m' },
  { text: 'a\rapproved: yes\nb\tc', printed: 'a\\rapproved: yes\\nb\\tc' },
  { text: 'c1\u009b31m', printed: 'c1\\x9b31m' },
  { text: 'exe\u202Etxt.', printed: 'exe\\u{202e}txt.' },
  { text: 'zero\u200Bwidth\u2028', printed: 'zero\\u{200b}width\\u{2028}' },
  { text: 'tag\u{E0041}', printed: 'tag\\u{e0041}' },
  { text: 'half \uD800', printed: 'half \\u{d800}' },
])('$printed is what a terminal gets', ({ text, printed }) => {
  expect(toPrintable(text)).toBe(printed);
});

test('a block keeps line breaks and tabs and nothing else', () => {
  expect(toPrintableBlock('a\r\nb\tc\x07\rd')).toBe('a\nb\tc\\x07\\rd');
});

test('nothing that a terminal obeys is left of any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      return !/[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u.test(toPrintable(text));
    }),
  );
});
