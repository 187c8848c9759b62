import { defineTool } from '@holdfast/core';
import { executeToolCall, runAgent } from '@holdfast/executor';
import { defaultIsolation, describeIsolation } from '@holdfast/loader/internal';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { defineConfig } from '@holdfast/registry';
import { mergeConfig } from '@holdfast/registry/config';
import { createSession } from '@holdfast/session';
import { manualClock, scriptedModel } from '@holdfast/testing';
import { expect, test } from 'vitest';

// A workspace may not go beyond the runtime's defaults.
const { limits, isolation } = mergeConfig([]);

test('the rounds of a run', async () => {
  const tool = defineTool({ name: 'again', description: 'Once more.', effects: 'none', execute: () => 1 });
  const prompt = createPrompt({
    ns: 'tests',
    key: 'rounds',
    sections: [markdownSection({ title: 'Work', template: 'Work.', tools: [tool] })],
  });
  const step = { calls: [{ id: 'c', name: 'again', arguments: {} }] };
  const model = scriptedModel(Array.from({ length: 100 }, () => step));
  const { status, turns } = await runAgent({ model, prompt, session: createSession(), input: 'Go.' }).result;
  expect({ status, turns }).toEqual({ status: 'max-rounds', turns: limits.maxRounds?.value });
});

test('the time that a question waits', async () => {
  const tool = defineTool({ name: 'rm', description: 'Removes it.', dangerous: true, execute: () => 1 });
  const clock = manualClock();
  const start = clock.now();
  const outcome = await executeToolCall(
    { name: 'rm', arguments: {} },
    { tools: [tool], session: createSession(), clock },
  );
  const waits = outcome.kind === 'suspended' ? outcome.pending.map(({ expiresAtMs }) => expiresAtMs - start) : [];
  expect(waits).toEqual([limits.approvalTimeoutMs?.value]);
});

test('the isolation of tool files', () => {
  expect(isolation.value).toBe(defaultIsolation);
});

test('the order of isolation tiers: a workspace gets the stronger one', async () => {
  const tiers = (await describeIsolation()).map(({ tier }) => tier);
  for (const [index, weak] of tiers.entries()) {
    for (const strong of tiers.slice(index)) {
      const config = { isolation: weak };
      const workspace = { isolation: strong };
      const layers = [
        { layer: 'host', config: defineConfig(config) } as const,
        { layer: 'workspace', config: workspace } as const,
      ];
      expect(mergeConfig(layers).isolation.value).toBe(strong);
    }
  }
  expect(tiers).toHaveLength(4);
});
