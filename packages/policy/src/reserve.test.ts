import {
  allow,
  clear,
  definePack,
  definePolicy,
  defineTool,
  deny,
  type Policy,
  remove,
  replace,
  type Tool,
  upsert,
} from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { every, some } from './combinators.ts';
import { callOf, runPolicy } from './fixtures.ts';
import { observe } from './observe.ts';
import { packPolicies } from './pack-policies.ts';
import { requireApproval } from './require-approval.ts';
import { unless } from './unless.ts';

const pay = callOf('pay');
const doubts = (id = 'doubts', reserve: () => unknown = () => undefined): Policy =>
  definePolicy<number>({
    name: 'doubts',
    id,
    stateKind: 'keyed',
    check: (_call, { state }) => (state.size < 2 ? allow : deny('Too many doubts.')),
    reserve: (_call, { state, callKey }) => (reserve() as undefined) ?? upsert(callKey, state.size),
  });
const broke = (): never => {
  throw new Error('broke');
};
const pack = definePack({
  name: 'doubting',
  version: '1.0.0',
  description: 'Counts doubts.',
  configSchema: jsonSchema<object>({ type: 'object' }),
  presets: {
    recommended: { description: 'Counts.', config: {} },
    strict: { description: 'Counts as well.', config: {} },
  },
  policies: () => [doubts()],
});
const [ofPack] = packPolicies(pack) as [Policy];

test.each<{ title: string; policy: Policy; prefix?: string; denies?: boolean }>([
  { title: 'the policy alone', policy: doubts() },
  { title: 'observe', policy: observe(doubts()), denies: false },
  { title: 'unless, for a call that is not exempt', policy: unless(() => false, doubts()) },
  { title: 'unless, for one that is', policy: unless(() => true, doubts()), denies: false },
  { title: 'a pack', policy: ofPack },
  { title: 'every', policy: every(requireApproval({ tools: ['other'] }), doubts()), prefix: 'doubts/' },
  { title: 'some', policy: some(doubts('other'), doubts()), prefix: 'doubts/' },
])("$title: reservations are in the policy's state", async ({ policy, prefix = '', denies = true }) => {
  const run = runPolicy(policy);
  run.doubt(pay, 's/a');
  expect(await run.check(pay)).toMatchObject({ type: 'allow' });
  run.doubt(pay, 's/b');
  const state = Object.fromEntries(JSON.parse(run.save()) as [string, number][]);
  expect(state).toMatchObject({ [`${prefix}s/a`]: 0, [`${prefix}s/b`]: 1 });
  expect(await run.check(pay)).toMatchObject({ type: denies ? 'deny' : 'allow' });
});

test('what counts failures still does in any wrapping', () => {
  const counting: Policy = { ...doubts(), countsFailures: true };
  const [packed] = packPolicies({ ...pack, policies: () => [counting] });
  for (const policy of [observe(counting), unless(() => true, counting), every(counting), some(counting), packed])
    expect(policy).toMatchObject({ countsFailures: true });
  for (const policy of [observe(doubts()), every(doubts()), ofPack])
    expect(policy).not.toHaveProperty('countsFailures');
});

test('of the parts, only those that count failures reserve for a tool that only reads', () => {
  const look = defineTool({ name: 'look', description: 'Looks.', effects: 'none', execute: () => 1 });
  const run = runPolicy(every(doubts(), { ...doubts('counting'), countsFailures: true }));
  run.doubt({ ...pay, tool: look as Tool }, 's/a');
  expect(JSON.parse(run.save())).toEqual([['counting/s/a', 0]]);
});

test('without a reserving part there is no `reserve`', () => {
  const plain = requireApproval({ tools: ['pay'] });
  for (const policy of [every(plain), some(plain), observe(plain), unless(() => true, plain)]) {
    expect(policy).not.toHaveProperty('reserve');
  }
});

test('an observed or exempt policy fails no call', () => {
  const failing = doubts('doubts', broke);
  expect(() => runPolicy(failing).doubt(pay, 'k')).toThrow('broke');
  expect(() => runPolicy(unless(() => false, failing)).doubt(pay, 'k')).toThrow('broke');
  expect(() => runPolicy(every(failing)).doubt(pay, 'k')).toThrow('broke');
  for (const policy of [observe(failing), unless(() => true, failing)]) {
    const run = runPolicy(policy);
    run.doubt(pay, 'k');
    expect(run.save()).toBe('[]');
  }
});

test.each([() => clear, () => replace({ k: 1 }), () => [remove('k'), clear], () => 7])(
  'a part may only set and remove single items, %#',
  (reserve) => {
    expect(() => runPolicy(every(doubts('doubts', reserve))).doubt(pay, 'k')).toThrow(
      expect.objectContaining({ code: 'slice.invalid', reason: 'operation.invalid' }),
    );
  },
);

test('a handmade part with another kind of state reserves nothing', () => {
  const odd = {
    name: 'odd',
    id: 'odd',
    mentions: [],
    state: undefined,
    check: () => allow,
    reserve: () => upsert('k', 1),
  };
  expect(() => runPolicy(every(odd)).doubt(pay, 'k')).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'operation.invalid' }),
  );
});
