import { scriptedModel } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { question, startEngine } from './test-engine.ts';
import { noting } from './test-loop.ts';
import { manifestText, moduleText } from './test-module-texts.ts';
import { call, codeOf } from './test-react.ts';

const asked = { question: 'which?' };
const calling = { text: '[[ ## tool_call ## ]]\n{"name":"pay","args":{}}\n\n[[ ## completed ## ]]' };
const answering = { text: '[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]' };
const submitting = { calls: [call('submit', { answer: 'yes' })] };

async function start(script: Parameters<typeof scriptedModel>[0], predictor: 'predict' | 'react') {
  const model = scriptedModel(script);
  const files = {
    'a.json': moduleText('a', 1, { tool_enabled: true, predictor_type: predictor }),
    'manifest.json': manifestText(['a']),
  };
  const { engine } = await startEngine(files, { model, tools: [noting('pay').tool], signatures: [question] });
  return { engine, model };
}

test('one invocation of an engine has a limit of its own', async () => {
  const { engine } = await start([calling, calling, calling, answering], 'predict');
  expect(await engine.invokeWithTools('a', asked, { maxIterations: 2 })).toMatchObject({
    reason: 'max-iterations',
    iterations: 2,
  });
  expect(await engine.invokeWithTools('a', asked)).toMatchObject({ reason: 'completed', iterations: 2 });
  expect(await codeOf(engine.invokeWithTools('a', asked, { maxIterations: 0 }))).toBe('options.invalid');
});

test('and so has one of a `react` module, by both ways', async () => {
  const { engine } = await start([{ calls: [call('pay')] }, submitting], 'react');
  expect(await engine.invokeWithTools('a', asked, { maxIterations: 1 })).toMatchObject({ reason: 'forced-submit' });
  expect(await codeOf(engine.invoke('a', asked, { maxIterations: 1.5 }))).toBe('options.invalid');
});

test('one invocation says where results go; `react` refuses it', async () => {
  const { engine, model } = await start([calling, answering], 'predict');
  await engine.invokeWithTools('a', asked, { toolResultKey: 'seen' });
  const texts = model.requests.map(({ messages }) => JSON.stringify(messages.at(-1)));
  expect(texts.map((text) => text.includes('## seen ##'))).toEqual([false, true]);
  expect(texts[1]).toContain("Tool 'pay' returned");
  expect(await codeOf(engine.invokeWithTools('a', asked, { toolResultKey: 'tool_call' }))).toBe('options.invalid');
  const other = await start([submitting], 'react');
  expect(await codeOf(other.engine.invokeWithTools('a', asked, { toolResultKey: 'seen' }))).toBe('options.invalid');
});
