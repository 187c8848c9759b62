import { HoldfastError, type Message } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Demo } from '../signature/program.ts';
import { defineSignature } from '../signature/signature.ts';
import { type Play, playModel } from './fixtures.ts';
import { chainOfThought, type Prediction, type Predictor, predict } from './predict.ts';

interface Question {
  readonly q: string;
  readonly tags?: readonly string[];
}

const inputSchema = jsonSchema<Question>({
  type: 'object',
  properties: {
    q: { type: 'string', minLength: 1 },
    tags: { type: 'array', items: { type: 'string' }, default: ['none'] },
  },
  required: ['q'],
});

/** `q -> a:int, b:bool, c:string[], d:string` of the cases, and two optional fields. */
const signature = defineSignature({
  name: 'cases',
  inputSchema,
  outputSchema: jsonSchema<{ a: number; b: boolean; c: string[]; d: string; e: string | null; f?: string }>({
    type: 'object',
    properties: {
      a: { type: 'integer', maximum: 100 },
      b: { type: 'boolean' },
      c: { type: 'array', items: { type: 'string' } },
      d: { type: 'string' },
      e: { type: ['string', 'null'], default: 'default' },
      f: { type: 'string' },
    },
    required: ['a', 'b', 'c', 'd'],
  }),
});

const reply = defineSignature({
  name: 'reply',
  inputSchema,
  outputSchema: jsonSchema<{ response: string; tool_call?: unknown }>({
    type: 'object',
    properties: { response: { type: 'string' }, tool_call: {} },
    required: ['response'],
  }),
});

const fields = (values: Readonly<Record<string, string>>, end = '[[ ## completed ## ]]'): string =>
  [...Object.entries(values).map(([name, value]) => `[[ ## ${name} ## ]]\n${value}\n`), end].join('\n');

const good = { a: '1', b: 'true', c: '["x"]', d: 'text' };
const output = { a: 1, b: true, c: ['x'], d: 'text', e: 'default' };

test('a predictor, its input and its output have the types of the signature', async () => {
  const model = playModel(fields({ response: 'hi' }));
  const predictor = predict(reply, { model });
  expectTypeOf(predictor).toEqualTypeOf<Predictor<Question, { response: string; tool_call?: unknown }>>();
  expectTypeOf(predictor.invoke).parameter(0).toEqualTypeOf<Question>();
  expectTypeOf(chainOfThought(reply, { model })).toEqualTypeOf<typeof predictor>();
  // @ts-expect-error: `q` is required.
  await expect(predictor.invoke({ tags: [] })).rejects.toMatchObject({ code: 'modules.invalid', reason: 'input' });
  const prediction = await predictor.invoke({ q: '?' });
  expectTypeOf(prediction).toEqualTypeOf<Prediction<{ response: string; tool_call?: unknown }>>();
  expectTypeOf(prediction.output.response).toEqualTypeOf<string>();
  expect(prediction).toEqual({ output: { response: 'hi' }, usage: { inputTokens: 10, outputTokens: 5 }, requests: 1 });
  expect(predictor).toMatchObject({ signature: reply, predictorType: 'predict', model });
  expect([prediction, prediction.usage, predictor].every(Object.isFrozen)).toBe(true);
});

