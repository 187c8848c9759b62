import type { JsonObject } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { describe, expect, test } from 'vitest';
import { type Demo, type PredictorType, toProgram } from './program.ts';
import { defineSignature } from './signature.ts';

const object = (properties: JsonObject) => jsonSchema({ type: 'object', properties });
const text = { type: 'string' };

const signature = defineSignature({
  name: 'qa',
  instruction: 'Answer.',
  inputSchema: object({ question: { type: 'string', description: 'What is asked.' } }),
  outputSchema: object({ answer: text }),
});

const namesOf = (fields: readonly { readonly name: string }[]) => fields.map(({ name }) => name);

test('tuned texts replace those of the signature', () => {
  const program = toProgram(signature, 'predict', { instruction: 'Be brief.', descriptions: { answer: 'One word.' } });
  expect(program).toMatchObject({ predictorType: 'predict', instruction: 'Be brief.', demos: [] });
  expect(program.inputs).toMatchObject([{ name: 'question', description: 'What is asked.' }]);
  expect(program.outputs).toMatchObject([{ name: 'answer', description: 'One word.' }]);
  expect(signature.outputs).toMatchObject([{ description: '' }]);
});

test.each(['', ' \n\t'])('a blank instruction (%j) falls back to that of the signature', (instruction) => {
  expect(toProgram(signature, 'predict', { instruction }).instruction).toBe('Answer.');
});

describe('the fields of a predictor', () => {
  test.each<{ type: PredictorType; outputs: readonly string[] }>([
    { type: 'predict', outputs: ['answer'] },
    { type: 'react', outputs: ['answer'] },
    { type: 'chain_of_thought', outputs: ['reasoning', 'answer'] },
  ])('$type answers with $outputs', ({ type, outputs }) => {
    expect(namesOf(toProgram(signature, type).outputs)).toEqual(outputs);
  });

  test('a chain of thought keeps the `reasoning` of its signature in its position', () => {
    const outputSchema = object({ answer: text, reasoning: { type: 'array' } });
    const own = defineSignature({ name: 'own', inputSchema: object({ q: text }), outputSchema });
    expect(namesOf(toProgram(own, 'chain_of_thought').outputs)).toEqual(['answer', 'reasoning']);
  });

  test('a chain of thought over an input of that name is rejected', () => {
    const inputSchema = object({ reasoning: text });
    const judge = defineSignature({ name: 'judge', inputSchema, outputSchema: object({ ok: text }) });
    expect(() => toProgram(judge, 'chain_of_thought')).toThrow(
      expect.objectContaining({ code: 'modules.invalid', reason: 'signature' }),
    );
    expect(namesOf(toProgram(judge, 'predict').outputs)).toEqual(['ok']);
  });
});

describe('descriptions', () => {
  test.each<{ type: PredictorType; name: string; isKnown: boolean }>([
    { type: 'predict', name: 'question', isKnown: true },
    { type: 'predict', name: 'reasoning', isKnown: false },
    { type: 'chain_of_thought', name: 'reasoning', isKnown: true },
    { type: 'predict', name: 'Answer', isKnown: false },
    { type: 'predict', name: 'toString', isKnown: false },
    { type: 'predict', name: 'trajectory', isKnown: false },
    { type: 'react', name: 'trajectory', isKnown: true },
  ])('of $name in $type: $isKnown', ({ type, name, isKnown }) => {
    const make = () => toProgram(signature, type, { descriptions: { [name]: 'So.' } });
    if (isKnown) expect(make().descriptions.get(name)).toBe('So.');
    else expect(make).toThrow(expect.objectContaining({ code: 'modules.invalid', reason: 'description_unknown' }));
  });
});

describe('demos', () => {
  test('are copied, so later changes have no effect', () => {
    const outputs = { answer: 'yes' };
    const { demos } = toProgram(signature, 'predict', { demos: [{ inputs: { question: '?' }, outputs }] });
    outputs.answer = 'no';
    expect(demos).toEqual([{ inputs: { question: '?' }, outputs: { answer: 'yes' } }]);
    expect([demos, demos[0], demos[0]?.outputs].every(Object.isFrozen)).toBe(true);
  });

  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  test.each([
    { what: 'a date', demo: { inputs: { question: new Date() }, outputs: {} } },
    { what: 'a list of values', demo: { inputs: ['?'], outputs: {} } },
    { what: 'no outputs', demo: { inputs: {} } },
    { what: 'a circular object', demo: { inputs: circle, outputs: {} } },
    { what: 'not a number', demo: { inputs: {}, outputs: { answer: Number.NaN } } },
  ])('rejects $what and names its place', ({ demo }) => {
    const demos = [{ inputs: {}, outputs: {} }, demo as unknown as Demo];
    expect(() => toProgram(signature, 'predict', { demos })).toThrow(
      expect.objectContaining({
        code: 'modules.invalid',
        reason: 'demo',
        message: expect.stringContaining('Demo 1 of `qa`'),
      }),
    );
  });
});
