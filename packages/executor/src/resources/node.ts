import type { ResourceDefinition } from '@holdfast/core';

/** A declared resource in its place, from the first request to its disposal. */
export interface ResourceNode {
  readonly definition: ResourceDefinition;
  readonly place: ResourcePlace;
  /** The resource whose `create` first requested this one, if in the same place: a session must not retain its calls. */
  readonly startedBy: ResourceNode | undefined;
  /** `completing`: unawaited dependencies are still being created; `ended`: `create` failed, or disposed. */
  state: 'making' | 'completing' | 'made' | 'ended';
  instance: unknown;
  /** Waits for this resource. */
  readonly waits: Set<ResourceWait>;
  /** Dependencies and dependents: a resource is disposed only after its dependents. */
  readonly uses: Set<ResourceNode>;
  readonly users: Set<ResourceNode>;
}

/** Holds the resources of one session or call until they are disposed. */
export interface ResourcePlace {
  /** A resource in this place has lost a dependent. */
  released(): void;
}

/** A wait for a resource, by a tool or by another resource's `create`. */
export interface ResourceWait {
  readonly asker: ResourceNode | undefined;
  readonly node: ResourceNode;
  made(): void;
  failed(error: unknown): void;
}

export function createNode(
  definition: ResourceDefinition,
  place: ResourcePlace,
  asker: ResourceNode | undefined,
): ResourceNode {
  const startedBy = asker?.place === place ? asker : undefined;
  const [waits, uses, users] = [new Set<ResourceWait>(), new Set<ResourceNode>(), new Set<ResourceNode>()];
  return { definition, place, startedBy, state: 'making', instance: undefined, waits, uses, users };
}

/** Makes `used` a dependency of `user`. */
export function connect(user: ResourceNode, used: ResourceNode): void {
  user.uses.add(used);
  used.users.add(user);
}

/** Ends a node, so that its dependencies need not outlive it. */
export function release(node: ResourceNode): void {
  node.state = 'ended';
  for (const used of node.uses) {
    used.users.delete(node);
    used.place.released();
  }
}

/**
 * The cycle, by names, that would form if `asker` got `definition`. Follows waits, because separately started resources can wait for
 * each other, and `startedBy`, because work left over by a failed `create` could restart that resource forever.
 */
export function findCycle(asker: ResourceNode, definition: ResourceDefinition): readonly string[] | undefined {
  const towardsAsker = new Map<ResourceNode, ResourceNode | undefined>([[asker, undefined]]);
  for (const node of towardsAsker.keys()) {
    // By definition, because a resource created per use never has the same node twice. All candidates are in the same place: nothing
    // requests a resource with a shorter lifetime.
    if (node.definition === definition) return toPath(node, towardsAsker);
    for (const asking of askersOf(node)) {
      if (!towardsAsker.has(asking)) towardsAsker.set(asking, node);
    }
  }
  return undefined;
}

function* askersOf({ startedBy, waits }: ResourceNode): Iterable<ResourceNode> {
  if (startedBy !== undefined) yield startedBy;
  for (const { asker } of waits) {
    if (asker !== undefined && asker.state !== 'ended') yield asker;
  }
}

function toPath(
  start: ResourceNode,
  towardsAsker: ReadonlyMap<ResourceNode, ResourceNode | undefined>,
): readonly string[] {
  const path: string[] = [];
  for (let node: ResourceNode | undefined = start; node !== undefined; node = towardsAsker.get(node)) {
    const { name } = node.definition;
    // The path may contain a leftover node and its replacement; the part between them is a cycle too.
    const before = path.indexOf(name);
    if (before !== -1) path.length = before;
    path.push(name);
  }
  return [...path, start.definition.name];
}