describe('answers that need no correction', () => {
  test.each<{ what: string; text: string; expected: object }>([
    { what: 'headers and end marker', text: fields(good), expected: output },
    { what: 'CHT-2: no end marker', text: fields(good, ''), expected: output },
    {
      what: 'CHT-4: text before the first header, and an unknown field',
      text: `Sure!\n${fields({ ...good, z: 'more' })}`,
      expected: output,
    },
    { what: 'CHT-6: `yes` and `1.0`', text: fields({ ...good, b: 'yes', a: '1.0' }), expected: output },
    { what: 'CHT-6: `True`', text: fields({ ...good, b: 'True' }), expected: output },
    {
      what: 'CHT-8: optional fields have their default',
      text: fields({ ...good, e: 'e', f: 'f' }),
      expected: { ...output, e: 'e', f: 'f' },
    },
    { what: 'CHT-10: null', text: fields({ ...good, e: 'null' }), expected: { ...output, e: null } },
    { what: 'bare JSON', text: JSON.stringify({ a: 1, b: true, c: ['x'], d: 'text' }), expected: output },
    { what: 'fenced JSON', text: 'So:\n```json\n{"a":1,"b":true,"c":["x"],"d":"text"}\n```', expected: output },
    { what: 'names and values', text: 'a: 1\nb: true\nc: ["x"]\nd: text', expected: output },
    { what: 'thoughts before it', text: `<think>\n${fields({ a: '7' })}\n</think>\n${fields(good)}`, expected: output },
  ])('$what', async ({ text, expected }) => {
    const model = playModel(text);
    expect((await predict(signature, { model }).invoke({ q: '?' })).output).toEqual(expected);
    expect(model.requests).toHaveLength(1);
  });

  test.each([
    { what: 'LOOP-6: a text answer with `tool_call: null`', text: 'response: hi\ntool_call: null', response: 'hi' },
    {
      what: 'LOOP-8: several lines',
      text: 'response: first\nsecond: with a colon\n\nthird\ntool_call: null',
      response: 'first\nsecond: with a colon\n\nthird',
    },
    { what: 'LOOP-8: several lines after a header', text: fields({ response: 'one\n\ntwo' }), response: 'one\n\ntwo' },
  ])('$what', async ({ text, response }) => {
    const prediction = await predict(reply, { model: playModel(text) }).invoke({ q: '?' });
    expect(prediction.output.response).toBe(response);
    expect(prediction.requests).toBe(1);
  });
});

describe('one correction', () => {
  test.each<{ what: string; text: string; told: string }>([
    { what: 'LOOP-10: no field at all', text: 'Hello there!', told: '- the field `response` is missing' },
    { what: 'an empty message', text: '', told: '- the field `response` is missing' },
    { what: 'an empty object', text: '{}', told: '- the field `response` is missing' },
  ])('$what', async ({ text, told }) => {
    const model = playModel(text, fields({ response: 'hi' }));
    const prediction = await predict(reply, { model }).invoke({ q: '?' });
    expect(prediction).toMatchObject({ output: { response: 'hi' }, requests: 2 });
    expect(prediction.usage).toEqual({ inputTokens: 20, outputTokens: 10 });
    const [first, second] = model.requests;
    const [answered, asked, ...rest] = second?.messages.slice(first?.messages.length) ?? [];
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages);
    expect(answered).toEqual({ role: 'assistant', text: text === '' ? '(no text)' : text, calls: [] });
    expect(asked?.text.split('\n')).toContain(told);
    expect(asked?.text).toContain('`[[ ## response ## ]]`');
    expect(rest).toEqual([]);
  });

  test.each<{ what: string; text: string; told: readonly string[] }>([
    {
      what: 'CHT-8: fields are missing',
      text: fields({ b: 'true', d: 'x' }),
      told: ['the field `a` is missing', 'the field `c` is missing'],
    },
    { what: 'a value of another type', text: fields({ ...good, a: 'many' }), told: ['the field `a`: must be'] },
    { what: 'a value beyond its limit', text: fields({ ...good, a: '101' }), told: ['the field `a`:'] },
  ])('says that $what', async ({ text, told }) => {
    const model = playModel(text, fields(good));
    expect((await predict(signature, { model }).invoke({ q: '?' })).output).toEqual(output);
    const asked = model.requests[1]?.messages.at(-1)?.text;
    for (const one of told) expect(asked).toContain(`- ${one}`);
  });

  test('then the error lists missing and invalid fields, and the model is not asked again', async () => {
    const model = playModel('Hello', fields({ a: 'many', b: 'true', d: 'x' }), fields(good));
    await expect(predict(signature, { model }).invoke({ q: '?' })).rejects.toMatchObject({
      code: 'modules.output_unparsable',
      message: expect.stringMatching(/`cases`.*`c` is missing; the field `a`: must be/),
      data: { kind: 'OutputUnparsable', recoverable: true, missing: ['c'], problems: [{ field: 'a' }] },
    });
    expect(model.requests).toHaveLength(2);
  });
});

