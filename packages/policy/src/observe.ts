import { type Allow, type Ask, type Decision, type Deny, deny, type Policy } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { replacePolicy } from './replace-policy.ts';

/**
 * Tries `policy` out: it is asked and learns as if it were in force, every call is allowed, and what it would have answered is
 * noted with the decisions of the call (`observed`, `reason`), in the log and for observers. A fault of it would deny, and is noted
 * as that. What its `onResult` or `reserve` throws fails no call and is not noted. It still has to answer within the host's `policyTimeoutMs`.
 *
 * State, name and id are those of `policy`: put in force later, it knows what it learned.
 */
export function observe<State>(policy: Policy<State>): Policy<State> {
  return replacePolicy(policy, {
    async check(call, context) {
      try {
        return note(await policy.check(call, context));
      } catch (thrown) {
        return noted(deny(`The policy failed: ${describeThrown(thrown)}`));
      }
    },
    onResult(call, result, context) {
      try {
        return policy.onResult?.(call, result, context);
      } catch {
        return undefined;
      }
    },
    reserve(call, context) {
      try {
        return policy.reserve?.(call, context);
      } catch {
        // As with `onResult`: a policy that is only tried out fails no call.
        return undefined;
      }
    },
  });
}

// A policy that is written without types may answer anything.
function note(decision: Decision | undefined): Decision {
  if (decision?.type === 'allow') return decision;
  if (decision?.type === 'ask' || decision?.type === 'deny') return noted(decision);
  return noted(deny('The policy did not return a decision (`allow`, `ask` or `deny`).'));
}

/** An allow that says what was observed. */
export function noted(observed: Ask | Deny): Allow {
  return Object.freeze({ type: 'allow', observed });
}
