import { expect, test } from 'vitest';
import { freezeOpen, ReadOnlyMap, ReadOnlySet } from '../internal.ts';

test('a read-only map reads like a map, and cannot be changed', () => {
  const source = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  const map = new ReadOnlyMap(source);
  source.clear();
  expect([map.size, map.get('a'), map.has('b'), map.has('c')]).toEqual([2, 1, true, false]);
  expect([...map]).toEqual([...map.entries()]);
  expect([[...map.keys()], [...map.values()]]).toEqual([
    ['a', 'b'],
    [1, 2],
  ]);
  const seen: unknown[] = [];
  map.forEach((value, key, self) => void seen.push(key, value, self === map));
  expect(seen).toEqual(['a', 1, true, 'b', 2, true]);
  expect(() => Map.prototype.clear.call(map)).toThrow(TypeError);
  expect(Reflect.set(map, 'get', () => 7)).toBe(false);
  expect(map.size).toBe(2);
});

test('a read-only set reads like a set, and cannot be changed', () => {
  const set = new ReadOnlySet(['a', 'b']);
  expect([set.size, set.has('a'), set.has('c'), [...set], [...set.keys()], [...set.entries()]]).toEqual([
    2,
    true,
    false,
    ['a', 'b'],
    [...set.values()],
    [
      ['a', 'a'],
      ['b', 'b'],
    ],
  ]);
  const seen: unknown[] = [];
  set.forEach((item, same, self) => void seen.push(item === same, self === set));
  expect(seen).toEqual([true, true, true, true]);
  expect(() => Set.prototype.add.call(set, 'c')).toThrow(TypeError);
  expect(Reflect.set(set, 'has', () => true)).toBe(false);
});

test('`freezeOpen` freezes unfrozen objects and keeps frozen ones', () => {
  const inner = { deep: [1] };
  const frozen = Object.freeze({ open: {} });
  const value = freezeOpen({ inner, frozen });
  expect([value, inner, inner.deep].every((each) => Object.isFrozen(each))).toBe(true);
  expect(Object.isFrozen(frozen.open)).toBe(false);
});
