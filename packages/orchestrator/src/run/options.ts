import { HoldfastError, systemClock } from '@holdfast/core';
import type { CallOptions } from '@holdfast/executor';
import type { PlanLimits } from '../check/plan.ts';
import type { LockTable } from '../limits/lock-table.ts';
import { createRateLimits, type RateLimit } from '../limits/rates.ts';
import type { PlanEvent } from './state.ts';

/** What `runPlan` takes: what every runner takes, and what only plans have. */
export interface RunPlanOptions extends Omit<CallOptions, 'onEvent'> {
  /** Nodes whose calls are under way at the same time, at most. Default 10. */
  readonly maxConcurrency?: number;
  /** How often tools may be called, by name. A sub-run is held to those of the run around it as well. Default: no limit. */
  readonly rateLimits?: Readonly<Record<string, RateLimit>>;
  /** How long a node may wait for locks that others hold, in milliseconds. Default: as long as the run goes on. */
  readonly lockTimeoutMs?: number;
  /** Default: one for all runs of the session. A sub-run has that of the run around it. */
  readonly locks?: LockTable;
  /** As `checkPlan` takes them, for a plan that was checked with other tools than these. Default: as it was checked. */
  readonly functions?: ReadonlyMap<string, string>;
  readonly limits?: PlanLimits;
  /** From 0 to below 1: spreads what is tried again. Default `Math.random`. */
  readonly random?: () => number;
  /** Sees every event; what it throws is recorded and breaks nothing. */
  readonly onEvent?: (event: PlanEvent) => void;
}

/**
 * What is forgotten easily, and would be missed far from where it was.
 *
 * @throws HoldfastError `options.invalid`.
 */
export function checkSurroundings(options: Partial<Pick<RunPlanOptions, 'session' | 'tools'>> | undefined): void {
  if (typeof options?.session?.dispatch !== 'function') {
    const message = '`session` must be a session: `createSession()` of `@holdfast/session` makes one.';
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
  // Throws for what they cannot be.
  if (rateLimits !== undefined) createRateLimits(rateLimits, systemClock);
}
