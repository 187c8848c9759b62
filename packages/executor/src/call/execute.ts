import { type Budget, type Clock, HoldfastError, type ToolCallEndEvent } from '@holdfast/core';
import type { BudgetLimits, Deadline, TraceEntry } from '@holdfast/core/types';
import type { Answer, EndOfLife, StopReason } from './types.ts';

/** The settled value or error of a promise. Never rejects. */
export async function waitForAnswer(value: PromiseLike<unknown>): Promise<Answer> {
  try {
    return { type: 'returned', value: await value };
  } catch (thrown) {
    return { type: 'threw', thrown };
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Per-call overrides of a tool's timeout and retries. Reuse one object for many calls: it is checked once. */
export interface CallManner {
  /** Time limit for one attempt, in milliseconds. The tool's `timeoutMs` covers all attempts. Default: only that. */
  readonly attemptTimeoutMs?: number;
  /**
   * How often the tool may run, including the first attempt, 1 to 1,001. Failures are retried; timeouts too if the tool is `repeat: 'safe'`
   * and has stopped. A tool that may not be repeated runs once. Default: as the tool declares.
   */
  readonly attempts?: number;
  /**
   * Delay after the attempt of that number, counted from 1, in milliseconds. Called for all attempts before the call begins.
   * Default: as the tool declares, else doubling from 1,000 to 60,000.
   */
  readonly delayMs?: (attempt: number) => number;
  /** The `context.trace` of the tool. */
  readonly trace?: (callId: string) => readonly TraceEntry[];
  /** Receives the end event of the call once it is logged. */
  readonly onEnd?: (event: ToolCallEndEvent) => void;
}

/** Validated overrides. */
export interface CheckedManner extends Omit<CallManner, 'delayMs'> {
  /** One per attempt except the last. */
  readonly delaysMs: readonly number[] | undefined;
}

/** The limit that ends a tool's time, unless its run ends first. */
export interface TimeLimit {
  /** `attempt`: one attempt took too long; `timeout`: all of them did. */
  readonly by: 'attempt' | 'timeout';
  readonly limitMs: number;
  /** Remaining time. */
  readonly leftMs: number;
}

/** The time limits of a call from its tool and its manner, independent of its run. */
export interface CallTime {
  /** For the next attempt, starting now. */
  again(): CallTime;
  /** Remaining time for all attempts. */
  readonly leftMs: number;
  /** The limit that ends this attempt first. */
  readonly limit: TimeLimit;
  /** The end of this attempt. */
  readonly endsAtMs: number;
  /** Adds idle time back to the tool's limits. */
  credit(idleMs: number): void;
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

/** `limit`: makes one that something can end. */
export function startLifetime(options: LifetimeOptions, limit: (options: LifetimeOptions) => Lifetime): Lifetime {
  const { signal, timeoutMs, budgets, outer } = options;
  const isEndless = signal === undefined && timeoutMs === undefined && budgets.length === 0 && (outer?.endless ?? true);
  return isEndless ? endless : limit(options);
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

/** @throws HoldfastError `options.invalid`. */
export function checkMilliseconds(name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
    throw new HoldfastError('options.invalid', `\`${name}\` must be a positive number of milliseconds, got ${value}.`);
  }
}
