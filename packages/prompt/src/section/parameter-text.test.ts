import { expect, test } from 'vitest';
import { toParameterText } from './template.ts';

const circular: unknown[] = [];
circular.push(circular);

test.each([
  ['text\nover lines', 'text\nover lines'],
  ['', ''],
  [42, '42'],
  [-0.5, '-0.5'],
  [12n, '12'],
  [true, 'true'],
  [null, ''],
  [undefined, ''],
  [new Date('2026-03-01T12:00:00Z'), '2026-03-01T12:00:00.000Z'],
  [[], ''],
  [['a', 2, false, null], 'a, 2, false, '],
  [[{ a: 1 }, 'b'], '[{"a":1},"b"]'],
  [[['a'], []], '[["a"],[]]'],
  [{ b: 1, a: [null] }, '{"b":1,"a":[null]}'],
])('%s reads %j', (value, text) => {
  expect(toParameterText(value)).toBe(text);
});

test.each([
  ['a function', () => 1],
  ['a symbol', Symbol('s')],
  ['a map', new Map([['a', 1]])],
  ['an invalid date', new Date(Number.NaN)],
  ['a list with a function', [() => 1]],
  ['an object with a date', { at: new Date(0) }],
  ['an object with toJSON', { toJSON: () => 'x' }],
  ['a cycle', circular],
])('%s has no text', (_title, value) => {
  expect(toParameterText(value)).toBeUndefined();
});
