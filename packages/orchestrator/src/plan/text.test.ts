import { expect, test } from 'vitest';
import { cut, formatCount, formatDuration } from './text.ts';

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1000, '1.0 s'],
  [59_949, '59.9 s'],
  [59_950, '1 m 00 s'],
  [61_000, '1 m 01 s'],
  [125_000, '2 m 05 s'],
  [3_600_000, '1 h 00 m'],
  [7_260_000, '2 h 01 m'],
  [172_740_000, '47 h 59 m'],
  [172_800_000, '2 d 0 h'],
  [183_600_000, '2 d 3 h'],
])('formats %d ms as %s', (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text);
});

test('surrogate pairs are never split', () => {
  expect(cut('a\u{1f600}b', 2)).toEqual({ text: 'a', leftOut: 3 });
  expect(cut('a\u{1f600}b', 3)).toEqual({ text: 'a\u{1f600}', leftOut: 1 });
});

test('large counts have thousands separators', () => {
  expect(formatCount(1, 'node')).toBe('1 node');
  expect(formatCount(1_234_567, 'node')).toBe('1,234,567 nodes');
});
