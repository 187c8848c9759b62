import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { copyJson, deepFreeze } from '../internal.ts';

test('property: JSON is copied whole, frozen all the way down, and shares nothing that can change', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      fc.pre(!JSON.stringify(value).includes('"__proto__"'));
      const copied = copyJson(value);
      if (!copied.ok) return expect.unreachable(copied.problem);
      expect(JSON.stringify(copied.value)).toBe(JSON.stringify(value));
      expect(thawedParts(copied.value)).toEqual([]);
    }),
  );
});

// A class that extends null.
const Base = class {};
Object.setPrototypeOf(Base.prototype, null);

const throwing = {
  get a() {
    throw new Error('trap');
  },
};

test.each([
  { value: [[1]], limits: { maxDepth: 1 }, reason: 'depth' },
  { value: JSON.parse('{"__proto__":1}'), limits: {}, reason: 'key' },
  { value: { a: 1, b: { c: 1 } }, limits: { maxKeys: 2 }, reason: 'size' },
  { value: ['abc', 'def'], limits: { maxLength: 7 }, reason: 'size' },
  { value: { abcdef: 'g' }, limits: { maxLength: 7 }, reason: 'size' },
  { value: [() => 1], limits: {}, reason: 'type' },
])('refused for its $reason: $limits', ({ value, limits, reason }) => {
  expect(copyJson(value, limits)).toMatchObject({ ok: false, reason });
});

test('exactly the limits are allowed', () => {
  expect(copyJson(['abc', { d: 'e' }], { maxDepth: 2, maxKeys: 1, maxLength: 11 })).toMatchObject({ ok: true });
});

test('freezing continues below frozen objects, and ends in a cycle', () => {
  const inner = { list: [1] };
  const outer = Object.freeze({ inner });
  deepFreeze(outer);
  expect([Object.isFrozen(inner), Object.isFrozen(inner.list)]).toEqual([true, true]);
  const circle: { self?: unknown; list: number[] } = { list: [] };
  circle.self = Object.freeze({ circle });
  deepFreeze(Object.freeze(circle));
  expect(Object.isFrozen(circle.list)).toBe(true);
});

test.each([
  [undefined, '`value` is undefined'],
  [{ a: undefined }, '`a` is undefined'],
  [{ a: [1, () => 1] }, '`a[1]` is of type function'],
  [10n, '`value` is of type bigint'],
  [Number.NaN, '`value` is NaN'],
  [{ a: { b: Number.POSITIVE_INFINITY } }, '`a.b` is Infinity'],
  [new Date(0), '`value` is not a plain object'],
  [new Map(), '`value` is not a plain object'],
  [new Base(), '`value` is not a plain object'],
  [runInNewContext('new Map()'), '`value` is not a plain object'],
  [runInNewContext('new (class {})()'), '`value` is not a plain object'],
  [JSON.parse('{"a":{"__proto__":1}}'), '`a.__proto__` is a reserved key'],
  [throwing, 'a property cannot be read: trap'],
  [[[{ a: [undefined] }]], '`[0][0].a[0]` is undefined'],
])('refused %#', (value, problem) => {
  expect(copyJson(value)).toMatchObject({ ok: false, problem });
});

test('an object of another realm is accepted', () => {
  expect(copyJson(runInNewContext('({ a: [{ b: 1 }] })'))).toEqual({ ok: true, value: { a: [{ b: 1 }] } });
});

test('a property is read once, and a symbol key is left out', () => {
  let reads = 0;
  const value = {
    get a() {
      reads += 1;
      return reads;
    },
    [Symbol('s')]: 1,
  };
  expect(copyJson(value)).toEqual({ ok: true, value: { a: 1 } });
  expect(reads).toBe(1);
});

test('nesting is limited, so that cycles end, too', () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  expect(copyJson(cycle)).toMatchObject({ ok: false, problem: expect.stringContaining('nested too deeply') });
  expect(copyJson([[[]]], { maxDepth: 3 })).toMatchObject({ ok: true });
  expect(copyJson([[[[]]]], { maxDepth: 3 })).toMatchObject({ ok: false });
});

test('deepFreeze freezes nested parts', () => {
  expect(thawedParts(deepFreeze({ a: [{ b: {} }] }))).toEqual([]);
});

function thawedParts(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return [...(Object.isFrozen(value) ? [] : [value]), ...Object.values(value).flatMap(thawedParts)];
}
