import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PersistentList } from './persistent-list.ts';
import { PersistentMap } from './persistent-map.ts';

test('lists around the widths of the tree read back, and older versions stay unchanged', () => {
  let list = PersistentList.empty<number>();
  const versions = [list];
  for (let index = 0; index < 33 * 32 + 40; index += 1) {
    list = list.append(index);
    versions.push(list);
  }
  for (const size of [0, 1, 31, 32, 33, 64, 65, 1023, 1024, 1025, 1056, 1057, 1088, 1089]) {
    const version = versions[size];
    expect(version?.toArray()).toEqual(Array.from({ length: size }, (_, index) => index));
    expect(version?.at(0)).toBe(size === 0 ? undefined : 0);
    expect(version?.at(-1)).toBe(size === 0 ? undefined : size - 1);
    expect(version?.at(size)).toBeUndefined();
    expect(version?.at(-size - 1)).toBeUndefined();
  }
  for (let index = 0; index < list.size; index += 1) expect(list.at(index)).toBe(index);
});

test('a list of 40,000 items, with three levels, reads back', () => {
  let list = PersistentList.empty<number>();
  for (let index = 0; index < 40_000; index += 1) list = list.append(index);
  expect(list.at(39_999)).toBe(39_999);
  expect(list.at(32_767)).toBe(32_767);
  expect([...list].every((item, index) => item === index)).toBe(true);
});

// Two pairs of keys with equal 32-bit hashes, found by search, and ordinary ones.
const colliding = findCollision();
const keys = fc.constantFrom(
  '',
  'a',
  'b',
  '__proto__',
  'constructor',
  ...colliding,
  ...Array.from({ length: 60 }, (_, n) => `key-${n}`),
);

test('property: a map behaves like a Map, and older versions stay unchanged', () => {
  const step = fc.oneof(fc.record({ set: keys, item: fc.integer() }), fc.record({ remove: keys }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let map = PersistentMap.empty<number>();
      const model = new Map<string, number>();
      const history: [PersistentMap<number>, string][] = [];
      for (const current of steps) {
        if ('set' in current) {
          map = map.set(current.set, current.item);
          model.set(current.set, current.item);
        } else {
          map = map.delete(current.remove);
          model.delete(current.remove);
        }
        expect(map.size).toBe(model.size);
        history.push([map, contentOf(model)]);
      }
      for (const [version, content] of history) expect(contentOf(version)).toBe(content);
      for (const key of ['', 'a', '__proto__', ...colliding]) {
        expect(map.get(key)).toBe(model.get(key));
        expect(map.has(key)).toBe(model.has(key));
      }
    }),
  );
});

test('property: iteration order depends only on the keys', () => {
  const distinct = fc.uniqueArray(fc.string({ maxLength: 4 }), { maxLength: 50 });
  fc.assert(
    fc.property(distinct, distinct, (kept, dropped) => {
      const straight = kept.reduce((map, key) => map.set(key, 1), PersistentMap.empty<number>());
      let detour = [...dropped, ...kept].reverse().reduce((map, key) => map.set(key, 1), PersistentMap.empty<number>());
      for (const key of dropped) if (!kept.includes(key)) detour = detour.delete(key);
      expect([...detour]).toEqual([...straight]);
    }),
  );
});

test('10,000 keys', () => {
  let map = PersistentMap.empty<number>();
  for (let index = 0; index < 10_000; index += 1) map = map.set(`path/${index}`, index);
  expect(map.size).toBe(10_000);
  for (let index = 0; index < 10_000; index += 1) expect(map.get(`path/${index}`)).toBe(index);
  for (let index = 0; index < 10_000; index += 2) map = map.delete(`path/${index}`);
  expect(Object.keys(map.toObject())).toHaveLength(5_000);
});

function contentOf(entries: Iterable<readonly [string, number]>): string {
  return JSON.stringify([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Finds two strings with the same FNV-1a hash; the final mixing keeps them equal. */
function findCollision(): string[] {
  const seen = new Map<number, string>();
  for (let index = 0; ; index += 1) {
    const key = `c${index}`;
    let hash = 0x811c9dc5;
    for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
    const other = seen.get(hash);
    if (other !== undefined) return [other, key];
    seen.set(hash, key);
  }
}