describe('a model that fails', () => {
  const down = new HoldfastError('model.unauthorized', 'No such key.');
  test.each<{ what: string; plays: readonly Play[]; requests: number }>([
    { what: 'CHT-12: at once', plays: [down], requests: 1 },
    { what: 'during the correction', plays: ['Hello', down], requests: 2 },
  ])('$what: its error is passed on', async ({ plays, requests }) => {
    const model = playModel(...plays);
    const error = await predict(signature, { model })
      .invoke({ q: '?' })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'modules.failed',
      reason: 'model',
      message: 'The model `test:play` gave no answer: No such key.',
      data: { kind: 'ModelFailed', recoverable: true, code: 'model.unauthorized' },
    });
    expect(error).toHaveProperty('cause', down);
    expect(model.requests).toHaveLength(requests);
  });
});

describe('the input', () => {
  test.each<{ what: string; input: unknown; told: string }>([
    { what: 'lacks a field', input: {}, told: 'q' },
    { what: 'has one of another type', input: { q: 1 }, told: '`q`' },
    { what: 'has an undeclared field', input: { q: '?', other: 1 }, told: '`other`' },
    { what: 'is not an object', input: ['?'], told: 'object' },
    { what: 'is nothing', input: undefined, told: 'cases' },
    { what: 'has a value that is not JSON', input: { q: '?', tags: [1n] }, told: '`tags[0]`' },
  ])('$what: the model is not asked', async ({ input, told }) => {
    const model = playModel(fields(good));
    const predictor: Predictor = predict(signature, { model });
    const expected = { code: 'modules.invalid', reason: 'input', message: expect.stringContaining(told) };
    await expect(predictor.invoke(input)).rejects.toMatchObject(expected);
    expect(() => predictor.render(input)).toThrow(expect.objectContaining(expected));
    expect(model.requests).toEqual([]);
  });

  test('defaults are filled in, and an optional field may be undefined', async () => {
    const model = playModel(fields(good));
    const given = { q: '?', tags: undefined };
    const predictor: Predictor = predict(signature, { model });
    await predictor.invoke(given);
    expect(model.requests[0]?.messages.at(-1)?.text).toContain('[[ ## tags ## ]]\n["none"]');
  });
});

