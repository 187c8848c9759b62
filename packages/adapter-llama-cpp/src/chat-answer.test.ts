import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolDeclaration } from '@holdfast/core';
import { tinyModelUrl } from '@holdfast/model-tiny';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, callsOf, endOf, importStarted, objectOf, textOf, user } from './fixtures.ts';
import { type LlamaModel, loadLlamaModel } from './llama-model.ts';
import { addChatTemplate } from './test-chat-template.ts';

const weather: ToolDeclaration = {
  name: 'get_weather',
  description: 'look up the weather',
  inputSchema: objectOf({ city: { enum: ['Oslo', 'Zanzibar'] }, soon: { type: 'boolean' } }, ['city']),
};
const light: ToolDeclaration = {
  name: 'set_light',
  description: 'change the light',
  inputSchema: objectOf({ room: { enum: ['kitchen', 'hall'] }, on: { type: 'boolean' } }),
};
const tools = [weather, light];

let folder: string;
let model: LlamaModel;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-llama-chat-'));
  const modelPath = join(folder, 'chat.gguf');
  await addChatTemplate(tinyModelUrl, modelPath);
  model = await loadLlamaModel({
    modelPath,
    contextSize: 1024,
    sequences: 2,
    maxTokens: 300,
    importBinding: importStarted,
  });
});
afterAll(async () => {
  await model.close();
  await rm(folder, { recursive: true });
});

test.each([
  ['Please look up the weather for Zanzibar', weather],
  ['Set light in kitchen room with on true.', light],
] as const)('a call by the chat template: %s', async (text, tool) => {
  const events = await ask(model, { messages: user(text), tools });
  const calls = callsOf(events);
  // The model was not trained on this template: it makes extra calls and does not stop, like some larger models.
  expect(calls.map(({ name }) => name)).toContain(tool.name);
  expect(calls.length).toBeLessThanOrEqual(8);
  for (const call of calls) {
    const called = tools.find(({ name }) => name === call.name);
    expect(called, call.name).toBeDefined();
    const schema = compileSchema(jsonSchema(called?.inputSchema ?? {}));
    expect(schema.validate(call.arguments), JSON.stringify(call)).toMatchObject({ ok: true });
  }
  expect(endOf(events)).toMatchObject({ reason: 'tool-calls', usage: { inputTokens: expect.any(Number) } });
});

test('`maxTokens` of a request cuts off a text', async () => {
  const events = await ask(model, { messages: user('Tell me a joke'), maxTokens: 3 });
  expect(endOf(events)).toMatchObject({ reason: 'length', usage: { outputTokens: 3 } });
});

test('a text, in parts', async () => {
  const events = await ask(model, { messages: user('Tell me a joke'), tools, maxTokens: 40 });
  expect(textOf(events)).not.toBe('');
  expect(events.every((event) => event.type !== 'text-delta' || event.text !== '')).toBe(true);
  expect(endOf(events).usage?.outputTokens).toBeGreaterThan(0);
});

const output = objectOf({ answer: { type: 'string', maxLength: 10 }, sure: { type: 'boolean' } });

test.each([
  ['alone', []],
  ['beside tools', tools],
] as const)('an output %s is JSON with its shape', async (_name, offered) => {
  const events = await ask(model, { messages: user('Tell me a joke'), tools: offered, output });
  const calls = callsOf(events);
  if (calls.length > 0) expect(calls.every(({ name }) => tools.some((tool) => tool.name === name))).toBe(true);
  else expect(compileSchema(jsonSchema(output)).validate(JSON.parse(textOf(events)))).toMatchObject({ ok: true });
});

test('a conversation of several steps is continued', async () => {
  const call = { id: 'call-1', name: 'get_weather', arguments: '{"city":"Oslo"}' };
  const events = await ask(model, {
    messages: [
      { role: 'system', text: 'You know maps.' },
      ...user('I need the weather for Oslo'),
      { role: 'assistant', text: '', calls: [call] },
      { role: 'tool', callId: 'call-1', name: 'get_weather', success: true, text: '{"owner":"k327"}' },
    ],
    tools,
  });
  expect(textOf(events)).toContain('owner');
});

test('`model.context_overflow`: a conversation is never truncated silently', async () => {
  await expect(ask(model, { messages: user('word '.repeat(1100)) })).rejects.toMatchObject({
    code: 'model.context_overflow',
    data: { contextSize: 1024 },
  });
});

test('an aborted request ends with the reason, and the next one is answered', async () => {
  const controller = new AbortController();
  const reason = new Error('over');
  const events = model
    .stream({ messages: user('Tell me a joke'), tools: [], signal: controller.signal })
    [Symbol.asyncIterator]();
  await events.next();
  controller.abort(reason);
  await expect(events.next()).rejects.toBe(reason);
  expect(endOf(await ask(model, { messages: user('Tell me a joke'), maxTokens: 3 }))).toBeDefined();
});

test('a file without a chat template gets a generic one', async () => {
  await using plain = await loadLlamaModel({
    modelPath: tinyModelUrl,
    contextSize: 1024,
    maxTokens: 20,
    importBinding: importStarted,
  });
  const events = await ask(plain, { messages: user('Tell me a joke'), output });
  expect(events.length).toBeGreaterThan(1);
  expect(['stop', 'length']).toContain(endOf(events).reason);
});
