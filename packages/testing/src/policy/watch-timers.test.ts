import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countLeftTimers } from './watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = (): never => {
  throw new Error('must be cancelled');
};

test.each([
  { title: 'nothing', left: 0, run: async () => undefined },
  {
    title: 'one that fires',
    left: 0,
    run: async () => {
      setTimeout(() => undefined, 5);
      vi.advanceTimersByTime(5);
    },
  },
  { title: 'one that is cancelled', left: 0, run: async () => clearTimeout(setTimeout(never, 5)) },
  { title: 'an interval that is cancelled', left: 0, run: async () => clearInterval(setInterval(never, 5)) },
  { title: 'one cancelled as the other kind', left: 0, run: async () => clearTimeout(setInterval(never, 5)) },
  { title: 'one that is left', left: 1, run: async () => void setTimeout(never, 5) },
  { title: 'an interval', left: 1, run: async () => void setInterval(never, 5) },
  {
    title: 'two, of three',
    left: 2,
    run: async () => {
      const [, second] = [1, 2, 3].map(() => setTimeout(never, 5));
      clearTimeout(second);
    },
  },
])('$title: $left left, and none fires later', async ({ left, run }) => {
  expect(await countLeftTimers(run)).toBe(left);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1_000);
});

test('an interval continues while watched; callbacks get their arguments', async () => {
  const got: unknown[] = [];
  await countLeftTimers(async () => {
    setInterval((value: string) => void got.push(value), 10, 'tick');
    setTimeout((...values: readonly number[]) => void got.push(values), 15, 1, 2);
    vi.advanceTimersByTime(25);
  });
  expect(got).toEqual(['tick', [1, 2], 'tick']);
});

test('after a failure the timers are stopped, and the functions restored', async () => {
  const { setTimeout: before, clearInterval: clearBefore } = globalThis;
  const failing = countLeftTimers(async () => {
    setTimeout(never, 5);
    throw new Error('broke');
  });
  await expect(failing).rejects.toThrow('broke');
  expect(vi.getTimerCount()).toBe(0);
  expect([globalThis.setTimeout === before, globalThis.clearInterval === clearBefore]).toEqual([true, true]);
});

test('concurrent watches run in sequence', async () => {
  const { setTimeout: before } = globalThis;
  const counts = [1, 2].map((count) =>
    countLeftTimers(async () => {
      for (let timer = 0; timer < count; timer += 1) setTimeout(never, 5);
      await Promise.resolve();
    }),
  );
  expect(await Promise.all(counts)).toEqual([1, 2]);
  expect(globalThis.setTimeout === before).toBe(true);
});

test('earlier timers are not counted, and can be cancelled meanwhile', async () => {
  const early = setTimeout(never, 5);
  expect(await countLeftTimers(async () => clearTimeout(early))).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});
