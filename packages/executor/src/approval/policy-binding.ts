import {
  HoldfastError,
  type Operation,
  type Policy,
  type PolicyContext,
  type PolicyDecision,
  replace,
  type SessionReader,
  type Slice,
} from '@holdfast/core';
import { isOperation, isPlainObject } from '@holdfast/core/internal';
import type { BoundPolicy } from '@holdfast/core/types';
import type { PolicyBinding, PolicySurroundings, ToolNames } from '../call/policies.ts';

const noReducers: Slice['reducers'] = new Map();

/** A policy in force, with the values derived from it once. */
export class Binding implements PolicyBinding {
  readonly key: string;
  readonly policy: Policy;
  readonly slice: Slice | undefined;
  readonly allowed: PolicyDecision;
  #context: PolicyContext | undefined;
  #surroundings: PolicySurroundings | undefined;

  constructor({ key, policy }: BoundPolicy, like?: Binding) {
    this.key = key;
    this.policy = policy;
    this.slice = like === undefined ? toSlice(key, policy) : like.slice;
    this.allowed = like === undefined ? Object.freeze({ policy: key, type: 'allow' }) : like.allowed;
  }

  /** A copy for one scope, which caches the policy's context there. */
  forScope(): Binding {
    return new Binding(this, this);
  }

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

const boundPolicies = new WeakMap<BoundPolicy, Binding>();

/** Creates the binding of a prompt's policy. */
export function toBinding(bound: BoundPolicy): Binding {
  let binding = boundPolicies.get(bound);
  if (binding === undefined) {
    binding = new Binding(bound);
    boundPolicies.set(bound, binding);
  }
  return binding;
}

const hostPolicies = new WeakMap<readonly Policy[], readonly Binding[]>();

/**
 * Binds the host's policies to their keys, once per list; a modified list is bound again. `names`: the tools that they may mention.
 *
 * @throws HoldfastError `options.invalid`, `policy.invalid`.
 */
export function bindPolicies(policies: readonly Policy[], names: ToolNames): readonly PolicyBinding[] {
  const bound = bindList(policies);
  checkPolicies(bound, names);
  return bound.map((policy) => policy.forScope());
}

function bindList(policies: readonly Policy[]): readonly Binding[] {
  const known = hostPolicies.get(policies);
  if (known?.length === policies.length && known.every(({ policy }, at) => policy === policies[at])) return known;
  if (!policies.every(isPolicy)) {
    throw new HoldfastError('options.invalid', '`policies` must be a list: create each policy with `definePolicy`.', {
      data: { option: 'policies', reason: 'kind' },
    });
  }
  const bound = policies.map((policy) => new Binding({ key: `host/${policy.id}`, policy }));
  hostPolicies.set(policies, bound);
  return bound;
}

function isPolicy(value: unknown): boolean {
  return isPlainObject(value) && typeof value['id'] === 'string' && typeof value['check'] === 'function';
}

const checked = new WeakMap<readonly Binding[], ToolNames>();

function checkPolicies(policies: readonly Binding[], names: ToolNames): void {
  if (checked.get(policies) === names) return;
  const keys = new Set<string>();
  for (const { key, policy } of policies) {
    if (keys.has(key)) {
      const message = `Two policies have the key \`${key}\`; give one of them an \`id\`.`;
      throw new HoldfastError('policy.invalid', message, { data: { reason: 'key.duplicate', key } });
    }
    keys.add(key);
    const unknown = policy.mentions.find((name) => !names.has(name));
    if (unknown !== undefined) {
      const message = `The policy \`${key}\` mentions an unknown tool \`${unknown}\`.`;
      throw new HoldfastError('policy.invalid', message, { data: { reason: 'tool.unknown', key, tool: unknown } });
    }
  }
  checked.set(policies, names);
}
