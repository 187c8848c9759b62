import { definePolicy, deny, type PreparedCall } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { callBudget } from './call-budget.ts';
import { callOf, runPolicy } from './fixtures.ts';
import { requireApproval } from './require-approval.ts';
import { sequentialDependency } from './sequential-dependency.ts';
import { denyTools } from './tool-lists.ts';
import { unless } from './unless.ts';

const isDryRun = ({ input }: PreparedCall): boolean => isPlainObject(input) && input['dryRun'] === true;

test.each([
  { title: 'an exempt call', input: { dryRun: true }, type: 'allow' },
  { title: 'any other', input: { dryRun: false }, type: 'ask' },
  { title: 'what is nearly exempt', input: { dryRun: 'true' }, type: 'ask' },
])('$title: $type', async ({ input, type }) => {
  const run = runPolicy(unless(isDryRun, requireApproval({ tools: ['deploy'] })));
  expect(await run.check(callOf('deploy', input))).toMatchObject({ type });
});

test('only true exempts', async () => {
  // The casts stand for an untyped host.
  for (const answer of [undefined, null, 1, 'yes', {}, Promise.resolve(true)]) {
    const run = runPolicy(unless(() => answer as unknown as boolean, denyTools(['wipe'])));
    expect(await run.check(callOf('wipe'))).toMatchObject({ type: 'deny' });
  }
});

test('errors are thrown, which denies the call', async () => {
  const broken = unless(
    () => {
      throw new Error('broke');
    },
    denyTools(['wipe']),
  );
  await expect(runPolicy(broken).check(callOf('wipe'))).rejects.toThrow('broke');
});

test('the policy learns from exempt calls without failing them', async () => {
  const run = runPolicy(unless(isDryRun, callBudget({ maxCalls: 1 })));
  const exempt = callOf('deploy', { dryRun: true });
  for (const used of [1, 1, 1]) {
    expect(await run.check(exempt)).toMatchObject({ type: 'allow' });
    run.succeed(exempt);
    expect(run.state()).toBe(used);
  }
  expect(await run.check(callOf('deploy'))).toMatchObject({ type: 'deny' });
  const late = callOf('deploy', { dryRun: false });
  expect(() => run.succeed({ ...late })).toThrow(
    expect.objectContaining({ code: 'policy.refused', reason: 'call_budget' }),
  );
});

test("keeps the policy's name, id, tools and state", () => {
  const inner = sequentialDependency({ deploy: ['test'] }, { id: 'order' });
  const { name, id, mentions, state } = unless(isDryRun, inner);
  expect({ name, id, mentions, state }).toEqual({
    name: inner.name,
    id: inner.id,
    mentions: inner.mentions,
    state: inner.state,
  });
  expect(unless(isDryRun, inner).onResult).toBeDefined();
  // Otherwise the calls of a message may overlap.
  expect(unless(isDryRun, definePolicy({ name: 'no', check: () => deny('no') }))).not.toHaveProperty('onResult');
});

test('options.invalid: not a function', () => {
  expect(() => unless(true as unknown as () => boolean, denyTools(['wipe']))).toThrow(
    expect.objectContaining({ code: 'options.invalid' }),
  );
});
