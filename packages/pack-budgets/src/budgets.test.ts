import type { JsonObject } from '@holdfast/core';
import { packPolicies } from '@holdfast/policy';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { formatAmount } from './amount.ts';
import { budgets } from './budgets.ts';
import { sizeOf, valueAt } from './measure.ts';

test("has the package's version, and printable presets", () => {
  expect(budgets.version).toBe(manifest.version);
  expect(JSON.parse(JSON.stringify(budgets.presets))).toMatchObject({
    recommended: { config: { maxCalls: 1000, maxBytes: 20_000_000 } },
    strict: { config: { maxCalls: 100, maxBytes: 1_000_000 } },
    observe: { observe: true },
  });
});

test('has a policy per limit, and requires only tools named in the options', () => {
  const made = (config: JsonObject) => packPolicies(budgets, { config }).map(({ id, mentions }) => [id, mentions]);
  expect(made({})).toEqual([
    ['budgets-calls', []],
    ['budgets-bytes', []],
  ]);
  expect(
    made({
      maxMoney: 5,
      money: { pay: { amount: 1 } },
      maxTokens: 5,
      tokens: { ask: { argument: 'max' } },
      bytes: { log: { argument: 'line' } },
    }),
  ).toEqual([
    ['budgets-calls', []],
    ['budgets-bytes', ['log']],
    ['budgets-tokens', ['ask']],
    ['budgets-money', ['pay']],
  ]);
});

test.each<JsonObject>([
  { maxCalls: -1 },
  { maxCalls: 1.5 },
  { maxCalls: '5' },
  { maxCall: 5 },
  { maxMoney: -1, money: {} },
  { maxMoney: '1e3', money: {} },
  { maxMoney: 5 },
  { money: { pay: { amount: 1 } } },
  { maxTokens: 5 },
  { tokens: { ask: { amount: 1 } } },
  { maxTokens: 5, tokens: { ask: { amount: '1' } } },
  { maxMoney: 5, money: { pay: {} } },
  { maxMoney: 5, money: { pay: { result: 'paid' } } },
  { maxMoney: 5, money: { pay: { amount: -1 } } },
  { maxMoney: 5, money: { pay: { amount: 1, currency: 'EUR' } } },
  { maxMoney: 5, money: { pay: { argument: '' } } },
  { maxMoney: 5, money: { pay: { argument: 'a..b' } } },
  { maxMoney: 5, money: { 'No Tool': { amount: 1 } } },
  { maxMoney: 5, money: {} },
  { maxMoney: 5, money: { constructor: { amount: 1 } } },
  { maxTokens: 5, tokens: {} },
  { bytes: { log: {} } },
])('pack.invalid: config: %j', (config) => {
  expect(() => packPolicies(budgets, { config })).toThrow(
    expect.objectContaining({ code: 'pack.invalid', reason: 'config' }),
  );
});

test.each([
  [{ a: { b: 1 } }, 'a.b', 1],
  [{ a: [1, { b: 2 }] }, 'a.1.b', 2],
  [{ a: 1 }, 'a.b', undefined],
  [{ a: null }, 'a.b', undefined],
  [{ a: 'text' }, 'a.length', undefined],
  [{}, 'constructor', undefined],
  [{}, '__proto__.x', undefined],
  [[], 'length', 0],
  [7, 'a', undefined],
  [null, 'a', undefined],
])('%j has at %s the value %j', (json, path, found) => {
  expect(valueAt(json as never, path)).toEqual(found);
});

test.each([
  [undefined, 0],
  ['', 0],
  ['abc', 3],
  ['ä€😀', 2 + 3 + 4],
  ['\ud83d', 3],
  [12, 2],
  [['a'], 5],
])('%j has %d bytes', (json, bytes) => {
  expect(formatAmount(sizeOf(json))).toBe(String(bytes));
});
