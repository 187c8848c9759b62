import type { Json, Message, ModelEvent } from '@holdfast/core';
import { expect, test } from 'vitest';
import { aiSdkModel } from './ai-sdk-model.ts';
import { call, collect, fakeModel, finish, type Version, versions } from './fixtures.ts';

const signature = { anthropic: { signature: 'c2lnbmVk', nested: { list: [1, null, 'x'] } } };
const item = { openai: { itemId: 'item_1' } };

interface Exchange {
  readonly version?: Version;
  readonly provider?: string;
  readonly change?: (message: AssistantMessage) => AssistantMessage;
}
type AssistantMessage = Extract<Message, { readonly role: 'assistant' }>;

/** Has a model answer with `parts`, sends the message back and returns the content of the next prompt. */
async function exchange(
  parts: readonly unknown[],
  { version = 'v4', provider = 'anthropic.messages', change = (message) => message }: Exchange = {},
) {
  const first = fakeModel([[...parts, finish(version, 'tool-calls')]], { version, provider: 'anthropic.messages' });
  const message = change(toMessage(await collect(aiSdkModel(first))));
  const second = fakeModel([[finish(version, 'stop')]], { version, provider });
  await collect(aiSdkModel(second), { messages: [message] });
  const [seen] = second.requests[0]?.prompt ?? [];
  return { message, content: seen !== undefined && 'content' in seen ? seen.content : undefined };
}

/** Builds a message as the executor does. */
function toMessage(events: readonly ModelEvent[]): AssistantMessage {
  let text = '';
  let providerMetadata: Json | undefined;
  const calls = events.flatMap((event) => {
    if (event.type === 'text-delta') text += event.text;
    if (event.type === 'finish') providerMetadata = event.providerMetadata;
    return event.type === 'tool-call' ? [{ id: event.id ?? 'made', name: event.name, arguments: event.arguments }] : [];
  });
  return { role: 'assistant', text, calls, providerMetadata };
}

const thought = [
  { type: 'reasoning-start', id: '0' },
  { type: 'reasoning-delta', id: '0', delta: 'Let me ' },
  { type: 'reasoning-delta', id: '0', delta: 'look.' },
  { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signature },
  { type: 'reasoning-end', id: '0' },
  { type: 'text-start', id: '0', providerMetadata: item },
  { type: 'text-delta', id: '0', delta: 'I read.' },
  { type: 'text-end', id: '0' },
  { type: 'tool-call', toolCallId: 'a', toolName: 'read', input: '{"path":"x"}', providerMetadata: item },
  ...call('b', 'read', '{"path":"y"}'),
];
const a = { type: 'tool-call', toolCallId: 'a', toolName: 'read', input: { path: 'x' } };
const b = { type: 'tool-call', toolCallId: 'b', toolName: 'read', input: { path: 'y' } };

test.each(versions)('%s: reasoning, signatures and metadata come back verbatim and in order', async (version) => {
  const { content } = await exchange(thought, { version });
  expect(content).toEqual([
    { type: 'reasoning', text: 'Let me look.', providerOptions: signature },
    { type: 'text', text: 'I read.', providerOptions: item },
    { ...a, providerOptions: item },
    b,
  ]);
});

test('the metadata survives JSON serialization', async () => {
  const { message, content } = await exchange(thought, {
    change: (one) => JSON.parse(JSON.stringify(one)) as AssistantMessage,
  });
  expect(message.providerMetadata).toBeDefined();
  expect(content).toMatchObject([{ type: 'reasoning', providerOptions: signature }, {}, {}, {}]);
});

const plain = [{ type: 'text', text: 'I read.' }, a, b];

