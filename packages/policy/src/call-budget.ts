import { allow, definePolicy, deny, HoldfastError, type Policy, type PreparedCall } from '@holdfast/core';
import { checkOptions } from '@holdfast/core/internal';
import { describeOption } from './options.ts';

export interface CallBudgetOptions {
  /** Successful calls allowed per session. Integer, at least 1. */
  readonly maxCalls: number;
  /** Default `call-budget`; needed when one place has two. */
  readonly id?: string;
}

/**
 * Stops a session after `maxCalls` successful calls.
 *
 * The check refuses a call before it runs. Of calls that ran at the same time, those that would go over the budget are denied
 * before they are committed; one that has touched the world is in doubt: `onResult` throws `policy.call_budget`. A call that went on although the check refused it (`some` asked a
 * person, say) is counted and left alone.
 *
 * State: `number`, the successful calls so far.
 *
 * @throws HoldfastError `options.invalid` when `maxCalls` is not a positive integer.
 */
export function callBudget(options: CallBudgetOptions): Policy<number> {
  checkOptions('callBudget', options, { maxCalls: 'any', id: 'any' });
  const { maxCalls, id } = options;
  if (!Number.isSafeInteger(maxCalls) || maxCalls < 1) {
    throw new HoldfastError(
      'options.invalid',
      `\`maxCalls\` must be a positive integer, got \`${describeOption(maxCalls)}\`.`,
    );
  }
  const reason = `All ${maxCalls} calls of this session are used.`;
  // Whoever let these through knew that the budget was used up. Only for as long as the call lives, so it is no state.
  const overruled = new WeakSet<PreparedCall>();
  return definePolicy<number>({
    name: 'call-budget',
    ...(id === undefined ? {} : { id }),
    initialState: 0,
    check(call, { state }) {
      if (state < maxCalls) return allow;
      overruled.add(call);
      return deny(reason);
    },
    onResult(call, _result, { state }) {
      if (state >= maxCalls && !overruled.has(call)) {
        throw new HoldfastError(
          'policy.call_budget',
          `${reason} \`${call.tool.name}\` ran while the last one was used.`,
          {
            data: { tool: call.tool.name, maxCalls },
          },
        );
      }
      return state + 1;
    },
  });
}
