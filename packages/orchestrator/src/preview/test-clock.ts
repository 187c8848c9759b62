import type { Clock } from '@holdfast/core';

/** A clock that advances only on request. */
export interface TestClock extends Clock {
  advance(byMs: number): void;
  /** The number of pending timers. */
  readonly timers: number;
}

export function testClock(): TestClock {
  let nowMs = 1_000_000;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  return {
    now: () => nowMs,
    after(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(byMs) {
      nowMs += byMs;
      for (const timer of [...timers].toSorted((left, right) => left.atMs - right.atMs)) {
        if (timer.atMs <= nowMs && timers.delete(timer)) timer.run();
      }
    },
    get timers() {
      return timers.size;
    },
  };
}
