import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  fitColumns,
  measureColumns,
  padColumns,
  splitColumns,
  toPrintable,
  wrapBlock,
  wrapColumns,
  wrapWhole,
} from './text.ts';

test.each([
  { text: 'abc', columns: 3 },
  { text: '漢字', columns: 4 },
  { text: '👩‍👩‍👧 x', columns: 4 },
  { text: 'e\u0301', columns: 1 },
  { text: '', columns: 0 },
])('`$text` takes $columns columns', ({ text, columns }) => {
  expect(measureColumns(text)).toBe(columns);
});

test.each([
  { text: 'abcdef', columns: 6, fitted: 'abcdef' },
  { text: 'abcdef', columns: 5, fitted: 'abcd…' },
  { text: '漢字漢字', columns: 5, fitted: '漢字…' },
  { text: '漢字漢字', columns: 4, fitted: '漢…' },
  { text: 'abc', columns: 0, fitted: '' },
])('`$text` in $columns columns is `$fitted`', ({ text, columns, fitted }) => {
  expect(fitColumns(text, columns)).toBe(fitted);
});

test('fitted text takes at most the given columns, padded text exactly', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (raw, columns) => {
      const text = toPrintable(raw);
      expect(measureColumns(fitColumns(text, columns))).toBeLessThanOrEqual(columns);
      expect(measureColumns(padColumns(text, columns))).toBe(columns);
    }),
  );
});

test('a very long text is cut without measuring all of it', () => {
  expect(fitColumns('x'.repeat(5_000_000), 10)).toBe('xxxxxxxxx…');
});

test('text is wrapped at blanks, and a word that is too long is cut', () => {
  expect(wrapColumns('one two three four', 10, 9)).toEqual(['one two', 'three four']);
  expect(wrapColumns(`a ${'b'.repeat(30)} c`, 10, 9)).toEqual(['a', 'bbbbbbbbb…', 'c']);
});

test('text is split at a width, including wide characters', () => {
  expect(splitColumns('漢字かな', 5)).toEqual(['漢字', 'かな']);
  expect(splitColumns('abcde', 2)).toEqual(['ab', 'cd', 'e']);
  expect(splitColumns('abcd', 2)).toEqual(['ab', 'cd']);
  expect(splitColumns('', 5)).toEqual(['']);
});

test.each([
  { text: 'one two three', lines: ['one two', 'three'] },
  { text: `see ${'x'.repeat(12)} there`, lines: ['see xxxxxx', 'xxxxxx the', 're'] },
])('`$text` is wrapped without loss', ({ text, lines }) => {
  expect(wrapWhole(text, 10)).toEqual(lines);
});

test('a block is broken at blanks and keeps its indents, without loss', () => {
  expect(wrapBlock('- one two three\n  four five six', 11)).toEqual(['- one two', '  three', '  four five', '  six']);
  expect(wrapBlock('see /a/very/long/path there', 10)).toEqual(['see', '/a/very/long/path', 'there']);
  expect(wrapBlock('any length', Number.POSITIVE_INFINITY)).toEqual(['any length']);
});
