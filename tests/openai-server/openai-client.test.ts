import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PlayedServer, startPlayed } from './test-server.ts';

let server: PlayedServer;
let client: OpenAI;
let model: string;
beforeAll(async () => {
  server = await startPlayed();
  ({ model } = server);
  client = new OpenAI({ baseURL: server.url, apiKey: 'none', maxRetries: 0 });
});
afterAll(() => server[Symbol.asyncDispose]());

const messages = [{ role: 'user', content: 'What is the capital of Peru?' }] as const;
const parameters = {
  type: 'object',
  properties: { country: { type: 'string' } },
  required: ['country'],
  additionalProperties: false,
};
const lookUp = { type: 'function', function: { name: 'look_up_capital', parameters } } as const;
const usage = { inputTokens: 10, outputTokens: 5 };
const call = { id: 'call-1', name: 'look_up_capital', arguments: '{"country":"Peru"}' };

test('models', async () => {
  const { data } = await client.models.list();
  expect(data.map(({ id }) => id)).toEqual([model]);
  expect(await client.models.retrieve(model)).toMatchObject({ id: model, object: 'model' });
  await expect(client.models.retrieve('gpt-5')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
});

test('create', async () => {
  await server.play([{ text: 'It is Lima.', usage }]);
  const { data: completion, response } = await client.chat.completions
    .create({ model, messages: [...messages], temperature: 0, max_completion_tokens: 20 })
    .withResponse();
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(completion).toMatchObject({
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'It is Lima.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
  expect(await server.asked()).toMatchObject([{ maxTokens: 20 }]);
});

test('create with `stream`', async () => {
  await server.play([{ text: 'It is Lima.', usage }]);
  const stream = await client.chat.completions.create({
    model,
    messages: [...messages],
    stream: true,
    stream_options: { include_usage: true },
  });
  const texts: string[] = [];
  let counted: OpenAI.CompletionUsage | null | undefined;
  for await (const chunk of stream) {
    texts.push(chunk.choices[0]?.delta.content ?? '');
    counted = chunk.usage;
  }
  expect(texts).toEqual(['', 'It', ' is', ' Lima.', '', '']);
  expect(counted).toEqual({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
});

test('stream: the message is put together', async () => {
  await server.play([{ text: 'So.', calls: [call, { ...call, id: 'call-2' }], usage }]);
  const stream = client.chat.completions.stream({ model, messages: [...messages], tools: [lookUp] });
  const { message, finish_reason: reason } = (await stream.finalChatCompletion()).choices[0] ?? {};
  expect(reason).toBe('tool_calls');
  const called = { type: 'function', function: { name: call.name, arguments: call.arguments } };
  expect(message).toMatchObject({
    content: 'So.',
    tool_calls: [
      { id: 'call-1', ...called },
      { id: 'call-2', ...called },
    ],
  });
});

test.each([false, true])('runTools, in parts: %j', async (isStream) => {
  await server.play([
    { calls: [call], usage },
    { calls: [{ ...call, arguments: '{"country":' }], usage },
    { text: 'It is Lima.', usage },
  ]);
  const runnable = {
    type: 'function' as const,
    function: {
      name: 'look_up_capital',
      description: 'Looks up the capital of a country.',
      parameters,
      parse: (text: string): { country: string } => JSON.parse(text) as { country: string },
      function: ({ country }: { country: string }): string => (country === 'Peru' ? 'Lima' : 'unknown'),
    },
  };
  const body = { model, messages: [...messages], tools: [runnable] };
  const runner = isStream
    ? client.chat.completions.runTools({ ...body, stream: true })
    : client.chat.completions.runTools(body);
  expect(await runner.finalContent()).toBe('It is Lima.');
  const asked = await server.asked();
  expect(asked.length).toBe(3);
  expect(asked[1]?.messages.slice(1)).toMatchObject([
    { role: 'assistant', text: '', calls: [call] },
    { role: 'tool', callId: 'call-1', name: 'look_up_capital', text: 'Lima' },
  ]);
  // What was wrong with the arguments goes back to the model.
  expect(asked[2]?.messages.at(-1)?.text).toContain('JSON');
});

test('parse: an answer of a schema', async () => {
  await server.play([{ text: '{"city":"Lima"}' }]);
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const { choices } = await client.chat.completions.parse({
    model,
    messages: [...messages],
    response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true, schema } },
  });
  expect(choices[0]?.message.parsed).toEqual({ city: 'Lima' });
  expect(await server.asked()).toMatchObject([{ output: schema }]);
});

test.each([
  ['model.context_overflow', OpenAI.BadRequestError, 'context_length_exceeded'],
  ['model.rate_limited', OpenAI.RateLimitError, 'rate_limit_exceeded'],
  ['model.overloaded', OpenAI.InternalServerError, 'model_overloaded'],
  ['model.failed', OpenAI.InternalServerError, 'model_failed'],
] as const)('a model that throws `%s`', async (code, kind, told) => {
  const secret = '/home/anna/model.gguf';
  const reply = { throw: { code, message: code === 'model.failed' ? `Cannot open ${secret}.` : 'It went wrong.' } };
  await server.play([reply, reply]);
  for (const stream of [false, true]) {
    const thrown: unknown = await client.chat.completions
      .create({ model, messages: [...messages], stream })
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(kind);
    expect(thrown).toMatchObject({ code: told });
    expect(String(thrown)).not.toContain(secret);
  }
  if (code === 'model.failed') expect(server.stderr()).toContain(secret);
});

test('a request that is wrong: the error has the place', async () => {
  const thrown: unknown = await client.chat.completions
    .create({ model, messages: [...messages], n: 2 })
    .catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(OpenAI.BadRequestError);
  expect(thrown).toMatchObject({
    status: 400,
    param: 'n',
    code: 'unsupported_parameter',
    type: 'invalid_request_error',
  });
});
