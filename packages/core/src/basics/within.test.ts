import { expect, test } from 'vitest';
import { within } from './within.ts';

function waiting() {
  const running = new Set<(why?: string) => void>();
  const add = (listener: (why?: string) => void): (() => void) => {
    running.add(listener);
    return () => void running.delete(listener);
  };
  const clock = { now: () => 0, after: (_ms: number, run: () => void) => add(run) };
  const until = { onEnd: (listener: (why: string) => void) => add((why = '') => listener(why)) };
  const end = { until, limit: { clock, ms: 10 }, over: (why: string) => `over: ${why}` };
  return { running: () => [...running], end };
}

const never = new Promise<string>(() => undefined);

test('returns the result of the work, and leaves no timer and no listener', async () => {
  const { running, end } = waiting();
  expect(await within(Promise.resolve('done'), end)).toBe('done');
  expect(running()).toEqual([]);
});

test('rejects as the work does, and leaves no timer and no listener', async () => {
  const { running, end } = waiting();
  await expect(within(Promise.reject(new Error('broken')), end)).rejects.toThrow('broken');
  expect(running()).toEqual([]);
});

test('ends when the time is over', async () => {
  const { running, end } = waiting();
  const result = within(never, end);
  running()[0]?.();
  expect(await result).toBe('over: time');
});

test('ends with the lifetime, without a timer if there is no limit', async () => {
  const { running, end } = waiting();
  const result = within(never, { ...end, limit: undefined });
  expect(running()).toHaveLength(1);
  running()[0]?.('aborted');
  expect(await result).toBe('over: aborted');
});
