import { type Clock, HoldfastError, isPlainObject } from '@holdfast/core';
import { PositionQueue } from '../plan/positions.ts';

/** How often a tool may be started: at most `calls` times within any `perMs` milliseconds, wherever they begin. */
export interface RateLimit {
  /** Integer, at least 1. */
  readonly calls: number;
  /** Milliseconds, above 0. A start and another one just so much later are not within them. */
  readonly perMs: number;
}

/** What has been started, as far as it counts. Whoever asks and then takes, at one instant, keeps the limits. */
export interface RateLimits {
  /** How long the tool may not be started, in milliseconds; 0 where it may be now. */
  delayMs(tool: string): number;
  /** The tool is started now. */
  take(tool: string): void;
}

/**
 * Keeps account of the tools that `limits` names; all others may be started at any time. An attempt that a call makes again is no start.
 *
 * @throws HoldfastError `options.invalid` for a limit that is none.
 */
export function createRateLimits(limits: Readonly<Record<string, RateLimit>>, clock: Clock): RateLimits {
  if (!isPlainObject(limits)) throw invalid('`rateLimits` must be an object with a limit for each tool.');
  const windows = new Map<string, Window>();
  for (const [tool, limit] of Object.entries(limits)) windows.set(tool, new Window(checkLimit(tool, limit)));
  return {
    delayMs: (tool) => windows.get(tool)?.delayMs(clock.now()) ?? 0,
    take: (tool) => windows.get(tool)?.take(clock.now()),
  };
}

/** The last starts of one tool, no more of them than may fall within its time. */
class Window {
  readonly #limit: RateLimit;
  /** A ring: the oldest one stands where the next one is put. */
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

  /** A clock that is set back must not stop the tool until it has caught up. */
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

/** Nodes that wait for the rate of their tool. They hold nothing meanwhile, so that nobody waits for them. */
export class RateQueue {
  readonly #limits: readonly RateLimits[];
  readonly #clock: Clock;
  readonly #wake: (position: number) => void;
  readonly #byTool = new Map<string, Waiting>();
  #size = 0;

  /** `wake`: this node may ask again. */
  constructor(limits: readonly RateLimits[], clock: Clock, wake: (position: number) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#wake = wake;
  }

  get size(): number {
    return this.#size;
  }

  /** How long a call of the tool has to wait. */
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

  /** One that was woken has gone, or waits for something else: it is the next one's turn to ask. */
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
