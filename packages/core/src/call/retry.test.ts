import { expect, test } from 'vitest';
import { defineTool, isHoldfastError, type Repeat } from '../index.ts';
import { describeCode, findRetryProblem, retryDelayMs } from '../internal.ts';
import type { ToolRetry } from './retry.ts';

test.each<{ readonly retry: unknown; readonly repeat?: Repeat; readonly code?: string; readonly says?: string }>([
  { retry: { attempts: 2 } },
  { retry: { attempts: 10, delayMs: 60_000 } },
  { retry: { attempts: 3, delayMs: 0 }, repeat: 'keyed' },
  { retry: Object.assign(Object.create(null), { attempts: 2 }) },
  { retry: { attempts: 3 }, repeat: 'never', code: 'tool.invalid: retry.not_repeatable', says: "`repeat: 'safe'`" },
  { retry: { attempts: 1 }, code: 'tool.invalid: retry.invalid', says: 'from 2 to 10' },
  { retry: { attempts: 11 }, code: 'tool.invalid: retry.invalid' },
  { retry: { attempts: 2.5 }, code: 'tool.invalid: retry.invalid' },
  { retry: { attempts: '3' }, code: 'tool.invalid: retry.invalid' },
  { retry: { attempts: Number.POSITIVE_INFINITY }, code: 'tool.invalid: retry.invalid' },
  { retry: {}, code: 'tool.invalid: retry.invalid' },
  { retry: { attempts: 3, delayMs: -1 }, code: 'tool.invalid: retry.invalid', says: 'from 0 to 60000' },
  { retry: { attempts: 3, delayMs: 60_001 }, code: 'tool.invalid: retry.invalid' },
  { retry: { attempts: 3, delayMs: null }, code: 'tool.invalid: retry.invalid' },
  { retry: { attempts: 3, delayMs: Number.NaN }, code: 'tool.invalid: retry.invalid' },
  { retry: { attempts: 3, jitter: true }, code: 'tool.invalid: retry.invalid', says: 'unknown key `jitter`' },
  { retry: 3, code: 'tool.invalid: retry.invalid', says: 'an object' },
  { retry: null, code: 'tool.invalid: retry.invalid' },
  { retry: [3], code: 'tool.invalid: retry.invalid' },
])('$retry, repeat $repeat: $code', ({ retry, repeat = 'safe', code, says = '' }) => {
  const problem = findRetryProblem(retry, repeat);
  expect(problem && describeCode(problem)).toBe(code);
  // Untyped definitions, as in JavaScript.
  const definition = { name: 'flaky', description: 'Fails.', repeat, retry: retry as ToolRetry };
  let thrown: unknown;
  try {
    defineTool(definition);
  } catch (error) {
    thrown = error;
  }
  expect(isHoldfastError(thrown) ? describeCode(thrown) : thrown).toBe(code);
  if (code !== undefined) expect(thrown).toMatchObject({ message: expect.stringMatching(/^`flaky`: `retry` /) });
  expect(String(thrown)).toContain(says);
});

test('a tool has its retry with the default filled in, frozen', () => {
  const given = { attempts: 3 };
  const { retry } = defineTool({ name: 'flaky', description: 'Fails.', effects: 'none', retry: given });
  given.attempts = 99;
  expect(retry).toEqual({ attempts: 3, delayMs: 1_000 });
  expect(Object.isFrozen(retry)).toBe(true);
  expect(defineTool({ name: 'plain', description: 'Works.' }).retry).toBeUndefined();
});

test.each([
  { delayMs: 0, delays: [0, 0, 0] },
  { delayMs: 100, delays: [100, 200, 400, 800, 1_600] },
  { delayMs: 25_000, delays: [25_000, 50_000, 60_000, 60_000] },
  { delayMs: 60_000, delays: [60_000, 60_000] },
])('from $delayMs ms the delay doubles up to a minute', ({ delayMs, delays }) => {
  expect(delays.map((_, index) => retryDelayMs({ attempts: 10, delayMs }, index + 1))).toEqual(delays);
});
