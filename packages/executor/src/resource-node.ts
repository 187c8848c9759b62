import type { ResourceDefinition } from '@holdfast/core';

/** A declared resource in its place, from the moment when it is first asked for until it has been disposed of. */
export interface ResourceNode {
  readonly definition: ResourceDefinition;
  readonly place: ResourcePlace;
  /** `completing` while what it asked for without waiting is made; `ended` when `create` failed, or after it was disposed of. */
  state: 'making' | 'completing' | 'made' | 'ended';
  instance: unknown;
  /** Those who wait for it to be made. */
  readonly waits: Set<ResourceWait>;
  /** What it was given, and those it was given to: nothing is disposed of before what was built from it. */
  readonly uses: Set<ResourceNode>;
  readonly users: Set<ResourceNode>;
}

/** Where resources of one session or of one call live until they are disposed of. */
export interface ResourcePlace {
  /** Something that lives here has one user less. */
  released(): void;
}

/** Somebody who waits for a resource: a tool, or the making of another resource. */
export interface ResourceWait {
  readonly asker: ResourceNode | undefined;
  readonly node: ResourceNode;
  made(): void;
  failed(error: unknown): void;
}

export function createNode(definition: ResourceDefinition, place: ResourcePlace): ResourceNode {
  const [waits, uses, users] = [new Set<ResourceWait>(), new Set<ResourceNode>(), new Set<ResourceNode>()];
  return { definition, place, state: 'making', instance: undefined, waits, uses, users };
}

/** `user` is built from `used`. */
export function connect(user: ResourceNode, used: ResourceNode): void {
  user.uses.add(used);
  used.users.add(user);
}

/** Ends a node: what it was built from no longer has to outlive it. */
export function release(node: ResourceNode): void {
  node.state = 'ended';
  for (const used of node.uses) {
    used.users.delete(node);
    used.place.released();
  }
}

/**
 * The way round, by names, that would close if `asker` waited for `definition` in `place`: from it through those who wait for
 * each other to `asker` and back. It is looked for among the waits, not on one path of construction, because two constructions
 * that were started on their own may wait for each other too.
 */
export function findCycle(
  asker: ResourceNode,
  definition: ResourceDefinition,
  place: ResourcePlace,
): readonly string[] | undefined {
  const towardsAsker = new Map<ResourceNode, ResourceNode | undefined>([[asker, undefined]]);
  for (const node of towardsAsker.keys()) {
    // By definition, not by node: a resource that is made for each use is never the same node twice.
    if (node.definition === definition && node.place === place) return toPath(node, towardsAsker);
    for (const { asker: waiting } of node.waits) {
      if (waiting !== undefined && waiting.state !== 'ended' && !towardsAsker.has(waiting)) {
        towardsAsker.set(waiting, node);
      }
    }
  }
  return undefined;
}

function toPath(
  start: ResourceNode,
  towardsAsker: ReadonlyMap<ResourceNode, ResourceNode | undefined>,
): readonly string[] {
  const path: string[] = [];
  for (let node: ResourceNode | undefined = start; node !== undefined; node = towardsAsker.get(node)) {
    path.push(node.definition.name);
  }
  return [...path, start.definition.name];
}
