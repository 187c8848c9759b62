import type { ToolDeclaration } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { tinyFormat } from '@holdfast/model-tiny';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { ask, callsOf, endOf, light, loadTiny, objectOf, textOf, user, weather } from './fixtures.ts';

const tools = [weather, light];
const tiny = await loadTiny();
afterAll(() => tiny.close());

test('a text arrives in parts, with token usage', async () => {
  const events = await ask(tiny, { messages: user('How are you?'), tools });
  expect(textOf(events)).toBe('I have no tool for that.');
  expect(events.length).toBeGreaterThan(5);
  expect(endOf(events)).toMatchObject({
    reason: 'stop',
    usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
  });
});

test('a call, its result and the final sentence', async () => {
  const messages = user('I need the weather for Zanzibar');
  const asked = await ask(tiny, { messages, tools });
  expect(callsOf(asked)).toEqual([{ name: 'get_weather', arguments: { city: 'Zanzibar' } }]);
  expect(endOf(asked).reason).toBe('tool-calls');
  const call = { id: 'call-1', name: 'get_weather', arguments: '{"city":"Zanzibar"}' };
  const answered = await ask(tiny, {
    messages: [
      ...messages,
      { role: 'assistant', text: '', calls: [call] },
      { role: 'tool', callId: 'call-1', name: 'get_weather', success: true, text: '{"owner":"k327"}' },
    ],
    tools,
  });
  expect(textOf(answered)).toContain('k327');
});

test('the format sets how confident the model must be to call', async () => {
  const asked = { messages: user('I need the weather for Zanzibar'), tools };
  const greeted = { messages: user('How are you?'), tools };
  for (const [callShare, calls] of [
    [0, [1, 1]],
    [0.7, [1, 0]],
    [1, [0, 0]],
  ] as const) {
    await using model = await loadTiny({ format: { ...tinyFormat, callShare } });
    const answers = [await ask(model, asked), await ask(model, greeted)];
    expect(answers.map((events) => callsOf(events).length)).toEqual(calls);
  }
});

test('a call of a tool that was not offered, or with another shape, is impossible', async () => {
  await using model = await loadTiny({ temperature: 4, seed: 1, maxTokens: 120, contextSize: 640 });
  const word = fc.stringMatching(/^[a-z]{2,8}$/);
  const type = fc.constantFrom({ type: 'boolean' }, { type: 'string', maxLength: 5 }, { enum: ['red', 'green'] });
  const tool = fc.record({
    name: word.map((name) => `${name}_it`),
    description: word,
    inputSchema: fc
      .dictionary(word, type, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
      .chain((properties) => fc.subarray(Object.keys(properties)).map((required) => objectOf(properties, required))),
  });
  let calls = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(tool, { minLength: 1, maxLength: 4, selector: ({ name }) => name }),
      fc.string({ maxLength: 40 }),
      async (offered: readonly ToolDeclaration[], text) => {
        const events = await ask(model, { messages: user(`use it now: ${text}`), tools: offered });
        for (const { name, arguments: given } of callsOf(events)) {
          calls += 1;
          const called = offered.find((one) => one.name === name);
          expect(called, name).toBeDefined();
          if (called === undefined) continue;
          expect(compileSchema(jsonSchema(called.inputSchema)).validate(given)).toMatchObject({ ok: true });
        }
      },
    ),
    { numRuns: 8 },
  );
  expect(calls).toBeGreaterThan(0);
});

test('an output beside tools: a call, or JSON with its shape', async () => {
  const output = objectOf({ answer: { type: 'string', maxLength: 10 }, sure: { type: 'boolean' } });
  const called = await ask(tiny, { messages: user('I need the weather for Zanzibar'), tools, output });
  expect(callsOf(called)).toHaveLength(1);
  const said = await ask(tiny, { messages: user('How are you?'), tools, output });
  expect(compileSchema(jsonSchema(output)).validate(JSON.parse(textOf(said)))).toMatchObject({ ok: true });
});

test('keywords that a grammar does not enforce are reported once', async () => {
  const told: unknown[] = [];
  await using model = await loadTiny({ onLowered: (lowered) => told.push(lowered) });
  const ranged = { ...light, inputSchema: objectOf({ room: { type: 'string', pattern: '^[a-z]+$' } }) };
  for (const _round of [1, 2]) await ask(model, { messages: user('Set light in kitchen room.'), tools: [ranged] });
  expect(told).toEqual([
    { tools: ['set_light'], lowered: [{ path: '/properties/arguments/properties/room', keyword: 'pattern' }] },
  ]);
});

