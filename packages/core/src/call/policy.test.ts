import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import {
  allow,
  definePolicy,
  defineTool,
  deny,
  type Json,
  type KeyedState,
  type Policy,
  type PolicyContext,
  type PolicyResult,
  type PreparedCall,
  upsert,
} from '../index.ts';
import type { ReserveContext } from './policy.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Refund.',
  inputSchema: v.object({ euros: v.number() }),
  execute: ({ euros }) => euros,
});
const other = defineTool({ name: 'other', description: 'Other.', execute: () => null });

const callOf = (tool: PreparedCall['tool'], input: Json): PreparedCall => ({ id: 'c', tool, input });
// Not used in these tests.
const context = { state: 0 } as unknown as ReserveContext<KeyedState<number>> & PolicyContext<number>;
const result = {} as PolicyResult;

test('a policy with `tools` sees only their calls, with typed input', () => {
  const small = definePolicy({
    name: 'small',
    tools: [refund],
    initialState: 0,
    check: ({ input }, { state }) => {
      expectTypeOf(input).toEqualTypeOf<{ euros: number }>();
      return input.euros + state > 100 ? deny('Too much.') : allow;
    },
    onResult: ({ input }, _result, { state }) => state + input.euros,
  });
  expectTypeOf(small).toEqualTypeOf<Policy<number>>();
  expect(small.mentions).toEqual(['refund']);
  expect(small.check(callOf(refund, { euros: 101 }), context)).toMatchObject({ type: 'deny' });
  expect(small.check(callOf(refund, { euros: 100 }), context)).toBe(allow);
  expect(small.check(callOf(other, {}), context)).toBe(allow);
  expect(small.onResult?.(callOf(refund, { euros: 5 }), result, context)).toBe(5);
  expect(small.onResult?.(callOf(other, {}), result, context)).toBeUndefined();
});

test('its `reserve` is limited to them, too', () => {
  const keeping = definePolicy({
    name: 'keeping',
    tools: [refund],
    stateKind: 'keyed',
    stateSchema: v.number(),
    check: () => allow,
    reserve: ({ input }, { callKey }) => upsert(callKey, input.euros),
  });
  expect(keeping.reserve?.(callOf(refund, { euros: 5 }), { ...context, callKey: 'k' })).toEqual(upsert('k', 5));
  expect(keeping.reserve?.(callOf(other, {}), { ...context, callKey: 'k' })).toBeUndefined();
});

test('without `tools` a policy sees every call, as JSON', () => {
  const all = definePolicy({
    name: 'all',
    check: ({ input }) => {
      expectTypeOf(input).toEqualTypeOf<Json>();
      return deny('No.');
    },
  });
  expect(all.check(callOf(other, {}), { ...context, state: undefined })).toMatchObject({ type: 'deny' });
});

test('several tools give a union, names give JSON', () => {
  definePolicy({
    name: 'two',
    tools: [refund, other],
    check: ({ input }) => {
      expectTypeOf(input).toEqualTypeOf<{ euros: number } | Record<string, never>>();
      return allow;
    },
  });
  const named = definePolicy({
    name: 'named',
    tools: ['refund'],
    mentions: ['other', 'refund'],
    check: ({ input }) => {
      expectTypeOf(input).toEqualTypeOf<Json>();
      return deny('No.');
    },
  });
  expect(named.mentions).toEqual(['refund', 'other']);
  expect(named.check(callOf(other, {}), { ...context, state: undefined })).toBe(allow);
  expect(named.check(callOf(refund, {}), { ...context, state: undefined })).toMatchObject({ type: 'deny' });
});

test.each([
  ['no tool', { tools: [] }],
  ['null', { tools: [null as unknown as typeof refund] }],
  ['a tool as a mention', { mentions: [refund as unknown as string] }],
])('policy.invalid: %s', (_what, given) => {
  expect(() => definePolicy({ name: 'wrong', check: () => allow, ...given })).toThrow(
    expect.objectContaining({ code: 'policy.invalid' }),
  );
});
