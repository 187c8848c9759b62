import { allow, HoldfastError, type Policy, type PreparedCall } from '@holdfast/core';
import { replacePolicy } from './replace-policy.ts';

/**
 * Exempts calls from `policy`: calls for which `exempt` returns `true` are allowed, and the policy cannot fail them. Any other result
 * exempts nothing; throwing denies. The policy learns from every success, including exempt calls: a budget counts them.
 *
 * State, name and id are those of `policy`.
 *
 * @throws HoldfastError `options.invalid` if `exempt` is not a function.
 */
export function unless<State>(exempt: (call: PreparedCall) => boolean, policy: Policy<State>): Policy<State> {
  if (typeof exempt !== 'function') {
    throw new HoldfastError('options.invalid', '`unless` needs a function of a call as its first argument.');
  }
  const forgiving = <Update>(call: PreparedCall, update: () => Update): Update | undefined => {
    const isExempt = exempt(call) === true;
    try {
      return update();
    } catch (thrown) {
      if (!isExempt) throw thrown;
      // The policy would deny the call after all, but it is exempt.
      return undefined;
    }
  };
  return replacePolicy(policy, {
    check: (call, context) => (exempt(call) === true ? allow : policy.check(call, context)),
    onResult: (call, result, context) => forgiving(call, () => policy.onResult?.(call, result, context)),
    reserve: (call, context) => forgiving(call, () => policy.reserve?.(call, context)),
  });
}
