import {
  type Ask,
  allow,
  type Decision,
  type Deny,
  deny,
  describeThrown,
  type PolicyDecision,
  type PreparedCall,
  type Tool,
} from '@holdfast/core';
import type { CallScope } from './call-scope.ts';
import { digestTool, knownToolDigest } from './digest.ts';
import { grantOf } from './grants.ts';
import type { PolicyBinding, PolicyInForce, PolicySurroundings } from './policy-state.ts';

/** What the policies in force and the dangerous gate say, all of it. */
export interface Verdict {
  /** Deny beats ask beats allow. */
  readonly type: Decision['type'];
  /** Of every policy that was asked, in order. */
  readonly decisions: readonly PolicyDecision[];
}

const nobody: ReadonlySet<string> = new Set();

interface Asking {
  readonly call: PreparedCall;
  readonly scope: CallScope;
  readonly approved: ReadonlySet<string>;
  readonly policies: readonly PolicyBinding[];
}

/**
 * Asks every policy in force and the dangerous gate. Whatever a policy does other than allow or ask is a denial.
 * Answers at once when every policy does. `approved`: keys of policies whose ask a person has answered with yes.
 */
export function authorise(
  call: PreparedCall,
  scope: CallScope,
  approved: ReadonlySet<string> = nobody,
): Verdict | Promise<Verdict> {
  const asking: Asking = { call, scope, approved, policies: scope.policiesFor(call.tool.name) };
  const { policies } = asking;
  const decisions: PolicyDecision[] = new Array(policies.length);
  for (let index = 0; index < policies.length; index += 1) {
    const bound = policies[index];
    if (bound === undefined) break;
    const decision = askPolicy(bound, asking);
    if (decision instanceof Promise) return askOn(decision, decisions.slice(0, index), asking);
    decisions[index] = waive(bound, decision, asking);
  }
  return conclude(decisions, asking);
}

/** Goes on from the first policy that needs time. */
async function askOn(pending: Promise<Decision>, decisions: PolicyDecision[], asking: Asking): Promise<Verdict> {
  for (const [offset, bound] of asking.policies.slice(decisions.length).entries()) {
    const decision = await (offset === 0 ? pending : askPolicy(bound, asking));
    decisions.push(waive(bound, decision, asking));
  }
  return conclude(decisions, asking);
}

const gate: Keyed = {
  key: 'holdfast/dangerous',
  allowed: Object.freeze({ policy: 'holdfast/dangerous', type: 'allow' }),
};

/** What the dangerous gate says of a dangerous tool. */
function askForDangerous({ name, undeclared }: Tool): Ask {
  const why = undeclared === true ? 'says neither `dangerous` nor `effects`' : 'is marked as dangerous';
  return { type: 'ask', reason: `\`${name}\` ${why}.` };
}

/** What decides about calls, for who asks ahead of them. */
export interface Judges {
  /** Of the host, in order. */
  readonly policies: readonly PolicyInForce[];
  /** What each of them sees beside its own state. */
  readonly surroundings: PolicySurroundings;
  /** What the dangerous gate asks about a call of the tool. */
  gate(tool: Tool): Ask | undefined;
  /** Whether asks about the tool as it is now are answered by a grant, of the host or of a person. Leaves the session as it is. */
  isGranted(tool: Tool): Promise<boolean>;
}

export function judgesOf({ hostPolicies, surroundings, grants, rootSession, toolset }: CallScope): Judges {
  return {
    policies: hostPolicies,
    surroundings,
    gate: (tool) => (tool.dangerous ? askForDangerous(tool) : undefined),
    isGranted: async ({ name }) => {
      if (grants.has(name)) return true;
      // Also what is read leaves a trace in a session: a slice that it has not met before.
      const granted = grantOf(rootSession.fork(), name);
      const compiled = toolset.byName.get(name);
      return granted !== undefined && compiled !== undefined && granted === (await digestTool(compiled));
    },
  };
}

function conclude(decisions: PolicyDecision[], asking: Asking): Verdict | Promise<Verdict> {
  const { tool } = asking.call;
  if (tool.dangerous) {
    decisions.push(waive(gate, askForDangerous(tool), asking));
  }
  const verdict: Verdict = { type: strictest(decisions), decisions };
  return verdict.type === 'ask' ? grantVerdict(verdict, asking) : verdict;
}

