import type { Clock, Tool } from '@holdfast/core';
import { type CallTime, type TimeLimit, waitForAnswer } from '../call/execute.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import type { Answer, Invoked, StopReason } from '../call/types.ts';

interface CallTimeOptions {
  readonly clock: Clock;
  /** The tool's limit for all attempts. */
  readonly timeoutMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
}

/** `undefined` if nothing limits it, as for most calls. */
export function limitTime({ timeoutMs }: Pick<Tool, 'timeoutMs'>, { clock, manner }: CallScope): CallTime | undefined {
  const attemptTimeoutMs = manner?.attemptTimeoutMs;
  if (timeoutMs === undefined && attemptTimeoutMs === undefined) return undefined;
  return new LimitedTime({ clock, timeoutMs, attemptTimeoutMs });
}

class LimitedTime implements CallTime {
  readonly #options: CallTimeOptions;
  readonly #attemptAtMs: number;
  #startedAtMs: number;

  constructor(options: CallTimeOptions, startedAtMs: number = options.clock.now()) {
    this.#options = options;
    this.#attemptAtMs = options.clock.now();
    this.#startedAtMs = startedAtMs;
  }

  again(): CallTime {
    return new LimitedTime(this.#options, this.#startedAtMs);
  }

  get leftMs(): number {
    const { clock, timeoutMs } = this.#options;
    return timeoutMs === undefined ? Number.POSITIVE_INFINITY : this.#startedAtMs + timeoutMs - clock.now();
  }

  get limit(): TimeLimit {
    const { clock, timeoutMs = Number.POSITIVE_INFINITY, attemptTimeoutMs: limitMs } = this.#options;
    const { leftMs } = this;
    if (limitMs !== undefined) {
      const attemptLeftMs = this.#attemptAtMs + limitMs - clock.now();
      if (attemptLeftMs < leftMs) return { by: 'attempt', limitMs, leftMs: Math.max(0, attemptLeftMs) };
    }
    return { by: 'timeout', limitMs: timeoutMs, leftMs: Math.max(0, leftMs) };
  }

  get endsAtMs(): number {
    const { timeoutMs = Number.POSITIVE_INFINITY, attemptTimeoutMs = Number.POSITIVE_INFINITY } = this.#options;
    return Math.min(this.#startedAtMs + timeoutMs, this.#attemptAtMs + attemptTimeoutMs);
  }

  credit(idleMs: number): void {
    this.#startedAtMs += idleMs;
  }
}

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

async function afterMicrotasks(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await Promise.resolve();
}
