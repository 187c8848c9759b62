import type { Json } from '@holdfast/core';
import { expect, test } from 'vitest';
import { findDifference, type JsonDifference } from './json-difference.ts';

interface Trial {
  readonly left: Json;
  readonly right: Json;
  readonly found: JsonDifference | undefined;
}

test.each<Trial>([
  { left: 1, right: 1, found: undefined },
  { left: 0, right: -0, found: undefined },
  { left: { a: 1, b: 2 }, right: { b: 2, a: 1 }, found: undefined },
  { left: 'a', right: 'b', found: { path: 'value', left: 'a', right: 'b' } },
  { left: [1, 2], right: [1], found: { path: 'value[1]', left: 2, right: undefined } },
  { left: [1], right: [1, 2], found: { path: 'value[1]', left: undefined, right: 2 } },
  { left: { a: [{ b: 1 }] }, right: { a: [{ b: null }] }, found: { path: 'value.a[0].b', left: 1, right: null } },
  { left: { 'a b': 1 }, right: {}, found: { path: 'value["a b"]', left: 1, right: undefined } },
  { left: {}, right: { toString: 1 }, found: { path: 'value.toString', left: undefined, right: 1 } },
  { left: [], right: {}, found: { path: 'value', left: [], right: {} } },
  { left: {}, right: null, found: { path: 'value', left: {}, right: null } },
])('$left and $right: $found', ({ left, right, found }) => {
  expect(findDifference(left, right)).toEqual(found);
});