test('the model gets the rendered messages, without tools', async () => {
  const model = playModel(fields(good));
  const demos = [{ inputs: { q: '1?' }, outputs: { a: 1 } }];
  const predictor = predict(signature, { model, instruction: 'Be quick.', demos, descriptions: { d: 'Words.' } });
  const rendered: readonly Message[] = predictor.render({ q: '?' });
  await predictor.invoke({ q: '?' });
  expect(model.requests[0]).toMatchObject({ messages: rendered, tools: [] });
  expect(rendered.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  expect(rendered[0]?.text).toMatch(/4\. `d` \(string\): Words\.\n[\s\S]*Be quick\.$/);
});

test('a predictor may use another model', async () => {
  const own = playModel();
  const other = playModel(fields(good));
  expect((await predict(signature, { model: own }).invoke({ q: '?' }, { model: other })).output).toEqual(output);
  expect(own.requests).toEqual([]);
});

test('only the reason of an aborted signal is thrown unchanged', async () => {
  const reason = { my: 'reason' };
  const model = playModel(fields(good));
  const invoked = predict(signature, { model }).invoke({ q: '?' }, { signal: AbortSignal.abort(reason) });
  await expect(invoked).rejects.toBe(reason);
  expect(model.requests).toEqual([]);
});

describe('a chain of thought', () => {
  test('asks for reasoning before the outputs, and returns it with them', async () => {
    const model = playModel(fields({ reasoning: 'Because.', ...good }));
    const prediction = await chainOfThought(signature, { model }).invoke({ q: '?' });
    expect(prediction).toMatchObject({ reasoning: 'Because.', requests: 1 });
    expect(prediction.output).toEqual(output);
    expect(model.requests[0]?.messages.at(-1)?.text).toMatch(/Answer with the field `\[\[ ## reasoning ## \]\]`, then/);
  });

  test('accepts an answer without it', async () => {
    const prediction = await chainOfThought(signature, { model: playModel(fields(good)) }).invoke({ q: '?' });
    expect(prediction).toEqual({ output, usage: { inputTokens: 10, outputTokens: 5 }, requests: 1 });
  });

  test('keeps the position of the `reasoning` of a signature', async () => {
    const outputSchema = jsonSchema<{ answer: string; reasoning: string }>({
      type: 'object',
      properties: { answer: { type: 'string' }, reasoning: { type: 'string' } },
      required: ['answer', 'reasoning'],
    });
    const own = defineSignature({ name: 'own', inputSchema, outputSchema });
    const model = playModel(fields({ answer: 'yes' }), fields({ answer: 'yes', reasoning: 'So.' }));
    const prediction = await chainOfThought(own, { model }).invoke({ q: '?' });
    expect(prediction).toEqual({
      output: { answer: 'yes', reasoning: 'So.' },
      usage: { inputTokens: 20, outputTokens: 10 },
      requests: 2,
    });
  });
});

test.each([predict, chainOfThought])(
  'a program that cannot be rendered is rejected when the predictor is created',
  (make) => {
    const model = playModel();
    expect(() => make(signature, { model, descriptions: { z: 'No.' } })).toThrow(
      expect.objectContaining({ code: 'modules.invalid', reason: 'description_unknown' }),
    );
  },
);

describe('demos given in code are checked against the signature', () => {
  const model = playModel();
  const good = { inputs: { q: '1?' }, outputs: { a: 1, b: true, c: [], d: 'one' } };
  test.each<{ readonly title: string; readonly demos: readonly Demo[]; readonly message: RegExp }>([
    {
      title: 'a misspelt input',
      demos: [good, { inputs: { qq: '1?' }, outputs: {} }],
      message: /`demos\[1\]`: `inputs\.qq`: unknown field; the inputs are `q`/,
    },
    {
      title: 'a misspelt output',
      demos: [{ inputs: {}, outputs: { answer: 1 } }],
      message: /`outputs\.answer`: unknown field/,
    },
    {
      title: 'a value of another type',
      demos: [{ inputs: { q: '1?' }, outputs: { a: 'one' } }],
      message: /`demos\[0\]`: `outputs\.a`/,
    },
    { title: 'a value that the schema rejects', demos: [{ inputs: { q: '' }, outputs: {} }], message: /`inputs\.q`/ },
  ])('$title', ({ demos, message }) => {
    for (const make of [predict, chainOfThought]) {
      expect(() => make(signature, { model, demos })).toThrow(
        expect.objectContaining({ code: 'modules.invalid', reason: 'demo', message: expect.stringMatching(message) }),
      );
    }
  });

  test('all invalid demos are reported', () => {
    const wrong = { inputs: { x: 1 }, outputs: {} };
    expect(() => predict(signature, { model, demos: [wrong, good, wrong] })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('There are 1 more'),
        data: { reason: 'demo', problems: [expect.stringContaining('demos[0]'), expect.stringContaining('demos[2]')] },
      }),
    );
  });

  test('fields may be missing, and fields of a tool loop or a chain of thought may be present', () => {
    const demos = [
      { inputs: { q: '1?', available_tools: [], context: 'a' }, outputs: { tool_call: { name: 'x', args: {} } } },
      { inputs: {}, outputs: { a: 1 } },
    ];
    expect(predict(signature, { model, demos }).program.demos).toEqual(demos);
    const thought = [{ inputs: { q: '1?' }, outputs: { reasoning: 'So.', a: 1 } }];
    expect(chainOfThought(signature, { model, demos: thought }).program.demos).toEqual(thought);
    expect(() => predict(signature, { model, demos: thought })).toThrow(/`outputs\.reasoning`: unknown field/);
  });
});