/** An ask about a tool that was granted for the session is none, as long as it is the same tool. */
function grantVerdict(verdict: Verdict, { call, scope }: Asking): Verdict | Promise<Verdict> {
  const granted = grantOf(scope.rootSession, call.tool.name);
  const compiled = scope.toolset.byName.get(call.tool.name);
  if (granted === undefined || compiled === undefined) return verdict;
  const compare = (digest: string): Verdict => (digest === granted ? waiveAsks(verdict) : verdict);
  const known = knownToolDigest(compiled);
  return known === undefined ? digestTool(compiled).then(compare) : compare(known);
}

function waiveAsks({ decisions }: Verdict): Verdict {
  const waived = decisions.map(
    (decision): PolicyDecision =>
      decision.type === 'ask' && decision.grantable !== false
        ? { policy: decision.policy, type: 'allow', reason: 'Granted for the session.' }
        : decision,
  );
  return { type: strictest(waived), decisions: waived };
}

// The answer's own `then` and `type` are read once; an answer that changes under us cannot become an allow later.
function askPolicy(bound: PolicyBinding, { call, scope }: Asking): Decision | Promise<Decision> {
  try {
    const decision = readDecision(bound.policy.check(call, bound.context(scope.state, scope.surroundings)));
    return decision instanceof Promise ? waitForDecision(decision, scope) : decision;
  } catch (thrown) {
    return deny(`The policy failed: ${describeThrown(thrown)}`);
  }
}

async function waitForDecision(
  deciding: Promise<Decision>,
  { clock, policyTimeoutMs, lifetime }: CallScope,
): Promise<Decision> {
  let stopTimer: () => void = () => undefined;
  let stopListening: () => void = () => undefined;
  const over = new Promise<Decision>((resolve) => {
    stopTimer = clock.after(policyTimeoutMs, () =>
      resolve(deny(`The policy did not answer within ${policyTimeoutMs} ms.`)),
    );
    stopListening = lifetime.onEnd(() => resolve(deny('The run ended before the policy answered.')));
  });
  const answered = deciding.catch((thrown: unknown) => deny(`The policy failed: ${describeThrown(thrown)}`));
  const decision = await Promise.race([answered, over]);
  stopTimer();
  stopListening();
  return decision;
}

/** What an answer of a policy's `check` counts as: whatever is not clear is a denial. Rejects as a policy that answers later does. */
export function readDecision(answer: unknown): Decision | Promise<Decision> {
  if (answer === allow) return allow;
  try {
    const then = thenOf(answer);
    if (then === undefined) return readNow(answer);
    // A promise of our own around it, whatever `then` does: one that a policy wrote may answer with anything, or throw.
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
    return deny('The policy gave no decision (`allow`, `ask` or `deny`).');
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

function readRefusal(type: 'ask' | 'deny', answer: object): Ask | Deny {
  const given: unknown = 'reason' in answer ? answer.reason : undefined;
  const reason = typeof given === 'string' && given !== '' ? given : 'No reason was given.';
  if (type === 'deny') return { type, reason };
  // Any value but `true` means that grants do not count.
  const grantable: unknown = 'grantable' in answer ? answer.grantable : undefined;
  return { type, reason, ...(grantable === undefined || grantable === true ? {} : { grantable: false }) };
}

type Keyed = Pick<PolicyBinding, 'key' | 'allowed'>;

/** What is noted of a decision. An ask becomes an allow when a person has answered it or a grant of the host does; a denial stays. */
function waive(bound: Keyed, decision: Decision, { call, scope, approved }: Asking): PolicyDecision {
  const { tool } = call;
  const { key: policy } = bound;
  if (decision.type === 'allow') {
    const { observed } = decision;
    return observed === undefined
      ? bound.allowed
      : { policy, type: 'allow', observed: observed.type, reason: observed.reason };
  }
  const { type, reason } = decision;
  if (type === 'deny') return { policy, type, reason };
  if (approved.has(policy)) return { policy, type: 'allow', reason: 'Approved.' };
  if (decision.grantable === false) return { policy, type, reason, grantable: false };
  if (scope.grants.has(tool.name)) return { policy, type: 'allow', reason: 'Granted by the host.' };
  return { policy, type, reason };
}

function strictest(decisions: readonly PolicyDecision[]): Decision['type'] {
  let type: Decision['type'] = 'allow';
  for (const decision of decisions) {
    if (decision.type === 'ask') type = 'ask';
    else if (decision.type !== 'allow') return 'deny';
  }
  return type;
}

type Then = (this: unknown, resolve: (value: unknown) => void, reject: (reason: unknown) => void) => unknown;

/** Its `then`, read once. */
function thenOf(answer: unknown): Then | undefined {
  if (typeof answer !== 'object' || answer === null || !('then' in answer)) return undefined;
  const { then } = answer;
  return typeof then === 'function' ? (then as Then) : undefined;
}
