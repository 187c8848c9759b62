import { defineTool, type JsonObject } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { wrapTools } from './index.ts';

const none = { effects: 'none', repeat: 'safe' } as const;
let runs = 0;
const gold = defineTool({
  name: 'get_gold',
  description: 'How much gold there is.',
  ...none,
  execute: () => {
    runs += 1;
    return 100;
  },
});

/** A predictor that gives its answers one after another, and keeps what it was asked with. */
function playing(...answers: readonly (JsonObject | Error)[]) {
  const inputs: JsonObject[] = [];
  const predict = (input: JsonObject): JsonObject => {
    inputs.push(input);
    const answer = answers[inputs.length - 1];
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('Asked too often.');
    return answer;
  };
  return Object.assign(predict, { inputs });
}

describe('LOOP', () => {
  test('2: an answer without a call is returned at once', async () => {
    const predict = playing({ tool_call: null, response: 'hi' });
    const result = await wrapTools(predict, { tools: [gold] }).invoke({ q: 'x' });
    expect(result).toEqual({
      reason: 'completed',
      output: { response: 'hi' },
      iterations: 1,
      calls: [],
      usage: { inputTokens: 0, outputTokens: 0 },
    });
    expect(predict.inputs).toEqual([
      { q: 'x', available_tools: [{ name: 'get_gold', description: 'How much gold there is.', args_schema: null }] },
    ]);
  });
  test('4: a call as JSON text runs once, and its result is told', async () => {
    runs = 0;
    const predict = playing({ tool_call: '{"name":"get_gold","args":{}}' }, { response: '100' });
    const result = await wrapTools(predict, { tools: [gold] }).invoke({ q: 'x' });
    expect(runs).toBe(1);
    expect(predict.inputs[1]).toMatchObject({ context: "Tool 'get_gold' returned: 100" });
    expect(result).toMatchObject({
      reason: 'completed',
      output: { response: '100' },
      iterations: 2,
      calls: [{ id: 'call_0_0', name: 'get_gold', args: {}, outcome: { kind: 'ok', value: 100 }, text: '100' }],
    });
  });
  test('16: limit', async () => {
    const predict = playing(...Array.from({ length: 5 }, (_, n) => ({ n, tool_call: { name: 'get_gold' } })));
    const result = await wrapTools(predict, { tools: [gold], maxIterations: 3 }).invoke({});
    expect(predict.inputs).toHaveLength(3);
    expect(result).toMatchObject({
      reason: 'max-iterations',
      output: { n: 2 },
      error: { code: 'modules.max_iterations' },
    });
    expect(result.calls.map(({ outcome, text }) => [outcome?.kind, text])).toEqual([
      ['ok', '100'],
      ['ok', '100'],
      [undefined, 'Not run: the limit of 3 iterations was reached.'],
    ]);
  });
});
