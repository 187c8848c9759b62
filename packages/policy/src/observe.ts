import { type Decision, deny, type Policy } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { Allow, Ask, Deny } from '@holdfast/core/types';
import { replacePolicy } from './replace-policy.ts';

/**
 * Dry-runs `policy`: it is checked and learns as if it were in force, but every call is allowed, and its decision is recorded with the
 * call (`observed`, `reason`) in the log and for observers. A failing check is recorded as a denial. Errors of `onResult` and `reserve`
 * fail no call and are not recorded. The host's `policyTimeoutMs` still applies.
 *
 * State, name and id are those of `policy`: once in force, it continues with the same state.
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
        // As in `onResult`: a dry run fails no call.
        return undefined;
      }
    },
  });
}

// An untyped policy may return anything.
function note(decision: Decision | undefined): Decision {
  if (decision?.type === 'allow') return decision;
  if (decision?.type === 'ask' || decision?.type === 'deny') return noted(decision);
  return noted(deny('The policy did not return a decision (`allow`, `ask` or `deny`).'));
}

/** An allow with an observed decision. */
export function noted(observed: Ask | Deny): Allow {
  return Object.freeze({ type: 'allow', observed });
}
