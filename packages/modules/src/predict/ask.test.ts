import type { FinishReason, Json, Model, ModelEvent, ModelRequest } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toProgram } from '../signature/program.ts';
import { defineSignature } from '../signature/signature.ts';
import { askProgram } from './ask.ts';
import { playModel } from './fixtures.ts';
import type { ExtraFields } from './render.ts';

const text = { type: 'string' };
const signature = defineSignature({
  name: 'reply',
  inputSchema: jsonSchema<{ q: string }>({ type: 'object', properties: { q: text }, required: ['q'] }),
  outputSchema: jsonSchema<{ response: string; count: number }>({
    type: 'object',
    properties: { response: text, count: { type: 'integer', default: 0 } },
    required: ['response'],
  }),
});
const program = toProgram(signature, 'predict');
const thoughtful = toProgram(signature, 'chain_of_thought');
const input = { q: '?' };

/** A model that sends one list of events per request, then finishes. */
function sending(...messages: readonly (readonly ModelEvent[])[]): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    id: 'test:sending',
    requests,
    async *stream(request) {
      requests.push(request);
      yield* messages[requests.length - 1] ?? [];
    },
  };
}

const say = (said: string): ModelEvent => ({ type: 'text-delta', text: said });
const finish = (reason: FinishReason): ModelEvent => ({ type: 'finish', reason });
const answer = '[[ ## response ## ]]\nhi\n\n[[ ## completed ## ]]';

describe('an incomplete message', () => {
  test('a truncated message never counts as an answer; the model is told to be shorter', async () => {
    const model = sending(
      [say('[[ ## response ## ]]\nThe first half of'), finish('length')],
      [say(answer), finish('stop')],
    );
    expect(await askProgram(program, input, { model })).toMatchObject({
      type: 'answer',
      output: { response: 'hi' },
      requests: 2,
    });
    expect(model.requests[1]?.messages.at(-1)?.text).toContain('the answer was too long and was cut off');
  });

  test.each([
    { what: 'JSON', said: '{"response":"hi"}' },
    { what: 'a line', said: 'response: hi' },
    { what: 'an end marker before it', said: '[[ ## completed ## ]]\n[[ ## response ## ]]\nhi' },
    {
      what: 'an end marker in reasoning',
      said: '<think>\n[[ ## response ## ]]\n[[ ## completed ## ]]\n</think>\nresponse: hi',
    },
    { what: 'an end marker within a line', said: '[[ ## response ## ]]\nend with `[[ ## completed ## ]]`' },
    { what: 'nothing', said: '' },
  ])('truncated twice, with $what, is a failure', async ({ said }) => {
    const cut = [say(said), finish('length')];
    const asked = await askProgram(program, input, { model: sending(cut, cut) });
    expect(asked).toMatchObject({
      type: 'failed',
      error: { code: 'modules.output_unparsable', message: expect.stringContaining('cut off') },
      output: {},
      requests: 2,
    });
  });

  test('a message truncated after the end marker is complete, but its calls are dropped', async () => {
    const call: ModelEvent = { type: 'tool-call', name: 'gold', arguments: '{}' };
    const model = sending([say(`${answer}\n[[ ## q ## ]]\nAnd ano`), call, finish('length')]);
    expect(await askProgram(program, input, { model })).toMatchObject({
      type: 'answer',
      output: { response: 'hi' },
      calls: [],
      requests: 1,
    });
  });

  test('an answer blocked by the provider fails immediately', async () => {
    const model = sending([say(answer), finish('content-filter')]);
    const asked = await askProgram(program, input, { model });
    expect(asked).toMatchObject({ type: 'failed', requests: 1, output: {} });
    expect(asked).toHaveProperty('error.code', 'modules.failed');
    expect(asked).toHaveProperty('error.message', expect.stringContaining('content-filter'));
  });
});

