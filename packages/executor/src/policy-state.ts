import {
  type BoundPolicy,
  type Deadline,
  type FilesystemReader,
  isOperation,
  isStagedResource,
  type Operation,
  type Policy,
  type PolicyContext,
  replace,
  type SessionReader,
  type Slice,
} from '@holdfast/core';

const slices = new WeakMap<Policy, Map<string, Slice>>();
const noReducers: Slice['reducers'] = new Map();

/** The slice that holds a policy's state, made once for each policy and key; `undefined` when it keeps none. */
export function policySlice({ key, policy }: BoundPolicy): Slice | undefined {
  const { state } = policy;
  if (state === undefined) return undefined;
  let byKey = slices.get(policy);
  if (byKey === undefined) {
    byKey = new Map();
    slices.set(policy, byKey);
  }
  let slice = byKey.get(key);
  if (slice === undefined) {
    slice = Object.freeze({ id: `policy:${key}`, retention: 'state', reducers: noReducers, ...state });
    byKey.set(key, slice);
  }
  return slice;
}

/** What every policy of one call sees beside its own state. */
export interface PolicySurroundings {
  readonly session: SessionReader;
  readonly filesystem: FilesystemReader | undefined;
  readonly deadline: Deadline;
}

/** What `bound` sees: its own state read through `reader`, which shows staged changes while a call is being settled. */
export function policyContext(
  bound: BoundPolicy,
  reader: SessionReader,
  { session, filesystem, deadline }: PolicySurroundings,
): PolicyContext {
  const slice = policySlice(bound);
  return Object.freeze({ state: slice === undefined ? undefined : reader.read(slice), session, filesystem, deadline });
}

/** The operations that an answer of `onResult` stands for. What is no operation is the whole next state. */
export function toOperations(policy: Policy, answer: unknown): readonly Operation[] {
  if (answer === undefined) return [];
  if (isOperation(answer)) return [answer];
  const operations = Array.isArray(answer) && answer.every(isOperation);
  // An empty list is a state for a policy that keeps one value, and no change for one that keeps a collection.
  if (operations && (answer.length > 0 || policy.state?.kind !== 'value')) return answer;
  return [replace(answer)];
}

/** The reading side of the resource `filesystem`. */
export function readOnlyFilesystem(resources: ReadonlyMap<string, unknown>): FilesystemReader | undefined {
  const resource = resources.get('filesystem');
  // By the name's contract: whoever binds `filesystem` binds a StagedResource<Filesystem, FilesystemReader>.
  return isStagedResource(resource) ? (resource.readOnly as FilesystemReader) : undefined;
}
