import { expect, test } from 'vitest';
import { findPatternProblem } from './pattern.ts';

test.each([
  '^[a-z]+$',
  '^[a-z0-9]+(-[a-z0-9]+)*$',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^(\\d{1,3}\\.){3}\\d{1,3}$',
  '^([a-z0-9-]{1,63}\\.)+[a-z]{2,}$',
  '^[^@\\s]+@[^@\\s]+$',
  '^\\w+(,\\s*\\w+)*$',
  '^(https?:)+$',
  '^(a|b)+$',
  '^(?<year>\\d{4})$',
  '\\p{L}+',
  '^[\\]()*+]{2}$',
])('accepts `%s`', (pattern) => {
  expect(findPatternProblem(pattern)).toBeUndefined();
});

test.each([
  '(a+)+$',
  '^(\\w+\\s?)*$',
  '^(\\d+\\.?)+$',
  '((a*)*)*',
  '(a|a)*$',
  '(a|ab)+$',
  '(.*,){11,}',
  '(a?a)*$',
  '(\\Ba+)*$',
  '((a|a)b)*$',
  '(?:(?:x+)y?)*$',
  '(a{1,20}){1,50}$',
])('refuses `%s`, which can stall', (pattern) => {
  expect(findPatternProblem(pattern)?.message).toContain('can take exponential time');
});

test.each(['(', '[z-a]', '\\-', 'a{2,1}'])('refuses `%s`, which is not a regular expression', (pattern) => {
  expect(findPatternProblem(pattern)?.message).toContain('is not a valid regular expression');
});

test('refuses a pattern of more than 1,000 characters', () => {
  expect(findPatternProblem('a'.repeat(1001))?.message).toContain('1001');
});
