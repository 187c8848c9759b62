import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { isTransient } from './database.ts';

/** A monotonic clock: a lease must not depend on a machine's date. */
export interface LeaseClock {
  now(): number;
  /** `keepsAlive`: the process does not end before. Returns a function that cancels it. */
  after(delayMs: number, run: () => void, keepsAlive?: boolean): () => void;
}

export const leaseClock: LeaseClock = {
  now: () => performance.now(),
  after(delayMs, run, keepsAlive = false) {
    const timer = setTimeout(run, delayMs);
    // A session that is open but unused must not keep its process alive.
    if (!keepsAlive) timer.unref();
    return () => clearTimeout(timer);
  },
};

export interface LeaseOptions {
  readonly leaseMs: number;
  readonly clock: LeaseClock;
  /** When the statement that took the lease was sent. */
  readonly sentAtMs: number;
  /** Renews it in the database. False: another writer has it, or it has ended. */
  readonly renew: () => Promise<boolean>;
  /** The error of a lease that another writer has. */
  readonly gone: () => HoldfastError;
}

/**
 * The right to append to a session until a time of the database's clock. Renewed after a third of its duration; if that fails until half
 * of the remaining time is over, it counts as lost: what runs is told to stop while nobody else can have begun.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #controller = new AbortController();
  /** The sending of the last statement that is known to have extended it: the database counts from later. */
  #heldFromMs: number;
  #stopTimer: (() => void) | undefined;
  #renewing = false;
  #failure: HoldfastError | undefined;
  #stopped = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#heldFromMs = options.sentAtMs;
    this.#schedule();
  }

  /** Aborts when the lease is lost. */
  get lost(): AbortSignal {
    return this.#controller.signal;
  }

  /** Notes a statement that has extended the lease. */
  confirm(sentAtMs: number): void {
    this.#heldFromMs = Math.max(this.#heldFromMs, sentAtMs);
    this.#failure = undefined;
  }

  /** Also after a time without timers, such as that of a stopped process. @throws HoldfastError `log.locked`, `log.database`. */
  check(): void {
    if (!this.#stopped && this.#elapsedMs >= this.#lostAfterMs) this.lose(this.#failure ?? late(this.#options.leaseMs));
    if (this.lost.aborted) throw this.lost.reason;
  }

  lose(why: HoldfastError): void {
    this.stop();
    if (!this.lost.aborted) this.#controller.abort(why);
  }

  /** Ends the renewals. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer?.();
  }

  get #elapsedMs(): number {
    return this.#options.clock.now() - this.#heldFromMs;
  }

  get #lostAfterMs(): number {
    return (this.#options.leaseMs * 2) / 3;
  }

  #schedule(): void {
    const { leaseMs, clock } = this.#options;
    const untilRenewalMs = leaseMs / 3 - this.#elapsedMs;
    const waitMs = untilRenewalMs > 0 ? untilRenewalMs : Math.min(leaseMs / 12, this.#lostAfterMs - this.#elapsedMs);
    this.#stopTimer = clock.after(Math.max(0, waitMs), () => this.#tick());
  }

  #tick(): void {
    if (this.#stopped) return;
    const { leaseMs } = this.#options;
    if (this.#elapsedMs >= this.#lostAfterMs) {
      this.lose(this.#failure ?? late(leaseMs));
      return;
    }
    if (this.#elapsedMs >= leaseMs / 3 && !this.#renewing) void this.#renew();
    this.#schedule();
  }

  async #renew(): Promise<void> {
    const { clock, renew, gone } = this.#options;
    this.#renewing = true;
    const sentAtMs = clock.now();
    try {
      if (await renew()) this.confirm(sentAtMs);
      else if (!this.#stopped) this.lose(gone());
    } catch (thrown) {
      // Tried again until the lease counts as lost, which reports this failure.
      if (!isHoldfastError(thrown)) throw thrown;
      this.#failure = thrown;
      if (!isTransient(thrown)) this.lose(thrown);
    } finally {
      this.#renewing = false;
    }
  }
}

function late(leaseMs: number): HoldfastError {
  return new HoldfastError(
    'log.locked',
    `The lease of ${leaseMs} ms was not renewed in time; the process was stopped, blocked, or could not reach the database. Open the session again to continue.`,
  );
}
