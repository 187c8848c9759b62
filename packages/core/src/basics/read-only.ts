/** An immutable map, even through `Map.prototype`; `Object.freeze` does not protect a map's content. */
export class ReadOnlyMap<Key, Value> implements ReadonlyMap<Key, Value> {
  readonly #map: Map<Key, Value>;

  constructor(entries: Iterable<readonly [Key, Value]> = []) {
    this.#map = new Map(entries);
    Object.freeze(this);
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key);
  }

  has(key: Key): boolean {
    return this.#map.has(key);
  }

  forEach(visit: (value: Value, key: Key, map: ReadonlyMap<Key, Value>) => void): void {
    for (const [key, value] of this.#map) visit(value, key, this);
  }

  keys(): MapIterator<Key> {
    return this.#map.keys();
  }

  values(): MapIterator<Value> {
    return this.#map.values();
  }

  entries(): MapIterator<[Key, Value]> {
    return this.#map.entries();
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#map.entries();
  }
}

/** An immutable set. */
export class ReadOnlySet<Item> implements ReadonlySet<Item> {
  readonly #set: Set<Item>;

  constructor(items: Iterable<Item>) {
    this.#set = new Set(items);
    Object.freeze(this);
  }

  get size(): number {
    return this.#set.size;
  }

  has(item: Item): boolean {
    return this.#set.has(item);
  }

  forEach(visit: (item: Item, same: Item, set: ReadonlySet<Item>) => void): void {
    for (const item of this.#set) visit(item, item, this);
  }

  keys(): SetIterator<Item> {
    return this.#set.values();
  }

  values(): SetIterator<Item> {
    return this.#set.values();
  }

  entries(): SetIterator<[Item, Item]> {
    return this.#set.entries();
  }

  [Symbol.iterator](): SetIterator<Item> {
    return this.#set.values();
  }
}
