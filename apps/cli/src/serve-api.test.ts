import { once } from 'node:events';
import { connect } from 'node:net';
import { HoldfastError, type Model } from '@holdfast/core';
import { scriptedModel } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { silentModel, startApi } from './test-api.ts';

const clock = { now: () => 1_750_000_000_900, after: () => () => undefined };
const weather = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } };
const usage = { inputTokens: 10, outputTokens: 5 };
const call = { id: 'call-1', name: 'get_weather', arguments: '{"city":"Lima"}' };
const chatCall = { id: 'call-1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Lima"}' } };
const id = expect.stringMatching(/^chatcmpl-[\w-]+$/);

test('a text, whole', async () => {
  const model = scriptedModel([{ text: 'Hello, you.', usage }]);
  await using api = await startApi(model, { clock });
  const response = await api.chat({ model: 'local', max_tokens: 9 });
  expect(response).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
  expect(response.json()).toEqual({
    id,
    object: 'chat.completion',
    created: 1_750_000_000,
    model: 'local',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello, you.', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
  expect(model.requests[0]).toMatchObject({ messages: [{ role: 'user', text: 'Hello' }], tools: [], maxTokens: 9 });
});

test('a text, in parts', async () => {
  await using api = await startApi(scriptedModel([{ text: 'Hello, you.', usage }]), { clock });
  const response = await api.chat({ stream: true, stream_options: { include_usage: true } });
  expect(response).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  const chunk = { id, object: 'chat.completion.chunk', created: 1_750_000_000, model: 'local', usage: null };
  const with_ = (delta: object, reason: string | null = null): object => ({
    ...chunk,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  });
  expect(response.events()).toEqual([
    with_({ role: 'assistant', content: '' }),
    with_({ content: 'Hello,' }),
    with_({ content: ' you.' }),
    with_({}, 'stop'),
    { ...chunk, choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
    '[DONE]',
  ]);
  const ids = response
    .events()
    .flatMap((event) => (typeof event === 'object' && event !== null && 'id' in event ? [event.id] : []));
  expect(new Set(ids).size).toBe(1);
});

test('calls, whole and in parts; without usage where the model counts nothing', async () => {
  const turn = { text: 'One moment.', calls: [call, { name: 'get_weather', arguments: { city: 'Oslo' } }] };
  await using api = await startApi(scriptedModel([turn, turn, { calls: [call] }]));
  const made = {
    id: expect.stringMatching(/^call_\w{32}$/),
    type: 'function',
    function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
  };
  const whole = (await api.chat({ tools: [weather] })).json();
  expect(whole).not.toHaveProperty('usage');
  expect(whole).toMatchObject({
    choices: [{ message: { content: 'One moment.', tool_calls: [chatCall, made] }, finish_reason: 'tool_calls' }],
  });
  const streamed = (
    await api.chat({ tools: [weather], stream: true, stream_options: { include_usage: true } })
  ).events();
  expect(streamed.slice(3)).toMatchObject([
    { choices: [{ delta: { tool_calls: [{ index: 0, ...chatCall }] }, finish_reason: null }] },
    { choices: [{ delta: { tool_calls: [{ index: 1, ...made }] }, finish_reason: null }] },
    { choices: [{ delta: {}, finish_reason: 'tool_calls' }], usage: null },
    '[DONE]',
  ]);
  expect((await api.chat({ tools: [weather] })).json()).toMatchObject({ choices: [{ message: { content: null } }] });
});

test.each<[arguments_: unknown, text: string]>([
  [' { "city":\n"Lima" }', ' { "city":\n"Lima" }'],
  ['{"city":', '{"city":'],
  ['', '{}'],
  [undefined, '{}'],
  [{ a: [1] }, '{"a":[1]}'],
])('arguments %j are the text %j', async (given, text) => {
  await using api = await startApi(scriptedModel([{ calls: [{ name: 'a', arguments: given }] }]));
  expect((await api.chat({ tools: [weather] })).json()).toMatchObject({
    choices: [{ message: { tool_calls: [{ function: { arguments: text } }] } }],
  });
});

test.each([
  ['length', 'length'],
  ['content-filter', 'content_filter'],
  ['other', 'stop'],
  ['stop', 'stop'],
] as const)('a message that ends with `%s` ends with `%s`', async (finish, reason) => {
  await using api = await startApi(scriptedModel([{ text: 'It is', finish }]));
  expect((await api.chat()).json()).toMatchObject({ choices: [{ finish_reason: reason }] });
});

test.each(['length', 'content-filter'] as const)('calls of a message that ends with `%s` are none', async (finish) => {
  await using api = await startApi(
    scriptedModel([
      { calls: [call], finish },
      { calls: [call], finish },
    ]),
  );
  const choice = { tools: [weather], tool_choice: 'required' };
  for (const fields of [{ tools: [weather] }, choice]) {
    const body = (await api.chat(fields)).json();
    expect(body).toMatchObject({ choices: [{ finish_reason: finish.replace('-', '_') }] });
    expect(JSON.stringify(body)).not.toContain('tool_calls');
  }
});

test.each(['stop', 'other'] as const)(
  'a message with calls that ends with `%s` ends with `tool_calls`',
  async (finish) => {
    await using api = await startApi(scriptedModel([{ calls: [call], finish }]));
    expect((await api.chat({ tools: [weather] })).json()).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
  },
);

test('`parallel_tool_calls: false`: the first call alone', async () => {
  await using api = await startApi(scriptedModel([{ calls: [call, { ...call, id: 'call-2' }] }]));
  expect((await api.chat({ tools: [weather], parallel_tool_calls: false })).json()).toMatchObject({
    choices: [{ message: { tool_calls: [{ id: 'call-1' }] } }],
  });
});

const time = { type: 'function', function: { name: 'get_time' } };
const named = { type: 'function', function: { name: 'get_weather' } };

test.each([false, true])(
  '`tool_choice`: what is chosen alone is offered, and no text comes with it; stream: %j',
  async (stream) => {
    const model = scriptedModel([{ text: 'Let me see.', calls: [call] }]);
    await using api = await startApi(model);
    const response = await api.chat({ tools: [time, weather], tool_choice: named, stream });
    expect(response.status).toBe(200);
    expect(response.text).not.toContain('Let me see.');
    expect(response.text).toContain('"name":"get_weather"');
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['get_weather']);
  },
);

test.each([
  [named, { text: 'It is hot.' }],
  [named, { calls: [{ name: 'get_time', arguments: {} }] }],
  ['required', { text: 'It is hot.' }],
] as const)('`serve.call_missing`: %j, and the model answers %j', async (choice, turn) => {
  await using api = await startApi(scriptedModel([turn, turn]));
  for (const stream of [false, true]) {
    const response = await api.chat({ tools: [weather], tool_choice: choice, stream });
    expect(response.status).toBe(422);
    expect(response.json()).toMatchObject({ error: { param: 'tool_choice', code: 'tool_call_missing' } });
  }
});

test('`serve.tools_unsupported`: a model that cannot be offered tools', async () => {
  const model = { ...scriptedModel([{ text: 'Hello.' }]), callsTools: false };
  await using api = await startApi(model);
  const response = await api.chat({ tools: [weather] });
  expect(response.status).toBe(400);
  expect(response.json()).toMatchObject({ error: { param: 'tools', code: 'unsupported_parameter' } });
  expect((await api.chat({ tools: [weather], tool_choice: 'none' })).status).toBe(200);
});

test('the list of models, and one of them', async () => {
  await using api = await startApi(scriptedModel([]), { name: '@acme/models:one' });
  const model = { id: '@acme/models:one', object: 'model', created: 0, owned_by: 'holdfast' };
  const get = { method: 'GET', headers: {} };
  expect((await api.send({ ...get, path: '/v1/models?limit=1' })).json()).toEqual({ object: 'list', data: [model] });
  for (const path of ['/v1/models/@acme/models:one', '/v1/models/%40acme%2Fmodels%3Aone']) {
    expect((await api.send({ ...get, path })).json()).toEqual(model);
  }
  for (const path of ['/v1/models/two', '/v1/models/%', '/v1/models/__proto__']) {
    const response = await api.send({ ...get, path });
    expect(response.status).toBe(404);
    expect(response.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } });
  }
});

