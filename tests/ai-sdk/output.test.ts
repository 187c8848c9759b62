import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { type AiSdkModel, aiSdkModel, type LoweredSchema } from '@holdfast/adapter-ai-sdk';
import type { JsonObject } from '@holdfast/core';
import { expect, test } from 'vitest';
import { startServer } from './test-server.ts';

const apiKey = 'test';
const closed: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 2 } },
  required: ['city'],
  additionalProperties: false,
};
const optional: JsonObject = { ...closed, required: [] };
const open: JsonObject = { ...closed, additionalProperties: { type: 'number' } };
const lowered: JsonObject = { ...closed, properties: { city: { type: 'string' } } };

const openai = (url: string): AiSdkModel => createOpenAI({ baseURL: url, apiKey })('gpt-5');
const anthropic = (url: string): AiSdkModel => createAnthropic({ baseURL: url, apiKey })('claude-sonnet-4-5');
const google = (url: string): AiSdkModel => createGoogle({ baseURL: url, apiKey })('gemini-2.5-flash');

/** The request for `output`, and the keywords reported as lost. The response does not matter. */
async function send(open: (url: string) => AiSdkModel, output: JsonObject) {
  await using server = await startServer([{ status: 400, body: { error: { message: 'Enough.' } } }]);
  const reports: LoweredSchema[] = [];
  const model = aiSdkModel(open(server.url), { maxRetries: 0, onLowered: (report) => reports.push(report) });
  const { signal } = new AbortController();
  const asked = model.stream({ messages: [{ role: 'user', text: 'Where?' }], tools: [], signal, output });
  await expect(asked[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'model.request_invalid' });
  return { body: server.bodies[0], lost: reports.flatMap((report) => report.lowered.map(({ keyword }) => keyword)) };
}

test.each<[string, (url: string) => AiSdkModel, JsonObject, object, string[]]>([
  [
    'OpenAI, strict',
    openai,
    closed,
    { text: { format: { type: 'json_schema', strict: true, schema: lowered } } },
    ['minLength'],
  ],
  [
    'OpenAI, with an optional property',
    openai,
    optional,
    { text: { format: { strict: false, schema: optional } } },
    ['required'],
  ],
  ['OpenAI, open', openai, open, { text: { format: { strict: false, schema: open } } }, ['additionalProperties']],
  [
    'Anthropic, strict',
    anthropic,
    closed,
    { output_config: { format: { type: 'json_schema', schema: lowered } } },
    ['minLength'],
  ],
  [
    'Anthropic, open',
    anthropic,
    open,
    { tools: [{ name: 'json', input_schema: open }], tool_choice: { type: 'any' } },
    ['additionalProperties'],
  ],
  [
    'Google',
    google,
    closed,
    {
      generationConfig: {
        responseMimeType: 'application/json',
        responseJsonSchema: closed,
      },
    },
    [],
  ],
])('%s gets a schema that it accepts', async (_, provider, output, body, lost) => {
  const sent = await send(provider, output);
  expect(sent.body).toMatchObject(body);
  expect(sent.lost).toEqual(lost);
});
