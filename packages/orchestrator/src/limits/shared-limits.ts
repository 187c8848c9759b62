import type { Clock } from '@holdfast/core';
import type { Caller } from '@holdfast/executor';
import { toCallId } from '../trace/facts.ts';
import { createLockTable, type LockTable } from './lock-table.ts';
import { perSession } from './per-session.ts';
import { createRateLimits, type RateLimit, type RateLimits } from './rates.ts';

/** What runs that are nested in each other have in common. */
export interface SharedLimits {
  readonly locks: LockTable;
  /** All of them hold. */
  readonly rates: readonly RateLimits[];
  /** The run has ended. */
  release(): void;
}

interface Sharing {
  /** What the keys of the run's calls begin with. */
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
 * The locks and rates of a run. One in a call of another run's node has that run's, whatever it is given itself: its own limits come
 * on top.
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
