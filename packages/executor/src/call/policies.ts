import {
  HoldfastError,
  type Operation,
  type Policy,
  type PolicyContext,
  type PolicyDecision,
  type PreparedCall,
  replace,
  type SessionReader,
  type Slice,
} from '@holdfast/core';
import { isOperation, isPlainObject } from '@holdfast/core/internal';
import type { BoundPolicy } from '@holdfast/core/types';
import type { CallScope } from './scope.ts';

/** A policy's context without its own state. */
export type PolicySurroundings = Required<Omit<PolicyContext, 'state'>>;

/** A policy with its key and state. */
export interface PolicyInForce extends BoundPolicy {
  /** The slice with the policy's state, if it has any. */
  readonly slice: Slice | undefined;
  /** Converts an answer of `onResult` to changes of the slice. */
  toOperations(answer: unknown): readonly Operation[];
}

/** Shared by overlapping calls of one session, to detect stale decisions. */
export interface PolicyMoves {
  /** Grows when a commit may change what policies answer. */
  count: number;
  /** True once a policy has read the session: from then on any change of the session may change its answer. */
  looked: boolean;
  /** Resolves when the queue is empty. */
  turn: Promise<void>;
}

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

/** True if the policy's answer may depend on more than the call: on session state, or on state of its own. */
export function keepsState({ policy }: PolicyBinding): boolean {
  return policy.state !== undefined || policy.onResult !== undefined;
}

/** Policies whose answers may depend on state. */
export function statefulFor({ tool }: PreparedCall, scope: CallScope): readonly PolicyBinding[] {
  return policiesFor(scope, tool.name).filter(keepsState);
}
