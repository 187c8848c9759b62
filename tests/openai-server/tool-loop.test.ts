import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { defineTool, type Model } from '@holdfast/core';
import { defineSignature, predict, react, wrapTools } from '@holdfast/modules';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PlayedServer, startPlayed } from './test-server.ts';

let server: PlayedServer;
beforeAll(async () => {
  server = await startPlayed();
});
afterAll(() => server[Symbol.asyncDispose]());

function served(): Model {
  const settings = { name: 'holdfast', includeUsage: true, supportsStructuredOutputs: true };
  return aiSdkModel(createOpenAICompatible({ ...settings, baseURL: server.url }).languageModel(server.model), {
    maxRetries: 0,
  });
}

const signature = defineSignature({
  name: 'npc.merchant',
  inputSchema: v.object({ query: v.string() }),
  outputSchema: v.object({ response: v.string() }),
});
const gold = defineTool({
  name: 'get_gold',
  description: 'How much gold a player has.',
  inputSchema: v.strictObject({ player: v.picklist(['anna', 'bert']) }),
  effects: 'none',
  execute: ({ player }) => (player === 'anna' ? 500 : 3),
});
const usage = { inputTokens: 10, outputTokens: 5 };
const query = { query: 'How much gold has Anna?' };

test('wrapTools: calls in the text, what came of them, and the answer', async () => {
  await server.play([
    { text: '[[ ## tool_call ## ]]\n{ "name": "get_gold", "args": { "player": "carla" } }', usage },
    { text: '[[ ## tool_call ## ]]\n{ "name": "get_gold", "args": { "player": "anna" } }', usage },
    { text: '[[ ## response ## ]]\nFive hundred, my friend!', usage },
  ]);
  const loop = wrapTools(predict(signature, { model: served() }), { tools: [gold] });
  const { reason, output, calls, usage: used } = await loop.invoke(query);
  expect({ reason, output }).toEqual({ reason: 'completed', output: { response: 'Five hundred, my friend!' } });
  expect(calls.map(({ outcome }) => outcome?.kind)).toEqual(['invalid', 'ok']);
  expect(used).toEqual({ inputTokens: 30, outputTokens: 15 });
  const asked = await server.asked();
  expect(asked[2]?.messages.at(-1)?.text).toContain("Tool 'get_gold' returned: 500");
});

test('react: native calls, also wrong ones, and the answer', async () => {
  const call = (args: object) => ({ name: 'get_gold', arguments: args });
  await server.play([
    { calls: [call({ player: 'carla' }), { name: 'get_silver', arguments: {} }], usage },
    { calls: [call({ player: 'anna' }), call({ player: 'bert' })], usage },
    { calls: [{ name: 'submit', arguments: { response: 'Five hundred.' } }], usage },
  ]);
  const { reason, output, calls } = await react(signature, { model: served(), tools: [gold] }).run(query);
  expect({ reason, output }).toEqual({ reason: 'submit', output: { response: 'Five hundred.' } });
  expect(calls.map(({ outcome }) => outcome?.kind)).toEqual(['invalid', 'unknown-tool', 'ok', 'ok']);
  const asked = await server.asked();
  expect(asked[0]?.tools.map(({ name }) => name)).toEqual(['get_gold', 'submit']);
  expect(asked[2]?.messages.slice(-2).map(({ text }) => text)).toEqual(['500', '3']);
});

test('a model that fails is told as what it is', async () => {
  const overflow = { throw: { code: 'model.context_overflow', message: 'It can take 512 tokens.' } };
  await server.play([overflow]);
  const loop = wrapTools(predict(signature, { model: served() }), { tools: [gold] });
  const { reason, error } = await loop.invoke(query);
  expect(reason).toBe('failed');
  expect(error?.message).toContain('It can take 512 tokens.');
});
