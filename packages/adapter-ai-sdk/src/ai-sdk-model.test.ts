import { HoldfastError, type Message, type ModelEvent, type ModelRequest } from '@holdfast/core';
import { expect, test } from 'vitest';
import { aiSdkModel } from './ai-sdk-model.ts';
import { call, collect, fakeModel, finish, request, silentModel, text, type Version, versions } from './fixtures.ts';
import type { AiSdkModel } from './specification.ts';

const usage = { inputTokens: 7, outputTokens: 3 };

test.each(versions)('%s: text arrives in deltas, then the finish reason and usage', async (version) => {
  const model = aiSdkModel(
    fakeModel([[{ type: 'stream-start', warnings: [] }, ...text('Hel', '', 'lo'), finish(version, 'stop')]], {
      version,
    }),
  );
  expect(model.id).toBe('fake:one');
  expect(await collect(model)).toEqual([
    { type: 'text-delta', text: 'Hel' },
    { type: 'text-delta', text: 'lo' },
    { type: 'finish', reason: 'stop', usage, providerMetadata: undefined },
  ]);
});

test.each(versions)('%s: several calls keep their order, and their arguments stay text', async (version) => {
  const reply = [
    ...call('a', 'read', '{"x":1}'),
    ...call('b', 'write', '{"x":1,"x":2}'),
    finish(version, 'tool-calls'),
  ];
  expect(await collect(aiSdkModel(fakeModel([reply], { version })))).toEqual([
    { type: 'tool-call', id: 'a', name: 'read', arguments: '{"x":1}' },
    { type: 'tool-call', id: 'b', name: 'write', arguments: '{"x":1,"x":2}' },
    { type: 'finish', reason: 'tool-calls', usage, providerMetadata: undefined },
  ]);
});

test.each([
  ['stop', 'stop'],
  ['tool-calls', 'tool-calls'],
  ['length', 'length'],
  ['interrupted', 'length'],
  ['content-filter', 'content-filter'],
  ['other', 'other'],
  ['unknown', 'other'],
])('the finish reason %s is %s in every version', async (reason, expected) => {
  for (const version of versions) {
    const events = await collect(aiSdkModel(fakeModel([[finish(version, reason)]], { version })));
    expect(events).toMatchObject([{ type: 'finish', reason: expected }]);
  }
});

test.each([
  [{ inputTokens: undefined, outputTokens: undefined }, undefined],
  [
    { inputTokens: 4, outputTokens: undefined },
    { inputTokens: 4, outputTokens: 0 },
  ],
  [
    { inputTokens: { total: undefined }, outputTokens: { total: 2 } },
    { inputTokens: 0, outputTokens: 2 },
  ],
  [undefined, undefined],
])('usage %j is %j', async (given, expected) => {
  const reply = [{ type: 'finish', finishReason: 'stop', usage: given }];
  expect(await collect(aiSdkModel(fakeModel([reply])))).toMatchObject([{ usage: expected }]);
});

test('an incomplete call makes the finish reason `length`', async () => {
  const reply = [
    ...call('a', 'read', '{}'),
    { type: 'tool-input-start', id: 'b', toolName: 'write' },
    { type: 'tool-input-delta', id: 'b', delta: '{"path":' },
    finish('v4', 'tool-calls'),
  ];
  expect(await collect(aiSdkModel(fakeModel([reply])))).toMatchObject([
    { type: 'tool-call', id: 'a' },
    { type: 'tool-call', id: 'b', name: 'write', arguments: '{"path":' },
    { type: 'finish', reason: 'length' },
  ]);
});

test('v4: input streamed as plain text becomes JSON', async () => {
  const reply = [
    { type: 'tool-input-start', id: 'a', toolName: 'patch', inputEncoding: 'text' },
    { type: 'tool-input-delta', id: 'a', delta: 'say "hi"' },
    finish('v4', 'length'),
  ];
  expect(await collect(aiSdkModel(fakeModel([reply])))).toMatchObject([
    { arguments: '"say \\"hi\\""' },
    { reason: 'length' },
  ]);
});

test('the executor names a call without an id', async () => {
  const reply = [{ type: 'tool-call', toolCallId: '', toolName: 'read', input: '{}' }, finish('v4', 'tool-calls')];
  expect((await collect(aiSdkModel(fakeModel([reply]))))[0]).toEqual({
    type: 'tool-call',
    name: 'read',
    arguments: '{}',
  });
});

