import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { defineTool } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { defineSignature, react } from '@holdfast/modules';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai';
import OpenAI from 'openai';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from './test-server.ts';

// The packaged model, through the whole of it. What it says is its own affair; what it can call is held by a grammar.
let server: Server;
let client: OpenAI;
beforeAll(async () => {
  server = await startServer(['--no-config']);
  client = new OpenAI({ baseURL: server.url, apiKey: 'none', maxRetries: 0 });
});
afterAll(() => server[Symbol.asyncDispose]());

function served() {
  const settings = { name: 'holdfast', includeUsage: true, supportsStructuredOutputs: true };
  return createOpenAICompatible({ ...settings, baseURL: server.url }).languageModel(server.model);
}

const request = 'I need the weather for Zanzibar';
const description = 'look up the weather';
const parameters = {
  type: 'object',
  properties: { city: { type: 'string', maxLength: 20 } },
  required: ['city'],
  additionalProperties: false,
} as const;
const weather = { type: 'function', function: { name: 'get_weather', description, parameters } } as const;
const messages = [{ role: 'user', content: request }] as const;

/** The tool for the AI SDK, with what it was called with. */
function counted() {
  const inputs: unknown[] = [];
  const getWeather = tool({
    description,
    inputSchema: jsonSchema<{ city: string }>(parameters),
    execute: async (input) => {
      inputs.push(input);
      return { wind: 'k327' };
    },
  });
  return { tools: { get_weather: getWeather }, inputs };
}

test('it is the default, and its name is `local`', async () => {
  expect(server.model).toBe('local');
  expect((await client.models.list()).data).toMatchObject([{ id: 'local' }]);
});

test('generateText of the AI SDK: a tool loop', async () => {
  const { tools, inputs } = counted();
  const { steps, totalUsage } = await generateText({
    model: served(),
    tools,
    prompt: request,
    stopWhen: isStepCount(3),
  });
  expect(inputs[0]).toEqual({ city: expect.any(String) });
  expect(steps[0]).toMatchObject({ finishReason: 'tool-calls', toolCalls: [{ toolName: 'get_weather' }] });
  expect(steps.length).toBeGreaterThan(1);
  expect(totalUsage.inputTokens).toBeGreaterThan(0);
});

test('streamText of the AI SDK: a tool loop', async () => {
  const { tools, inputs } = counted();
  const result = streamText({ model: served(), tools, prompt: request, stopWhen: isStepCount(3) });
  const errors: unknown[] = [];
  for await (const part of result.stream) if (part.type === 'error') errors.push(part.error);
  expect(errors).toEqual([]);
  expect((await result.steps)[0]?.toolCalls[0]?.toolName).toBe('get_weather');
  expect(inputs.length).toBeGreaterThan(0);
});

test('structured output of the AI SDK', async () => {
  const light = jsonSchema<{ room: string; on: boolean }>({
    type: 'object',
    properties: { room: { enum: ['kitchen', 'hall'] }, on: { type: 'boolean' } },
    required: ['room', 'on'],
    additionalProperties: false,
  });
  const prompt = 'Set light in kitchen room with on true.';
  const { output } = await generateText({ model: served(), prompt, output: Output.object({ schema: light }) });
  expect(['kitchen', 'hall']).toContain(output.room);
  expect(output.on).toBeTypeOf('boolean');
});

test('create, and create with `stream`, of the OpenAI client: a call', async () => {
  const body = { model: 'local', messages: [...messages], tools: [weather] };
  const whole = await client.chat.completions.create(body);
  const [choice] = whole.choices;
  expect(choice).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ id: expect.stringMatching(/^call_/), function: { name: 'get_weather' } }] },
  });
  expect(whole.usage?.completion_tokens).toBeGreaterThan(0);
  const streamed = await client.chat.completions.stream(body).finalChatCompletion();
  expect(streamed.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'get_weather' } }]);
});

test('runTools of the OpenAI client', async () => {
  const inputs: unknown[] = [];
  const runner = client.chat.completions.runTools({
    model: 'local',
    messages: [...messages],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description,
          parameters: { ...parameters, required: [...parameters.required] },
          parse: (text: string): object => JSON.parse(text) as object,
          function: (input: object): string => {
            inputs.push(input);
            return '{"wind":"k327"}';
          },
        },
      },
    ],
  });
  expect(await runner.finalContent()).not.toBe('');
  expect(inputs[0]).toEqual({ city: expect.any(String) });
});

