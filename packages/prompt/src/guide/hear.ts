import { describeThrown } from '@holdfast/core/internal';
import type { GuidanceContext, GuidedRun } from '@holdfast/core/types';

/** The context of feedback providers and completion checkers. */
export function toGuidanceContext({ surroundings, budget }: GuidedRun, calls: number): GuidanceContext {
  const { session, filesystem, deadline } = surroundings;
  return Object.freeze({ session, filesystem, deadline, budget, calls });
}

/** The result of calling host code that may fail or hang. */
export type Heard =
  | { readonly type: 'answered'; readonly value: unknown }
  | { readonly type: 'failed'; readonly message: string }
  /** The run ended before the answer. */
  | { readonly type: 'ended' };

/** Awaits `ask` until the run ends or `timeoutMs` passes. Never rejects. */
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
      const late: Heard = { type: 'failed', message: `No answer within ${timeoutMs} ms.` };
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
