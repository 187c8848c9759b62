import { expect, test } from 'vitest';
import { findHiddenCharacter, makeVisible } from './hidden-text.ts';

// One of every kind that people cannot see and models read.
test.each([
  ['a control', 0x7f],
  ['a soft hyphen', 0xad],
  ['a joiner that joins nothing', 0x34f],
  ['a filler', 0x115f],
  ['a vowel that is not written', 0x17b4],
  ['a selector of Mongolian', 0x180b],
  ['a zero-width space', 0x200b],
  ['a line separator', 0x2028],
  ['a change of direction', 0x202e],
  ['a character that is reserved to be ignored', 0x2065],
  ['a blank of braille', 0x2800],
  ['a filler of Hangul', 0x3164],
  ['a selector of variants', 0xfe00],
  ['a byte order mark', 0xfeff],
  ['half a character', 0xd800],
  ['a tag', 0xe0041],
  ['a further selector of variants', 0xe0100],
])('%s is found and shown', (_, code) => {
  const text = `a${String.fromCodePoint(code)}b`;
  expect(findHiddenCharacter(text)).toBe(`U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
  expect(makeVisible(text)).toBe(`a\\u{${code.toString(16)}}b`);
});

test.each([
  '\u5929\u6c17',
  '\u2764\ufe0f',
  '\u00a9\ufe0e',
  'e\u0301',
  '\u0928\u093f',
  '\ue000',
  '\u{1f600}',
  'a\tb\nc',
])('%j is ordinary text', (text) => expect(findHiddenCharacter(text)).toBeUndefined());
