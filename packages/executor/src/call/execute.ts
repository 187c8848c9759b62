import { type Budget, type Clock, HoldfastError, type Tool } from '@holdfast/core';
import type { BudgetLimits, Deadline } from '@holdfast/core/types';
import type { RunningCall } from './running-call.ts';
import type { Answer, CheckedManner, EndOfLife, Invoked, StopReason } from './types.ts';

/** Waits for a tool until its time is over, even if it never settles. */
export function waitInTime(value: PromiseLike<unknown>, call: RunningCall): Promise<Invoked> {
  const { clock, lifetime, features } = call.scope;
  const limit = call.time?.limit;
  return new Promise((resolve) => {
    let settled = false;
    let stopping = false;
    let abandoned = false;
    let stopTimer: (() => void) | undefined;
    let stopListening: (() => void) | undefined;

    const finish = (invoked: Invoked): void => {
      stopTimer?.();
      stopListening?.();
      resolve(invoked);
    };
    const stop = (by: StopReason, limitMs?: number): void => {
      if (settled || stopping) return;
      stopping = true;
      call.stop(by);
      // A tool that heeds its signal settles within a few microtasks; one that waits for nested calls, once these have.
      void afterMicrotasks(call.nestedWork?.any === true ? 400 : 20).then(() => {
        abandoned = !settled;
        finish({ type: 'stopped', by, limitMs, abandoned, hasStopped: () => settled });
      });
    };
    const settle = (answer: Answer): void => {
      settled = true;
      if (!stopping) finish(answer);
      else if (abandoned) features.recordLate(answer, call);
    };
    void waitForAnswer(value).then(settle);
    if (limit !== undefined) {
      const { by, limitMs, leftMs } = limit;
      stopTimer = clock.after(leftMs, () => stop(by, limitMs));
    }
    stopListening = lifetime.onEnd((end) => stop(end));
  });
}

/** The settled value or error of a promise. Never rejects. */
export async function waitForAnswer(value: PromiseLike<unknown>): Promise<Answer> {
  try {
    return { type: 'returned', value: await value };
  } catch (thrown) {
    return { type: 'threw', thrown };
  }
}

