import { type Json, type Policy, type PreparedCall, toCanonicalJson } from '@holdfast/core';
import { describeAnswer, hearAnswer, type PolicyAnswer } from './policy-answer.ts';

/**
 * How a policy is watched. `plainly`: as a host asks it. `twice`: every question is put again, and has to get the same answer.
 * `thawed`: what it is handed is not frozen, and has to stay as it is.
 */
export type Watching = 'plainly' | 'twice' | 'thawed';

export interface WatchedPolicy {
  /** The policy, for a host. */
  readonly policy: Policy;
  /** What it said last. */
  readonly last: () => PolicyAnswer | undefined;
  readonly forget: () => void;
  /** What was found wrong with it. */
  readonly problems: readonly string[];
}

export function watchPolicy(policy: Policy, watching: Watching): WatchedPolicy {
  const problems: string[] = [];
  const thawed = new WeakMap<PreparedCall, PreparedCall>();
  let last: PolicyAnswer | undefined;

  // The same one for every question about a call: a policy may remember the call while it lasts.
  function thaw(call: PreparedCall): PreparedCall {
    if (watching !== 'thawed') return call;
    const known = thawed.get(call) ?? { ...call, input: structuredClone(call.input) };
    thawed.set(call, known);
    return known;
  }
  function compare(what: string, found: Json, given: Json): void {
    if (toCanonicalJson(found) !== toCanonicalJson(given)) problems.push(`it changed ${what}`);
  }

  const { onResult } = policy;
  const watched: Policy = {
    ...policy,
    async check(call, context) {
      const given = thaw(call);
      const answer = await hearAnswer(() => policy.check(given, context));
      compare(`the arguments of \`${call.tool.name}\``, given.input, call.input);
      if (watching === 'twice') {
        const again = await hearAnswer(() => policy.check(given, context));
        if (describeAnswer(again) !== describeAnswer(answer)) {
          problems.push(`asked once it said ${describeAnswer(answer)}, asked again ${describeAnswer(again)}`);
        }
      }
      last = answer;
      if (answer.type === 'fault') throw new Error(answer.what);
      return answer.decision;
    },
    ...(onResult === undefined
      ? {}
      : {
          onResult(call, result, context) {
            const given = thaw(call);
            const value = watching === 'thawed' ? structuredClone(result.value) : result.value;
            const update = onResult.call(policy, given, { ...result, value }, context);
            compare(`the arguments of \`${call.tool.name}\``, given.input, call.input);
            compare(`the result of \`${call.tool.name}\``, value, result.value);
            return update;
          },
        }),
  };
  return {
    policy: Object.freeze(watched),
    last: () => last,
    forget() {
      last = undefined;
    },
    problems,
  };
}