test('`serve.model_unknown`: a chat with another model', async () => {
  await using api = await startApi(scriptedModel([]));
  const response = await api.chat({ model: 'gpt-5' });
  expect(response.status).toBe(404);
  expect(response.json()).toEqual({
    error: {
      message: 'There is no model "gpt-5" here: `local` is served.',
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_found',
    },
  });
});

function failing(thrown: unknown, after: string): Model {
  return {
    id: 'failing',
    async *stream() {
      if (after !== '') yield { type: 'text-delta', text: after };
      throw thrown;
    },
  };
}

const overflow = new HoldfastError('model.context_overflow', '`m` can take 512 tokens, and there are 600.');
const limited = new HoldfastError('model.rate_limited', '`m` answered 429.', {
  data: { status: 429, retryAfterMs: 1500 },
});

test.each([
  [overflow, 400, 'invalid_request_error', 'context_length_exceeded'],
  [limited, 429, 'rate_limit_error', 'rate_limit_exceeded'],
  [new HoldfastError('model.overloaded', 'Busy.'), 503, 'server_error', 'model_overloaded'],
  [new HoldfastError('model.unauthorized', 'No key.'), 500, 'server_error', 'model_unauthorized'],
  [new HoldfastError('model.request_invalid', 'No.'), 400, 'invalid_request_error', 'model_request_invalid'],
])('a model that fails with %s', async (thrown, status, type, code) => {
  await using api = await startApi(failing(thrown, ''));
  const error = { message: thrown.message, type, param: null, code };
  for (const stream of [false, true]) {
    const response = await api.chat({ stream });
    expect(response.status).toBe(status);
    expect(response.json()).toEqual({ error });
    expect(response.headers['retry-after']).toBe(thrown === limited ? '2' : undefined);
  }
  expect(api.reports).toEqual([]);
  await using late = await startApi(failing(thrown, 'Well'));
  const streamed = await late.chat({ stream: true });
  expect(streamed.status).toBe(200);
  expect(streamed.events().slice(1)).toMatchObject([{ choices: [{ delta: { content: 'Well' } }] }, { error }]);
});

