import { type Clock, HoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { PositionQueue } from '../plan/positions.ts';

/** Limits a tool to `calls` starts within any period of `perMs` milliseconds. */
export interface RateLimit {
  /** Integer, at least 1. */
  readonly calls: number;
  /** Milliseconds, above 0. Two starts exactly this far apart do not share a period. */
  readonly perMs: number;
}

/** Tracks recent starts. Calling `delayMs` and then `take` in the same tick keeps the limits. */
export interface RateLimits {
  /** Milliseconds until the tool may be started; 0 if it may start now. */
  delayMs(tool: string): number;
  /** Records a start now. */
  take(tool: string): void;
}

/**
 * Tracks the tools named in `limits`; other tools are not limited. A retry of a call does not count as a start.
 *
 * @throws HoldfastError `options.invalid` for an invalid limit.
 */
export function createRateLimits(limits: Readonly<Record<string, RateLimit>>, clock: Clock): RateLimits {
  if (!isPlainObject(limits)) throw invalid('`rateLimits` must be an object with a limit per tool.');
  const windows = new Map<string, Window>();
  for (const [tool, limit] of Object.entries(limits)) windows.set(tool, new Window(checkLimit(tool, limit)));
  return {
    delayMs: (tool) => windows.get(tool)?.delayMs(clock.now()) ?? 0,
    take: (tool) => windows.get(tool)?.take(clock.now()),
  };
}

/** The recent starts of one tool, at most as many as the limit allows. */
class Window {
  readonly #limit: RateLimit;
  /** A ring buffer: the next start overwrites the oldest. */
  #startsMs: number[] = [];
  #next = 0;
  #newestMs = Number.NEGATIVE_INFINITY;

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  delayMs(nowMs: number): number {
    this.#follow(nowMs);
    const { calls, perMs } = this.#limit;
    const oldestMs = this.#startsMs.length < calls ? undefined : this.#startsMs[this.#next];
    return oldestMs === undefined ? 0 : Math.max(0, oldestMs + perMs - nowMs);
  }

  take(nowMs: number): void {
    this.#follow(nowMs);
    this.#startsMs[this.#next] = nowMs;
    this.#next = (this.#next + 1) % this.#limit.calls;
    this.#newestMs = nowMs;
  }

  /** Adapts to a clock that was set back, so that the tool is not blocked until the clock catches up. */
  #follow(nowMs: number): void {
    if (nowMs >= this.#newestMs) return;
    const backMs = this.#newestMs - nowMs;
    this.#startsMs = this.#startsMs.map((startMs) => startMs - backMs);
    this.#newestMs = nowMs;
  }
}

function checkLimit(tool: string, limit: unknown): RateLimit {
  if (!isPlainObject(limit)) throw invalid(`The rate limit of \`${tool}\` must be \`{ calls, perMs }\`.`);
  const { calls, perMs } = limit;
  if (typeof calls !== 'number' || !Number.isSafeInteger(calls) || calls < 1) {
    throw invalid(`\`calls\` of the rate limit of \`${tool}\` must be a positive integer, got ${String(calls)}.`);
  }
  if (typeof perMs !== 'number' || !(perMs > 0 && Number.isFinite(perMs))) {
    throw invalid(
      `\`perMs\` of the rate limit of \`${tool}\` must be a positive number of milliseconds, got ${String(perMs)}.`,
    );
  }
  return { calls, perMs };
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('options.invalid', message);
}

interface Waiting {
  readonly positions: PositionQueue;
  stopTimer: (() => void) | undefined;
}

/** Nodes that wait for the rate limit of their tool. They hold no locks meanwhile. */
export class RateQueue {
  readonly #limits: readonly RateLimits[];
  readonly #clock: Clock;
  readonly #wake: (position: number) => void;
  readonly #byTool = new Map<string, Waiting>();
  #size = 0;

  /** `wake`: this node may try again. */
  constructor(limits: readonly RateLimits[], clock: Clock, wake: (position: number) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#wake = wake;
  }

  get size(): number {
    return this.#size;
  }

  /** Milliseconds that a call of the tool must wait. */
  delayMs(tool: string): number {
    let delayMs = 0;
    for (const limits of this.#limits) delayMs = Math.max(delayMs, limits.delayMs(tool));
    return delayMs;
  }

  take(tool: string): void {
    for (const limits of this.#limits) limits.take(tool);
  }

  add(position: number, tool: string, delayMs: number): void {
    let waiting = this.#byTool.get(tool);
    if (waiting === undefined) {
      waiting = { positions: new PositionQueue(), stopTimer: undefined };
      this.#byTool.set(tool, waiting);
    }
    waiting.positions.push(position);
    this.#size += 1;
    this.#setTimer(waiting, delayMs);
  }

  /** A woken node is done or waits for something else; wakes the next one. */
  wakeNext(tool: string): void {
    const waiting = this.#byTool.get(tool);
    if (waiting === undefined || waiting.positions.size === 0) return;
    this.#setTimer(waiting, this.delayMs(tool));
  }

  clear(): void {
    for (const { stopTimer } of this.#byTool.values()) stopTimer?.();
    this.#byTool.clear();
    this.#size = 0;
  }

  #setTimer(waiting: Waiting, delayMs: number): void {
    if (delayMs === 0) this.#wakeFirst(waiting);
    else
      waiting.stopTimer ??= this.#clock.after(delayMs, () => {
        waiting.stopTimer = undefined;
        this.#wakeFirst(waiting);
      });
  }

  #wakeFirst({ positions }: Waiting): void {
    const position = positions.pop();
    if (position === undefined) return;
    this.#size -= 1;
    this.#wake(position);
  }
}
