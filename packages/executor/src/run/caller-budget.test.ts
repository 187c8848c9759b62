import { defineTool } from '@holdfast/core';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { createBudget, openCaller } from '../index.ts';

test('what a model takes beside the calls is spent from the budget of the caller, and from those of the call around it', async () => {
  const budget = createBudget({ maxTokens: 100 });
  const own = createBudget({ maxTokens: 60 });
  const seen: unknown[] = [];
  const asking = defineTool({
    name: 'asking',
    description: 'Asks a model.',
    effects: 'none',
    execute: (_, { child }) => {
      const inner = openCaller({ tools: [], session: child(), budget: own });
      seen.push(inner.exhausted, inner.spend({ inputTokens: 50, outputTokens: 10 }), inner.exhausted);
      // Impossible usage from a provider refunds nothing.
      seen.push(inner.spend({ inputTokens: -50, outputTokens: 10 }), own.used.tokens);
      seen.push(inner.spend({ inputTokens: 0, outputTokens: 1 }), own.used.tokens, budget.used.tokens);
      inner.dispose();
      return null;
    },
  });
  const caller = openCaller({ tools: [asking], session: createSession(), budget });
  expect(await caller.execute({ id: 'one', name: 'asking', arguments: {} })).toMatchObject({ kind: 'ok' });
  expect(seen).toEqual([false, false, true, false, 60, true, 61, 61]);
  expect([caller.exhausted, caller.spend({ inputTokens: 40, outputTokens: 0 })]).toEqual([false, true]);
  caller.dispose();
  const free = openCaller({ tools: [], session: createSession() });
  expect([free.exhausted, free.spend({ inputTokens: 1e9, outputTokens: 0 })]).toEqual([false, false]);
  free.dispose();
});
