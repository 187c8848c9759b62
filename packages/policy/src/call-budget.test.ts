import { expect, test } from 'vitest';
import { callBudget } from './call-budget.ts';
import { callOf, runPolicy } from './fixtures.ts';

test.each([
  { used: 0, type: 'allow' },
  { used: 1, type: 'allow' },
  { used: 2, type: 'deny' },
  { used: 3, type: 'deny' },
])('a budget of 2 with $used used: $type', async ({ used, type }) => {
  const run = runPolicy(callBudget({ maxCalls: 2 }));
  for (let call = 0; call < used; call += 1) run.succeed(callOf('echo'));
  expect(await run.check(callOf('echo'))).toMatchObject({ type });
  expect(run.state()).toBe(used);
});

test('checking uses nothing up', async () => {
  const run = runPolicy(callBudget({ maxCalls: 1, id: 'one' }));
  for (let call = 0; call < 3; call += 1) expect(await run.check(callOf('echo'))).toMatchObject({ type: 'allow' });
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('maxCalls %s is options.invalid', (maxCalls) => {
  expect(() => callBudget({ maxCalls })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});
