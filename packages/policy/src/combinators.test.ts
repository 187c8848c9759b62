import {
  allow,
  append,
  ask,
  clear,
  type Decision,
  definePolicy,
  deny,
  type Json,
  type Operation,
  type Policy,
  remove,
  replace,
  upsert,
} from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callBudget } from './call-budget.ts';
import { every, some } from './combinators.ts';
import { callOf, type PolicyRun, runPolicy } from './fixtures.ts';
import { sequentialDependency } from './sequential-dependency.ts';

const answers = { allow, ask: ask('Asks.'), deny: deny('Denies.') } as const;
type Answer = keyof typeof answers;

function saying(id: string, answer: Answer): Policy {
  return definePolicy({ name: 'fixed', id, check: () => answers[answer] });
}

test.each<{ parts: Answer[]; all: Decision; one: Decision }>([
  { parts: ['allow'], all: allow, one: allow },
  { parts: ['ask'], all: ask('Asks.'), one: ask('Asks.') },
  { parts: ['deny'], all: deny('Denies.'), one: deny('Denies.') },
  { parts: ['allow', 'ask'], all: ask('Asks.'), one: allow },
  { parts: ['ask', 'allow'], all: ask('Asks.'), one: allow },
  { parts: ['allow', 'deny'], all: deny('Denies.'), one: allow },
  { parts: ['ask', 'deny'], all: deny('Asks.\nDenies.'), one: ask('Asks.\nDenies.') },
  { parts: ['deny', 'ask'], all: deny('Denies.\nAsks.'), one: ask('Denies.\nAsks.') },
  { parts: ['deny', 'deny'], all: deny('Denies.\nDenies.'), one: deny('Denies.\nDenies.') },
  { parts: ['deny', 'ask', 'allow'], all: deny('Denies.\nAsks.'), one: allow },
])('of $parts every answers $all.type, some $one.type', async ({ parts, all, one }) => {
  const policies = parts.map((answer, index) => saying(`p${index}`, answer));
  expect(await runPolicy(every(...policies)).check(callOf('echo'))).toEqual(all);
  expect(await runPolicy(some(...policies)).check(callOf('echo'))).toEqual(one);
});

test.each([
  { parts: [ask('A'), ask('B')], grantable: true },
  { parts: [ask('A'), ask('B', { grantable: false })], grantable: false },
  { parts: [ask('A', { grantable: false }), ask('B', { grantable: true })], grantable: false },
])('a combination keeps an ask ungrantable: $parts', async ({ parts, grantable }) => {
  const policies = parts.map((answer, index) => definePolicy({ name: 'fixed', id: `p${index}`, check: () => answer }));
  for (const combined of [every(...policies), some(...policies), every(some(...policies))]) {
    expect(await runPolicy(combined).check(callOf('echo'))).toEqual(ask('A\nB', { grantable }));
  }
});

test('is named after its parts and mentions their tools', () => {
  const order = sequentialDependency({ build: ['lint'] });
  expect(every(order, callBudget({ maxCalls: 1 }))).toMatchObject({
    name: 'every',
    id: 'every-sequential-dependency-call-budget',
    mentions: ['build', 'lint'],
    state: { kind: 'keyed' },
  });
  expect(some(saying('a', 'allow'), saying('b', 'deny'))).toMatchObject({ id: 'some-a-b', state: undefined });
  expect(every(...Array.from({ length: 30 }, (_, index) => saying(`part-${index}`, 'allow'))).id).toHaveLength(64);
});

test('parts keep their own state, also nested', async () => {
  const order = sequentialDependency({ build: ['lint'] });
  const run = runPolicy(some(every(order, callBudget({ maxCalls: 2 })), saying('never', 'deny')));
  expect(await run.check(callOf('build'))).toMatchObject({ type: 'deny' });
  run.succeed(callOf('lint'));
  expect(await run.check(callOf('build'))).toMatchObject({ type: 'allow' });
  run.succeed(callOf('build'));
  expect(await run.check(callOf('build'))).toEqual(deny('All 2 calls of this session are used.\nDenies.'));
  const saved = run.save();
  const reopened = runPolicy(some(every(order, callBudget({ maxCalls: 3 })), saying('never', 'deny')));
  reopened.load(saved);
  expect(await reopened.check(callOf('build'))).toMatchObject({ type: 'allow' });
});

test('every part sees every success, including a stateless part that vetoes it', () => {
  const veto = definePolicy({
    name: 'veto',
    check: () => allow,
    onResult: () => {
      throw new Error('not this one');
    },
  });
  expect(() => runPolicy(some(saying('a', 'allow'), veto)).succeed(callOf('echo'))).toThrow('not this one');
});

test('a throwing part denies, whatever the others return', async () => {
  const broken = definePolicy({
    name: 'broken',
    check: () => {
      throw new Error('broken part');
    },
  });
  await expect(runPolicy(some(saying('a', 'allow'), broken)).check(callOf('echo'))).rejects.toThrow('broken part');
});

test.each([undefined, null, true, { type: 'maybe' }])(
  'policy.invalid: decision.invalid: a part that returns %j',
  async (answer) => {
    // The cast stands for an untyped policy.
    const odd = definePolicy({ name: 'odd', check: () => answer as unknown as Decision });
    for (const combined of [every(odd), some(saying('a', 'allow'), odd)]) {
      await expect(runPolicy(combined).check(callOf('echo'))).rejects.toMatchObject({
        code: 'policy.invalid',
        reason: 'decision.invalid',
      });
    }
  },
);