const secret = '/home/anna/models/private.gguf';

test.each<[what: string, model: Model]>([
  ['an error', failing(new Error(`cannot open ${secret}`), '')],
  ['a known error', failing(new HoldfastError('model.failed', `cannot open ${secret}`), '')],
  ['no error', failing(secret, '')],
  ['no end', { id: 'endless', async *stream() {} }],
  ['no stream', { id: secret, stream: () => JSON.parse('{}') }],
])('a model that fails with %s: the reason stays here', async (_, model) => {
  await using api = await startApi(model);
  for (const stream of [false, true]) {
    const response = await api.chat({ stream });
    expect(response.status).toBe(500);
    expect(response.json()).toMatchObject({ error: { type: 'server_error', param: null, code: 'model_failed' } });
    expect(response.text).not.toContain('private');
  }
  expect(api.reports.length).toBe(2);
});

test.each([false, true])(
  'a client that goes away: the model is told, also one that does not listen; stream: %j',
  async (stream) => {
    const { model, signals, asked } = silentModel();
    await using api = await startApi(model);
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], stream });
    const socket = connect(api.port, '127.0.0.1');
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(head + body);
    if (stream) await once(socket, 'data');
    await asked(1);
    const [signal = AbortSignal.abort()] = signals;
    expect(signal.aborted).toBe(false);
    const aborted = once(signal, 'abort');
    socket.destroy();
    await aborted;
    expect(api.reports).toEqual([]);
  },
);

test('a client that goes away with half a body sent is no failure of the server', async () => {
  await using api = await startApi(scriptedModel([]));
  const socket = connect(api.port, '127.0.0.1');
  socket.write(
    'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 90\r\nExpect: 100-continue\r\n\r\n{"mess',
  );
  await once(socket, 'data');
  socket.destroy();
  await api.end();
  expect(api.reports).toEqual([]);
});

/** Says a letter, again and again. */
function endless(signals: AbortSignal[]): Model {
  return {
    id: 'endless',
    async *stream({ signal }) {
      signals.push(signal);
      for (let count = 1; ; count += 1) {
        yield { type: 'text-delta', text: 'x' };
        if (count % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

test('a client that does not read is let go before all of an answer waits in memory', async () => {
  const signals: AbortSignal[] = [];
  await using api = await startApi(endless(signals));
  const socket = connect(api.port, '127.0.0.1');
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], stream: true });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  socket.pause();
  while (signals[0]?.aborted !== true) await new Promise((resolve) => setImmediate(resolve));
  expect(signals[0].reason).toMatchObject({ message: 'The client has gone.' });
  expect(api.reports).toEqual([]);
  socket.destroy();
});

test('a model that finds no end is left after a million characters', async () => {
  await using api = await startApi(endless([]));
  expect((await api.chat()).status).toBe(500);
  expect(api.reports).toMatchObject([{ message: 'The model sent more than 1000000 characters.' }]);
});

test('`serve.closing`: answers that are on their way are ended, and no more are taken', async () => {
  const { model, signals, asked } = silentModel();
  await using api = await startApi(model);
  const whole = api.chat();
  const streamed = api.chat({ stream: true });
  await asked(2);
  await api.end();
  const error = { type: 'server_error', code: 'server_closing', param: null };
  expect(await whole).toMatchObject({ status: 503 });
  expect((await whole).json()).toMatchObject({ error });
  expect((await streamed).events().at(-1)).toMatchObject({ error });
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
  await expect(api.chat()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await api.end();
});

test('several at once, each as it comes', async () => {
  const waiting: (() => void)[] = [];
  const count = 20;
  const everyone = Promise.withResolvers<void>();
  const model: Model = {
    id: 'echo',
    async *stream({ messages }) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === count) everyone.resolve();
      });
      yield { type: 'text-delta', text: messages[0]?.role === 'user' ? messages[0].text : '' };
      yield { type: 'finish', reason: 'stop' };
    },
  };
  await using api = await startApi(model);
  const chats = Array.from({ length: count }, (_, index) =>
    api.chat({ messages: [{ role: 'user', content: `Number ${index}` }], stream: index % 2 === 0 }),
  );
  await everyone.promise;
  for (const go of waiting.toReversed()) go();
  for (const [index, chat] of chats.entries()) expect((await chat).text).toContain(`Number ${index}"`);
});