const conversation: readonly Message[] = [
  { role: 'system', text: 'Be brief.' },
  { role: 'user', text: 'Read two files.' },
  {
    role: 'assistant',
    text: '',
    calls: [
      { id: 'a', name: 'read', arguments: '{"path":"x"}' },
      { id: 'b', name: 'read', arguments: { path: 'y' } },
    ],
  },
  { role: 'tool', callId: 'a', name: 'read', success: true, text: 'one' },
  { role: 'tool', callId: 'b', name: 'read', success: false, text: 'no such file' },
  { role: 'assistant', text: 'Done.', calls: [{ id: 'c', name: 'read', arguments: '{"broken' }] },
];
const prompt = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Read two files.' }] },
  {
    role: 'assistant',
    content: [
      { type: 'tool-call', toolCallId: 'a', toolName: 'read', input: { path: 'x' } },
      { type: 'tool-call', toolCallId: 'b', toolName: 'read', input: { path: 'y' } },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: 'a', toolName: 'read', output: { type: 'text', value: 'one' } },
      { type: 'tool-result', toolCallId: 'b', toolName: 'read', output: { type: 'error-text', value: 'no such file' } },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Done.' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'read', input: {} },
    ],
  },
];

test.each(versions)('%s: a conversation and tools become an SDK prompt', async (version) => {
  const model = fakeModel([[finish(version, 'stop')]], { version });
  const inputSchema = { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false };
  const tools = [{ name: 'read', description: 'Read a file.', inputSchema }];
  await collect(aiSdkModel(model), { messages: conversation, tools });
  expect(model.requests[0]?.prompt).toEqual(prompt);
  expect(model.requests[0]?.tools).toEqual([
    { type: 'function', name: 'read', description: 'Read a file.', inputSchema },
  ]);
});

test('without tools and output, the request contains neither', async () => {
  const model = fakeModel([[finish('v4', 'stop')]]);
  await collect(aiSdkModel(model));
  expect(Object.keys(model.requests[0] ?? {})).toEqual(['prompt', 'abortSignal']);
});

test('OpenAI tools are sent as not strict, since v3', async () => {
  const tools = [{ name: 'read', description: 'Read.', inputSchema: { type: 'object' } }];
  const strict = async (version: 'v2' | 'v3', provider: string): Promise<unknown> => {
    const model = fakeModel([[finish(version, 'stop')]], { version, provider });
    await collect(aiSdkModel(model), { tools });
    return model.requests[0]?.tools?.map((tool) => ('strict' in tool ? tool.strict : 'unsaid'));
  };
  expect(await strict('v3', 'openai.responses')).toEqual([false]);
  expect(await strict('v3', 'openai.chat')).toEqual(['unsaid']);
  expect(await strict('v2', 'openai.responses')).toEqual(['unsaid']);
});

test('each message is converted once, even if the system message changes', async () => {
  const model = fakeModel(Array.from({ length: 4 }, () => [finish('v4', 'stop')]));
  const ours = aiSdkModel(model);
  const messages: Message[] = conversation.slice(0, 4);
  await collect(ours, { messages });
  messages.push(...conversation.slice(4));
  await collect(ours, { messages });
  await collect(ours, { messages: [{ role: 'system', text: 'Be long.' }, ...messages.slice(1)] });
  const [first, second, third] = model.requests.map((one) => one.prompt);
  expect(first).toHaveLength(4);
  expect(second).toEqual(prompt);
  expect(third?.slice(1)).toEqual(prompt.slice(1));
  expect(second?.[2]).toBe(first?.[2]);
  expect(third?.[2]).toBe(first?.[2]);
  expect(first?.[3]).toMatchObject({ content: [{ toolCallId: 'a' }] });
  // A replaced list is converted again.
  messages.splice(1, messages.length - 1, { role: 'user', text: 'New.' });
  await collect(ours, { messages });
  expect(model.requests[3]?.prompt).toEqual([prompt[0], { role: 'user', content: [{ type: 'text', text: 'New.' }] }]);
});

test('the provider gets the signal of the request', async () => {
  const model = fakeModel([[finish('v4', 'stop')]]);
  const { signal } = new AbortController();
  await collect(aiSdkModel(model), { signal });
  expect(model.requests[0]?.abortSignal).toBe(signal);
});

test('the provider gets the output token limit', async () => {
  const model = fakeModel([[finish('v4', 'length')]]);
  await collect(aiSdkModel(model), { maxTokens: 7 });
  expect(model.requests[0]?.maxOutputTokens).toBe(7);
});

test('a canceled request throws the reason of its signal at once, without a request', async () => {
  const model = fakeModel([]);
  const reason = new Error('enough');
  await expect(collect(aiSdkModel(model), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(model.requests).toEqual([]);
});

test('a stream that hangs and ignores the signal is abandoned', async () => {
  const { model, isCancelled } = silentModel();
  const controller = new AbortController();
  const reason = new Error('enough');
  const events: ModelEvent[] = [];
  const reading = (async () => {
    for await (const event of aiSdkModel(model).stream(request({ signal: controller.signal }))) {
      events.push(event);
      controller.abort(reason);
    }
  })();
  await expect(reading).rejects.toBe(reason);
  expect(events).toEqual([{ type: 'text-delta', text: 'so far' }]);
  expect(isCancelled()).toBe(true);
});

test('a reader that stops cancels the stream', async () => {
  const { model, isCancelled } = silentModel();
  for await (const _event of aiSdkModel(model).stream(request())) break;
  expect(isCancelled()).toBe(true);
});

const output: NonNullable<ModelRequest['output']> = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 2 } },
  required: ['city'],
  additionalProperties: false,
};
const open = { ...output, required: [] };

