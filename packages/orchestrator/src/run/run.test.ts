import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { markChecked } from '../check/plan.ts';
import { check, planOf, testTools } from '../check/test-plans.ts';
import { type CheckedPlan, runPlan } from '../index.ts';

test('nodes in a cycle, which no check accepts, are reported instead of waiting forever', async () => {
  const found = await check(
    planOf({ id: 'a', tool: 'p' }, { id: 'b', tool: 'p', depends_on: ['a'] }, { id: 'c', tool: 'p' }),
  );
  if (found.type !== 'valid') throw new Error(`The plan is ${found.type}.`);
  const { plan } = found.checked;
  const [a, b, c] = plan.nodes;
  const cyclic = { ...found.checked, plan: { ...plan, nodes: [{ ...a, depends_on: ['b'] }, b, c] } } as CheckedPlan;
  markChecked(cyclic, { tools: testTools });
  await expect(runPlan(cyclic, { tools: testTools, session: createSession() })).rejects.toMatchObject({
    code: 'plan.invalid',
    reason: 'blocked',
    data: { nodes: ['a', 'b'] },
  });
});
