import { expect, test } from 'vitest';
import { allow, append, clear, definePolicy, defineSlice, isHoldfastError, remove, replace, upsert } from '../index.ts';
import { isOperation } from '../internal.ts';

test('operations are recognised by their brand', () => {
  for (const operation of [replace(1), append(1, 2), upsert('k', 1), remove('k'), clear]) {
    expect(isOperation(operation)).toBe(true);
  }
  expect(isOperation({ op: 'clear' })).toBe(false);
});

test.each([
  () => defineSlice({ id: '', kind: 'list', reducers: {} }),
  () => defineSlice({ id: 'A b', kind: 'list', reducers: {} }),
  () => defineSlice({ id: 'a', kind: 'value', reducers: {} } as never),
])('slice.invalid %#', (make) => {
  expect(codeOf(make)).toBe('slice.invalid');
});

test.each([
  () => definePolicy({ name: 'No Spaces', check: () => allow }),
  () => definePolicy({ name: 'a', id: 'a/b', check: () => allow }),
  () => definePolicy({ name: 'a', check: undefined } as never),
  () => definePolicy({ name: 'a', id: ['b'], check: () => allow } as never),
  () => definePolicy({ name: { __proto__: null }, check: () => allow } as never),
  () => definePolicy({ name: 'a', check: () => allow, reserve: () => remove('k') } as never),
  () => definePolicy({ name: 'a', initialState: 0, check: () => allow, reserve: () => 1 } as never),
  () => definePolicy({ name: 'a', stateKind: 'list', check: () => allow, reserve: () => append(1) } as never),
  () => definePolicy({ name: 'a', stateKind: 'keyed', check: () => allow, reserve: 1 } as never),
])('policy.invalid %#', (make) => {
  expect(codeOf(make)).toBe('policy.invalid');
});

test('a policy keeps a value, a collection, or nothing', () => {
  expect(definePolicy({ name: 'a', check: () => allow }).state).toBeUndefined();
  expect(definePolicy({ name: 'a', initialState: 0, check: () => allow }).state).toMatchObject({
    kind: 'value',
    initial: 0,
  });
  expect(definePolicy({ name: 'a', stateKind: 'keyed', check: () => allow }).state).toMatchObject({ kind: 'keyed' });
  const reserve = () => remove('k');
  expect(definePolicy({ name: 'a', stateKind: 'keyed', check: () => allow, reserve }).reserve).toBe(reserve);
  expect(definePolicy({ name: 'a', stateKind: 'keyed', check: () => allow })).not.toHaveProperty('reserve');
});

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return isHoldfastError(error) ? error.code : String(error);
  }
  return undefined;
}
