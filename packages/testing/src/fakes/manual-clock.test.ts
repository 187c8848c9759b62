import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from './manual-clock.ts';

test('time stands still until it is advanced', () => {
  const clock = manualClock(1_000);
  const fired: number[] = [];
  clock.after(50, () => fired.push(clock.now()));
  expect(clock.now()).toBe(1_000);
  clock.advance(49);
  expect({ now: clock.now(), fired, pending: clock.pending }).toEqual({ now: 1_049, fired: [], pending: 1 });
  clock.advance(1);
  expect({ now: clock.now(), fired, pending: clock.pending }).toEqual({ now: 1_050, fired: [1_050], pending: 0 });
});

test('a cancelled timer never fires', () => {
  const clock = manualClock();
  const cancel = clock.after(1, () => expect.unreachable());
  cancel();
  cancel();
  expect(clock.pending).toBe(0);
  clock.advance(10);
});

test('timers set by a timer fire within the same advance', () => {
  const clock = manualClock();
  const fired: number[] = [];
  const tick = (): void => {
    fired.push(clock.now());
    clock.after(10, tick);
  };
  clock.after(10, tick);
  clock.advance(35);
  expect(fired).toEqual([10, 20, 30]);
  expect(clock.now()).toBe(35);
});

test('a delay below 0 is due at once, but only when time is advanced', () => {
  const clock = manualClock(5);
  let fired = false;
  clock.after(-3, () => {
    fired = true;
  });
  expect(fired).toBe(false);
  clock.advance(0);
  expect(fired).toBe(true);
});

test('an error of a timer is thrown, and the other timers stay', () => {
  const clock = manualClock();
  clock.after(1, () => {
    throw new Error('broken timer');
  });
  clock.after(2, () => undefined);
  expect(() => clock.advance(5)).toThrow('broken timer');
  expect({ now: clock.now(), pending: clock.pending }).toEqual({ now: 1, pending: 1 });
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('advance(%s) is options.invalid', (ms) => {
  expect(() => manualClock().advance(ms)).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});

test('timers fire by time, then in the order set', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.array(fc.nat(10), { minLength: 1, maxLength: 5 }), (delays, steps) => {
      const clock = manualClock();
      const fired: string[] = [];
      for (const [index, delay] of delays.entries()) clock.after(delay, () => fired.push(`${clock.now()}#${index}`));
      for (const step of steps) clock.advance(step);
      const total = steps.reduce((sum, step) => sum + step, 0);
      const expected = [...delays.entries()]
        .filter(([, delay]) => delay <= total)
        .sort(([, left], [, right]) => left - right)
        .map(([index, delay]) => `${delay}#${index}`);
      expect(fired).toEqual(expected);
      expect(clock.pending).toBe(delays.length - expected.length);
    }),
  );
});
