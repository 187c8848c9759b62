import {
  type BoundPolicy,
  type Deadline,
  type FilesystemReader,
  isOperation,
  isStagedResource,
  type Operation,
  type Policy,
  type PolicyContext,
  type PolicyDecision,
  replace,
  type SessionReader,
  type Slice,
} from '@holdfast/core';

const noReducers: Slice['reducers'] = new Map();

/** What every policy of one call sees beside its own state. */
export interface PolicySurroundings {
  readonly session: SessionReader;
  readonly filesystem: FilesystemReader | undefined;
  readonly deadline: Deadline;
}

/** A policy where it is in force. */
export interface PolicyInForce extends BoundPolicy {
  /** Holds the policy's state; `undefined` when it keeps none. */
  readonly slice: Slice | undefined;
  /** What an answer of its `onResult` does to the slice. */
  toOperations(answer: unknown): readonly Operation[];
}

/** With what is made once for it. */
export class PolicyBinding implements PolicyInForce {
  readonly key: string;
  readonly policy: Policy;
  readonly slice: Slice | undefined;
  /** The entry of an allow: by far the most frequent one. */
  readonly allowed: PolicyDecision;
  #context: PolicyContext | undefined;
  #surroundings: PolicySurroundings | undefined;

  constructor({ key, policy }: BoundPolicy) {
    this.key = key;
    this.policy = policy;
    const { state } = policy;
    this.slice =
      state === undefined
        ? undefined
        : Object.freeze({ id: `policy:${key}`, retention: 'state', reducers: noReducers, ...state });
    this.allowed = Object.freeze({ policy: key, type: 'allow' });
  }

  /** What the policy sees: its own state read through `reader`, which shows staged changes while a call is being settled. */
  context(reader: SessionReader, surroundings: PolicySurroundings): PolicyContext {
    const state: unknown = this.slice === undefined ? undefined : reader.read(this.slice);
    // Made again only when something in it is another: most policies change their state rarely, if at all.
    if (this.#context === undefined || this.#surroundings !== surroundings || !Object.is(this.#context.state, state)) {
      const { session, filesystem, deadline } = surroundings;
      this.#surroundings = surroundings;
      this.#context = Object.freeze({ state, session, filesystem, deadline });
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

const bindings = new WeakMap<BoundPolicy, PolicyBinding>();

export function toBinding(bound: BoundPolicy): PolicyBinding {
  let binding = bindings.get(bound);
  if (binding === undefined) {
    binding = new PolicyBinding(bound);
    bindings.set(bound, binding);
  }
  return binding;
}

/** The reading side of the resource `filesystem`. */
export function readOnlyFilesystem(resources: ReadonlyMap<string, unknown>): FilesystemReader | undefined {
  const resource = resources.get('filesystem');
  // By the name's contract: whoever binds `filesystem` binds a StagedResource<Filesystem, FilesystemReader>.
  return isStagedResource(resource) ? (resource.readOnly as FilesystemReader) : undefined;
}
