import { definePolicy } from '@holdfast/core';
import {
  createModuleEngine,
  createToolCatalog,
  defineSignature,
  memoryModules,
  predict,
  react,
  wrapTools,
} from '@holdfast/modules';
import type { LoopRunOptions } from '@holdfast/modules/internal';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { noting } from './test-loop.ts';
import { call, codeOf } from './test-react.ts';

const signature = defineSignature({
  name: 'question',
  inputSchema: v.object({ question: v.string() }),
  outputSchema: v.object({ answer: v.string() }),
});
const input = { question: 'May I?' };
const policies = [definePolicy({ name: 'closed', check: () => ({ type: 'deny', reason: 'closed' }) })];
// As a host has it that passes on what it was not given itself; not every compiler objects.
const nothing = {
  policies: undefined,
  session: undefined,
  signal: undefined,
  model: undefined,
} as unknown as LoopRunOptions;

const asks = { calls: [call('pay')] };
const submits = { calls: [call('submit', { answer: 'no' })] };
const answers = { text: '[[ ## answer ## ]]\nno\n\n[[ ## completed ## ]]' };

describe('an option of a run that is undefined was not given', () => {
  test('wrapTools keeps its policies, and those of its catalog', async () => {
    const { tool, keys } = noting('pay');
    for (const options of [
      { tools: [tool], policies },
      { ...nothing, tools: createToolCatalog([tool], { policies }) },
    ]) {
      const loop = wrapTools(predict(signature, { model: scriptedModel([asks, answers]) }), options);
      const { calls } = await loop.invoke(input, nothing);
      expect(calls).toMatchObject([{ outcome: { kind: 'denied' } }]);
    }
    expect(keys).toEqual([]);
  });

  test('react keeps its policies, and those of its catalog', async () => {
    const { tool, keys } = noting('pay');
    for (const options of [
      { tools: [tool], policies },
      { ...nothing, tools: createToolCatalog([tool], { policies }) },
    ]) {
      const predictor = react(signature, { ...options, model: scriptedModel([asks, submits]) });
      const { calls } = await predictor.run(input, nothing);
      expect(calls).toMatchObject([{ outcome: { kind: 'denied' } }]);
    }
    expect(keys).toEqual([]);
  });

  test('an engine keeps its policies and its session', async () => {
    const { tool, keys } = noting('pay');
    const session = createSession();
    const module = {
      module_id: 'q',
      predictor_type: 'predict',
      signature_name: 'question',
      tool_enabled: true,
    };
    const engine = await createModuleEngine({
      source: memoryModules({
        'manifest.json': JSON.stringify({ version: '1.0', modules: { q: { path: 'q.json', hash: null, tags: [] } } }),
        'q.json': JSON.stringify(module),
      }),
      signatures: [signature],
      model: scriptedModel([asks, answers]),
      tools: [tool],
      policies,
      session,
    });
    const { calls } = await engine.invokeWithTools('q', input, nothing);
    expect(calls).toMatchObject([{ outcome: { kind: 'denied' } }]);
    expect(session.snapshot().seq).toBeGreaterThan(1);
    expect(keys).toEqual([]);
  });
});

test('react rejects with the reason of the signal that its catalog has', async () => {
  const reason = new Error('enough');
  const tools = createToolCatalog([], { signal: AbortSignal.abort(reason) });
  const predictor = react(signature, { model: scriptedModel([submits]), tools });
  await expect(predictor.invoke(input)).rejects.toBe(reason);
  expect(await codeOf(predictor.invoke(input, { signal: new AbortController().signal }))).toBe('none');
});
