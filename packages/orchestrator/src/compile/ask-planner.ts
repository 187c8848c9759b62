import { type Clock, HoldfastError, isHoldfastError, type Json, type Planner } from '@holdfast/core';
import { copyJson, describeThrown, isPlainObject, toModelUsage } from '@holdfast/core/internal';
import type { PlannerAnswer, PlannerProblem, PlannerRequest } from '@holdfast/core/types';

export interface AskPlannerOptions {
  readonly clock: Clock;
  /** Called each time that asking the planner fails. */
  readonly onFailure: (thrown: unknown) => void;
}

/** Attempts per round with a planner that throws. */
const maxTries = 3;
/** Doubles with each retry. */
const firstDelayMs = 1_000;

/**
 * Asks a planner, with retries if it throws. Does not wait for a planner that ignores its signal.
 *
 * @throws HoldfastError `planner.failed` with the last cause, or as the planner threw it; `plan.aborted`.
 */
export async function askPlanner(
  planner: Planner,
  request: PlannerRequest,
  { clock, onFailure }: AskPlannerOptions,
): Promise<PlannerAnswer> {
  const { signal } = request;
  for (let tries = 1; ; tries += 1) {
    if (signal.aborted) throw aborted(planner, signal);
    let thrown: unknown;
    try {
      return toAnswer(await untilAborted(planTogether(planner, request), signal), planner);
    } catch (caught) {
      thrown = caught;
    }
    if (signal.aborted) throw aborted(planner, signal);
    onFailure(thrown);
    // A planner that throws our own error code is not retried.
    if (isHoldfastError(thrown) && thrown.code === 'planner.failed') throw thrown;
    if (tries === maxTries) {
      const reason = describeThrown(thrown).slice(0, 500);
      const message = `The planner \`${planner.id}\` failed ${maxTries} times in a row: ${reason}`;
      throw new HoldfastError('planner.failed', message, { data: { planner: planner.id }, cause: thrown });
    }
    const delayMs = firstDelayMs * 2 ** (tries - 1);
    await pause(clock, delayMs, signal);
  }
}

// Async, so that a synchronous throw becomes a rejection.
async function planTogether(planner: Planner, request: PlannerRequest): Promise<PlannerAnswer> {
  return planner.plan(request);
}

function aborted(planner: Planner, signal: AbortSignal): HoldfastError {
  const message = `The request to the planner \`${planner.id}\` was aborted.`;
  return new HoldfastError('plan.aborted', message, {
    data: { reason: 'planner', planner: planner.id },
    cause: signal.reason,
  });
}

/** Reads the planner's answer, which may be any value. Each member is read once. */
function toAnswer(answer: unknown, planner: Planner): PlannerAnswer {
  const members = typeof answer === 'object' && answer !== null ? answer : {};
  const { text, plan, usage, cut, warnings = [] } = members as { readonly [Member in AnswerMember]?: unknown };
  if (typeof text === 'string') {
    const copied = toProblems(warnings);
    if (copied !== undefined) return { text, usage: toModelUsage(usage), cut: Boolean(cut), warnings: copied };
    throw failed(planner, 'returned `warnings` that are not a list of `{ code, path, message }`');
  }
  if (plan !== undefined) return { plan: plan as Json };
  throw failed(planner, 'returned neither a `text` nor a `plan`');
}

type AnswerMember = 'text' | 'plan' | 'usage' | 'cut' | 'warnings';

function toProblems(warnings: unknown): readonly PlannerProblem[] | undefined {
  const copied = copyJson(warnings);
  if (!copied.ok || !Array.isArray(copied.value)) return undefined;
  const list: readonly unknown[] = copied.value;
  return list.every(isProblem) ? list : undefined;
}

function isProblem(value: unknown): value is PlannerProblem {
  return isPlainObject(value) && ['code', 'path', 'message'].every((key) => typeof value[key] === 'string');
}

function failed(planner: Planner, what: string): HoldfastError {
  return new HoldfastError('planner.failed', `The planner \`${planner.id}\` ${what}.`, {
    data: { planner: planner.id },
  });
}

function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    const done = (): void => signal.removeEventListener('abort', stop);
    promise.then(resolve, reject).finally(done);
  });
}

/** Waits, and returns early if `signal` fires. */
function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = (): void => {
      cancel();
      resolve();
    };
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    signal.addEventListener('abort', stop, { once: true });
  });
}
