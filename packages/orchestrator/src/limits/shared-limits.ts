import type { Clock } from '@holdfast/core';
import type { Caller } from '@holdfast/executor';
import { toCallId } from '../trace/facts.ts';
import { createLockTable, type LockTable } from './lock-table.ts';
import { perSession } from './per-session.ts';
import { createRateLimits, type RateLimit, type RateLimits } from './rates.ts';

/** Locks and rate limits shared by nested runs. */
export interface SharedLimits {
  readonly locks: LockTable;
  /** All of them apply. */
  readonly rates: readonly RateLimits[];
  /** Called when the run has ended. */
  release(): void;
}

interface Sharing {
  /** The prefix of the lock owner keys of the run's calls. */
  readonly prefix: string;
  readonly locks: LockTable;
  readonly rates: readonly RateLimits[];
}

const underWay = perSession(() => new Set<Sharing>());
const tableOf = perSession(createLockTable);

export interface OwnLimits {
  readonly locks: LockTable | undefined;
  readonly rateLimits: Readonly<Record<string, RateLimit>> | undefined;
  readonly clock: Clock;
}

/**
 * The locks and rate limits of a run. A nested run uses those of the outer run; its own limits apply in addition.
 *
 * @throws HoldfastError `options.invalid`.
 */
export function shareLimits(caller: Caller, run: number, { locks, rateLimits, clock }: OwnLimits): SharedLimits {
  const { rootSession, session } = caller;
  const shared = underWay(rootSession);
  const outer = [...shared].filter(({ prefix }) => session.id.startsWith(prefix));
  const own = rateLimits === undefined ? [] : [createRateLimits(rateLimits, clock)];
  const sharing: Sharing = {
    prefix: caller.keyOf(toCallId(run, '')),
    locks: outer.at(-1)?.locks ?? locks ?? tableOf(rootSession),
    rates: [...new Set(outer.flatMap(({ rates }) => rates)), ...own],
  };
  shared.add(sharing);
  return { locks: sharing.locks, rates: sharing.rates, release: () => void shared.delete(sharing) };
}
