import type { KeyedState } from '@holdfast/core';

const bits = 5;
const mask = 31;
// Beyond this the 32 bits of the hash are used up: the node is a plain list of leaves with equal hashes.
const lastShift = 30;

interface Leaf<Item> {
  readonly key: string;
  readonly hash: number;
  readonly item: Item;
}

interface Branch<Item> {
  /** One bit per occupied place of 32. */
  readonly bitmap: number;
  readonly slots: readonly (Leaf<Item> | Branch<Item>)[];
}

/**
 * A map whose versions share structure: setting and removing keep the old version and cost about the same at any size. Iteration order
 * depends only on the keys, except for keys with equal hashes. Source: P. Bagwell, "Ideal Hash Trees", 2001.
 */
export class PersistentMap<Item> implements KeyedState<Item> {
  readonly #size: number;
  readonly #root: Branch<Item>;

  private constructor(size: number, root: Branch<Item>) {
    this.#size = size;
    this.#root = root;
  }

  get size(): number {
    return this.#size;
  }

  static empty<Item>(): PersistentMap<Item> {
    return new PersistentMap<Item>(0, { bitmap: 0, slots: [] });
  }

  get(key: string): Item | undefined {
    return this.#find(key, hashOf(key))?.item;
  }

  has(key: string): boolean {
    return this.#find(key, hashOf(key)) !== undefined;
  }

  set(key: string, item: Item): PersistentMap<Item> {
    const hash = hashOf(key);
    const root = setIn(this.#root, 0, { key, hash, item });
    return new PersistentMap(this.#find(key, hash) === undefined ? this.size + 1 : this.size, root);
  }

  delete(key: string): PersistentMap<Item> {
    if (!this.has(key)) return this;
    return new PersistentMap(this.size - 1, deleteIn(this.#root, 0, hashOf(key), key));
  }

  *[Symbol.iterator](): Iterator<readonly [string, Item]> {
    yield* entries(this.#root);
  }

  toObject(): Record<string, Item> {
    return Object.fromEntries(this);
  }

  #find(key: string, hash: number): Leaf<Item> | undefined {
    let branch = this.#root;
    for (let shift = 0; shift <= lastShift; shift += bits) {
      const slot = branch.slots[positionOf(branch, shift, hash)];
      if (slot === undefined || (branch.bitmap & bitOf(shift, hash)) === 0) return undefined;
      if ('key' in slot) return slot.key === key ? slot : undefined;
      branch = slot;
    }
    return leavesOf(branch).find((leaf) => leaf.key === key);
  }
}

function setIn<Item>(branch: Branch<Item>, shift: number, leaf: Leaf<Item>): Branch<Item> {
  if (shift > lastShift) {
    return { bitmap: 0, slots: [...leavesOf(branch).filter(({ key }) => key !== leaf.key), leaf] };
  }
  const bit = bitOf(shift, leaf.hash);
  const position = positionOf(branch, shift, leaf.hash);
  const slot = branch.slots[position];
  if ((branch.bitmap & bit) === 0 || slot === undefined) {
    return { bitmap: branch.bitmap | bit, slots: branch.slots.toSpliced(position, 0, leaf) };
  }
  let next: Leaf<Item> | Branch<Item> = leaf;
  if (!('key' in slot)) next = setIn(slot, shift + bits, leaf);
  else if (slot.key !== leaf.key) {
    const empty: Branch<Item> = { bitmap: 0, slots: [] };
    next = setIn(setIn(empty, shift + bits, slot), shift + bits, leaf);
  }
  return { bitmap: branch.bitmap, slots: withSlot(branch.slots, position, next) };
}

function deleteIn<Item>(branch: Branch<Item>, shift: number, hash: number, key: string): Branch<Item> {
  if (shift > lastShift) return { bitmap: 0, slots: leavesOf(branch).filter((leaf) => leaf.key !== key) };
  const position = positionOf(branch, shift, hash);
  const slot = branch.slots[position];
  if (slot === undefined) return branch;
  const inner = 'key' in slot ? undefined : deleteIn(slot, shift + bits, hash, key);
  if (inner === undefined || inner.slots.length === 0) {
    return { bitmap: branch.bitmap & ~bitOf(shift, hash), slots: branch.slots.toSpliced(position, 1) };
  }
  // A single leaf moves up, so that the shape depends only on the keys.
  const [only] = inner.slots;
  const next = inner.slots.length === 1 && only !== undefined && 'key' in only ? only : inner;
  return { bitmap: branch.bitmap, slots: withSlot(branch.slots, position, next) };
}

// Copying and setting is about twice as fast as `Array.prototype.with`.
function withSlot<Slot>(slots: readonly Slot[], position: number, slot: Slot): readonly Slot[] {
  const copy = slots.slice();
  copy[position] = slot;
  return copy;
}

function bitOf(shift: number, hash: number): number {
  return 1 << ((hash >>> shift) & mask);
}

function positionOf(branch: Branch<unknown>, shift: number, hash: number): number {
  return countBits(branch.bitmap & (bitOf(shift, hash) - 1));
}

function leavesOf<Item>(branch: Branch<Item>): Leaf<Item>[] {
  return branch.slots.filter((slot) => 'key' in slot);
}

function* entries<Item>(branch: Branch<Item>): Generator<readonly [string, Item]> {
  for (const slot of branch.slots) {
    if ('key' in slot) yield [slot.key, slot.item];
    else yield* entries(slot);
  }
}

function countBits(value: number): number {
  let bitsLeft = value - ((value >>> 1) & 0x55555555);
  bitsLeft = (bitsLeft & 0x33333333) + ((bitsLeft >>> 2) & 0x33333333);
  return Math.imul((bitsLeft + (bitsLeft >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

// FNV-1a over UTF-16 units, then MurmurHash3's finalizer, so that short keys spread over all 32 bits.
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
