import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testClock } from '../preview/test-clock.ts';
import { createRateLimits, type RateLimit } from './rates.ts';

test('a tool starts up to its limit, then again when the first start is old enough', () => {
  const clock = testClock();
  const rates = createRateLimits({ search: { calls: 2, perMs: 1_000 } }, clock);
  rates.take('search');
  clock.advance(400);
  expect(rates.delayMs('search')).toBe(0);
  rates.take('search');
  expect(rates.delayMs('search')).toBe(600);
  clock.advance(599);
  expect(rates.delayMs('search')).toBe(1);
  clock.advance(1);
  expect(rates.delayMs('search')).toBe(0);
  rates.take('search');
  expect(rates.delayMs('search')).toBe(400);
  clock.advance(10_000);
  expect(rates.delayMs('search')).toBe(0);
});

test('asking does not count as a start, and only the limited tool waits', () => {
  const clock = testClock();
  const rates = createRateLimits({ search: { calls: 1, perMs: 1_000 }, send: { calls: 1, perMs: 10 } }, clock);
  for (let asked = 0; asked < 5; asked += 1) expect(rates.delayMs('search')).toBe(0);
  rates.take('search');
  rates.take('other');
  expect(['search', 'send', 'other', 'constructor', '__proto__'].map((tool) => rates.delayMs(tool))).toEqual([
    1_000, 0, 0, 0, 0,
  ]);
});

test('setting the clock back never makes a tool wait longer than its period', () => {
  let nowMs = 1_000_000;
  const rates = createRateLimits(
    { search: { calls: 2, perMs: 1_000 } },
    { now: () => nowMs, after: () => () => undefined },
  );
  rates.take('search');
  nowMs += 300;
  rates.take('search');
  nowMs -= 900_000;
  expect(rates.delayMs('search')).toBe(700);
  nowMs += 700;
  expect(rates.delayMs('search')).toBe(0);
});

test.each<{ limit: unknown }>([
  { limit: { calls: 0, perMs: 1_000 } },
  { limit: { calls: 1.5, perMs: 1_000 } },
  { limit: { calls: '2', perMs: 1_000 } },
  { limit: { calls: Number.NaN, perMs: 1_000 } },
  { limit: { perMs: 1_000 } },
  { limit: { calls: 1, perMs: 0 } },
  { limit: { calls: 1, perMs: -5 } },
  { limit: { calls: 1, perMs: Number.POSITIVE_INFINITY } },
  { limit: { calls: 1 } },
  { limit: 5 },
  { limit: null },
])('an invalid limit: $limit', ({ limit }) => {
  expect(() => createRateLimits({ search: limit as RateLimit }, testClock())).toThrow(
    expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining('`search`') }),
  );
  expect(() => createRateLimits([limit] as never, testClock())).toThrow(
    expect.objectContaining({ code: 'options.invalid' }),
  );
});

test('never more starts than allowed per period, and never later than needed', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 40, size: 'max' }),
      (calls, perMs, gaps) => {
        const clock = testClock();
        const rates = createRateLimits({ search: { calls, perMs } }, clock);
        const starts: number[] = [];
        for (const gap of gaps) {
          clock.advance(gap);
          const delayMs = rates.delayMs('search');
          // Exactly until the window has room, not a millisecond more.
          const blocking = starts.filter((start) => start > clock.now() + delayMs - 1 - perMs);
          if (delayMs > 0) expect(blocking.length).toBeGreaterThanOrEqual(calls);
          clock.advance(delayMs);
          expect(rates.delayMs('search')).toBe(0);
          rates.take('search');
          starts.push(clock.now());
        }
        for (const start of starts) {
          const within = starts.filter((other) => other >= start && other < start + perMs);
          expect(within.length).toBeLessThanOrEqual(calls);
        }
      },
    ),
  );
});
