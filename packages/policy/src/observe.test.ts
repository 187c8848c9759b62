import { allow, ask, type Decision, definePolicy, deny, type Policy } from '@holdfast/core';
import { expect, test } from 'vitest';
import { callBudget } from './call-budget.ts';
import { every, some } from './combinators.ts';
import { callOf, resultOf, runPolicy } from './fixtures.ts';
import { observe } from './observe.ts';
import { readBeforeWrite } from './read-before-write.ts';
import { sequentialDependency } from './sequential-dependency.ts';

function answering(answer: () => unknown, name = 'p'): Policy {
  // The cast stands for an untyped policy.
  return definePolicy({ name, check: () => answer() as Decision });
}
const failing = (thrown: unknown) => () => {
  throw thrown;
};
const noted = (observed: Decision): object => ({ type: 'allow', observed });

test.each([
  { title: 'allows', answer: () => allow, answers: allow },
  { title: 'asks', answer: () => ask('May I?'), answers: noted(ask('May I?')) },
  {
    title: 'asks each time',
    answer: () => ask('May I?', { grantable: false }),
    answers: noted(ask('May I?', { grantable: false })),
  },
  { title: 'denies', answer: () => deny('No.'), answers: noted(deny('No.')) },
  { title: 'denies later', answer: async () => deny('No.'), answers: noted(deny('No.')) },
  { title: 'throws', answer: failing(new Error('broke')), answers: noted(deny('The policy failed: broke')) },
  { title: 'throws null', answer: failing(null), answers: noted(deny('The policy failed: a thrown null')) },
  {
    title: 'rejects',
    answer: () => Promise.reject(new Error('broke')),
    answers: noted(deny('The policy failed: broke')),
  },
  {
    title: 'answers nothing',
    answer: () => undefined,
    answers: noted(deny('The policy did not return a decision (`allow`, `ask` or `deny`).')),
  },
  {
    title: 'answers null',
    answer: () => null,
    answers: noted(deny('The policy did not return a decision (`allow`, `ask` or `deny`).')),
  },
  {
    title: 'answers true',
    answer: () => true,
    answers: noted(deny('The policy did not return a decision (`allow`, `ask` or `deny`).')),
  },
  {
    title: 'answers another type',
    answer: () => ({ type: 'maybe' }),
    answers: noted(deny('The policy did not return a decision (`allow`, `ask` or `deny`).')),
  },
])('a policy that $title is recorded, and the call continues', async ({ answer, answers }) => {
  expect(await runPolicy(observe(answering(answer))).check(callOf('read'))).toEqual(answers);
  expect(await runPolicy(observe(observe(answering(answer)))).check(callOf('read'))).toEqual(answers);
});

test("learns as if it were in force, with the policy's state", async () => {
  const order = sequentialDependency({ deploy: ['test'] });
  const run = runPolicy(observe(order));
  expect(await run.check(callOf('deploy'))).toMatchObject({ type: 'allow', observed: { type: 'deny' } });
  run.succeed(callOf('test'));
  expect(await run.check(callOf('deploy'))).toEqual(allow);
  const inForce = runPolicy(order);
  inForce.load(run.save());
  expect(await inForce.check(callOf('deploy'))).toEqual(allow);
  const { name, id, mentions, state } = observe(order);
  expect({ name, id, mentions, state }).toEqual({
    name: order.name,
    id: order.id,
    mentions: order.mentions,
    state: order.state,
  });
});

test('does not fail calls that the policy would fail', () => {
  const run = runPolicy(observe(callBudget({ maxCalls: 1 })));
  for (let call = 0; call < 3; call += 1) run.succeed(callOf('read'));
  expect(run.state()).toBe(1);
  const unread = resultOf({ writes: [{ key: 'a.txt', before: 'v1', after: 'v2' }] });
  expect(() => runPolicy(readBeforeWrite()).succeed(callOf('save'), unread)).toThrow(
    expect.objectContaining({ code: 'policy.refused', reason: 'read_before_write' }),
  );
  expect(() => runPolicy(observe(readBeforeWrite())).succeed(callOf('save'), unread)).not.toThrow();
  // Otherwise the calls of a message may overlap.
  expect(observe(answering(() => allow))).not.toHaveProperty('onResult');
});

const no = answering(() => deny('No.'), 'no');
const perhaps = answering(() => ask('Well?'), 'perhaps');
const yes = answering(() => allow, 'yes');

test.each([
  { title: 'every, the others allow', policy: every(observe(no), yes), answers: noted(deny('No.')) },
  { title: 'every, two observed', policy: every(observe(no), observe(perhaps)), answers: noted(deny('No.\nWell?')) },
  { title: 'every, another denies', policy: every(observe(perhaps), no), answers: deny('No.') },
  {
    title: 'every, none would refuse',
    policy: every(
      observe(yes),
      answering(() => allow, 'other'),
    ),
    answers: allow,
  },
  {
    title: 'some, nobody else allows',
    policy: some(
      observe(no),
      answering(() => deny('No.'), 'other'),
    ),
    answers: noted(deny('No.\nNo.')),
  },
  { title: 'some, another asks', policy: some(observe(no), perhaps), answers: noted(ask('No.\nWell?')) },
  { title: 'some, another allows', policy: some(observe(no), yes), answers: allow },
])('a part of $title', async ({ policy, answers }) => {
  expect(await runPolicy(policy).check(callOf('read'))).toEqual(answers);
});
