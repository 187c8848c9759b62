import type { ResourceDefinition } from '@holdfast/core';

/** A declared resource in its place, from the moment when it is first asked for until it has been disposed of. */
export interface ResourceNode {
  readonly definition: ResourceDefinition;
  readonly place: ResourcePlace;
  /** The one whose `create` asked for this one when it was not there. Of the same place: a session has to forget its calls. */
  readonly startedBy: ResourceNode | undefined;
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

export function createNode(
  definition: ResourceDefinition,
  place: ResourcePlace,
  asker: ResourceNode | undefined,
): ResourceNode {
  const startedBy = asker?.place === place ? asker : undefined;
  const [waits, uses, users] = [new Set<ResourceWait>(), new Set<ResourceNode>(), new Set<ResourceNode>()];
  return { definition, place, startedBy, state: 'making', instance: undefined, waits, uses, users };
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
 * The way round, by names, that would close if `asker` got `definition`: from that one through those who asked for each
 * other to `asker` and back. It is looked for among those who wait for each other, because two constructions that were started on
 * their own may do so too, and among those who started each other, because what a failed `create` has left under way would start
 * that one again, and so on for ever.
 */
export function findCycle(asker: ResourceNode, definition: ResourceDefinition): readonly string[] | undefined {
  const towardsAsker = new Map<ResourceNode, ResourceNode | undefined>([[asker, undefined]]);
  for (const node of towardsAsker.keys()) {
    // By definition, not by node: a resource that is made for each use is never the same node twice. All that are found live in the
    // same place, because nothing asks for what lives shorter.
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
    // A node that a failed one has left under way, and one in its place, may both be met: what lies between them is a way round too.
    const before = path.indexOf(name);
    if (before !== -1) path.length = before;
    path.push(name);
  }
  return [...path, start.definition.name];
}
