import { type Clock, HoldfastError } from '@holdfast/core';

/** A clock that moves only when advanced. */
export interface ManualClock extends Clock {
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: number;
  /**
   * Advances the time by `ms` and fires all due timers, earliest first, and in the order set if due at the same time. A timer sees its own due
   * time as `now()`; timers that it sets fire, too, if due.
   *
   * @throws HoldfastError `options.invalid` if `ms` is negative or not finite; and errors of timers.
   */
  advance(ms: number): void;
}

/** Starts at `startMs`, milliseconds since 1970, default 0. */
export function manualClock(startMs = 0): ManualClock {
  let nowMs = startMs;
  // In the order set.
  const timers = new Set<{ readonly dueMs: number; readonly run: () => void }>();

  function takeNextDue(untilMs: number): { readonly dueMs: number; readonly run: () => void } | undefined {
    let next: { readonly dueMs: number; readonly run: () => void } | undefined;
    for (const timer of timers) {
      if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
    }
    if (next !== undefined) timers.delete(next);
    return next;
  }

  return {
    now: () => nowMs,
    after(delayMs, run) {
      const timer = { dueMs: nowMs + Math.max(0, delayMs), run };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    get pending() {
      return timers.size;
    },
    advance(ms) {
      if (!(ms >= 0 && Number.isFinite(ms))) {
        throw new HoldfastError('options.invalid', `\`ms\` must be a number of milliseconds of at least 0, got ${ms}.`);
      }
      const untilMs = nowMs + ms;
      for (let timer = takeNextDue(untilMs); timer !== undefined; timer = takeNextDue(untilMs)) {
        nowMs = timer.dueMs;
        timer.run();
      }
      nowMs = untilMs;
    },
  };
}
