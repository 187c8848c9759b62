import {
  allow,
  type Decision,
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
import { describeThrown, isOperation, isPlainObject, within } from '@holdfast/core/internal';
import type { Ask, BoundPolicy, Deny } from '@holdfast/core/types';
import type { CallScope } from './scope.ts';
import type { PolicyInForce, PolicySurroundings, Verdict } from './types.ts';

const noReducers: Slice['reducers'] = new Map();

/** A policy in force, with the values derived from it once. */
export class PolicyBinding implements PolicyInForce {
  readonly key: string;
  readonly policy: Policy;
  readonly slice: Slice | undefined;
  /** The entry for an allow, the most common decision. */
  readonly allowed: PolicyDecision;
  #context: PolicyContext | undefined;
  #surroundings: PolicySurroundings | undefined;

  constructor({ key, policy }: BoundPolicy, like?: PolicyBinding) {
    this.key = key;
    this.policy = policy;
    this.slice = like === undefined ? toSlice(key, policy) : like.slice;
    this.allowed = like === undefined ? Object.freeze({ policy: key, type: 'allow' }) : like.allowed;
  }

  /** A copy for one scope, which caches the policy's context there. */
  forScope(): PolicyBinding {
    return new PolicyBinding(this, this);
  }

  /** The policy's context. Its state is read through `reader`, which shows staged changes while a call is being settled. */
  context(reader: SessionReader, surroundings: PolicySurroundings): PolicyContext {
    const state: unknown = this.slice === undefined ? undefined : reader.read(this.slice);
    // Rebuilt only when something in it changes: most policies rarely change their state.
    if (this.#context === undefined || this.#surroundings !== surroundings || !Object.is(this.#context.state, state)) {
      const { session, filesystem, deadline, request, place } = surroundings;
      this.#surroundings = surroundings;
      this.#context = Object.freeze({ state, session, filesystem, deadline, request, place });
    }
    return this.#context;
  }

  /** A value that is not a list of operations is the next state. */
  toOperations(answer: unknown): readonly Operation[] {
    if (isOperation(answer)) return [answer];
    const operations = Array.isArray(answer) && answer.every(isOperation);
    // An empty list is a state for a policy with a single value, and no change for one with a collection.
    if (operations && (answer.length > 0 || this.policy.state?.kind !== 'value')) return answer;
    return [replace(answer)];
  }
}

function toSlice(key: string, { state }: Policy): Slice | undefined {
  if (state === undefined) return undefined;
  return Object.freeze({ id: `policy:${key}`, retention: 'state', reducers: noReducers, ...state });
}

const boundPolicies = new WeakMap<BoundPolicy, PolicyBinding>();

/** Creates the binding of a prompt's policy. */
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

/** Binds the host's policies to their keys, once per list; a modified list is bound again. */
export function bindHostPolicies(policies: readonly Policy[] | undefined): readonly PolicyBinding[] {
  if (policies === undefined) return noPolicies;
  const known = hostPolicies.get(policies);
  if (known?.length === policies.length && known.every(({ policy }, at) => policy === policies[at])) return known;
  if (!policies.every(isPolicy)) {
    throw new HoldfastError('options.invalid', '`policies` must be a list: create each policy with `definePolicy`.', {
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

/** @throws HoldfastError `policy.invalid`, `policy.tool.unknown`. */
export function checkPolicies(policies: readonly PolicyBinding[], names: { has(toolName: string): boolean }): void {
  if (checked.get(policies) === names) return;
  const keys = new Set<string>();
  for (const { key, policy } of policies) {
    if (keys.has(key)) {
      const message = `Two policies have the key \`${key}\`; give one of them an \`id\`.`;
      throw new HoldfastError('policy.invalid', message, { data: { reason: 'key.duplicate', key } });
    }
    keys.add(key);
    const unknown = policy.tools.find((name) => !names.has(name));
    if (unknown !== undefined) {
      const message = `The policy \`${key}\` mentions an unknown tool \`${unknown}\`.`;
      throw new HoldfastError('policy.tool.unknown', message, { data: { key, tool: unknown } });
    }
  }
  checked.set(policies, names);
}

/** The policies with an `onResult`. */
export function observersOf(policies: readonly PolicyBinding[]): readonly PolicyBinding[] {
  return policies.filter(({ policy: { onResult, reserve } }) => onResult !== undefined || reserve !== undefined);
}

/** The policies in force for the tool. */
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
