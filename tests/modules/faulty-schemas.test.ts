import { isHoldfastError } from '@holdfast/core';
import { defineSignature, type Predictor, predict, react, wrapTools } from '@holdfast/modules';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { call, codeOf } from './test-react.ts';

const inputSchema = v.object({ question: v.string() });
const outputSchema = v.object({ answer: v.string() });
const input = { question: 'why?' };
const written = { text: '[[ ## answer ## ]]\nbecause\n\n[[ ## completed ## ]]' };
const submitted = { calls: [call('submit', { answer: 'because' })] };
const finished = { text: '[[ ## next_tool_name ## ]]\nfinish' };
const fail = (): never => {
  throw new Error('no table of answers');
};

const broken = defineSignature({
  name: 'broken',
  inputSchema,
  outputSchema: v.pipe(outputSchema, v.check(fail)),
});
const brokenIn = defineSignature({ name: 'broken', inputSchema: v.pipe(inputSchema, v.check(fail)), outputSchema });
const plain = defineSignature({ name: 'plain', inputSchema, outputSchema });

describe('a schema that throws at the outputs', () => {
  const unchecked = {
    code: 'modules.output_unparsable',
    kind: 'OutputUnparsable',
    recoverable: false,
    message: expect.stringContaining('no table of answers'),
  };

  test('a predictor rejects with an error of its own, whose cause is what was thrown, and asks nobody again', async () => {
    const model = scriptedModel([written]);
    const thrown = await predict(broken, { model })
      .invoke(input)
      .catch((error: unknown) => error);
    expect(thrown).toMatchObject({
      code: 'modules.output_unparsable',
      data: { kind: 'OutputUnparsable', recoverable: false },
      cause: { message: 'no table of answers' },
    });
    expect(model.requests).toHaveLength(1);
  });

  test('a loop says so in its result', async () => {
    const predictor = predict(broken, { model: scriptedModel([written]) });
    const result = await wrapTools(predictor, { tools: [] }).invoke(input);
    expect(result).toMatchObject({ reason: 'failed', error: unchecked, output: { answer: 'because' } });
  });

  test('react says so in its result, and the model is told nothing of it', async () => {
    const model = scriptedModel([submitted]);
    const result = await react(broken, { model, tools: [] }).run(input);
    expect(result).toMatchObject({ reason: 'failed', error: unchecked });
    expect(JSON.stringify(result.history)).not.toContain('table of answers');
    const text = react(broken, { model: scriptedModel([finished, written]), tools: [], protocol: 'text' });
    expect(await text.run(input)).toMatchObject({ reason: 'failed', error: unchecked });
  });
});

const throwing = {
  get question(): string {
    throw new Error('read too early');
  },
};
const closed = new Proxy(input, {
  ownKeys: () => {
    throw new Error('closed');
  },
});

test.each([
  ['the schema throws', brokenIn, input, 'no table of answers'],
  ['a property throws', plain, throwing, 'read too early'],
  ['its keys cannot be listed', plain, closed, 'closed'],
] as const)('an input that cannot be checked is refused: %s', async (_, signature, given, said) => {
  const model = scriptedModel([]);
  const predictors: readonly Predictor<typeof input>[] = [
    predict(signature, { model }),
    react(signature, { model, tools: [] }),
  ];
  for (const predictor of predictors) {
    expect(await codeOf(predictor.invoke(given))).toBe('modules.invalid: input');
    try {
      predictor.render(given);
      expect.unreachable();
    } catch (thrown) {
      expect(isHoldfastError(thrown) && thrown.message).toContain(said);
    }
  }
});

test('what a schema makes of the outputs is frozen where it is plain, and left as it is where it is not', async () => {
  const made = defineSignature({
    name: 'made',
    inputSchema,
    outputSchema: v.pipe(
      outputSchema,
      v.transform(({ answer }) => ({ said: { by: [answer] }, bytes: new TextEncoder().encode(answer) })),
    ),
  });
  const first = await predict(made, { model: scriptedModel([written]) }).invoke(input);
  const second = await react(made, { model: scriptedModel([submitted]), tools: [] }).invoke(input);
  for (const { output } of [first, second]) {
    expect([output, output.said, output.said.by].every((part) => Object.isFrozen(part))).toBe(true);
    expect(output.bytes).toHaveLength(7);
  }
});
