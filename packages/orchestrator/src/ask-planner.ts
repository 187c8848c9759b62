import {
  type Clock,
  describeThrown,
  HoldfastError,
  isHoldfastError,
  type Planner,
  type PlannerAnswer,
  type PlannerRequest,
} from '@holdfast/core';

export interface AskPlannerOptions {
  readonly clock: Clock;
  /** Told each time that the planner could not be asked. */
  readonly onFailure: (thrown: unknown) => void;
}

/** How often a planner that throws is asked, all in all. */
const maxTries = 3;
/** Doubles from one wait to the next. */
const firstDelayMs = 1_000;

/**
 * Asks a planner once, and again where it could not be asked. Does not wait for one that does not heed its signal.
 *
 * @throws HoldfastError `planner.failed` with the last cause, or as the planner itself threw it; `planner.aborted`.
 */
export async function askPlanner(
  planner: Planner,
  request: PlannerRequest,
  { clock, onFailure }: AskPlannerOptions,
): Promise<PlannerAnswer> {
  const { signal } = request;
  for (let tries = 1; ; tries += 1) {
    let thrown: unknown;
    try {
      return toAnswer(await untilAborted(planTogether(planner, request), signal), planner);
    } catch (caught) {
      thrown = caught;
    }
    if (signal.aborted) throw aborted(planner, signal);
    onFailure(thrown);
    // What it says of itself in our own words is final.
    if (isHoldfastError(thrown) && thrown.code === 'planner.failed') throw thrown;
    if (tries === maxTries) {
      const reason = describeThrown(thrown).slice(0, 500);
      const message = `The planner \`${planner.id}\` could not be asked, ${maxTries} times in a row: ${reason}`;
      throw new HoldfastError('planner.failed', message, { data: { planner: planner.id }, cause: thrown });
    }
    const delayMs = firstDelayMs * 2 ** (tries - 1);
    await untilAborted(pause(clock, delayMs, signal), signal).catch(() => {
      throw aborted(planner, signal);
    });
  }
}

// Also of a planner that throws before it has a promise.
async function planTogether(planner: Planner, request: PlannerRequest): Promise<PlannerAnswer> {
  return planner.plan(request);
}

function aborted(planner: Planner, signal: AbortSignal): HoldfastError {
  const message = `Nobody waits any more for the plan that \`${planner.id}\` was asked for.`;
  return new HoldfastError('planner.aborted', message, { data: { planner: planner.id }, cause: signal.reason });
}

function toAnswer(answer: unknown, planner: Planner): PlannerAnswer {
  if (typeof answer === 'object' && answer !== null) {
    if ('text' in answer && typeof answer.text === 'string') return answer as PlannerAnswer;
    if ('plan' in answer && answer.plan !== undefined) return answer as PlannerAnswer;
  }
  const message = `The planner \`${planner.id}\` answered with neither a \`text\` nor a \`plan\`.`;
  throw new HoldfastError('planner.failed', message, { data: { planner: planner.id } });
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

function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
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
