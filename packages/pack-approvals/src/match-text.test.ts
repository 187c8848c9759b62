import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchText } from './match-text.ts';

test.each([
  { pattern: 'prod', text: 'prod', matches: true },
  { pattern: 'prod', text: 'prod-1', matches: false },
  { pattern: 'prod*', text: 'prod-1', matches: true },
  { pattern: '*prod*', text: 'a prod b', matches: true },
  { pattern: '*.exe', text: 'a.exe.txt', matches: false },
  { pattern: 'v?', text: 'v1', matches: true },
  { pattern: 'v?', text: 'v', matches: false },
  { pattern: '*', text: '', matches: true },
  { pattern: '?', text: '', matches: false },
  { pattern: 'a+(b)|[c]', text: 'a+(b)|[c]', matches: true },
  { pattern: '*a*b*c', text: 'xaxbxbxc', matches: true },
])('`$pattern` and `$text`: $matches', ({ pattern, text, matches }) => {
  expect(matchText(pattern, text)).toBe(matches);
});

const character = fc.constantFrom('a', 'b', '*', '?', '.', '(');
const string = fc.array(character, { maxLength: 8 }).map((characters) => characters.join(''));

test('it matches what a regular expression matches', () => {
  fc.assert(
    fc.property(string, string, (pattern, text) => {
      const source = pattern.replaceAll(/[.(]/gu, '\\$&').replaceAll('*', '[^]*').replaceAll('?', '[^]');
      expect(matchText(pattern, text)).toBe(new RegExp(`^${source}$`).test(text));
    }),
    { numRuns: 330 },
  );
});

test('no text is slow to match', () => {
  // A backtracking search would not end.
  expect(matchText(`*${'a'.repeat(97)}b*`, 'a'.repeat(100_000))).toBe(false);
  expect(matchText('*a'.repeat(49).concat('*b'), 'a'.repeat(100_000))).toBe(false);
});
