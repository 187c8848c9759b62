import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type AiSdkModel, aiSdkModel } from '@holdfast/adapter-ai-sdk';
import type { Clock } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { runWith } from './test-agent.ts';
import { type Reply, startServer } from './test-server.ts';

const apiKey = 'sk-test-0123456789abcdef';
const argumentText = '{"country":"Peru"}';

interface Provider {
  readonly name: string;
  readonly open: (url: string) => AiSdkModel;
  /** A message with reasoning if supported, two calls, the second over the budget, then text. */
  readonly replies: readonly Reply[];
  /** The parts of the second request that contain the history. */
  readonly sentBack: unknown;
  readonly error: (message: string) => unknown;
}

function chatChunk(delta: object, finishReason: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
}

const chatUsage = {
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

function chatCall(index: number): object[] {
  const part = (more: object, text: string): object =>
    chatChunk({
      tool_calls: [
        { index, ...more, function: { ...('id' in more ? { name: 'look_up_capital' } : {}), arguments: text } },
      ],
    });
  return [part({ id: `call_${index}`, type: 'function' }, argumentText.slice(0, 5)), part({}, argumentText.slice(5))];
}

const chatReplies: readonly Reply[] = [
  {
    events: [
      chatChunk({ role: 'assistant', content: 'Let me look.' }),
      ...chatCall(0),
      ...chatCall(1),
      chatChunk({}, 'tool_calls'),
      chatUsage,
      '[DONE]',
    ],
  },
  {
    events: [
      chatChunk({ role: 'assistant', content: 'It is ' }),
      chatChunk({ content: 'Lima.' }),
      chatChunk({}, 'stop'),
      chatUsage,
      '[DONE]',
    ],
  },
];

const chatSentBack = {
  messages: [
    { role: 'system' },
    { role: 'user' },
    {
      role: 'assistant',
      content: 'Let me look.',
      tool_calls: [
        { id: 'call_0', function: { name: 'look_up_capital', arguments: argumentText } },
        { id: 'call_1', function: { name: 'look_up_capital', arguments: argumentText } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_0', content: expect.stringContaining('Lima') },
    { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('Denied') },
  ],
};

function responsesItem(index: number, item: object): object[] {
  return [
    { type: 'response.output_item.added', output_index: index, item },
    { type: 'response.output_item.done', output_index: index, item: { status: 'completed', ...item } },
  ];
}

function responsesCall(index: number): object[] {
  const item = {
    type: 'function_call',
    id: `fc_${index}`,
    call_id: `call_${index}`,
    name: 'look_up_capital',
    arguments: argumentText,
  };
  const [added, done] = responsesItem(index, item);
  const delta = {
    type: 'response.function_call_arguments.delta',
    item_id: item.id,
    output_index: index,
    delta: argumentText,
  };
  return [{ ...added, item: { ...item, arguments: '' } }, delta, { ...done }];
}

const responsesStart = { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } };
const responsesEnd = {
  type: 'response.completed',
  response: {
    incomplete_details: null,
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
    },
  },
};

function anthropicBlock(index: number, block: object, ...deltas: readonly object[]): object[] {
  return [
    { type: 'content_block_start', index, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function anthropicMessage(stopReason: string, ...blocks: readonly object[]): Reply {
  const message = {
    type: 'message',
    id: 'm',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  const end = {
    type: 'message_delta',
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: { output_tokens: 5 },
  };
  return { events: [{ type: 'message_start', message }, ...blocks, end, { type: 'message_stop' }] };
}

function anthropicCall(index: number): object[] {
  const block = { type: 'tool_use', id: `call_${index}`, name: 'look_up_capital', input: {} };
  return anthropicBlock(
    index,
    block,
    { type: 'input_json_delta', partial_json: argumentText.slice(0, 5) },
    { type: 'input_json_delta', partial_json: argumentText.slice(5) },
  );
}

function geminiChunk(parts: readonly object[], finishReason?: string): object {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  return {
    candidates: [
      { index: 0, content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) },
    ],
    usageMetadata,
  };
}

const geminiCall = { functionCall: { name: 'look_up_capital', args: { country: 'Peru' } } };

const providers: readonly Provider[] = [
  {
    name: 'OpenAI-compatible',
    open: (url) => createOpenAICompatible({ name: 'local', baseURL: url, apiKey })('m'),
    replies: chatReplies,
    sentBack: chatSentBack,
    error: (message) => ({ error: { message } }),
  },
  {
    name: 'OpenAI, Chat Completions',
    open: (url) => createOpenAI({ baseURL: url, apiKey }).chat('gpt-4.1'),
    replies: chatReplies,
    sentBack: chatSentBack,
    error: (message) => ({ error: { message, type: 'x', code: null } }),
  },
  {
    name: 'OpenAI, Responses',
    open: (url) => createOpenAI({ baseURL: url, apiKey })('gpt-5'),
    replies: [
      {
        events: [
          responsesStart,
          ...responsesItem(0, { type: 'reasoning', id: 'rs_1', encrypted_content: 'secret', summary: [] }),
          ...responsesCall(1),
          ...responsesCall(2),
          responsesEnd,
        ],
      },
      {
        events: [
          responsesStart,
          { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
          { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'It is Lima.' },
          { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1' } },
          responsesEnd,
        ],
      },
    ],
    sentBack: {
      tools: [{ type: 'function', name: 'look_up_capital', strict: false }],
      input: expect.arrayContaining([
        { type: 'item_reference', id: 'rs_1' },
        expect.objectContaining({
          type: 'function_call_output',
          call_id: 'call_1',
          output: expect.stringContaining('Lima'),
        }),
        expect.objectContaining({
          type: 'function_call_output',
          call_id: 'call_2',
          output: expect.stringContaining('Denied'),
        }),
      ]),
    },
    error: (message) => ({ error: { message, type: 'x', code: null } }),
  },
  {
    name: 'Anthropic',
    open: (url) => createAnthropic({ baseURL: url, apiKey })('claude-sonnet-4-5'),
    replies: [
      anthropicMessage(
        'tool_use',
        ...anthropicBlock(
          0,
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'Hm.' },
          { type: 'signature_delta', signature: 'c2lnbmVk' },
        ),
        ...anthropicCall(1),
        ...anthropicCall(2),
      ),
      anthropicMessage(
        'end_turn',
        ...anthropicBlock(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'It is Lima.' }),
      ),
    ],
    sentBack: {
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
            { type: 'tool_use', id: 'call_1', name: 'look_up_capital', input: { country: 'Peru' } },
            { type: 'tool_use', id: 'call_2' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: expect.stringContaining('Lima') },
            { type: 'tool_result', tool_use_id: 'call_2', content: expect.stringContaining('Denied'), is_error: true },
          ],
        },
      ],
    },
    error: (message) => ({ type: 'error', error: { type: 'x', message } }),
  },
  {
    name: 'Google',
    open: (url) => createGoogle({ baseURL: url, apiKey })('gemini-2.5-flash'),
    replies: [
      {
        events: [
          geminiChunk([{ text: 'Hm.', thought: true }]),
          geminiChunk([{ ...geminiCall, thoughtSignature: 'c2lnbmVk' }, geminiCall], 'STOP'),
        ],
      },
      { events: [geminiChunk([{ text: 'It is ' }]), geminiChunk([{ text: 'Lima.' }], 'STOP')] },
    ],
    sentBack: {
      contents: [
        { role: 'user' },
        {
          role: 'model',
          parts: expect.arrayContaining([
            expect.objectContaining({
              ...geminiCall,
              functionCall: expect.objectContaining(geminiCall.functionCall),
              thoughtSignature: 'c2lnbmVk',
            }),
          ]),
        },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'look_up_capital' } }, { functionResponse: { name: 'look_up_capital' } }],
        },
      ],
    },
    error: (message) => ({ error: { code: 0, message, status: 'X' } }),
  },
];