const governed = defineTool({
  name: 'get_weather',
  description,
  inputSchema: v.strictObject({ city: v.pipe(v.string(), v.maxLength(20)) }),
  effects: 'none',
  execute: () => ({ wind: 'k327' }),
});

test('a run of our own, with a governed tool', async () => {
  const prompt = createPrompt({
    ns: 'tests',
    key: 'served',
    sections: [markdownSection({ title: 'Home', template: 'Help.', tools: [governed] })],
  });
  const model = aiSdkModel(served());
  const { outcomes } = await runAgent({ model, prompt, session: createSession(), input: request, maxRounds: 4 }).result;
  expect(outcomes[0]).toMatchObject({ kind: 'ok', name: 'get_weather', value: { wind: 'k327' } });
});

test('the tool loop of modules: every call has its outcome, and the loop its end', async () => {
  const signature = defineSignature({
    name: 'answer',
    inputSchema: v.object({ request: v.string() }),
    outputSchema: v.object({ answer: v.pipe(v.string(), v.maxLength(40)) }),
  });
  const asking = { model: aiSdkModel(served()), tools: [governed], maxIterations: 4 };
  const { reason, calls } = await react(signature, asking).run({ request });
  expect(['submit', 'forced-submit', 'max-iterations']).toContain(reason);
  for (const { name, outcome } of calls) {
    expect(['get_weather', 'submit']).toContain(name);
    expect(outcome).toBeDefined();
  }
});

test('eight at once, more than it has places for', async () => {
  const body = { model: 'local', messages: [...messages], tools: [weather] };
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.chat.completions.create(body)));
  const names = answers.map(({ choices }) =>
    choices[0]?.message.tool_calls?.map((call) => call.type === 'function' && call.function.name),
  );
  expect(names).toEqual(Array.from({ length: 8 }, () => ['get_weather']));
  expect(new Set(answers.map(({ id }) => id)).size).toBe(8);
});

test('limits: of the answer, and of the conversation', async () => {
  const body = { model: 'local', messages: [...messages] };
  const cut = await client.chat.completions.create({ ...body, max_tokens: 3 });
  expect(cut).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 3 } });
  const long = [{ role: 'user' as const, content: 'weather '.repeat(5000) }];
  const refused: unknown = await client.chat.completions
    .create({ ...body, messages: long })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
  expect(refused).toMatchObject({ code: 'context_length_exceeded' });
});

const long = {
  type: 'json_schema' as const,
  json_schema: {
    name: 'long',
    schema: { type: 'object', properties: { text: { type: 'string', minLength: 300 } }, required: ['text'] },
  },
};

test('Ctrl-C ends the server in order while the model writes and others wait', async () => {
  const other = await startServer(['--no-config']);
  const asking = new OpenAI({ baseURL: other.url, apiKey: 'none', maxRetries: 0 });
  const body = { model: 'local', messages: [...messages], response_format: long };
  const answers = Array.from({ length: 24 }, () => asking.chat.completions.create(body));
  await Promise.race(answers);
  // Many have to come yet.
  await other[Symbol.asyncDispose]();
  const settled = await Promise.allSettled(answers);
  const failed = settled.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  expect(failed.length).toBeGreaterThan(0);
  for (const reason of failed) expect(reason).toMatchObject({ status: 503, code: 'server_closing' });
});

test('a stream that is left, and others that wait for its place', async () => {
  const body = { model: 'local', messages: [...messages], response_format: long };
  const streams = await Promise.all(
    Array.from({ length: 4 }, () => client.chat.completions.create({ ...body, stream: true })),
  );
  for (const stream of streams) {
    for await (const chunk of stream) {
      expect(chunk.choices[0]?.finish_reason).toBeNull();
      break;
    }
  }
  const next = await client.chat.completions.create({ model: 'local', messages: [...messages], tools: [weather] });
  expect(next.choices[0]?.finish_reason).toBe('tool_calls');
  expect(server.stderr()).toBe('');
});
