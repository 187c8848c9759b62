import type { Clock } from '@holdfast/core';
import { PositionHeap } from './position-heap.ts';
import type { RateLimits } from './rates.ts';

interface Waiting {
  readonly positions: PositionHeap;
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
      waiting = { positions: new PositionHeap(), stopTimer: undefined };
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
