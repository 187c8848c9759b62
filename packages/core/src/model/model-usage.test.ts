import { expect, test } from 'vitest';
import { toModelUsage } from './model-usage.ts';

test.each<[usage: unknown, expected: unknown]>([
  [
    { inputTokens: 3, outputTokens: 0, more: 1 },
    { inputTokens: 3, outputTokens: 0 },
  ],
  [{ inputTokens: 3 }, { inputTokens: 3, outputTokens: 0 }],
  [
    { inputTokens: -1, outputTokens: 4 },
    { inputTokens: 0, outputTokens: 4 },
  ],
  [
    { inputTokens: 1.5, outputTokens: 4 },
    { inputTokens: 0, outputTokens: 4 },
  ],
  [{ inputTokens: '3', outputTokens: 2 ** 53 }, undefined],
  [{ inputTokens: Number.NaN, outputTokens: 1n }, undefined],
  [{}, undefined],
  [null, undefined],
  [undefined, undefined],
  ['many', undefined],
])('tokens of %o are %o', (usage, expected) => {
  const tokens = toModelUsage(usage);
  expect(tokens).toEqual(expected);
  expect(tokens === undefined || Object.isFrozen(tokens)).toBe(true);
});
