import { HoldfastError, systemClock } from '@holdfast/core';
import type { CallOptions } from '@holdfast/executor';
import type { PlanLimits } from '../check/plan.ts';
import type { LockTable } from '../limits/lock-table.ts';
import { createRateLimits, type RateLimit } from '../limits/rates.ts';
import type { PlanEvent } from './state.ts';

/** Options of `runPlan`: those of every runner, and those of plans. */
export interface RunPlanOptions extends Omit<CallOptions, 'onEvent'> {
  /** Maximum number of calls that run in parallel. Default 10. */
  readonly maxConcurrency?: number;
  /** Rate limits by tool name. A sub-run must also keep those of the outer run. Default: no limit. */
  readonly rateLimits?: Readonly<Record<string, RateLimit>>;
  /** Maximum time for which a node waits for locks, in milliseconds. Default: until the run ends. */
  readonly lockTimeoutMs?: number;
  /** Default: one table for all runs of the session. A sub-run uses that of the outer run. */
  readonly locks?: LockTable;
  /** As in `checkPlan`, for a plan that was checked with other tools. Default: those of the check. */
  readonly functions?: ReadonlyMap<string, string>;
  readonly limits?: PlanLimits;
  /** A random number from 0 to below 1, used to spread retries. Default `Math.random`. */
  readonly random?: () => number;
  /** Receives every event; an error that it throws is recorded and otherwise ignored. */
  readonly onEvent?: (event: PlanEvent) => void;
}

/**
 * Checks options that are easily forgotten and whose absence would surface late.
 *
 * @throws HoldfastError `options.invalid`.
 */
export function checkSurroundings(options: Partial<Pick<RunPlanOptions, 'session' | 'tools'>> | undefined): void {
  if (typeof options?.session?.dispatch !== 'function') {
    const message = '`session` must be a session. Create one with `createSession()` of `@holdfast/session`.';
    throw new HoldfastError('options.invalid', message);
  }
  if (!Array.isArray(options.tools)) throw new HoldfastError('options.invalid', '`tools` must be a list of tools.');
}

/** @throws HoldfastError `options.invalid`. */
export function checkRunOptions({
  maxConcurrency = 10,
  lockTimeoutMs,
  rateLimits,
}: Pick<RunPlanOptions, 'maxConcurrency' | 'lockTimeoutMs' | 'rateLimits'>): void {
  if (!Number.isInteger(maxConcurrency) || maxConcurrency < 1) {
    throw new HoldfastError('options.invalid', `\`maxConcurrency\` must be a positive integer, got ${maxConcurrency}.`);
  }
  if (lockTimeoutMs !== undefined && !(Number.isFinite(lockTimeoutMs) && lockTimeoutMs > 0)) {
    throw new HoldfastError(
      'options.invalid',
      `\`lockTimeoutMs\` must be a positive number of milliseconds, got ${lockTimeoutMs}.`,
    );
  }
  // Throws for invalid limits.
  if (rateLimits !== undefined) createRateLimits(rateLimits, systemClock);
}
