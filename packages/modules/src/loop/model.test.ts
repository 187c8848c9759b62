import { defineTool, type Json, type JsonObject } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { describe, expect, test } from 'vitest';
import { chainOfThought, defineSignature, predict, type Signature, wrapTools } from '../index.ts';
import { playModel } from '../predict/fixtures.ts';
import { object } from './test-playing.ts';

const text = { type: 'string' };
const gold = defineTool({
  name: 'get_gold',
  description: 'How much gold there is.',
  effects: 'none',
  repeat: 'safe',
  execute: () => 100,
});

function signature(
  inputs: Record<string, JsonObject> = { question: text },
  outputs: Record<string, JsonObject> = { response: text },
  optional: readonly string[] = [],
): Signature<Record<string, Json>, Record<string, Json>> {
  return defineSignature({
    name: 'merchant',
    inputSchema: jsonSchema<Record<string, Json>>({
      type: 'object',
      properties: inputs,
      required: Object.keys(inputs).filter((name) => !optional.includes(name)),
    }),
    outputSchema: object(outputs),
  });
}

/** An answer with these fields. */
function fields(values: Record<string, string>): string {
  return `${Object.entries(values)
    .map(([name, value]) => `[[ ## ${name} ## ]]\n${value}`)
    .join('\n\n')}\n\n[[ ## completed ## ]]`;
}
const callGold = fields({ tool_call: '{"name":"get_gold","args":{}}' });
const input = { question: 'How much?' };
const lastText = (model: ReturnType<typeof playModel>, at: number): string =>
  model.requests[at]?.messages.at(-1)?.text ?? '';

describe('a predictor with a model', () => {
  test('gets the tools, and the results from the second round on', async () => {
    const model = playModel(callGold, fields({ tool_call: 'null', response: 'You have 100.' }));
    const result = await wrapTools(predict(signature(), { model }), { tools: [gold] }).invoke(input);
    expect(result).toMatchObject({
      reason: 'completed',
      output: { response: 'You have 100.' },
      iterations: 2,
      calls: [{ id: 'call_0_0', text: '100' }],
      usage: { inputTokens: 20, outputTokens: 10 },
    });
    const [system] = model.requests[0]?.messages ?? [];
    expect(system?.text).toContain('available_tools');
    expect(system?.text).toContain('tool_call');
    expect(lastText(model, 0)).toContain('"name":"get_gold"');
    expect(lastText(model, 0)).not.toContain("Tool 'get_gold'");
    expect(lastText(model, 1)).toContain("[[ ## context ## ]]\nTool 'get_gold' returned: 100");
    expect(model.requests.map(({ tools }) => tools)).toEqual([[], []]);
  });

  test('renders the same bytes for the same tools, registered in any order', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', effects: 'none', execute: () => 1 });
    const texts = [];
    for (const tools of [
      [gold, look],
      [look, gold],
    ]) {
      const model = playModel(fields({ response: 'Yes.' }));
      await wrapTools(predict(signature(), { model }), { tools }).invoke(input);
      texts.push(JSON.stringify(model.requests[0]?.messages));
    }
    expect(texts[0]).toBe(texts[1]);
  });

  test('LOOP-6, 8: may answer in plain lines, which are all kept', async () => {
    const model = playModel('response: hi\ntool_call: null', 'response: one\ntwo\n\nthree\ntool_call: null');
    const loop = wrapTools(predict(signature(), { model }), { tools: [gold] });
    expect(await loop.invoke(input)).toMatchObject({ reason: 'completed', output: { response: 'hi' }, iterations: 1 });
    expect(await loop.invoke(input)).toMatchObject({ reason: 'completed', output: { response: 'one\ntwo\n\nthree' } });
  });

  test('LOOP-10: that answers without outputs is asked once more, then fails', async () => {
    const model = playModel('Hello there.', 'Hello again.');
    const result = await wrapTools(predict(signature(), { model }), { tools: [gold] }).invoke(input);
    expect(result).toMatchObject({
      reason: 'failed',
      iterations: 1,
      output: {},
      error: { code: 'modules.output_unparsable', kind: 'OutputUnparsable', recoverable: true },
      usage: { inputTokens: 20, outputTokens: 10 },
    });
  });

  test('CHT-12: whose model fails is not asked again', async () => {
    const model = playModel(new Error('429'));
    const result = await wrapTools(predict(signature(), { model }), { tools: [gold] }).invoke(input);
    expect(result).toMatchObject({
      reason: 'failed',
      error: { code: 'modules.failed', reason: 'model', recoverable: true },
    });
    expect(model.requests).toHaveLength(1);
  });

  test('may call natively, in which case its text is ignored', async () => {
    const model = playModel(
      {
        text: 'Let me look.',
        calls: [
          { id: 'toolu_1', name: 'get_gold', arguments: '{}' },
          { name: 'get_gold', arguments: undefined },
        ],
      },
      fields({ response: 'You have 100.' }),
    );
    const result = await wrapTools(predict(signature(), { model }), { tools: [gold] }).invoke(input);
    expect(result).toMatchObject({
      reason: 'completed',
      calls: [
        { id: 'toolu_1', args: '{}', outcome: { kind: 'ok' } },
        { id: 'call_0_1', args: {}, outcome: { kind: 'ok' } },
      ],
    });
  });

  test('is told that a call cannot be read, and the loop continues', async () => {
    const model = playModel(fields({ tool_call: 'get_gold()' }), fields({ response: 'Well.' }));
    const result = await wrapTools(predict(signature(), { model }), { tools: [gold] }).invoke(input);
    expect(result).toMatchObject({ reason: 'completed', iterations: 2, calls: [] });
    expect(lastText(model, 1)).toContain('Cannot read the tool call: it is not JSON');
  });

  test('returns partial outputs if it never stops', async () => {
    const both = fields({ tool_call: '{"name":"get_gold"}', response: 'So far 100.' });
    const model = playModel(both, both);
    const result = await wrapTools(predict(signature(), { model }), { tools: [gold], maxIterations: 2 }).invoke(input);
    expect(result).toMatchObject({ reason: 'max-iterations', output: { response: 'So far 100.' } });
    expect(result.calls.map(({ outcome }) => outcome?.kind)).toEqual(['ok', undefined]);
  });

  test('that reasons has its reasoning in the result', async () => {
    const model = playModel(fields({ reasoning: 'I know it.', response: 'You have 100.' }));
    const result = await wrapTools(chainOfThought(signature(), { model }), { tools: [gold] }).invoke(input);
    expect(result).toMatchObject({
      reason: 'completed',
      output: { response: 'You have 100.' },
      reasoning: 'I know it.',
    });
  });

  test('can use another model', async () => {
    const model = playModel();
    const other = playModel(fields({ response: 'Yes.' }));
    const result = await wrapTools(predict(signature(), { model }), { tools: [gold] }).invoke(input, { model: other });
    expect([result.reason, model.requests.length, other.requests.length]).toEqual(['completed', 0, 1]);
  });

  test('has its input validated before the model is asked', async () => {
    const model = playModel();
    const loop = wrapTools(predict(signature(), { model }), { tools: [gold] });
    await expect(loop.invoke({ question: 5 })).rejects.toMatchObject({ code: 'modules.invalid', reason: 'input' });
    await expect(loop.invoke({ ...input, available_tools: 'x' })).rejects.toMatchObject({
      code: 'modules.invalid',
      reason: 'input_reserved',
    });
    expect(model.requests).toHaveLength(0);
  });
});

describe('a signature', () => {
  test('without a context uses that of the caller', async () => {
    const model = playModel(callGold, fields({ response: 'Yes.' }));
    const loop = wrapTools(predict(signature(), { model }), { tools: [gold] });
    await loop.invoke({ ...input, context: 'It is late.' });
    expect(lastText(model, 0)).toContain('[[ ## context ## ]]\nIt is late.');
    expect(lastText(model, 1)).toContain("[[ ## context ## ]]\nIt is late.\nTool 'get_gold' returned: 100");
  });

  test('may declare the fields of the loop with its own types', async () => {
    const own = signature(
      { question: text, available_tools: text, context: text },
      { response: text, tool_call: { type: ['string', 'null'] } },
    );
    const model = playModel(callGold, fields({ response: 'Yes.', tool_call: 'null' }));
    const result = await wrapTools(predict(own, { model }), { tools: [gold] }).invoke(input);
    expect(result).toMatchObject({ reason: 'completed', output: { response: 'Yes.' }, iterations: 2 });
    expect(lastText(model, 0)).toContain('[{"name":"get_gold"');
    expect(lastText(model, 1)).toContain("Tool 'get_gold' returned: 100");
    const headers = (model.requests[0]?.messages.at(-1)?.text ?? '').match(/\[\[ ## available_tools ## \]\]/g);
    expect(headers).toHaveLength(1);
  });

  test.each([true, false])('may have an optional context: %s', async (isOptional) => {
    const own = signature({ question: text, context: text }, { response: text }, isOptional ? ['context'] : []);
    const model = playModel(fields({ response: 'Yes.' }));
    const result = await wrapTools(predict(own, { model }), { tools: [gold] }).invoke(input);
    expect(result.reason).toBe('completed');
  });

  test('with a context that is not text is rejected, unless results go elsewhere', async () => {
    const own = signature({ question: text, context: { type: 'array', items: text } });
    const model = playModel(callGold, fields({ response: 'Yes.' }));
    const predictor = predict(own, { model });
    expect(() => wrapTools(predictor, { tools: [gold] })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
    const loop = wrapTools(predictor, { tools: [gold], toolResultKey: 'tool_results' });
    const result = await loop.invoke({ ...input, context: ['a'] });
    expect(result.reason).toBe('completed');
    expect(lastText(model, 1)).toContain("[[ ## tool_results ## ]]\nTool 'get_gold' returned: 100");
  });
});

test('a predictor that calls tools itself cannot be wrapped', () => {
  const inner = predict(signature(), { model: playModel() });
  const wrap = (): unknown => wrapTools({ ...inner, predictorType: 'react' }, { tools: [gold] });
  expect(wrap).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});