/** Time that passes instantly. */
function hurryingClock(waits: number[]): Clock {
  return {
    now: () => 0,
    after(delayMs, run) {
      waits.push(delayMs);
      queueMicrotask(run);
      return () => undefined;
    },
  };
}

describe.each(providers)('$name', ({ open, replies, sentBack, error }) => {
  test('a complete run with two calls, one over the budget', async () => {
    await using server = await startServer(replies);
    const { status, text, outcomes, usage, error: problem } = await runWith(aiSdkModel(open(server.url)));
    expect({ status, text, problem }).toEqual({ status: 'completed', text: 'It is Lima.', problem: undefined });
    expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'denied']);
    expect(usage).toEqual({ inputTokens: 20, outputTokens: 10 });
    expect(server.bodies).toHaveLength(2);
    expect(server.bodies[1]).toMatchObject(sentBack as object);
  });

  test('a busy provider is retried after its delay', async () => {
    const busy = { status: 429, headers: { 'retry-after': '2' }, body: error('Slow down.') };
    await using server = await startServer([busy, ...replies]);
    const waits: number[] = [];
    const { status } = await runWith(aiSdkModel(open(server.url), { clock: hurryingClock(waits) }));
    expect({ status, waits, asked: server.bodies.length }).toEqual({ status: 'completed', waits: [2_000], asked: 3 });
  });

  test.each([
    [401, 'model.unauthorized'],
    [400, 'model.request_invalid'],
    [529, 'model.overloaded'],
    [500, 'model.failed'],
  ])('%s is %s', async (httpStatus, code) => {
    await using server = await startServer([{ status: httpStatus, body: error(`Bad: ${apiKey}`) }]);
    const model = aiSdkModel(open(server.url), { maxRetries: 0 });
    const asked = model.stream({
      messages: [{ role: 'user', text: 'Hi' }],
      tools: [],
      signal: new AbortController().signal,
    });
    const failure: unknown = await asked[Symbol.asyncIterator]()
      .next()
      .catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code, data: { status: httpStatus } });
    expect(failure).toMatchObject({ message: expect.stringContaining('Bad: <key>') });
  });

  test('nobody listens', async () => {
    const { url } = await startServer([]).then(async (server) => {
      await server[Symbol.asyncDispose]();
      return server;
    });
    const waits: number[] = [];
    const { status, error: problem } = await runWith(
      aiSdkModel(open(url), { clock: hurryingClock(waits), random: () => 1 }),
    );
    expect({ status, waits }).toEqual({ status: 'model-error', waits: [500, 1_000] });
    expect(problem?.message).toContain('failed: ');
  });
});
