import { type AiSdkToolsOptions, toAiSdkTools } from '@holdfast/adapter-ai-sdk';
import { defineTool, type RunEvent } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { callBudget } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import { generateText, isStepCount, streamText } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import { expect, expectTypeOf, test } from 'vitest';
import { lookUpCapital } from './test-agent.ts';

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

const deleteAll = defineTool({
  name: 'delete_all',
  description: 'Delete everything.',
  dangerous: true,
  execute: () => 'gone',
});
const tools = [lookUpCapital, deleteAll];
const named = { look_up_capital: lookUpCapital, delete_all: deleteAll };

/** The call path, with a budget of two calls and a list of the events. */
function createPath(): { readonly execute: AiSdkToolsOptions['execute']; readonly events: RunEvent[] } {
  const session = createSession();
  const policies = [callBudget({ maxCalls: 2 })];
  const events: RunEvent[] = [];
  return {
    events,
    execute: (call, { signal }) =>
      executeToolCall(call, {
        tools,
        session,
        policies,
        onEvent: (event) => events.push(event),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}

const calls = [
  { type: 'tool-call', toolCallId: 'a', toolName: 'look_up_capital', input: '{"country":"Peru"}' },
  { type: 'tool-call', toolCallId: 'b', toolName: 'look_up_capital', input: '{"country":""}' },
  { type: 'tool-call', toolCallId: 'c', toolName: 'delete_all', input: '{}' },
] as const;
const answer = { type: 'text', text: 'It is Lima.' } as const;

test('generateText runs governed tools and sends refusals to the model', async () => {
  const message = (content: readonly [typeof answer] | typeof calls, unified: 'stop' | 'tool-calls') => ({
    content: [...content],
    finishReason: { unified, raw: undefined },
    usage,
    warnings: [],
  });
  const model = new MockLanguageModelV4({ doGenerate: [message(calls, 'tool-calls'), message([answer], 'stop')] });
  const { execute, events } = createPath();
  const { text } = await generateText({
    model,
    tools: toAiSdkTools(tools, { execute }),
    prompt: 'What is the capital of Peru?',
    stopWhen: isStepCount(3),
  });

  expect(text).toBe('It is Lima.');
  expect(model.doGenerateCalls[0]?.tools).toMatchObject([
    {
      name: 'look_up_capital',
      inputSchema: { type: 'object', required: ['country'], additionalProperties: false },
    },
    { name: 'delete_all', inputSchema: { type: 'object', properties: {} } },
  ]);
  const results = model.doGenerateCalls[1]?.prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  expect(results).toMatchObject([
    { toolCallId: 'a', output: { type: 'text', value: '{"country":"Peru","capital":"Lima"}' } },
    { toolCallId: 'b', output: { type: 'error-text', value: expect.stringContaining('`country`') } },
    {
      toolCallId: 'c',
      output: {
        type: 'text',
        value: expect.stringContaining("`delete_all` has not run yet: it waits for a person's approval"),
      },
    },
  ]);
  const ends = events.filter((event) => event.type === 'tool-call-end');
  expect(ends.map(({ callId, outcome }) => [callId, outcome.kind])).toEqual([
    ['a', 'ok'],
    ['b', 'invalid'],
  ]);
});

test('streamText does the same', async () => {
  const finish = (unified: 'stop' | 'tool-calls') =>
    ({ type: 'finish', usage, finishReason: { unified, raw: undefined } }) as const;
  const model = new MockLanguageModelV4({
    doStream: [
      { stream: convertArrayToReadableStream([calls[0], finish('tool-calls')]) },
      {
        stream: convertArrayToReadableStream([
          { type: 'text-start', id: '1' } as const,
          { type: 'text-delta', id: '1', delta: 'It is Lima.' } as const,
          { type: 'text-end', id: '1' } as const,
          finish('stop'),
        ]),
      },
    ],
  });
  const { execute, events } = createPath();
  const { text, staticToolCalls } = streamText({
    model,
    tools: toAiSdkTools(named, { execute }),
    prompt: 'Peru?',
    stopWhen: isStepCount(3),
  });
  expect(await text).toBe('It is Lima.');
  type Call = Awaited<typeof staticToolCalls>[number];
  expectTypeOf<Extract<Call, { toolName: 'look_up_capital' }>['input']>().toEqualTypeOf<{ country: string }>();
  expect(events.filter(({ type }) => type === 'tool-call-end')).toMatchObject([{ outcome: { kind: 'ok' } }]);
});
