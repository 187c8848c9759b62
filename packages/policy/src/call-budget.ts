import { allow, definePolicy, deny, HoldfastError, type Policy, type PreparedCall } from '@holdfast/core';
import { checkOptions } from '@holdfast/core/internal';
import { checkMaxCalls } from './options.ts';

export interface CallBudgetOptions {
  /** Successful calls allowed per session. Integer, at least 1. */
  readonly maxCalls: number;
  /** Default `call-budget`; required if there are two in one place. */
  readonly id?: string;
}

/**
 * Stops a session after `maxCalls` successful calls.
 *
 * The check denies calls before they run. Of concurrent calls, those over the budget are denied before their commit (`onResult` throws
 * `policy.refused`); one with external effects ends in doubt. A call that ran despite a denial, such as after approval through
 * `some`, succeeds and counts.
 *
 * State: `number`, the successful calls so far.
 *
 * @throws HoldfastError `options.invalid` if `maxCalls` is not a positive integer.
 */
export function callBudget(options: CallBudgetOptions): Policy<number> {
  checkOptions('callBudget', options, { maxCalls: 'any', id: 'any' });
  const { maxCalls, id } = options;
  checkMaxCalls(maxCalls);
  const reason = `All ${maxCalls} calls of this session are used.`;
  // Calls let through although the budget is used up. They live as long as the call, so they are not state.
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
          'policy.refused',
          `${reason} \`${call.tool.name}\` ran at the same time as the last of them.`,
          {
            data: { reason: 'call_budget', tool: call.tool.name, maxCalls },
          },
        );
      }
      return state + 1;
    },
  });
}
