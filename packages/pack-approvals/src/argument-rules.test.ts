import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ArgumentCondition, describeHeld } from './argument-rules.ts';

type Operator = Omit<ArgumentCondition, 'argument'>;

test.each<{ input: unknown; operator: Operator; holds: boolean; argument?: string }>([
  { input: { a: 101 }, operator: { above: 100 }, holds: true },
  { input: { a: 100 }, operator: { above: 100 }, holds: false },
  { input: { a: '99' }, operator: { above: 100 }, holds: true },
  { input: { a: Number.NaN }, operator: { above: 100 }, holds: true },
  { input: { a: null }, operator: { above: 100 }, holds: true },
  { input: {}, operator: { above: 100 }, holds: true },
  { input: { a: [1, 101] }, operator: { above: 100 }, holds: true },
  { input: { a: [1, 2] }, operator: { above: 100 }, holds: false },
  { input: { a: [] }, operator: { above: 100 }, holds: true },
  { input: { a: 2 }, operator: { below: 3 }, holds: true },
  { input: { a: 3 }, operator: { below: 3 }, holds: false },
  { input: { a: 'prod' }, operator: { equals: 'prod' }, holds: true },
  { input: { a: 'prod-1' }, operator: { equals: 'prod' }, holds: false },
  { input: { a: ' PROD\u200b' }, operator: { equals: 'Prod' }, holds: true },
  { input: { a: '\uff50rod' }, operator: { equals: 'prod' }, holds: true },
  { input: { a: [['prod']] }, operator: { equals: 'prod' }, holds: true },
  { input: { a: { name: 'prod' } }, operator: { equals: 'prod' }, holds: true },
  { input: { a: 5 }, operator: { equals: '5' }, holds: true },
  { input: { a: '5' }, operator: { equals: 5 }, holds: true },
  { input: { a: true }, operator: { equals: true }, holds: true },
  { input: { a: false }, operator: { equals: true }, holds: false },
  { input: { a: null }, operator: { equals: null }, holds: true },
  { input: {}, operator: { equals: null }, holds: false },
  { input: {}, operator: { equals: 'prod' }, holds: false },
  { input: { a: './infra/../infra//main' }, operator: { equals: 'infra/main' }, holds: true },
  { input: { a: 'b' }, operator: { in: ['a', 'b'] }, holds: true },
  { input: { a: 'c' }, operator: { in: ['a', 'b'] }, holds: false },
  { input: { a: '/infra/./main' }, operator: { matches: 'infra/*' }, holds: true },
  { input: { a: 'infra' }, operator: { matches: 'infra/*' }, holds: false },
  { input: { a: 'x'.repeat(100_001) }, operator: { matches: 'y' }, holds: true },
  { input: { a: new Date(0) }, operator: { matches: 'y' }, holds: true },
  { input: {}, operator: { missing: true }, holds: true },
  { input: { a: null }, operator: { missing: true }, holds: true },
  { input: { a: '' }, operator: { missing: true }, holds: false },
  { input: null, operator: { missing: true }, holds: true },
  { input: { a: { b: 5 } }, operator: { above: 4 }, holds: true, argument: 'a.b' },
  { input: { a: [{ b: 1 }, { b: 5 }] }, operator: { above: 4 }, holds: true, argument: 'a.b' },
  { input: { a: { b: 5 } }, operator: { missing: true }, holds: true, argument: 'a.constructor' },
  { input: { a: [{ b: 1 }, {}] }, operator: { missing: true }, holds: true, argument: 'a.b' },
  { input: { a: [{ b: 1 }, { b: 2 }] }, operator: { missing: true }, holds: false, argument: 'a.b' },
  { input: { 'a.b': 'prod' }, operator: { equals: 'prod' }, holds: true, argument: 'a.b' },
  { input: { a: { c: 1 }, 'a.b': 'prod' }, operator: { equals: 'prod' }, holds: true, argument: 'a.b' },
  { input: { a: { 'b.c': [{ d: 9 }] } }, operator: { above: 5 }, holds: true, argument: 'a.b.c.d' },
  { input: { a: ['x', 'prod'] }, operator: { equals: 'prod' }, holds: true, argument: 'a.1' },
  { input: { a: ['prod', 'x'] }, operator: { equals: 'prod' }, holds: false, argument: 'a.1' },
  { input: { a: ['x'] }, operator: { missing: true }, holds: true, argument: 'a.1' },
  { input: { a: '05.0' }, operator: { equals: 5 }, holds: true },
  { input: { a: '\uff15' }, operator: { in: [4, 5] }, holds: true },
  { input: { a: '' }, operator: { equals: 0 }, holds: false },
  { input: { a: '5x' }, operator: { equals: 5 }, holds: false },
  { input: { a: 'infra\\main' }, operator: { matches: 'infra/*' }, holds: true },
  { input: { a: 'C:\\x' }, operator: { equals: 'c:\\x' }, holds: true },
])('$operator of $input holds: $holds', ({ input, operator, holds, argument = 'a' }) => {
  expect(describeHeld({ argument, ...operator }, input) !== undefined).toBe(holds);
});

test.each<{ operator: Operator; says: string }>([
  { operator: { above: 1 }, says: '`a` is above 1' },
  { operator: { below: 9 }, says: '`a` is below 9' },
  { operator: { above: 9 }, says: '' },
  { operator: { equals: 5 }, says: '`a` is `5`' },
  { operator: { matches: '5*' }, says: '`a` matches `5*`' },
])('$operator says `$says`', ({ operator, says }) => {
  expect(describeHeld({ argument: 'a', ...operator }, { a: 5 }) ?? '').toBe(says);
});

test('a long path is resolved in linear time', () => {
  let input: unknown = 1;
  for (let level = 0; level < 30; level += 1)
    input = { a: [input, 1, { a: 1, 'a.a': [1] }], 'a.a': [{ a: 1 }], 'a.a.a': 1 };
  expect(describeHeld({ argument: 'a.'.repeat(99).concat('a'), above: 5 }, input)).toContain('is not a number');
  // A backtracking search would not end.
});

test('it returns for any arguments, and the order of keys does not matter', () => {
  const operators: readonly Operator[] = [
    { above: 1 },
    { equals: 'a' },
    { in: [1, null] },
    { matches: '*a?' },
    { missing: true },
  ];
  fc.assert(
    fc.property(fc.anything(), fc.jsonValue(), fc.constantFrom(...operators), (odd, json, operator) => {
      for (const input of [odd, json, { a: odd }, { a: json }]) {
        const held = describeHeld({ argument: 'a', ...operator }, input);
        expect(held === undefined || held.length < 200).toBe(true);
      }
    }),
  );
});