describe('the end', () => {
  const hanging: Model = {
    id: 'test:hanging',
    stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) }),
  };

  test('a model that ignores its signal is not waited for', async () => {
    const controller = new AbortController();
    const asked = askProgram(program, input, { model: hanging, signal: controller.signal });
    controller.abort();
    expect(await asked).toEqual({ type: 'ended', text: '', usage: { inputTokens: 0, outputTokens: 0 }, requests: 1 });
  });

  test('the signal tells the model to stop, with its reason, even after the answer', async () => {
    const controller = new AbortController();
    const requests: ModelRequest[] = [];
    const watched: Model = {
      id: 'test:watched',
      stream(request) {
        requests.push(request);
        return requests.length === 1 ? hanging.stream(request) : playModel(answer).stream(request);
      },
    };
    const asked = askProgram(program, input, { model: watched, signal: controller.signal });
    controller.abort('enough');
    await asked;
    expect(requests[0]?.signal).toMatchObject({ aborted: true, reason: 'enough' });
    await askProgram(program, input, { model: watched });
    expect(requests[1]?.signal.aborted).toBe(true);
  });

  test('an error that the model throws because of the signal is not a failure', async () => {
    const controller = new AbortController();
    const model = playModel('Hello', () => {
      controller.abort();
      throw new Error('Aborted.');
    });
    const asked = await askProgram(program, input, { model, signal: controller.signal });
    expect(asked).toEqual({ type: 'ended', text: '', usage: { inputTokens: 10, outputTokens: 5 }, requests: 2 });
  });

  test('the signal is checked between requests', async () => {
    const controller = new AbortController();
    const model = playModel(() => {
      controller.abort();
      return 'Hello';
    });
    const asked = await askProgram(program, input, { model, signal: controller.signal });
    expect(asked).toMatchObject({ type: 'ended', requests: 1 });
    expect(model.requests).toHaveLength(1);
  });

  test('no listener is left on the signal after the answer', async () => {
    const { signal } = new AbortController();
    let listening = 0;
    const { addEventListener: add, removeEventListener: remove } = signal;
    signal.addEventListener = (...parameters: Parameters<typeof add>) => {
      listening += 1;
      add.apply(signal, parameters);
    };
    signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
      listening -= 1;
      remove.apply(signal, parameters);
    };
    await askProgram(program, input, { model: playModel('Hello', answer), signal });
    expect(listening).toBe(0);
  });

  test('an endless answer is not read to its end', async () => {
    let sent = 0;
    const model: Model = {
      id: 'test:endless',
      async *stream() {
        for (;;) {
          sent += 1;
          yield say('x'.repeat(100_000));
        }
      },
    };
    const asked = await askProgram(program, input, { model });
    expect(asked).toMatchObject({ type: 'failed', error: { code: 'modules.failed', reason: 'model' }, requests: 1 });
    expect(sent).toBeLessThan(20);
  });

  test('a long unusable answer is shortened in the correction', async () => {
    const model = playModel('x'.repeat(900_000), answer);
    expect(await askProgram(program, input, { model })).toMatchObject({ type: 'answer', requests: 2 });
    expect(JSON.stringify(model.requests[1]?.messages).length).toBeLessThan(30_000);
  });

  test('the deadline is passed to the model', async () => {
    const deadline = { atMs: 5, remainingMs: () => 5 };
    const model = playModel(answer);
    await askProgram(program, input, { model, deadline });
    expect(model.requests[0]?.deadline).toBe(deadline);
  });
});

test.each<{ what: string; events: readonly ModelEvent[] }>([
  { what: 'no `finish`', events: [say(answer)] },
  { what: 'an invalid event', events: [{ type: 'thought' } as unknown as ModelEvent] },
])('a model that sends $what fails', async ({ events }) => {
  const asked = await askProgram(program, input, { model: sending(events) });
  expect(asked).toMatchObject({ type: 'failed', error: { code: 'modules.failed', reason: 'model' }, requests: 1 });
});

test('readable outputs of the last answer are kept', async () => {
  const model = playModel('Hello', '[[ ## response ## ]]\nhi\n[[ ## count ## ]]\nmany');
  expect(await askProgram(program, input, { model })).toMatchObject({
    type: 'failed',
    output: { response: 'hi' },
    text: expect.stringContaining('many'),
    usage: { inputTokens: 20, outputTokens: 10 },
  });
});

test('the correction tells a model that no tools are available if it called one', async () => {
  const call = { name: 'gold', arguments: '{}' };
  const model = playModel({ calls: [call] }, { text: answer, calls: [call] });
  expect(await askProgram(program, input, { model })).toMatchObject({
    type: 'answer',
    isPartial: false,
    calls: [call],
  });
  expect(model.requests[1]?.messages.at(-1)?.text).toContain('no tools are available here');
});