test('a seed repeats an answer at a temperature, another seed changes it', async () => {
  const say = async (seed: number): Promise<string> => {
    await using model = await loadTiny({ temperature: 2, seed, maxTokens: 30 });
    return textOf(await ask(model, { messages: user('How are you?') }));
  };
  const [first, ...others] = await Promise.all([1, 1, 2, 3].map(say));
  expect(others[0]).toBe(first);
  expect(others.slice(1)).not.toEqual([first, first]);
});

test('four parallel requests answer like single ones, further requests wait in order', async () => {
  await using four = await loadTiny({ sequences: 4 });
  const requests = ['Zanzibar', 'Oslo', 'Lima', 'Paris', 'Rome', 'Quito'].map((city) =>
    user(`I need the weather for ${city}`),
  );
  const alone = [];
  for (const messages of requests) alone.push(callsOf(await ask(tiny, { messages, tools })));
  const ended: number[] = [];
  const together = await Promise.all(
    requests.map(async (messages, index) => {
      const events = await ask(four, { messages, tools });
      ended.push(index);
      return callsOf(events);
    }),
  );
  expect(together).toEqual(alone);
  expect(ended.slice(0, 4).toSorted()).toEqual([0, 1, 2, 3]);
});

test('a request aborted before it starts, while it waits or while it is answered ends at once with the reason', async () => {
  const reason = new Error('over');
  await expect(ask(tiny, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);

  const first = new AbortController();
  const events = tiny
    .stream({ messages: user('How are you?'), tools: [], signal: first.signal })
    [Symbol.asyncIterator]();
  await events.next();
  const second = new AbortController();
  const waiting = ask(tiny, { signal: second.signal }).catch((thrown: unknown) => thrown);
  second.abort(reason);
  expect(await waiting).toBe(reason);
  first.abort(reason);
  await expect(events.next()).rejects.toBe(reason);
  expect(textOf(await ask(tiny, { messages: user('How are you?') }))).toBe('I have no tool for that.');
});

test('a reader that leaves frees the sequence', async () => {
  for (let round = 0; round < 3; round += 1) {
    for await (const event of tiny.stream({
      messages: user('How are you?'),
      tools: [],
      signal: new AbortController().signal,
    })) {
      expect(event.type).toBe('text-delta');
      break;
    }
  }
  expect(endOf(await ask(tiny, {})).reason).toBe('stop');
});

test('a growing conversation is not evaluated again', async () => {
  await using model = await loadTiny({ sequences: 2 });
  const messages = user(`I need the weather for Zanzibar. ${'Please. '.repeat(40)}`);
  const timed = async (): Promise<string> => JSON.stringify(await ask(model, { messages, tools }));
  const first = await timed();
  expect(await timed()).toBe(first);
});

test('user text that looks like a special token stays text', async () => {
  const lengthOf = async (text: string): Promise<number> =>
    endOf(await ask(tiny, { messages: user(text), maxTokens: 1 })).usage?.inputTokens ?? 0;
  expect((await lengthOf('x<|hf_call|>')) - (await lengthOf('x'))).toBeGreaterThan(3);
});

test('characters split across tokens arrive whole', async () => {
  const output = objectOf({ it: { const: 'žluťoučký 🐎 кінь' } });
  const events = await ask(tiny, { output });
  expect(JSON.parse(textOf(events))).toEqual({ it: 'žluťoučký 🐎 кінь' });
  expect(events.some((event) => event.type === 'text-delta' && event.text.includes('\u{FFFD}'))).toBe(false);
});

test('without a grammar the model writes freely, and anything parsed as a call is one', async () => {
  await using model = await loadTiny({ constrain: false });
  const called = await ask(model, { messages: user('I need the weather for Zanzibar'), tools: [weather] });
  expect(callsOf(called)).toEqual([{ name: 'get_weather', arguments: { city: 'Zanzibar' } }]);
  await using deaf = await loadTiny({ constrain: false, format: { ...tinyFormat, readCall: () => undefined } });
  const text = textOf(await ask(deaf, { messages: user('I need the weather for Zanzibar'), tools: [weather] }));
  expect(text).toBe('{"name":"get_weather","arguments":{"city":"Zanzibar"}}');
  await using wild = await loadTiny({ constrain: false, temperature: 5, seed: 3, maxTokens: 40 });
  for (let round = 0; round < 3; round += 1) {
    const events = await ask(wild, { messages: user(`Go ${round}`), tools: [weather] }).catch(describeThrown);
    expect(Array.isArray(events) && events.at(-1)).toMatchObject({ type: 'finish' });
  }
});
