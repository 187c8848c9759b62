import {
  type Ask,
  allow,
  type BoundPolicy,
  type Decision,
  type Deny,
  deny,
  HoldfastError,
  type Operation,
  type Policy,
  type PolicyContext,
  type PolicyDecision,
  type PreparedCall,
  replace,
  type SessionReader,
  type Slice,
  type Tool,
} from '@holdfast/core';
import { describeThrown, isOperation, isPlainObject } from '@holdfast/core/internal';
import type { CallScope } from './scope.ts';
import type { PolicyInForce, PolicySurroundings, Verdict } from './types.ts';

const noReducers: Slice['reducers'] = new Map();

/** A policy where it is in force, with what is made once for it. */
export class PolicyBinding implements PolicyInForce {
  readonly key: string;
  readonly policy: Policy;
  readonly slice: Slice | undefined;
  /** The entry of an allow: by far the most frequent one. */
  readonly allowed: PolicyDecision;
  #context: PolicyContext | undefined;
  #surroundings: PolicySurroundings | undefined;

  constructor({ key, policy }: BoundPolicy, like?: PolicyBinding) {
    this.key = key;
    this.policy = policy;
    this.slice = like === undefined ? toSlice(key, policy) : like.slice;
    this.allowed = like === undefined ? Object.freeze({ policy: key, type: 'allow' }) : like.allowed;
  }

  /** The same for one scope: what a policy sees is kept there, and goes with it. */
  forScope(): PolicyBinding {
    return new PolicyBinding(this, this);
  }

  /** What the policy sees: its own state read through `reader`, which shows staged changes while a call is being settled. */
  context(reader: SessionReader, surroundings: PolicySurroundings): PolicyContext {
    const state: unknown = this.slice === undefined ? undefined : reader.read(this.slice);
    // Made again only when something in it is another: most policies change their state rarely, if at all.
    if (this.#context === undefined || this.#surroundings !== surroundings || !Object.is(this.#context.state, state)) {
      const { session, filesystem, deadline, request, place } = surroundings;
      this.#surroundings = surroundings;
      this.#context = Object.freeze({ state, session, filesystem, deadline, request, place });
    }
    return this.#context;
  }

  /** What is no operation is the whole next state. */
  toOperations(answer: unknown): readonly Operation[] {
    if (isOperation(answer)) return [answer];
    const operations = Array.isArray(answer) && answer.every(isOperation);
    // An empty list is a state for a policy that keeps one value, and no change for one that keeps a collection.
    if (operations && (answer.length > 0 || this.policy.state?.kind !== 'value')) return answer;
    return [replace(answer)];
  }
}

function toSlice(key: string, { state }: Policy): Slice | undefined {
  if (state === undefined) return undefined;
  return Object.freeze({ id: `policy:${key}`, retention: 'state', reducers: noReducers, ...state });
}

const boundPolicies = new WeakMap<BoundPolicy, PolicyBinding>();

/** What is made once for a policy of a prompt. */
export function toBinding(bound: BoundPolicy): PolicyBinding {
  let binding = boundPolicies.get(bound);
  if (binding === undefined) {
    binding = new PolicyBinding(bound);
    boundPolicies.set(bound, binding);
  }
  return binding;
}

const noPolicies: readonly PolicyBinding[] = [];
const hostPolicies = new WeakMap<readonly Policy[], readonly PolicyBinding[]>();

/** Gives the host's policies their keys, once for each list; one that was changed since is bound again. */
export function bindHostPolicies(policies: readonly Policy[] | undefined): readonly PolicyBinding[] {
  if (policies === undefined) return noPolicies;
  const known = hostPolicies.get(policies);
  if (known?.length === policies.length && known.every(({ policy }, at) => policy === policies[at])) return known;
  if (!policies.every(isPolicy)) {
    throw new HoldfastError('options.invalid', '`policies` must be a list of policies: make each by `definePolicy`.', {
      data: { option: 'policies', reason: 'kind' },
    });
  }
  const bound = policies.map((policy) => new PolicyBinding({ key: `host/${policy.id}`, policy }));
  hostPolicies.set(policies, bound);
  return bound;
}

function isPolicy(value: unknown): boolean {
  return isPlainObject(value) && typeof value['id'] === 'string' && typeof value['check'] === 'function';
}

const checked = new WeakMap<readonly PolicyBinding[], { has(toolName: string): boolean }>();

/** @throws HoldfastError `policy.key.duplicate`, `policy.tool.unknown`. */
export function checkPolicies(policies: readonly PolicyBinding[], names: { has(toolName: string): boolean }): void {
  if (checked.get(policies) === names) return;
  const keys = new Set<string>();
  for (const { key, policy } of policies) {
    if (keys.has(key)) {
      const message = `Two policies have the key \`${key}\`; give one of them an \`id\`.`;
      throw new HoldfastError('policy.key.duplicate', message, { data: { key } });
    }
    keys.add(key);
    const unknown = policy.tools.find((name) => !names.has(name));
    if (unknown !== undefined) {
      const message = `The policy \`${key}\` mentions \`${unknown}\`, which is no tool here.`;
      throw new HoldfastError('policy.tool.unknown', message, { data: { key, tool: unknown } });
    }
  }
  checked.set(policies, names);
}

/** Those that want to know what comes of calls. */
export function observersOf(policies: readonly PolicyBinding[]): readonly PolicyBinding[] {
  return policies.filter(({ policy: { onResult, reserve } }) => onResult !== undefined || reserve !== undefined);
}

/** In force for calls of the tool. */
export function policiesFor({ policiesOf, hostPolicies }: CallScope, toolName: string): readonly PolicyBinding[] {
  return policiesOf === undefined ? hostPolicies : policiesOf(toolName);
}

const nobody: ReadonlySet<string> = new Set();
interface Asking {
  readonly call: PreparedCall;
  readonly scope: CallScope;
  readonly approved: ReadonlySet<string>;
  readonly policies: readonly PolicyBinding[];
}

/**
 * Asks every policy in force and the dangerous gate; synchronous when every policy is. What is neither allow nor ask is a denial.
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

/** Goes on from the first policy that needs time. */
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

/** What the dangerous gate says of a dangerous tool. */
export function askForDangerous({ name, undeclared }: Tool): Ask {
  const why = undeclared === true ? 'says neither `dangerous` nor `effects`' : 'is marked as dangerous';
  return { type: 'ask', reason: `\`${name}\` ${why}.` };
}

// The answer's own `then` and `type` are read once; an answer that changes under us cannot become an allow later.
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
    const then: unknown = typeof answer === 'object' && answer !== null && 'then' in answer ? answer.then : undefined;
    if (typeof then !== 'function') return readNow(answer);
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

const codePattern = /^[a-z][a-z_]*(?:\.[a-z][a-z_]*)+$/;

function readRefusal(type: 'ask' | 'deny', answer: object): Ask | Deny {
  const given: unknown = 'reason' in answer ? answer.reason : undefined;
  const reason = typeof given === 'string' && given !== '' ? given : 'No reason was given.';
  const code = type === 'deny' && 'code' in answer ? answer.code : undefined;
  if (type === 'deny') return deny(reason, typeof code === 'string' && codePattern.test(code) ? { code } : {});
  // Any value but `true` means that grants do not count.
  const grantable: unknown = 'grantable' in answer ? answer.grantable : undefined;
  return { type, reason, ...(grantable === undefined || grantable === true ? {} : { grantable: false }) };
}

/** What is noted of a decision. An ask becomes an allow when a person has answered it or a grant of the host does; a denial stays. */
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
