import { allow, type Decision, deny, type PolicyDecision, type PreparedCall, type Tool } from '@holdfast/core';
import { describeThrown, within } from '@holdfast/core/internal';
import type { Ask, Deny } from '@holdfast/core/types';
import { type PolicyBinding, policiesFor } from '../call/policies.ts';
import type { CallScope } from '../call/scope.ts';
import type { Verdict } from '../call/types.ts';

const nobody: ReadonlySet<string> = new Set();
interface Asking {
  readonly call: PreparedCall;
  readonly scope: CallScope;
  readonly approved: ReadonlySet<string>;
  readonly policies: readonly PolicyBinding[];
}

/**
 * Runs every policy in force and the dangerous gate; synchronous if every policy is. Anything but an allow or an ask is a denial.
 * `approved`: keys of policies whose ask a person has approved.
 */
export function authorize(
  call: PreparedCall,
  scope: CallScope,
  approved: ReadonlySet<string> = nobody,
): Verdict | Promise<Verdict> {
  const asking: Asking = { call, scope, approved, policies: policiesFor(scope, call.tool.name) };
  const { policies } = asking;
  const decisions: PolicyDecision[] = new Array(policies.length);
  for (let index = 0; index < policies.length; index += 1) {
    const bound = policies[index];
    if (bound === undefined) break;
    const decision = askPolicy(bound, asking);
    if (decision instanceof Promise) return askOn(decision, decisions.slice(0, index), asking);
    decisions[index] = decision === allow ? bound.allowed : waive(bound, decision, asking);
  }
  return conclude(decisions, asking);
}

/** Continues asynchronously from the first policy that returned a promise. */
async function askOn(pending: Promise<Decision>, decisions: PolicyDecision[], asking: Asking): Promise<Verdict> {
  for (const [offset, bound] of asking.policies.slice(decisions.length).entries()) {
    const decision = await (offset === 0 ? pending : askPolicy(bound, asking));
    decisions.push(waive(bound, decision, asking));
  }
  return conclude(decisions, asking);
}

function conclude(decisions: PolicyDecision[], asking: Asking): Verdict | Promise<Verdict> {
  const { call, scope } = asking;
  if (call.tool.dangerous) decisions.push(waive(gate, askForDangerous(call.tool), asking));
  const verdict: Verdict = { type: strictest(decisions), decisions };
  return verdict.type === 'ask' ? scope.features.waiveGranted(verdict, call, scope) : verdict;
}

const gate: Pick<PolicyBinding, 'key' | 'allowed'> = {
  key: 'holdfast/dangerous',
  allowed: Object.freeze({ policy: 'holdfast/dangerous', type: 'allow' }),
};

/** The ask of the dangerous gate. */
export function askForDangerous({ name, undeclared }: Tool): Ask {
  const why = undeclared === true ? 'says neither `dangerous` nor `effects`' : 'is marked as dangerous';
  return { type: 'ask', reason: `\`${name}\` ${why}.` };
}

// Reads `then` and `type` once, so a changing answer cannot become an allow later.
function askPolicy(bound: PolicyBinding, { call, scope }: Asking): Decision | Promise<Decision> {
  try {
    const answer: unknown = bound.policy.check(call, bound.context(scope.state, scope.surroundings));
    if (answer === allow) return allow;
    const decision = readDecision(answer);
    return decision instanceof Promise ? waitForDecision(decision, scope) : decision;
  } catch (thrown) {
    return deny(`The policy failed: ${describeThrown(thrown)}`);
  }
}

function waitForDecision(
  deciding: Promise<Decision>,
  { clock, policyTimeoutMs: ms, lifetime: until }: CallScope,
): Promise<Decision> {
  const answered = deciding.catch((thrown: unknown) => deny(`The policy failed: ${describeThrown(thrown)}`));
  const late = `The policy did not answer within ${ms} ms.`;
  return within(answered, {
    until,
    limit: { clock, ms },
    over: (why) => deny(why === 'time' ? late : 'The run ended before the policy answered.'),
  });
}

/** Reads the answer of a policy's `check`: anything unclear is a denial. Rejects if a policy's promise rejects. */
export function readDecision(answer: unknown): Decision | Promise<Decision> {
  if (answer === allow) return allow;
  try {
    const then: unknown = typeof answer === 'object' && answer !== null && 'then' in answer ? answer.then : undefined;
    if (typeof then !== 'function') return readNow(answer);
    // Wrapped in a real promise: a policy's own `then` may throw or resolve with anything.
    return new Promise<unknown>((resolve, reject) => void then.call(answer, resolve, reject)).then(readNow);
  } catch (thrown) {
    return deny(`The policy failed: ${describeThrown(thrown)}`);
  }
}

function readNow(answer: unknown): Decision {
  try {
    if (typeof answer === 'object' && answer !== null && 'type' in answer) {
      const { type } = answer;
      if (type === 'allow') return readAllow(answer);
      if (type === 'ask' || type === 'deny') return readRefusal(type, answer);
    }
    return deny('The policy did not return a decision (`allow`, `ask` or `deny`).');
  } catch (thrown) {
    return deny(`The policy failed: ${describeThrown(thrown)}`);
  }
}

function readAllow(answer: object): Decision {
  const observed: unknown = 'observed' in answer ? answer.observed : undefined;
  if (typeof observed !== 'object' || observed === null || !('type' in observed)) return allow;
  const { type } = observed;
  return type === 'ask' || type === 'deny' ? { type: 'allow', observed: readRefusal(type, observed) } : allow;
}

const codePattern = /^[a-z][a-z_]*(?:\.[a-z][a-z_]*)+$/;

function readRefusal(type: 'ask' | 'deny', answer: object): Ask | Deny {
  const given: unknown = 'reason' in answer ? answer.reason : undefined;
  const reason = typeof given === 'string' && given !== '' ? given : 'No reason was given.';
  const code = type === 'deny' && 'code' in answer ? answer.code : undefined;
  if (type === 'deny') return deny(reason, typeof code === 'string' && codePattern.test(code) ? { code } : {});
  // Any value but `true` disables grants.
  const grantable: unknown = 'grantable' in answer ? answer.grantable : undefined;
  return { type, reason, ...(grantable === undefined || grantable === true ? {} : { grantable: false }) };
}

/** The decision as recorded. A person's approval or a host's grant turns an ask into an allow; a denial stays. */
function waive(
  { key: policy, allowed }: Pick<PolicyBinding, 'key' | 'allowed'>,
  decision: Decision,
  { call, scope, approved }: Asking,
): PolicyDecision {
  if (decision.type === 'allow') {
    const { observed } = decision;
    return observed ? { policy, type: 'allow', observed: observed.type, reason: observed.reason } : allowed;
  }
  const { type, reason } = decision;
  if (type === 'deny') return { policy, ...decision };
  if (approved.has(policy)) return { policy, type: 'allow', reason: 'Approved.' };
  if (decision.grantable === false) return { policy, type, reason, grantable: false };
  if (scope.grants.has(call.tool.name)) return { policy, type: 'allow', reason: 'Granted by the host.' };
  return { policy, type, reason };
}

/** Deny beats ask beats allow. */
export function strictest(decisions: readonly PolicyDecision[]): Decision['type'] {
  let type: Decision['type'] = 'allow';
  for (const decision of decisions) {
    if (decision.type === 'ask') type = 'ask';
    else if (decision.type !== 'allow') return 'deny';
  }
  return type;
}
