import type { Message, Model, ModelEvent, ModelRequest } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ScriptStep, scriptedModel } from './scripted-model.ts';

function request(messages: readonly Message[] = [], signal = new AbortController().signal): ModelRequest {
  return { messages, tools: [], signal };
}

async function collect(model: Model, asked: ModelRequest = request()): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(asked)) events.push(event);
  return events;
}

const call = { id: 'c1', name: 'echo', arguments: '{"q":"hi"}' };
const usage = { inputTokens: 3, outputTokens: 4 };

test.each<{ title: string; step: ScriptStep; events: ModelEvent[] }>([
  { title: 'nothing', step: {}, events: [{ type: 'finish', reason: 'stop' }] },
  {
    title: 'text',
    step: { text: 'All done.', usage },
    events: [
      { type: 'text-delta', text: 'All' },
      { type: 'text-delta', text: ' done.' },
      { type: 'finish', reason: 'stop', usage },
    ],
  },
  {
    title: 'calls, including one without an id',
    step: { calls: [call, { name: 'echo', arguments: { q: 'again' } }] },
    events: [
      { type: 'tool-call', ...call },
      { type: 'tool-call', name: 'echo', arguments: { q: 'again' } },
      { type: 'finish', reason: 'tool-calls' },
    ],
  },
  {
    title: 'a cut message',
    step: { calls: [call], finish: 'length' },
    events: [
      { type: 'tool-call', ...call },
      { type: 'finish', reason: 'length' },
    ],
  },
  {
    title: 'a turn from a function of the request',
    step: ({ messages }) => ({ text: String(messages.length) }),
    events: [
      { type: 'text-delta', text: '0' },
      { type: 'finish', reason: 'stop' },
    ],
  },
])('plays $title', async ({ step, events }) => {
  expect(await collect(scriptedModel([step]))).toEqual(events);
});

test('throws the error of a step, and continues with the next one', async () => {
  const model = scriptedModel([{ throw: new Error('overloaded') }, { text: 'better' }]);
  await expect(collect(model)).rejects.toThrow('overloaded');
  expect(await collect(model)).toHaveLength(2);
});

test('running out of turns is script.invalid: exhausted', async () => {
  const model = scriptedModel([{ text: 'only' }]);
  await collect(model);
  await expect(collect(model)).rejects.toMatchObject({
    code: 'script.invalid',
    reason: 'exhausted',
    data: { turns: 1 },
  });
});

test('records each request unchanged, although the messages grow', async () => {
  const model = scriptedModel([{ text: 'a' }, { text: 'b' }]);
  const messages: Message[] = [{ role: 'user', text: 'hello' }];
  await collect(model, request(messages));
  messages.push({ role: 'assistant', text: 'a', calls: [] });
  await collect(model, request(messages));
  expect(model.requests.map((recorded) => recorded.messages.length)).toEqual([1, 2]);
});

test('stops on abort, before and between events', async () => {
  const aborted = AbortSignal.abort(new Error('stopped'));
  await expect(collect(scriptedModel([{ text: 'never' }]), request([], aborted))).rejects.toThrow('stopped');

  const controller = new AbortController();
  const stream = scriptedModel([{ text: 'one two' }])
    .stream(request([], controller.signal))
    [Symbol.asyncIterator]();
  expect(await stream.next()).toMatchObject({ value: { text: 'one' } });
  controller.abort(new Error('stopped'));
  await expect(stream.next()).rejects.toThrow('stopped');
});

test('the deltas of any text join to that text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\n', '\t', '😀') }), async (text) => {
      const events = await collect(scriptedModel([{ text }]));
      const deltas = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []));
      expect(deltas.join('')).toBe(text);
      expect(deltas).not.toContain('');
    }),
  );
});

test('has the given id', () => {
  expect(scriptedModel([]).id).toBe('scripted:model');
  expect(scriptedModel([], { id: 'script:demo.json' }).id).toBe('script:demo.json');
});

test('a recorded request is complete, including deadline and output schema', async () => {
  const model = scriptedModel([{ text: 'Ok' }]);
  const deadline = { atMs: 5, remainingMs: () => 5 };
  const request = {
    messages: [],
    tools: [],
    signal: new AbortController().signal,
    deadline,
    output: { type: 'object' },
    maxTokens: 7,
  };
  for await (const event of model.stream(request)) expect(event).toBeDefined();
  expect(model.requests[0]).toMatchObject({ deadline, output: { type: 'object' }, maxTokens: 7 });
});
