import { defineTool, type Outcome, type Policy, type Tool } from '@holdfast/core';
import { executeToolCall, type Suspended } from '@holdfast/executor';
import { callBudget, requireApproval, some } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';

/** Three direct calls that have all been checked before the first one ends. */
async function callThrice(tool: Tool, policies: readonly Policy[]): Promise<(Outcome | Suspended)[]> {
  const session = createSession();
  const options = { tools: [tool], session, policies };
  const calls = ['a', 'b', 'c'].map((id) => executeToolCall({ id, name: tool.name, arguments: '' }, options));
  return Promise.all(calls);
}

function working(effects: Tool['effects']): { readonly tool: Tool; readonly entered: { count: number } } {
  const entered = { count: 0 };
  const tool = defineTool({
    name: 'work',
    description: 'Takes a moment.',
    effects,
    async execute() {
      entered.count += 1;
      await Promise.resolve();
      return null;
    },
  });
  return { tool, entered };
}

test.each([
  { effects: 'none', over: 'denied', code: 'policy.denied' },
  { effects: 'state', over: 'denied', code: 'policy.denied' },
  // It has happened, so that it is too late to decide again.
  { effects: 'external', over: 'in-doubt', code: 'policy.refused', reason: 'call_budget' },
] as const)(
  'of three calls at once that have effects $effects one fits a budget of one',
  async ({ effects, over, code }) => {
    const { tool, entered } = working(effects);
    const outcomes = await callThrice(tool, [callBudget({ maxCalls: 1 })]);
    expect(entered.count).toBe(3);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual([over, over, 'ok'].sort());
    for (const outcome of outcomes) {
      if (outcome.kind === 'ok') continue;
      expect(outcome).toMatchObject({
        code,
        text: expect.stringContaining('All 1 calls of this session are used.'),
      });
    }
  },
);

test('a call that a person let through beyond the budget succeeds', async () => {
  const session = createSession();
  const policies = [some(callBudget({ maxCalls: 1 }), requireApproval({ tools: ['work'] }))];
  const asked: string[] = [];
  const call = (id: string): Promise<Outcome | Suspended> =>
    executeToolCall(
      { id, name: 'work', arguments: '' },
      {
        tools: [working('state').tool],
        session,
        policies,
        approve: async ({ callId }) => {
          asked.push(callId);
          return { type: 'approve' };
        },
      },
    );
  expect(await call('free')).toMatchObject({ kind: 'ok' });
  expect(await call('approved')).toMatchObject({ kind: 'ok' });
  expect(asked).toEqual(['approved']);
});
