import type { LanguageModelV2, LanguageModelV3, LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { type AiSdkModel, aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { convertArrayToReadableStream, MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test';
import { expect, expectTypeOf, test } from 'vitest';
import { runWith } from './test-agent.ts';

test('the models of every specification have the required shape', () => {
  expectTypeOf<LanguageModelV2>().toExtend<AiSdkModel>();
  expectTypeOf<LanguageModelV3>().toExtend<AiSdkModel>();
  expectTypeOf<LanguageModelV4>().toExtend<AiSdkModel>();
  expectTypeOf<string>().not.toExtend<AiSdkModel>();
});

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

// The parts common to v3 and v4.
type Part = Extract<
  LanguageModelV4StreamPart,
  {
    type:
      | 'text-start'
      | 'text-delta'
      | 'text-end'
      | 'reasoning-start'
      | 'reasoning-delta'
      | 'reasoning-end'
      | 'tool-call'
      | 'error';
  }
>;
type Unified = 'stop' | 'tool-calls' | 'length';

const messages: readonly (readonly [readonly Part[], Unified])[] = [
  [
    [
      { type: 'reasoning-start', id: '1' },
      { type: 'reasoning-delta', id: '1', delta: 'Hm.' },
      { type: 'reasoning-end', id: '1', providerMetadata: { mock: { signature: 'c2lnbmVk' } } },
      { type: 'tool-call', toolCallId: 'a', toolName: 'look_up_capital', input: '{"country":"Peru"}' },
      { type: 'tool-call', toolCallId: 'b', toolName: 'look_up_capital', input: '{"country":"Chile"}' },
    ],
    'tool-calls',
  ],
  [
    [
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'It is Lima.' },
      { type: 'text-end', id: '1' },
    ],
    'stop',
  ],
];

function play([parts, unified]: (typeof messages)[number]) {
  const finish = { type: 'finish', usage, finishReason: { unified, raw: undefined } } as const;
  return { stream: convertArrayToReadableStream([...parts, finish]) };
}

const mocks = [
  ['v3', (all: typeof messages) => new MockLanguageModelV3({ provider: 'mock', doStream: all.map(play) })],
  ['v4', (all: typeof messages) => new MockLanguageModelV4({ provider: 'mock', doStream: all.map(play) })],
] as const;

test.each(mocks)("the SDK's own mock model of %s: a run with two calls, one over the budget", async (_, create) => {
  const mock = create(messages);
  const { status, text, outcomes } = await runWith(aiSdkModel(mock));
  expect({ status, text }).toEqual({ status: 'completed', text: 'It is Lima.' });
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'denied']);
  expect(mock.doStreamCalls).toHaveLength(2);
  expect(mock.doStreamCalls[0]?.tools).toMatchObject([{ type: 'function', name: 'look_up_capital' }]);
  expect(mock.doStreamCalls[1]?.prompt.slice(2)).toMatchObject([
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: { mock: { signature: 'c2lnbmVk' } } },
        { type: 'tool-call', toolCallId: 'a', input: { country: 'Peru' } },
        { type: 'tool-call', toolCallId: 'b', input: { country: 'Chile' } },
      ],
    },
    {
      role: 'tool',
      content: [
        { toolCallId: 'a', output: { type: 'text', value: expect.stringContaining('Lima') } },
        { toolCallId: 'b', output: { type: 'error-text', value: expect.stringContaining('Denied') } },
      ],
    },
  ]);
});

test.each(mocks)('%s: calls of a cut message do not run', async (_, create) => {
  const [first, second] = messages;
  if (first === undefined || second === undefined) throw new Error('Two messages are played.');
  const { status, outcomes } = await runWith(aiSdkModel(create([[first[0], 'length'], second])));
  expect(status).toBe('completed');
  expect(outcomes.map(({ kind }) => kind)).toEqual(['truncated', 'truncated']);
});

test.each(mocks)('%s: an error part ends the run, with its reason and without a stack', async (_, create) => {
  const { status, error } = await runWith(
    aiSdkModel(create([[[{ type: 'error', error: { type: 'overloaded_error' } }], 'stop']]), { maxRetries: 0 }),
  );
  expect(status).toBe('model-error');
  expect(error?.message).toBe('`mock:mock-model-id` failed: overloaded_error. Try again later.');
});
