import {
  allow,
  append,
  type Clock,
  definePolicy,
  deny,
  HoldfastError,
  type ListState,
  type Policy,
  type PreparedCall,
  replace,
  systemClock,
  type Tool,
} from '@holdfast/core';
import { checkOptions } from '@holdfast/core/internal';
import { checkMaxCalls, describeOption } from './options.ts';
import { readToolNames } from './tool-lists.ts';

export interface RateLimitOptions {
  /** Successful calls allowed in any window of `perMs`. Integer, at least 1. */
  readonly maxCalls: number;
  /** Length of the window in milliseconds. Above 0. */
  readonly perMs: number;
  /** Tools that share the limit; others neither count nor wait. Default: all. */
  readonly tools?: readonly (Tool | string)[];
  /** Default: the system clock. If it is set back by up to `perMs` the limit is stricter; by more, the limit starts anew. */
  readonly clock?: Clock;
  /** Default `rate-limit`; required if there are two in one place. */
  readonly id?: string;
}

/**
 * Denies a call if the last `maxCalls` successes are less than `perMs` ago, and tells when to try again. Only successes count.
 *
 * Of concurrent calls, those over the limit are denied before their commit (`onResult` throws `policy.refused`); one with external
 * effects ends in doubt. A call that ran despite a denial, such as after approval through `some`, succeeds and counts.
 *
 * State: list, the times of successes in milliseconds since 1970; at most `2 * maxCalls` of them.
 *
 * @throws HoldfastError `options.invalid`, `tool.invalid`.
 */
export function rateLimit(options: RateLimitOptions): Policy<ListState<number>> {
  checkOptions('rateLimit', options, { maxCalls: 'any', perMs: 'any', tools: 'any', clock: 'object', id: 'any' });
  const { maxCalls, perMs, tools, clock = systemClock, id } = options;
  checkMaxCalls(maxCalls);
  if (!(Number.isFinite(perMs) && perMs > 0)) {
    throw new HoldfastError(
      'options.invalid',
      `\`perMs\` must be a positive number of milliseconds, got \`${describeOption(perMs)}\`.`,
    );
  }
  const names = tools === undefined ? undefined : readToolNames(tools);
  if (names?.size === 0) throw new HoldfastError('options.invalid', '`tools` must name at least one tool.');

  /** Milliseconds to wait at `nowMs`; 0 if a call may run. */
  function waitAt(nowMs: number, times: ListState<number>): number {
    const oldestMs = times.size < maxCalls ? undefined : times.at(-maxCalls);
    // A success in the future means that the clock was set back: its age is unknown.
    if (oldestMs === undefined || oldestMs > nowMs + perMs) return 0;
    return Math.max(0, oldestMs + perMs - nowMs);
  }
  const limit = `At most ${maxCalls} ${maxCalls === 1 ? 'call' : 'calls'} in ${describeDuration(perMs)}`;
  // Calls let through although the limit was reached. They live as long as the call, so they are not state.
  const overruled = new WeakSet<PreparedCall>();
  return definePolicy<number>({
    name: 'rate-limit',
    ...(id === undefined ? {} : { id }),
    ...(names === undefined ? {} : { tools: [...names] }),
    timed: true,
    stateKind: 'list',
    check(call, { state }) {
      const waitMs = waitAt(clock.now(), state);
      if (waitMs === 0) {
        overruled.delete(call);
        return allow;
      }
      overruled.add(call);
      return deny(`${limit}: try again in ${describeDuration(waitMs)}.`);
    },
    onResult(call, _result, { state }) {
      const nowMs = clock.now();
      if (waitAt(nowMs, state) > 0 && !overruled.has(call)) {
        throw new HoldfastError(
          'policy.refused',
          `${limit}: \`${call.tool.name}\` ran while other calls reached the limit.`,
          {
            data: { reason: 'rate_limit', tool: call.tool.name, maxCalls, perMs },
          },
        );
      }
      // Only the last times matter. Trimming rarely keeps the log small, which records every change.
      const isLong = state.size >= 2 * maxCalls;
      return isLong ? replace([...state.toArray().slice(1 - maxCalls || state.size), nowMs]) : append(nowMs);
    },
  });
}

/** Whole seconds, rounded up, so that waiting that long is enough. */
function describeDuration(ms: number): string {
  return ms < 1000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 1000)} s`;
}
