import { expect, test } from 'vitest';
import { hasControl, isOneLine, unicodePattern } from './unicode.ts';

test('a control character is what the class Cc of Unicode contains', () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const character = String.fromCharCode(code);
    const control = /\p{Cc}/u.test(character);
    expect(hasControl(`a${character}`), code.toString(16)).toBe(control);
    expect(isOneLine(`a${character}`), code.toString(16)).toBe(!control && code !== 0x2028 && code !== 0x2029);
  }
});

test('a pattern is compiled on first use, and once', () => {
  const broken = unicodePattern('(', 'u');
  expect(broken).toThrow(SyntaxError);
  const letter = unicodePattern(String.raw`\p{L}`, 'u');
  expect(letter()).toBe(letter());
  expect(letter().test('ß')).toBe(true);
});
