import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatAmount, readAmount, readWhole, wholeAmount } from './amount.ts';

test.each([
  [0, '0'],
  [-0, '0'],
  [1, '1'],
  [0.1, '0.1'],
  [12.5, '12.5'],
  ['12.50', '12.5'],
  ['0.000000001', '0.000000001'],
  [1e-9, '0.000000001'],
  [5e-7, '0.0000005'],
  [999_999_999_999_999, '999999999999999'],
  ['999999999999999.999999999', '999999999999999.999999999'],
  // More digits are rounded up, so that no cost is underestimated.
  ['0.0000000001', '0.000000001'],
  ['1.9999999999', '2'],
  [0.1 + 0.2, '0.300000001'],
  [1e-30, '0.000000001'],
])('%j is %s', (value, text) => {
  expect(formatAmount(readAmount(value) ?? -1n)).toBe(text);
});

test.each([
  ...[-1, -1e-9, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e15, 1e21, 1e300],
  ...[
    '',
    ' ',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1,5',
    '1_000',
    '01',
    '00',
    '.5',
    '5.',
    ' 5',
    '5\n',
    '５',
    '٥',
    'NaN',
    'Infinity',
    '1.2.3',
  ],
  ...[`${'9'.repeat(16)}`, `1.${'0'.repeat(31)}`, null, undefined, true, 5n, {}, [], [5], new Date(5), Symbol('5')],
])('is not an amount: %s', (value) => {
  expect(readAmount(value)).toBeUndefined();
});

test.each([0, 1, 2 ** 53 - 1])('%d is a whole amount', (value) => {
  expect(readWhole(value)).toBe(value < 1e15 ? wholeAmount(value) : undefined);
});

test.each([0.5, -1, '5', 2 ** 53, Number.NaN])('%s is not a whole amount', (value) => {
  expect(readWhole(value)).toBeUndefined();
});

const decimal = fc
  .tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 99 }))
  .map(([whole, cents]) => ({
    cents: BigInt(whole) * 100n + BigInt(cents),
    text: `${whole}.${String(cents).padStart(2, '0')}`,
  }));

test('sums of texts and numbers do not drift, and formatted amounts read back', () => {
  fc.assert(
    fc.property(fc.array(decimal, { maxLength: 50 }), fc.boolean(), (amounts, asNumbers) => {
      const sum = amounts.reduce((total, { text }) => total + (readAmount(asNumbers ? Number(text) : text) ?? -1n), 0n);
      expect(sum).toBe(amounts.reduce((total, { cents }) => total + cents, 0n) * 10_000_000n);
      expect(readAmount(formatAmount(sum))).toBe(sum);
    }),
  );
});

test('any value is rejected, or read as an amount of at least 0 and at least the value', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.double(), fc.string()), (value) => {
      const amount = readAmount(value);
      if (amount === undefined) return;
      expect(amount).toBeGreaterThanOrEqual(0n);
      expect(Number(formatAmount(amount))).toBeGreaterThanOrEqual(Number(value) * (1 - 1e-15));
    }),
    { numRuns: 170 },
  );
});
