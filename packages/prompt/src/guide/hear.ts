import type { GuidanceContext, GuidedRun } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';

/** What feedback providers and completion checkers may look at. */
export function toGuidanceContext({ surroundings, budget }: GuidedRun, calls: number): GuidanceContext {
  const { session, filesystem, deadline } = surroundings;
  return Object.freeze({ session, filesystem, deadline, budget, calls });
}

/** What came of asking somebody who is not trusted to answer. */
export type Heard =
  | { readonly type: 'answered'; readonly value: unknown }
  | { readonly type: 'failed'; readonly message: string }
  /** The run is over, and nobody waits any more. */
  | { readonly type: 'ended' };

/** Asks, and waits no longer than the run goes on, or `timeoutMs` where that is given. Never rejects. */
export async function hear(
  ask: () => unknown,
  { clock, lifetime }: GuidedRun,
  timeoutMs: number | undefined,
): Promise<Heard> {
  let value: unknown;
  try {
    value = ask();
    if (!isThenable(value)) return { type: 'answered', value };
  } catch (thrown) {
    return { type: 'failed', message: describeThrown(thrown) };
  }
  let stopTimer: (() => void) | undefined;
  let stopListening: () => void = () => undefined;
  const over = new Promise<Heard>((resolve) => {
    if (timeoutMs !== undefined) {
      const late: Heard = { type: 'failed', message: `There was no answer within ${timeoutMs} ms.` };
      stopTimer = clock.after(timeoutMs, () => resolve(late));
    }
    stopListening = lifetime.onEnd(() => resolve({ type: 'ended' }));
  });
  const heard = await Promise.race([waitFor(value), over]);
  stopTimer?.();
  stopListening();
  return heard;
}

async function waitFor(value: PromiseLike<unknown>): Promise<Heard> {
  try {
    return { type: 'answered', value: await value };
  } catch (thrown) {
    return { type: 'failed', message: describeThrown(thrown) };
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
