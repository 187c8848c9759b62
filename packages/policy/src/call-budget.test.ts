import { expect, test } from 'vitest';
import { callBudget } from './call-budget.ts';
import { some } from './combinators.ts';
import { callOf, runPolicy } from './fixtures.ts';
import { requireApproval } from './require-approval.ts';

test.each([
  { used: 0, type: 'allow' },
  { used: 1, type: 'allow' },
  { used: 2, type: 'deny' },
])('a budget of 2 with $used used: $type', async ({ used, type }) => {
  const run = runPolicy(callBudget({ maxCalls: 2 }));
  for (let call = 0; call < used; call += 1) run.succeed(callOf('echo'));
  expect(await run.check(callOf('echo'))).toMatchObject({ type });
  expect(run.state()).toBe(used);
});

test('checks do not use the budget', async () => {
  const run = runPolicy(callBudget({ maxCalls: 1, id: 'one' }));
  for (let call = 0; call < 3; call += 1) expect(await run.check(callOf('echo'))).toMatchObject({ type: 'allow' });
});

test('policy.refused: call_budget: of concurrent calls that passed the check, no more than the budget succeed', async () => {
  const run = runPolicy(callBudget({ maxCalls: 2 }));
  const calls = ['first', 'second', 'third'].map((name) => callOf(name));
  for (const call of calls) expect(await run.check(call)).toMatchObject({ type: 'allow' });
  for (const call of calls.slice(0, 2)) run.succeed(call);
  expect(() => run.succeed(calls[2] ?? callOf('none'))).toThrow(
    expect.objectContaining({
      code: 'policy.refused',
      reason: 'call_budget',
      data: { reason: 'call_budget', tool: 'third', maxCalls: 2 },
    }),
  );
  expect(run.state()).toBe(2);
});

test('a call that ran despite a denial succeeds and counts', async () => {
  const run = runPolicy(some(callBudget({ maxCalls: 1 }), requireApproval({ tools: ['deploy'] })));
  const [free, approved, late] = [callOf('deploy'), callOf('deploy'), callOf('deploy')];
  expect(await run.check(free)).toMatchObject({ type: 'allow' });
  expect(await run.check(late)).toMatchObject({ type: 'allow' });
  run.succeed(free);
  expect(await run.check(approved)).toMatchObject({ type: 'ask' });
  run.succeed(approved);
  // This call was not checked.
  expect(() => run.succeed(late)).toThrow(expect.objectContaining({ code: 'policy.refused', reason: 'call_budget' }));
  expect(run.save()).toContain('["call-budget",2]');
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('maxCalls %s is options.invalid', (maxCalls) => {
  expect(() => callBudget({ maxCalls })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});
