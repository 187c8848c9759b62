import type { ListState } from '@holdfast/core';

const bits = 5;
const width = 1 << bits;
const mask = width - 1;

type Node<Item> = readonly Node<Item>[] | readonly Item[];

/**
 * A list whose versions share structure: appending keeps the old version and costs the same at any length.
 * Items are in a tree of 32-wide nodes, the last 32 at most in a tail. Source: P. Bagwell's array mapped tries, as in Clojure's vectors.
 */
export class PersistentList<Item> implements ListState<Item> {
  readonly #size: number;
  readonly #shift: number;
  readonly #root: readonly Node<Item>[];
  readonly #tail: readonly Item[];

  private constructor(size: number, shift: number, root: readonly Node<Item>[], tail: readonly Item[]) {
    this.#size = size;
    this.#shift = shift;
    this.#root = root;
    this.#tail = tail;
  }

  get size(): number {
    return this.#size;
  }

  static empty<Item>(): PersistentList<Item> {
    return new PersistentList<Item>(0, bits, [], []);
  }

  append(item: Item): PersistentList<Item> {
    if (this.#tail.length < width) {
      return new PersistentList(this.size + 1, this.#shift, this.#root, [...this.#tail, item]);
    }
    const full = this.size - width === 1 << (this.#shift + bits);
    const shift = full ? this.#shift + bits : this.#shift;
    const root = full
      ? [this.#root, path(this.#shift, this.#tail)]
      : push(this.#root, shift, this.size - width, this.#tail);
    return new PersistentList(this.size + 1, shift, root, [item]);
  }

  at(index: number): Item | undefined {
    const position = index < 0 ? this.size + index : index;
    if (!Number.isInteger(position) || position < 0 || position >= this.size) return undefined;
    const tailStart = this.size - this.#tail.length;
    if (position >= tailStart) return this.#tail[position - tailStart];
    let node: Node<Item> = this.#root;
    // Levels above the leaf hold nodes, the leaf holds items.
    for (let shift = this.#shift; shift > 0; shift -= bits) node = node[(position >>> shift) & mask] as Node<Item>;
    return (node as readonly Item[])[position & mask];
  }

  *[Symbol.iterator](): Iterator<Item> {
    yield* leaves<Item>(this.#root, this.#shift);
    yield* this.#tail;
  }

  toArray(): Item[] {
    return [...this];
  }
}

function path<Item>(shift: number, leaf: readonly Item[]): Node<Item> {
  return shift === 0 ? leaf : [path(shift - bits, leaf)];
}

function push<Item>(
  node: readonly Node<Item>[],
  shift: number,
  index: number,
  leaf: readonly Item[],
): readonly Node<Item>[] {
  const slot = (index >>> shift) & mask;
  const child = node[slot] as readonly Node<Item>[] | undefined;
  const copy = [...node];
  if (shift === bits) copy[slot] = leaf;
  else copy[slot] = child === undefined ? path(shift - bits, leaf) : push(child, shift - bits, index, leaf);
  return copy;
}

function* leaves<Item>(node: Node<Item>, shift: number): Generator<Item> {
  if (shift === 0) {
    yield* node as readonly Item[];
    return;
  }
  for (const child of node as readonly Node<Item>[]) yield* leaves(child, shift - bits);
}