test.each<[string, Exchange]>([
  ['of another provider', { provider: 'openai.responses' }],
  ['that was dropped', { change: (message) => ({ ...message, providerMetadata: undefined }) }],
  ['in an unknown shape', { change: (message) => ({ ...message, providerMetadata: { aiSdk: 'x' } }) }],
  [
    'without content',
    {
      change: (message) => ({
        ...message,
        providerMetadata: { aiSdk: { provider: 'anthropic.messages', content: 1 } },
      }),
    },
  ],
])('metadata %s is not sent; text and calls are', async (_, options) => {
  expect((await exchange(thought, options)).content).toEqual(plain);
});

test('text or calls edited by the host override the stored content', async () => {
  const shortened = await exchange(thought, { change: (message) => ({ ...message, text: 'I …' }) });
  expect(shortened.content).toEqual([{ type: 'text', text: 'I …' }, a, b]);
  const fewer = await exchange(thought, { change: (message) => ({ ...message, calls: message.calls.slice(1) }) });
  expect(fewer.content).toEqual([plain[0], b]);
});

test('a message of text and calls stores no extra content', async () => {
  const { message } = await exchange([
    { type: 'text-delta', id: '1', delta: 'I read.' },
    ...call('a', 'read', '{"path":"x"}'),
    // Metadata of the whole message: an SDK prompt has no place for it.
    { ...finish('v4', 'tool-calls'), providerMetadata: item },
  ]);
  expect(message.providerMetadata).toBeUndefined();
});

test('the provider sees the id that the executor assigned', async () => {
  const parts = [{ type: 'tool-call', toolCallId: '', toolName: 'read', input: '{}', providerMetadata: item }];
  const { content } = await exchange(parts);
  expect(content).toEqual([
    { type: 'tool-call', toolCallId: 'made', toolName: 'read', input: {}, providerOptions: item },
  ]);
});

test('provider-run calls, files and custom parts are kept but not called', async () => {
  const bytes = new Uint8Array([1, 2, 255]);
  const parts = [
    { type: 'tool-input-start', id: 's', toolName: 'web_search', providerExecuted: true },
    { type: 'tool-call', toolCallId: 's', toolName: 'web_search', input: '{"query":"q"}', providerExecuted: true },
    { type: 'tool-result', toolCallId: 's', toolName: 'web_search', result: [], preliminary: true },
    { type: 'tool-result', toolCallId: 's', toolName: 'web_search', result: [{ url: 'u' }] },
    {
      type: 'tool-result',
      toolCallId: 's',
      toolName: 'web_search',
      result: 'no',
      isError: true,
      providerMetadata: item,
    },
    { type: 'file', mediaType: 'image/png', data: bytes },
    { type: 'file', mediaType: 'image/png', data: 'AQI=' },
    { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: bytes } },
    { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.org/a') } },
    { type: 'custom', kind: 'openai.compaction', providerMetadata: item },
    { type: 'source', sourceType: 'url', id: '1', url: 'https://example.org' },
    { type: 'from-the-future' },
    ...call('a', 'read', '{"path":"x"}'),
  ];
  const { message, content } = await exchange(parts, {
    change: (one) => JSON.parse(JSON.stringify(one)) as AssistantMessage,
  });
  expect(message.calls).toEqual([{ id: 'a', name: 'read', arguments: '{"path":"x"}' }]);
  const search = { toolCallId: 's', toolName: 'web_search' };
  expect(content).toEqual([
    { type: 'tool-call', ...search, input: { query: 'q' }, providerExecuted: true },
    { type: 'tool-result', ...search, output: { type: 'json', value: [{ url: 'u' }] } },
    { type: 'tool-result', ...search, output: { type: 'error-json', value: 'no' }, providerOptions: item },
    { type: 'file', mediaType: 'image/png', data: 'AQL/' },
    { type: 'file', mediaType: 'image/png', data: 'AQI=' },
    { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AQL/' } },
    { type: 'file', mediaType: 'image/png', data: { type: 'url', url: 'https://example.org/a' } },
    { type: 'custom', kind: 'openai.compaction', providerOptions: item },
    a,
  ]);
});
