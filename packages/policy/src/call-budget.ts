import { allow, definePolicy, deny, HoldfastError, type Policy } from '@holdfast/core';

export interface CallBudgetOptions {
  /** Successful calls allowed per session. Integer, at least 1. */
  readonly maxCalls: number;
  /** Default `call-budget`; needed when one place has two. */
  readonly id?: string;
}

/**
 * Stops a session after `maxCalls` successful calls.
 *
 * State: `number`, the successful calls so far.
 *
 * @throws HoldfastError `options.invalid` when `maxCalls` is not a positive integer.
 */
export function callBudget({ maxCalls, id }: CallBudgetOptions): Policy<number> {
  if (!Number.isSafeInteger(maxCalls) || maxCalls < 1) {
    throw new HoldfastError('options.invalid', `\`maxCalls\` must be a positive integer, got \`${maxCalls}\`.`);
  }
  return definePolicy<number>({
    name: 'call-budget',
    ...(id === undefined ? {} : { id }),
    initialState: 0,
    check: (_call, { state }) => (state < maxCalls ? allow : deny(`All ${maxCalls} calls of this session are used.`)),
    onResult: (_call, _result, { state }) => state + 1,
  });
}
