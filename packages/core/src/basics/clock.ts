/** Where time comes from. Tests pass their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `run` after `delayMs`; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

// 2^31 - 1 ms is the longest delay that timers honour; a longer one would fire at once.
const maxDelayMs = 2_147_483_647;

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, maxDelayMs));
    return () => clearTimeout(timer);
  },
};

/** The end of a time limit. */
export interface Deadline {
  /** Milliseconds since 1970; `Infinity` without a limit. */
  readonly atMs: number;
  /** Milliseconds left, never below 0. */
  remainingMs(): number;
}