test.each([
  ['unknown', output, { type: 'json', name: 'output', schema: output }, undefined],
  [
    'openai.responses',
    output,
    { type: 'json', name: 'output', schema: { ...output, properties: { city: { type: 'string' } } } },
    undefined,
  ],
  ['openai.responses', open, { type: 'json', name: 'output', schema: open }, { strictJsonSchema: false }],
])('%s: an output schema goes into the response format', async (provider, schema, responseFormat, openai) => {
  const model = fakeModel([[finish('v4', 'stop')], [finish('v4', 'stop')]], { provider });
  const reports: unknown[] = [];
  const ours = aiSdkModel(model, { onLowered: (lowered) => reports.push(lowered) });
  await collect(ours, { output: schema });
  await collect(ours, { output: schema });
  expect(model.requests[1]?.responseFormat).toEqual(responseFormat);
  expect(model.requests[1]?.providerOptions).toEqual(
    openai === undefined ? undefined : expect.objectContaining({ openai }),
  );
  expect(reports).toHaveLength(provider === 'unknown' ? 0 : 1);
});

test.each<{ provider: string; modelId?: string; version?: Version; sent: boolean }>([
  { provider: 'unknown', sent: true },
  { provider: 'openai.responses', version: 'v2', sent: true },
  { provider: 'anthropic.messages', version: 'v3', sent: true },
  { provider: 'anthropic.messages', version: 'v2', sent: false },
  { provider: 'vertex.anthropic.messages', version: 'v2', sent: false },
  { provider: 'google.generative-ai', modelId: 'gemini-2.5-flash', sent: false },
  { provider: 'google.vertex.chat', modelId: 'gemini-1.5-pro', version: 'v2', sent: false },
  { provider: 'google.vertex.chat', modelId: 'gemini-3-pro', version: 'v2', sent: true },
  { provider: 'google', modelId: 'models/gemini-10-pro', version: 'v3', sent: true },
  { provider: 'groq.chat', sent: false },
  { provider: 'groqish', sent: true },
])(
  '$provider $modelId $version gets an output schema beside tools: $sent',
  async ({ provider, modelId, version, sent }) => {
    const replies = Array.from({ length: 3 }, () => [finish(version ?? 'v4', 'stop')]);
    const model = fakeModel(replies, { provider, ...(modelId && { modelId }), ...(version && { version }) });
    const withheld: unknown[] = [];
    const ours = aiSdkModel(model, {
      onLowered: ({ tool, lowered }) => {
        if (tool === undefined) withheld.push(...lowered.filter(({ reason }) => reason.includes('left out')));
      },
    });
    const tools = [{ name: 'read', description: 'Read.', inputSchema: { type: 'object', properties: {} } }];
    await collect(ours, { output, tools });
    await collect(ours, { output, tools });
    await collect(ours, { output });
    expect(model.requests.map(({ responseFormat }) => responseFormat !== undefined)).toEqual([sent, sent, true]);
    expect(model.requests.map(({ tools: offered }) => offered?.length)).toEqual([1, 1, undefined]);
    // Reported once.
    expect(withheld).toHaveLength(sent ? 0 : 1);
  },
);

test("a lowered tool schema is reported once, with the tool's name", async () => {
  const model = fakeModel([[finish('v4', 'stop')], [finish('v4', 'stop')]], { provider: 'google.generative-ai' });
  const reports: unknown[] = [];
  const ours = aiSdkModel(model, { onLowered: (lowered) => reports.push(lowered) });
  const inputSchema = { type: 'object', properties: {}, minProperties: 1 };
  const tools = [{ name: 'read', description: 'Read.', inputSchema }];
  await collect(ours, { tools });
  await collect(ours, { tools });
  expect(reports).toEqual([
    { tool: 'read', lowered: [{ path: '', keyword: 'minProperties', reason: 'not supported by the provider' }] },
  ]);
  expect(model.requests[1]?.tools).toMatchObject([{ inputSchema: { type: 'object', properties: {} } }]);
});

test.each([
  ['openai:gpt-5', 'the string `openai:gpt-5`'],
  [null, 'a value of type null'],
  [undefined, 'a value of type undefined'],
  [{ specificationVersion: 'v4' }, 'a value of type object'],
  [{ ...fakeModel([]), specificationVersion: 'v1' }, 'a model of specification `v1`'],
  [{ doStream: () => undefined }, 'a model of specification `undefined`'],
])('%j is rejected with a hint on what to pass', (value, what) => {
  const attempt = (): unknown => aiSdkModel(value as unknown as AiSdkModel);
  expect(attempt).toThrow(HoldfastError);
  expect(attempt).toThrow(expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining(what) }));
  expect(attempt).toThrow("openai('gpt-5')");
});

test.each([-1, 1.5, Number.NaN])('%s retries are rejected', (maxRetries) => {
  expect(() => aiSdkModel(fakeModel([]), { maxRetries })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});
