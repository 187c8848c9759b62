import { describeThrown, within } from '@holdfast/core/internal';
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
  try {
    const value = ask();
    if (!isThenable(value)) return { type: 'answered', value };
    return await within<Heard, void>(
      Promise.resolve(value).then((answer) => ({ type: 'answered', value: answer })),
      {
        until: lifetime,
        limit: timeoutMs === undefined ? undefined : { clock, ms: timeoutMs },
        over: (why) =>
          why === 'time' ? { type: 'failed', message: `No answer within ${timeoutMs} ms.` } : { type: 'ended' },
      },
    );
  } catch (thrown) {
    return { type: 'failed', message: describeThrown(thrown) };
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
