import { isHoldfastError } from '@holdfast/core';

export interface TurnOptions {
  /** When a turn at the log has to begin, by `now`. */
  readonly untilMs: number;
  pause(ms: number): Promise<void>;
  /** Default `Date.now`. */
  readonly now?: () => number;
}

/** Tries `take` again while another writer has the log. */
export async function inTurn<T>(take: () => Promise<T>, { untilMs, pause, now = Date.now }: TurnOptions): Promise<T> {
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 1.5, 50)) {
    try {
      return await take();
    } catch (thrown) {
      const locked = isHoldfastError(thrown) && thrown.code === 'log.locked';
      if (!locked || now() + waitMs >= untilMs) throw thrown;
      await pause(waitMs);
    }
  }
}