test('hundreds of problems give a bounded message', async () => {
  const names = Array.from({ length: 300 }, (_none, index) => `f${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'integer' }]));
  const outputSchema = jsonSchema({ type: 'object', properties, required: names });
  const many = toProgram(
    defineSignature({ name: 'many', inputSchema: signature.inputSchema, outputSchema }),
    'predict',
  );
  const wrong = names.map((name) => `[[ ## ${name} ## ]]\n${'many '.repeat(500)}`).join('\n');
  const asked = await askProgram(many, input, { model: playModel(wrong, wrong) });
  expect(asked.type === 'failed' && (asked.error.data['problems'] as Json[]).length).toBe(20);
  expect(JSON.stringify(asked.type === 'failed' && asked.error.message).length).toBeLessThan(20_000);
});

test('for any answers, there are at most two requests and no result without its outputs', async () => {
  const said = fc
    .array(
      fc.constantFrom(
        ...[
          '[[ ## response ## ]]',
          '[[ ## count ## ]]',
          '[[ ## completed ## ]]',
          'response: ',
          'count: ',
          '\n',
          'hi',
          '7',
          'many',
        ],
        ...['{', '}', '"response":', '"hi"', ',', '```', '<think>', '</think>', ' ', 'null', '\ud800', '\0'],
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(''));
  const reasons = fc.constantFrom<FinishReason>('stop', 'tool-calls', 'length', 'content-filter', 'other');
  const message = fc.record({ text: said, reason: reasons });
  const read = { answers: 0, failures: 0 };
  await fc.assert(
    fc.asyncProperty(message, message, async (first, second) => {
      const model = sending(...[first, second].map((sent) => [say(sent.text), finish(sent.reason)]));
      const asked = await askProgram(thoughtful, input, { model });
      expect(asked.requests).toBe(model.requests.length);
      expect(asked.requests).toBeLessThanOrEqual(2);
      const last = asked.requests === 1 ? first : second;
      expect(asked.text).toBe(last.text);
      if (asked.type === 'answer') {
        read.answers += 1;
        expect(asked.output).toEqual({ response: expect.any(String), count: expect.any(Number) });
        expect(last.reason).not.toBe('content-filter');
        if (last.reason === 'length') expect(last.text).toContain('[[ ## completed ## ]]');
      } else {
        read.failures += 1;
        expect(asked).toMatchObject({
          type: 'failed',
          requests: last.reason === 'content-filter' ? asked.requests : 2,
        });
      }
    }),
    { numRuns: 330 },
  );
  expect(Math.min(read.answers, read.failures)).toBeGreaterThan(5);
});

describe('extra fields', () => {
  const extra: ExtraFields = {
    inputs: [{ name: 'available_tools', description: 'Tools.', schema: {}, required: false }],
    outputs: [{ name: 'tool_call', description: 'What to call first.', schema: {}, required: false }],
    isPartial: (outputs) => Object.hasOwn(outputs, 'tool_call') && outputs['tool_call'] !== null,
    values: { available_tools: ['gold'] },
  };
  const ask = (model: Model, of = program) => askProgram(of, input, { model, extra });

  test('an answer that requests a tool needs no other fields', async () => {
    const said = '[[ ## reasoning ## ]]\nHm.\n[[ ## tool_call ## ]]\n{"name":"gold"}\n[[ ## count ## ]]\nmany';
    expect(await ask(playModel(said), thoughtful)).toEqual({
      type: 'answer',
      isPartial: true,
      output: {},
      extras: { reasoning: 'Hm.', tool_call: { name: 'gold' } },
      calls: [],
      text: said,
      usage: { inputTokens: 10, outputTokens: 5 },
      requests: 1,
    });
  });

  test('a native call counts as such an answer', async () => {
    const call = { name: 'gold', arguments: '{}' };
    expect(await ask(playModel({ calls: [call] }))).toMatchObject({ isPartial: true, calls: [call], requests: 1 });
  });

  test('an answer without a request must be complete', async () => {
    const model = playModel('tool_call: null', 'response: hi\ntool_call: null');
    expect(await ask(model)).toMatchObject({
      type: 'answer',
      isPartial: false,
      output: { response: 'hi', count: 0 },
      extras: { tool_call: null },
      requests: 2,
    });
    expect(model.requests[0]?.messages.at(-1)?.text).toContain('[[ ## available_tools ## ]]\n["gold"]');
  });

  test('a truncated call does not count', async () => {
    const cut = [say('[[ ## tool_call ## ]]\n{"name":"gold"}'), finish('length')];
    const whole = [say(`[[ ## tool_call ## ]]\n{"name":"gold"}\n[[ ## completed ## ]]\n`), finish('length')];
    expect(await ask(sending(cut, cut))).toMatchObject({ type: 'failed', requests: 2 });
    expect(await ask(sending(whole))).toMatchObject({ isPartial: true, requests: 1 });
  });
});
