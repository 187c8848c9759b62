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
import { describeOption } from './options.ts';
import { readToolNames } from './tool-lists.ts';

export interface RateLimitOptions {
  /** Successful calls allowed in any window of `perMs`. Integer, at least 1. */
  readonly maxCalls: number;
  /** Length of the window in milliseconds. Above 0. */
  readonly perMs: number;
  /** Tools that the limit holds for, together; others neither count nor wait. Default: all. */
  readonly tools?: readonly (Tool | string)[];
  /** Default: the machine's time. One that is set back by up to `perMs` makes the limit stricter; by more, it begins anew. */
  readonly clock?: Clock;
  /** Default `rate-limit`; needed when one place has two. */
  readonly id?: string;
}

/**
 * Denies a call while the `maxCalls` last successes lie less than `perMs` back, and says when to try again. Calls that do not
 * succeed do not count.
 *
 * Of calls that ran at the same time, those that would go over the limit are denied before they are committed; one that has touched
 * the world is in doubt: `onResult` throws `policy.rate_limit`. A call that went on although the check refused it (`some` asked a person, say) is counted and left alone.
 *
 * State: list, the times of successes in milliseconds since 1970; at most `2 * maxCalls` of them.
 *
 * @throws HoldfastError `options.invalid`, `tool.name.invalid`, `tool.name.reserved`.
 */
export function rateLimit(options: RateLimitOptions): Policy<ListState<number>> {
  checkOptions('rateLimit', options, { maxCalls: 'any', perMs: 'any', tools: 'any', clock: 'object', id: 'any' });
  const { maxCalls, perMs, tools, clock = systemClock, id } = options;
  if (!Number.isSafeInteger(maxCalls) || maxCalls < 1) {
    throw new HoldfastError(
      'options.invalid',
      `\`maxCalls\` must be a positive integer, got \`${describeOption(maxCalls)}\`.`,
    );
  }
  if (!(Number.isFinite(perMs) && perMs > 0)) {
    throw new HoldfastError(
      'options.invalid',
      `\`perMs\` must be a positive number of milliseconds, got \`${describeOption(perMs)}\`.`,
    );
  }
  const names = tools === undefined ? undefined : readToolNames(tools);
  if (names?.size === 0) throw new HoldfastError('options.invalid', '`tools` must name at least one tool.');
  const holdsFor = ({ tool }: PreparedCall): boolean => names === undefined || names.has(tool.name);

  /** How long there is to wait at `nowMs`; 0 for a call that may run. */
  function waitAt(nowMs: number, times: ListState<number>): number {
    const oldestMs = times.size < maxCalls ? undefined : times.at(-maxCalls);
    // A success that is to come is one of a clock that was ahead: nobody knows how long ago it was.
    if (oldestMs === undefined || oldestMs > nowMs + perMs) return 0;
    return Math.max(0, oldestMs + perMs - nowMs);
  }
  const limit = `At most ${maxCalls} ${maxCalls === 1 ? 'call' : 'calls'} in ${describeDuration(perMs)}`;
  // Whoever let these through knew that the limit was reached. Only for as long as the call lives, so it is no state.
  const overruled = new WeakSet<PreparedCall>();
  return definePolicy<number>({
    name: 'rate-limit',
    ...(id === undefined ? {} : { id }),
    tools: [...(names ?? [])],
    timed: true,
    stateKind: 'list',
    check(call, { state }) {
      const waitMs = holdsFor(call) ? waitAt(clock.now(), state) : 0;
      if (waitMs === 0) {
        overruled.delete(call);
        return allow;
      }
      overruled.add(call);
      return deny(`${limit}: try again in ${describeDuration(waitMs)}.`);
    },
    onResult(call, _result, { state }) {
      if (!holdsFor(call)) return undefined;
      const nowMs = clock.now();
      if (waitAt(nowMs, state) > 0 && !overruled.has(call)) {
        throw new HoldfastError('policy.rate_limit', `${limit}: \`${call.tool.name}\` ran while others reached that.`, {
          data: { tool: call.tool.name, maxCalls, perMs },
        });
      }
      // Only the last ones are ever looked at. Cutting seldom keeps the log small, which has what changes.
      const isLong = state.size >= 2 * maxCalls;
      return isLong ? replace([...state.toArray().slice(1 - maxCalls || state.size), nowMs]) : append(nowMs);
    },
  });
}

/** Whole seconds, rounded up, so that who waits that long has waited long enough. */
function describeDuration(ms: number): string {
  return ms < 1000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 1000)} s`;
}