test('rejects missing parts and duplicate ids', () => {
  expect(() => every()).toThrow(expect.objectContaining({ code: 'options.invalid' }));
  expect(() => some(callBudget({ maxCalls: 1 }), callBudget({ maxCalls: 2 }))).toThrow(
    expect.objectContaining({
      code: 'policy.invalid',
      reason: 'key.duplicate',
      data: { reason: 'key.duplicate', id: 'call-budget' },
    }),
  );
});

// Policies whose `onResult` returns the test's current value, by the kind of their state.
const scripts = new Map<string, unknown>();
const scripted = (key: string): unknown => scripts.get(key);
const parts = {
  value: (): Policy =>
    definePolicy<Json>({
      name: 'value',
      initialState: 'start',
      check: () => allow,
      onResult: () => scripted('value') as Json,
    }),
  list: (): Policy =>
    definePolicy<Json>({
      name: 'list',
      stateKind: 'list',
      check: () => allow,
      onResult: () => scripted('list') as Operation[],
    }),
  keyed: (): Policy =>
    definePolicy<Json>({
      name: 'keyed',
      stateKind: 'keyed',
      check: () => allow,
      onResult: () => scripted('keyed') as Operation[],
    }),
};
const kinds = ['value', 'list', 'keyed'] as const;

/** A state as plain data, with its size if it has one. */
function look(state: unknown): unknown {
  if (typeof state !== 'object' || state === null || !(Symbol.iterator in state) || !('size' in state)) return state;
  return { size: state.size, items: [...(state as Iterable<unknown>)] };
}

test('for any operations, the parts of a combination see the same state as alone', async () => {
  const item = fc.integer({ min: 0, max: 9 });
  const key = fc.constantFrom('a', 'b', '__proto__', 'x/y');
  const operation = {
    value: fc.oneof(
      item.map((value) => replace(value)),
      fc.constant(clear),
    ),
    list: fc.oneof(
      fc.array(item).map((items) => append(...items)),
      fc.array(item).map((items) => replace(items)),
      fc.constant(clear),
    ),
    keyed: fc.oneof(
      fc.tuple(key, item).map(([name, value]) => upsert(name, value)),
      key.map((name) => remove(name)),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), item, { noNullPrototype: true }).map((value) => replace(value)),
      fc.constant(clear),
    ),
  };
  const success = fc.record({
    value: fc.option(fc.array(operation.value, { maxLength: 3, minLength: 1 }), { nil: undefined }),
    list: fc.option(fc.array(operation.list, { maxLength: 3 }), { nil: undefined }),
    keyed: fc.option(fc.array(operation.keyed, { maxLength: 4 }), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(success), async (successes) => {
      const seen = new Map<string, unknown>();
      const watch = (policy: Policy): Policy => ({
        ...policy,
        check(_call, { state }) {
          seen.set(policy.id, look(state));
          return allow;
        },
      });
      const alone = kinds.map((kind): [string, PolicyRun] => [kind, runPolicy(parts[kind]())]);
      const together = runPolicy(every(...kinds.map((kind) => watch(parts[kind]()))));
      for (const step of successes) {
        for (const kind of kinds) scripts.set(kind, step[kind]);
        together.succeed(callOf('echo'));
        await together.check(callOf('echo'));
        for (const [kind, run] of alone) {
          run.succeed(callOf('echo'));
          expect([kind, seen.get(kind)]).toEqual([kind, look(run.state())]);
        }
      }
    }),
  );
});

test('collections of a part support all ways of reading', async () => {
  scripts.set('list', [append('x', 'y', 'z')]);
  scripts.set('keyed', [upsert('a', 1), upsert('b', 2)]);
  const reads: unknown[] = [];
  const list: Policy = definePolicy<Json>({
    name: 'list',
    stateKind: 'list',
    check(_call, { state }) {
      reads.push([state.at(0), state.at(-1), state.at(3), state.at(-4), state.toArray()]);
      return allow;
    },
    onResult: () => scripted('list') as Operation[],
  });
  const keyed: Policy = definePolicy<Json>({
    name: 'keyed',
    stateKind: 'keyed',
    check(_call, { state }) {
      reads.push([state.get('a'), state.has('a'), state.get('z'), state.has('z'), state.toObject()]);
      return allow;
    },
    onResult: () => scripted('keyed') as Operation[],
  });
  const run = runPolicy(every(list, keyed));
  run.succeed(callOf('echo'));
  await run.check(callOf('echo'));
  expect(reads).toEqual([
    ['x', 'z', undefined, undefined, ['x', 'y', 'z']],
    [1, true, undefined, false, { a: 1, b: 2 }],
  ]);
});

test('a part may return its next value directly', async () => {
  for (const value of ['next', [], ['a'], null]) {
    scripts.set('value', value);
    const run = runPolicy(every(parts.value()));
    run.succeed(callOf('echo'));
    expect(run.save()).toBe(JSON.stringify([['value', value]]));
  }
});

test.each<{ kind: (typeof kinds)[number] | 'none'; update: unknown }>([
  { kind: 'value', update: [append(1)] },
  { kind: 'value', update: upsert('a', 1) },
  { kind: 'list', update: upsert('a', 1) },
  { kind: 'list', update: replace({ a: 1 }) },
  { kind: 'list', update: ['not an operation'] },
  { kind: 'keyed', update: append(1) },
  { kind: 'keyed', update: replace([1]) },
  { kind: 'keyed', update: { a: 1 } },
  { kind: 'none', update: replace(1) },
  { kind: 'none', update: 1 },
])('$update for a state of kind $kind is slice.invalid: operation.invalid', ({ kind, update }) => {
  scripts.set(kind, update);
  const part =
    kind === 'none'
      ? definePolicy({ name: 'none', check: () => allow, onResult: () => scripted('none') as undefined })
      : parts[kind]();
  expect(() => runPolicy(every(part)).succeed(callOf('echo'))).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'operation.invalid' }),
  );
});
