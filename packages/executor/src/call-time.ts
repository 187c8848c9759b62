import type { Clock, PreparedCall } from '@holdfast/core';
import type { CheckedManner } from './call-manner.ts';
import type { EndOfLife } from './lifetime.ts';

/** Why a call is told to stop. */
export type StopReason = TimeLimit['by'] | EndOfLife;

/** What ends a tool's time when nobody else does. */
export interface TimeLimit {
  /** One attempt may take no longer, or all of them may not. */
  readonly by: 'attempt' | 'timeout';
  readonly limitMs: number;
  /** What remains of it. */
  readonly leftMs: number;
}

interface CallTimeOptions {
  readonly clock: Clock;
  /** Of the tool, for all attempts. */
  readonly timeoutMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
}

/** The time that a call has by its tool and its manner, whatever its run has. */
export class CallTime {
  readonly #options: CallTimeOptions;
  readonly #attemptAtMs: number;
  #startedAtMs: number;

  constructor(options: CallTimeOptions, startedAtMs: number = options.clock.now()) {
    this.#options = options;
    this.#attemptAtMs = options.clock.now();
    this.#startedAtMs = startedAtMs;
  }

  /** `undefined` where nothing limits it, as it is for most calls. */
  static of(
    { tool: { timeoutMs } }: PreparedCall,
    { clock, manner }: { readonly clock: Clock; readonly manner: CheckedManner | undefined },
  ): CallTime | undefined {
    const attemptTimeoutMs = manner?.attemptTimeoutMs;
    if (timeoutMs === undefined && attemptTimeoutMs === undefined) return undefined;
    return new CallTime({ clock, timeoutMs, attemptTimeoutMs });
  }

  /** For the next attempt, which begins now. */
  again(): CallTime {
    return new CallTime(this.#options, this.#startedAtMs);
  }

  /** For all attempts. */
  get leftMs(): number {
    const { clock, timeoutMs } = this.#options;
    return timeoutMs === undefined ? Number.POSITIVE_INFINITY : this.#startedAtMs + timeoutMs - clock.now();
  }

  /** What ends this attempt first. */
  get limit(): TimeLimit {
    const { clock, timeoutMs = Number.POSITIVE_INFINITY, attemptTimeoutMs: limitMs } = this.#options;
    const { leftMs } = this;
    if (limitMs !== undefined) {
      const attemptLeftMs = this.#attemptAtMs + limitMs - clock.now();
      if (attemptLeftMs < leftMs) return { by: 'attempt', limitMs, leftMs: Math.max(0, attemptLeftMs) };
    }
    return { by: 'timeout', limitMs: timeoutMs, leftMs: Math.max(0, leftMs) };
  }

  /** When this attempt is over. */
  get endsAtMs(): number {
    const { timeoutMs = Number.POSITIVE_INFINITY, attemptTimeoutMs = Number.POSITIVE_INFINITY } = this.#options;
    return Math.min(this.#startedAtMs + timeoutMs, this.#attemptAtMs + attemptTimeoutMs);
  }

  /** Gives the tool back time in which it did nothing. */
  credit(idleMs: number): void {
    this.#startedAtMs += idleMs;
  }
}

/** What the end of a call's time is for what is nested in it. */
export function toEndOfLife(reason: StopReason): EndOfLife {
  return reason === 'timeout' || reason === 'attempt' ? 'deadline' : reason;
}

export function toAbortReason(reason: StopReason): DOMException {
  const why = reason === 'attempt' ? 'timeout' : reason;
  return new DOMException(`The call was stopped: ${why}.`, reason === 'aborted' ? 'AbortError' : 'TimeoutError');
}
