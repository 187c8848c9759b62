import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { type AiSdkModel, aiSdkModel } from '@holdfast/adapter-ai-sdk';
import type { JsonObject, ModelEvent } from '@holdfast/core';
import { expect, test } from 'vitest';
import { type Reply, startServer } from './test-server.ts';

const apiKey = 'test';
const closed: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const open: JsonObject = { ...closed, additionalProperties: { type: 'number' } };
const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: {} } };
const json = '{"city":"Lima"}';

const usage = { input_tokens: 10, output_tokens: 5 };

function anthropicReply(stopReason: string, block: object, delta: object): Reply {
  const message = { type: 'message', id: 'm', role: 'assistant', model: 'm', content: [], usage };
  return {
    events: [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
  };
}

function googleReply(part: object): Reply {
  const candidate = { index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' };
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  return { events: [{ candidates: [candidate], usageMetadata }] };
}

const openAiItem = { type: 'message', id: 'msg_1' };
const openAiReply: Reply = {
  events: [
    { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
    { type: 'response.output_item.added', output_index: 0, item: openAiItem },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: json },
    { type: 'response.output_item.done', output_index: 0, item: openAiItem },
    { type: 'response.completed', response: { incomplete_details: null, usage } },
  ],
};

interface Case {
  readonly name: string;
  readonly model: (url: string) => AiSdkModel;
  readonly output: JsonObject;
  readonly reply: Reply;
  /** The parts of the request about the tool and the schema. */
  readonly sent: object;
}

const cases: readonly Case[] = [
  {
    name: 'OpenAI',
    model: (url) => createOpenAI({ baseURL: url, apiKey })('gpt-5'),
    output: closed,
    reply: openAiReply,
    sent: { tools: [{ name: 'look' }], text: { format: { type: 'json_schema', schema: closed } } },
  },
  {
    name: 'Anthropic, strict',
    model: (url) => createAnthropic({ baseURL: url, apiKey })('claude-sonnet-4-5'),
    output: closed,
    reply: anthropicReply('end_turn', { type: 'text', text: '' }, { type: 'text_delta', text: json }),
    sent: { tools: [{ name: 'look' }], output_config: { format: { type: 'json_schema', schema: closed } } },
  },
  {
    name: 'Anthropic, with a tool for the answer',
    model: (url) => createAnthropic({ baseURL: url, apiKey })('claude-sonnet-4-5'),
    output: open,
    reply: anthropicReply(
      'tool_use',
      { type: 'tool_use', id: 't', name: 'json', input: {} },
      { type: 'input_json_delta', partial_json: json },
    ),
    sent: { tools: [{ name: 'look' }, { name: 'json', input_schema: open }], tool_choice: { type: 'any' } },
  },
  {
    name: 'Google, Gemini 3',
    model: (url) => createGoogle({ baseURL: url, apiKey })('gemini-3-pro-preview'),
    output: closed,
    reply: googleReply({ text: json }),
    sent: {
      tools: [{ functionDeclarations: [{ name: 'look' }] }],
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: closed },
    },
  },
];

async function ask({ model, reply, output }: Omit<Case, 'name' | 'sent'>) {
  await using server = await startServer([reply]);
  const { signal } = new AbortController();
  const messages = [{ role: 'user', text: 'Where?' }] as const;
  const asked = aiSdkModel(model(server.url), { maxRetries: 0 }).stream({ messages, tools: [look], signal, output });
  const events: ModelEvent[] = [];
  for await (const event of asked) events.push(event);
  return { events, body: server.bodies[0] };
}

test.each(cases)('$name: the request has both schema and tools, and the answer is text', async ({ sent, ...asked }) => {
  const { events, body } = await ask(asked);
  expect(body).toMatchObject(sent);
  const text = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
  expect(JSON.parse(text)).toEqual({ city: 'Lima' });
  expect(events.filter(({ type }) => type === 'tool-call')).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
});

test('Google, Gemini 2.5: the request has only the tools, because the provider rejects both', async () => {
  const { events, body } = await ask({
    model: (url) => createGoogle({ baseURL: url, apiKey })('gemini-2.5-flash'),
    output: closed,
    reply: googleReply({ text: json }),
  });
  expect(body).toMatchObject({ tools: [{ functionDeclarations: [{ name: 'look' }] }] });
  expect(JSON.stringify(body)).not.toContain('city');
  expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
});
