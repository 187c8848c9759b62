import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { LLMock } from '@copilotkit/aimock';
import { aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runWith } from './test-agent.ts';

// A third-party mock provider, so that the tests do not rely only on our reading of the protocols.
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent' });

beforeAll(async () => {
  mock.on({ hasToolResult: true }, { content: 'It is Lima.' });
  mock.onMessage(/capital of Peru/, {
    content: 'Let me look.',
    toolCalls: [{ name: 'look_up_capital', arguments: '{"country":"Peru"}' }],
  });
  await mock.start();
});

afterAll(() => mock.stop());

const apiKey = 'mock';

test.each([
  ['OpenAI-compatible', () => createOpenAICompatible({ name: 'local', baseURL: `${mock.url}/v1`, apiKey })('m')],
  ['OpenAI, Chat Completions', () => createOpenAI({ baseURL: `${mock.url}/v1`, apiKey }).chat('gpt-4.1')],
  ['OpenAI, Responses', () => createOpenAI({ baseURL: `${mock.url}/v1`, apiKey })('gpt-4.1')],
  ['Anthropic', () => createAnthropic({ baseURL: `${mock.url}/v1`, apiKey })('claude-sonnet-4-5')],
  ['Google', () => createGoogle({ baseURL: `${mock.url}/v1beta`, apiKey })('gemini-2.5-flash')],
])('%s, played by aimock: a complete run with one call', async (_, open) => {
  const { status, text, outcomes, error } = await runWith(aiSdkModel(open()));
  expect({ status, text, error }).toEqual({ status: 'completed', text: 'It is Lima.', error: undefined });
  expect(outcomes).toMatchObject([{ kind: 'ok', name: 'look_up_capital' }]);
});
