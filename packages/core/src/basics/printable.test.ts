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
  { text: 'keycap 1\uFE0F\u20E3, heart \u2764\uFE0F', printed: 'keycap 1\uFE0F\u20E3, heart \u2764\uFE0F' },
  { text: 'x\uFE0F1\uFE0F\u2764\uFE0F\uFE0F', printed: 'x\\u{fe0f}1\\u{fe0f}\u2764\uFE0F\\u{fe0f}' },
  { text: 'blank \u2800\uFFFF', printed: 'blank \\u{2800}\\u{ffff}' },
])('prints $printed', ({ text, printed }) => {
  expect(toPrintable(text)).toBe(printed);
});

test('a block keeps only line breaks and tabs', () => {
  expect(toPrintableBlock('a\r\nb\tc\x07\rd')).toBe('a\nb\tc\\x07\\rd');
});

test('no control, format, invisible or private code point is printed, also in a block', () => {
  const hides =
    /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Bidi_Control}\p{Variation_Selector}]/u;
  const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((one) =>
    hides.test(one),
  );
  expect(all.length).toBeGreaterThan(137_000);
  // Separated by a letter, so that no surrogates form a pair.
  expect(toPrintable(all.join('a'))).not.toMatch(hides);
  expect(toPrintableBlock(all.join('a')).replaceAll(/[\n\t]/g, '')).not.toMatch(hides);
});
