import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PlayedServer, startPlayed } from './test-server.ts';

let server: PlayedServer;
beforeAll(async () => {
  server = await startPlayed();
});
afterAll(() => server[Symbol.asyncDispose]());

function served() {
  const { url, model } = server;
  const settings = { name: 'holdfast', baseURL: url, includeUsage: true, supportsStructuredOutputs: true };
  return createOpenAICompatible(settings).languageModel(model);
}

const country = jsonSchema<{ country: string }>({
  type: 'object',
  properties: { country: { type: 'string' } },
  required: ['country'],
  additionalProperties: false,
});
const capitals = new Map([
  ['Peru', 'Lima'],
  ['Chile', 'Santiago'],
]);
const tools = {
  look_up_capital: tool({
    description: 'Looks up the capital of a country.',
    inputSchema: country,
    execute: async ({ country: name }) => capitals.get(name) ?? 'unknown',
  }),
};
const usage = { inputTokens: 10, outputTokens: 5 };
const look = (name: string, id?: string) => ({
  name: 'look_up_capital',
  arguments: JSON.stringify({ country: name }),
  ...(id === undefined ? {} : { id }),
});

test('generateText: a tool loop', async () => {
  await server.play([
    { text: 'Let me see.', calls: [look('Peru', 'a'), look('Chile')], usage },
    { text: 'Lima and Santiago.', usage },
  ]);
  const { text, steps, totalUsage, finishReason } = await generateText({
    model: served(),
    tools,
    instructions: 'You know maps.',
    prompt: 'What are the capitals of Peru and Chile?',
    stopWhen: isStepCount(3),
    maxOutputTokens: 50,
  });
  expect({ text, finishReason }).toEqual({ text: 'Lima and Santiago.', finishReason: 'stop' });
  expect(totalUsage).toMatchObject({ inputTokens: 20, outputTokens: 10, totalTokens: 30 });
  expect(steps.map((step) => step.finishReason)).toEqual(['tool-calls', 'stop']);
  const [first, second] = await server.asked();
  expect(first).toMatchObject({
    messages: [
      { role: 'system', text: 'You know maps.' },
      { role: 'user', text: 'What are the capitals of Peru and Chile?' },
    ],
    tools: [{ name: 'look_up_capital', description: 'Looks up the capital of a country.' }],
    maxTokens: 50,
  });
  const made = expect.stringMatching(/^call_\w{32}$/);
  expect(second?.messages.slice(2)).toMatchObject([
    { role: 'assistant', text: 'Let me see.', calls: [look('Peru', 'a'), { ...look('Chile'), id: made }] },
    { role: 'tool', callId: 'a', name: 'look_up_capital', text: 'Lima' },
    { role: 'tool', callId: made, name: 'look_up_capital', text: 'Santiago' },
  ]);
});

test('streamText: a tool loop', async () => {
  await server.play([
    { text: 'Let me see.', calls: [look('Peru', 'a')], usage },
    { text: 'It is Lima, in Peru.', usage },
  ]);
  const { stream, text, totalUsage } = streamText({
    model: served(),
    tools,
    prompt: 'What is the capital of Peru?',
    stopWhen: isStepCount(3),
  });
  const parts: string[] = [];
  for await (const part of stream) {
    if (part.type === 'text-delta') parts.push(part.text);
    if (part.type === 'tool-call') parts.push(`${part.toolName} ${JSON.stringify(part.input)}`);
    if (part.type === 'tool-result') parts.push(String(part.output));
  }
  expect(parts).toEqual([
    ...['Let', ' me', ' see.', 'look_up_capital {"country":"Peru"}', 'Lima'],
    ...['It', ' is', ' Lima,', ' in', ' Peru.'],
  ]);
  expect(await text).toBe('It is Lima, in Peru.');
  expect(await totalUsage).toMatchObject({ inputTokens: 20, outputTokens: 10 });
});

const city = jsonSchema<{ city: string }>({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
});

test('structured output, whole and in parts, also behind a tool', async () => {
  const answer = '{ "city": "Lima" }';
  await server.play([{ text: answer }, { text: answer }, { calls: [look('Peru')] }, { text: answer }]);
  const asking = { model: served(), output: Output.object({ schema: city }), prompt: 'The capital of Peru?' };
  expect((await generateText(asking)).output).toEqual({ city: 'Lima' });
  expect(await streamText(asking).output).toEqual({ city: 'Lima' });
  expect((await generateText({ ...asking, tools, stopWhen: isStepCount(3) })).output).toEqual({ city: 'Lima' });
  const asked = await server.asked();
  expect(asked.length).toBe(4);
  for (const { output } of asked) expect(output).toMatchObject({ properties: { city: { type: 'string' } } });
});

test.each([
  ['none', []],
  ['required', ['look_up_capital', 'other']],
  [{ type: 'tool', toolName: 'look_up_capital' }, ['look_up_capital']],
] as const)('toolChoice %j', async (toolChoice, offered) => {
  await server.play([offered.length === 0 ? { text: 'Lima.' } : { text: 'So.', calls: [look('Peru')] }]);
  const other = tool({ description: 'Something else.', inputSchema: country, execute: async () => 'no' });
  const { text, toolResults } = await generateText({
    model: served(),
    tools: { ...tools, other },
    toolChoice,
    prompt: 'The capital of Peru?',
  });
  expect((await server.asked()).map((asked) => asked.tools.map(({ name }) => name))).toEqual([offered]);
  if (offered.length === 0) expect(text).toBe('Lima.');
  else expect(toolResults.map(({ output }) => output)).toEqual(['Lima']);
});

async function failureOf(work: PromiseLike<unknown>): Promise<APICallError> {
  const thrown: unknown = await Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (APICallError.isInstance(thrown)) return thrown;
  throw new Error('It did not fail as a call of an API.', { cause: thrown });
}

test.each([
  ['model.context_overflow', 400, false],
  ['model.rate_limited', 429, true],
  ['model.overloaded', 503, true],
  ['model.request_invalid', 400, false],
])('a model that throws `%s` is %j to the SDK, and may be asked again: %j', async (code, status, isRetryable) => {
  await server.play([{ throw: { code, message: 'It went wrong.' } }]);
  const error = await failureOf(generateText({ model: served(), prompt: 'Hello', maxRetries: 0 }));
  expect(error).toMatchObject({ message: 'It went wrong.', statusCode: status, isRetryable });
});

test('what cannot be asked for is refused, and the model is not asked', async () => {
  await server.play([]);
  const image = { type: 'file', mediaType: 'image/png', data: new Uint8Array([1]) } as const;
  const asked = generateText({ model: served(), messages: [{ role: 'user', content: [image] }], maxRetries: 0 });
  expect(await failureOf(asked)).toMatchObject({ statusCode: 400, message: expect.stringContaining('only `text`') });
  const stopping = generateText({ model: served(), prompt: 'Hello', stopSequences: ['\n'], maxRetries: 0 });
  expect(await failureOf(stopping)).toMatchObject({ statusCode: 400, message: expect.stringContaining('`stop`') });
  expect(await server.asked()).toEqual([]);
});

test('a call that was wanted and not made is a failure, which is not asked again', async () => {
  await server.play([{ text: 'It is Lima.' }, { text: 'It is Lima.' }]);
  const asked = generateText({ model: served(), tools, toolChoice: 'required', prompt: 'The capital of Peru?' });
  expect(await failureOf(asked)).toMatchObject({ statusCode: 422, isRetryable: false });
  expect((await server.asked()).length).toBe(1);
});
