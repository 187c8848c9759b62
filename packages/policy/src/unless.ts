import { allow, HoldfastError, type Policy, type PreparedCall } from '@holdfast/core';
import { replacePolicy } from './replace-policy.ts';

/**
 * `policy`, but for calls of which `exempt` answers `true`: they are allowed, and the policy does not fail them. Anything but `true`
 * exempts nothing, throwing denies. The policy learns from every success, of exempt calls too: a budget counts them.
 *
 * State, name and id are those of `policy`.
 *
 * @throws HoldfastError `options.invalid` when `exempt` is no function.
 */
export function unless<State>(exempt: (call: PreparedCall) => boolean, policy: Policy<State>): Policy<State> {
  if (typeof exempt !== 'function') {
    throw new HoldfastError('options.invalid', 'The first argument of `unless` must be a function of a call.');
  }
  return replacePolicy(policy, {
    check: (call, context) => (exempt(call) === true ? allow : policy.check(call, context)),
    onResult(call, result, context) {
      if (exempt(call) !== true) return policy.onResult?.(call, result, context);
      try {
        return policy.onResult?.(call, result, context);
      } catch {
        // How a policy refuses a call after all. This one is not its business.
        return undefined;
      }
    },
    reserve(call, context) {
      if (exempt(call) !== true) return policy.reserve?.(call, context);
      try {
        return policy.reserve?.(call, context);
      } catch {
        // As with `onResult`.
        return undefined;
      }
    },
  });
}