async function afterMicrotasks(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await Promise.resolve();
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** The limit that ends a tool's time, unless its run ends first. */
export interface TimeLimit {
  /** `attempt`: one attempt took too long; `timeout`: all of them did. */
  readonly by: 'attempt' | 'timeout';
  readonly limitMs: number;
  /** Remaining time. */
  readonly leftMs: number;
}

interface CallTimeOptions {
  readonly clock: Clock;
  /** The tool's limit for all attempts. */
  readonly timeoutMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
}

/** The time limits of a call from its tool and its manner, independent of its run. */
export class CallTime {
  readonly #options: CallTimeOptions;
  readonly #attemptAtMs: number;
  #startedAtMs: number;

  constructor(options: CallTimeOptions, startedAtMs: number = options.clock.now()) {
    this.#options = options;
    this.#attemptAtMs = options.clock.now();
    this.#startedAtMs = startedAtMs;
  }

  /** `undefined` if nothing limits it, as for most calls. */
  static of(
    { timeoutMs }: Pick<Tool, 'timeoutMs'>,
    { clock, manner }: { readonly clock: Clock; readonly manner: CheckedManner | undefined },
  ): CallTime | undefined {
    const attemptTimeoutMs = manner?.attemptTimeoutMs;
    if (timeoutMs === undefined && attemptTimeoutMs === undefined) return undefined;
    return new CallTime({ clock, timeoutMs, attemptTimeoutMs });
  }

  /** For the next attempt, starting now. */
  again(): CallTime {
    return new CallTime(this.#options, this.#startedAtMs);
  }

  /** Remaining time for all attempts. */
  get leftMs(): number {
    const { clock, timeoutMs } = this.#options;
    return timeoutMs === undefined ? Number.POSITIVE_INFINITY : this.#startedAtMs + timeoutMs - clock.now();
  }

  /** The limit that ends this attempt first. */
  get limit(): TimeLimit {
    const { clock, timeoutMs = Number.POSITIVE_INFINITY, attemptTimeoutMs: limitMs } = this.#options;
    const { leftMs } = this;
    if (limitMs !== undefined) {
      const attemptLeftMs = this.#attemptAtMs + limitMs - clock.now();
      if (attemptLeftMs < leftMs) return { by: 'attempt', limitMs, leftMs: Math.max(0, attemptLeftMs) };
    }
    return { by: 'timeout', limitMs: timeoutMs, leftMs: Math.max(0, leftMs) };
  }

  /** The end of this attempt. */
  get endsAtMs(): number {
    const { timeoutMs = Number.POSITIVE_INFINITY, attemptTimeoutMs = Number.POSITIVE_INFINITY } = this.#options;
    return Math.min(this.#startedAtMs + timeoutMs, this.#attemptAtMs + attemptTimeoutMs);
  }

  /** Adds idle time back to the tool's limits. */
  credit(idleMs: number): void {
    this.#startedAtMs += idleMs;
  }
}

/** The reason that nested calls and runs see when a call is stopped. */
export function toEndOfLife(reason: StopReason): EndOfLife {
  return reason === 'timeout' || reason === 'attempt' ? 'deadline' : reason;
}

export function toAbortReason(reason: StopReason): DOMException {
  const why = reason === 'attempt' ? 'timeout' : reason;
  return new DOMException(`The call was stopped: ${why}.`, reason === 'aborted' ? 'AbortError' : 'TimeoutError');
}

/** The time that calls may run, until an abort, the deadline or the end of the budget. One timer and one listener for all calls. */
export interface Lifetime {
  readonly deadline: Deadline;
  readonly ended: EndOfLife | undefined;
  /** True if nothing can end it. */
  readonly endless: boolean;
  /** Calls `listener` once at the end, or at once if already over. Returns a function that removes it. */
  onEnd(listener: (end: EndOfLife) => void): () => void;
  /** Releases timer and listeners. */
  dispose(): void;
}

/** The executor's side of a budget. */
export interface BudgetAccount {
  readonly limits: BudgetLimits;
  /** True if calls are limited. */
  readonly limitsCalls: boolean;
  /** Spends one call; false if none is left. */
  takeCall(): boolean;
  /** Refunds a call that another budget had no room for. */
  returnCall(): void;
  addTokens(tokens: number): void;
  /** Starts the wall time, which runs while anything that uses the budget is running. */
  begin(): void;
  end(): void;
  remainingWallMs(): number;
  /** True if more tokens were used than allowed. */
  readonly overspent: boolean;
  /** True if no model request is possible any more. */
  readonly exhausted: boolean;
  /** True if no call is left. */
  readonly outOfCalls: boolean;
}

// In a WeakMap, so that hosts and tools cannot reach the account through their budget.
const accounts = new WeakMap<Budget, BudgetAccount>();

/** Registers `budget` as the public view of `account`. */
export function registerBudget(budget: Budget, account: BudgetAccount): void {
  accounts.set(budget, account);
}

/** `undefined` for anything not created by `createBudget`. */
export function accountOf(budget: Budget): BudgetAccount | undefined {
  return accounts.get(budget);
}

export interface LifetimeOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Default: no limit. */
  readonly timeoutMs: number | undefined;
  readonly budgets: readonly BudgetAccount[];
  /** The enclosing lifetime. */
  readonly outer?: Lifetime | undefined;
}

export function startLifetime(options: LifetimeOptions): Lifetime {
  const { signal, timeoutMs, budgets, outer } = options;
  const isEndless = signal === undefined && timeoutMs === undefined && budgets.length === 0 && (outer?.endless ?? true);
  return isEndless ? endless : new LimitedLifetime(options);
}

export function toDeadline(atMs: number, clock: Clock): Deadline {
  return Object.freeze({ atMs, remainingMs: () => Math.max(0, atMs - clock.now()) });
}

const nothingToDo = (): void => undefined;

const endless: Lifetime = Object.freeze({
  endless: true,
  deadline: Object.freeze({ atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY }),
  ended: undefined,
  onEnd: () => nothingToDo,
  dispose: nothingToDo,
});

class LimitedLifetime implements Lifetime {
  readonly endless = false;
  readonly deadline: Lifetime['deadline'];
  readonly #options: LifetimeOptions;
  readonly #listeners = new Set<(end: EndOfLife) => void>();
  readonly #endsAtMs: number;
  readonly #timeEndsBy: EndOfLife;
  readonly #abort = (): void => this.#end('aborted');
  readonly #stopTimer: (() => void) | undefined;
  readonly #stopOuter: (() => void) | undefined;
  #ended: EndOfLife | undefined;
  #disposed = false;

  constructor(options: LifetimeOptions) {
    this.#options = options;
    const { clock, signal, timeoutMs = Number.POSITIVE_INFINITY, budgets, outer } = options;
    const nowMs = clock.now();
    for (const budget of budgets) budget.begin();
    const wallAtMs = nowMs + Math.min(...budgets.map((budget) => budget.remainingWallMs()), Number.POSITIVE_INFINITY);
    this.#endsAtMs = Math.min(nowMs + timeoutMs, wallAtMs);
    this.#timeEndsBy = wallAtMs < nowMs + timeoutMs ? 'budget' : 'deadline';
    const atMs = Math.min(this.#endsAtMs, outer?.deadline.atMs ?? Number.POSITIVE_INFINITY);
    this.deadline = toDeadline(atMs, clock);
    const timed = this.#endsAtMs !== Number.POSITIVE_INFINITY;
    this.#stopTimer = timed ? clock.after(this.#endsAtMs - nowMs, () => this.#end(this.#timeEndsBy)) : undefined;
    this.#stopOuter = outer?.onEnd((why) => this.#end(why));
    if (this.#ended !== undefined) this.#release();
    if (signal?.aborted === true) this.#end('aborted');
    else signal?.addEventListener('abort', this.#abort);
  }

  // Checked on read: a tool that blocks the thread also keeps this timer and the outer ones from firing.
  get ended(): EndOfLife | undefined {
    if (this.#ended !== undefined || this.#disposed) return this.#ended;
    const { clock, outer } = this.#options;
    if (this.#endsAtMs !== Number.POSITIVE_INFINITY && clock.now() >= this.#endsAtMs) this.#end(this.#timeEndsBy);
    else if (outer?.ended !== undefined) this.#end(outer.ended);
    return this.#ended;
  }

  // A field, because callers destructure it.
  readonly onEnd = (listener: (end: EndOfLife) => void): (() => void) => {
    const { ended } = this;
    if (ended !== undefined) {
      listener(ended);
      return () => undefined;
    }
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#release();
    for (const budget of this.#options.budgets) budget.end();
  }

  #end(why: EndOfLife): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#release();
    for (const listener of this.#listeners) listener(why);
    this.#listeners.clear();
  }

  #release(): void {
    this.#stopTimer?.();
    this.#stopOuter?.();
    this.#options.signal?.removeEventListener('abort', this.#abort);
  }
}

/** @throws HoldfastError `options.invalid`. */
export function checkMilliseconds(name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
    throw new HoldfastError('options.invalid', `\`${name}\` must be a positive number of milliseconds, got ${value}.`);
  }
}
