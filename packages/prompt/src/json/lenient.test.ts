import { expect, test } from 'vitest';
import { readLenientJson } from './lenient.ts';

test.each([
  ['{"a": [1, {"b": null}], "c": "}"}', ''],
  ['{"a": 1, "b": [2,],}', 'trailing commas: 2'],
  ['{"a": /* 1 */ 2 // two\n}', 'comments: 2'],
  ['{"a":\u00a01}', 'unusual blanks: 1'],
  ['{"a": "b\nc\td"}', 'line breaks and tabs in texts: 2'],
  ['{"a": "it\\\'s"}', 'escaped apostrophes: 1'],
  ['{"a": "\\x41"}', 'hexadecimal escapes: 1'],
  ["{'a': “say 'b'”}", 'texts in other quotes: 2'],
  ['{a: 1, $b: 2}', 'keys without quotes: 2'],
  ['[True, False, None]', 'literals of Python: 3'],
])('%s is read to its end', (text, repairs) => {
  const reading = readLenientJson(`x ${text} y`, 2);
  if (reading.type !== 'value') throw new Error(`It is ${reading.type}: ${reading.problem}`);
  expect(reading.end).toBe(2 + text.length);
  expect([...reading.repairs].map(([repair, count]) => `${repair}: ${count}`).join()).toBe(repairs);
  expect(() => JSON.parse(reading.json)).not.toThrow();
  if (repairs === '') expect(reading.json).toBe(text);
});

test('the keys of the outermost object are given as they are written, each as often as it stands there', () => {
  expect(readLenientJson(`{"a": {"b": 1}, 'c': 2, d: 3, "a": 4}`, 0)).toMatchObject({ keys: ['a', 'c', 'd', 'a'] });
});

test.each([
  ['{maybe}', 'other', 'a colon is missing after a key'],
  ['[1 2]', 'other', '`,` or `]` is missing'],
  ['{"a": 1 "b": "}"} {}', 'broken', '`,` or `}` is missing'],
  ['{"a": "b', 'broken', 'a text does not end'],
  [`${'['.repeat(81)}1${']'.repeat(81)}`, 'other', 'it is nested deeper than 80 levels'],
])('%s is %s', (text, type, problem) => {
  const reading = readLenientJson(text, 0);
  expect(reading).toMatchObject({ type, problem });
  if (reading.type === 'broken') expect(reading.end).toBe(text.endsWith('{}') ? text.length - 3 : undefined);
});

test('no more is read than the budget allows', () => {
  const budget = { left: 100 };
  expect(readLenientJson(`[${'1, '.repeat(1_000)}1]`, 0, budget)).toMatchObject({
    type: 'other',
    problem: 'it takes too long to read',
  });
  expect(budget.left).toBeGreaterThan(-10);
});
