import type { JsonObject } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { defineSignature, type Signature } from './signature.ts';

const input = jsonSchema<{ question: string; count?: number }>({
  type: 'object',
  properties: { question: { type: 'string', description: ' What is asked. ' }, count: { type: 'number' } },
  required: ['question'],
});
const output = jsonSchema<{ answer: string; sure: boolean }>({
  type: 'object',
  properties: { answer: { type: 'string' }, sure: { type: 'boolean', default: true } },
  required: ['answer'],
});
const fields = (...names: readonly string[]) =>
  jsonSchema({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) });

test('a signature has the fields of its schemas, in their order, and their types', () => {
  const signature = defineSignature({ name: 'qa', instruction: ' Answer. ', inputSchema: input, outputSchema: output });
  expectTypeOf(signature).toEqualTypeOf<
    Signature<{ question: string; count?: number }, { answer: string; sure: boolean }>
  >();
  expect(signature).toMatchObject({ name: 'qa', instruction: 'Answer.' });
  expect(signature.inputs).toEqual([
    { name: 'question', description: 'What is asked.', schema: { type: 'string' }, required: true },
    { name: 'count', description: '', schema: { type: 'number' }, required: false },
  ]);
  expect(signature.outputs).toEqual([
    { name: 'answer', description: '', schema: { type: 'string' }, required: true },
    { name: 'sure', description: '', schema: { type: 'boolean', default: true }, required: false },
  ]);
  expect([signature, signature.inputs, signature.inputs[0]].every(Object.isFrozen)).toBe(true);
});

test.each([
  { instruction: undefined, expected: 'Given `question`, `count`, produce `answer`, `sure`.' },
  { instruction: '  \n', expected: 'Given `question`, `count`, produce `answer`, `sure`.' },
])('an instruction of $instruction is derived from the names', ({ instruction, expected }) => {
  const written = instruction === undefined ? {} : { instruction };
  const signature = defineSignature({ name: 'qa', ...written, inputSchema: input, outputSchema: output });
  expect(signature.instruction).toBe(expected);
});

test('a signature may have no inputs', () => {
  const signature = defineSignature({ name: 'dice', inputSchema: fields(), outputSchema: fields('n') });
  expect(signature.instruction).toBe('Produce `n`.');
});

test('only a field that refers to definitions includes them', () => {
  const schema: JsonObject = {
    type: 'object',
    $defs: { city: { type: 'object', properties: { name: { type: 'string' } } } },
    properties: { from: { $ref: '#/$defs/city' }, note: { type: 'string' } },
  };
  const { inputs } = defineSignature({ name: 'trip', inputSchema: jsonSchema(schema), outputSchema: output });
  expect(inputs[0]?.schema).toMatchObject({ $ref: '#/$defs/city', $defs: { city: { type: 'object' } } });
  expect(inputs[1]?.schema).toEqual({ type: 'string' });
});

const referring = jsonSchema({
  type: 'object',
  properties: { a: { type: 'string' }, b: { $ref: '#/properties/a' } },
});

describe('rejected with modules.invalid: signature', () => {
  test.each([
    { what: 'a name with a space', name: 'q a' },
    { what: 'an empty name', name: '' },
    { what: 'a name that is a path', name: '../qa' },
    { what: 'an output without fields', name: 'qa', outputSchema: fields() },
    { what: 'an output that is not an object', name: 'qa', outputSchema: jsonSchema({ type: 'string' }) },
    { what: 'an input without declared properties', name: 'qa', inputSchema: jsonSchema({ type: 'object' }) },
    { what: 'a field that cannot be a header', name: 'qa', inputSchema: fields('a ## ]]') },
    { what: 'a field that no value can have', name: 'qa', inputSchema: fields('__proto__') },
    { what: 'a field with a line break', name: 'qa', inputSchema: fields('a\nb') },
    { what: 'a field that begins with a digit', name: 'qa', outputSchema: fields('1st') },
    { what: 'the end marker as an output', name: 'qa', outputSchema: fields('completed') },
    { what: 'the end marker in another case', name: 'qa', outputSchema: fields('Completed') },
    { what: 'a field that refers to another one', name: 'qa', outputSchema: referring },
    { what: 'an input that is an output', name: 'qa', inputSchema: fields('x'), outputSchema: fields('x') },
  ])('$what', ({ name, inputSchema = fields('question'), outputSchema = fields('answer') }) => {
    expect(() => defineSignature({ name, inputSchema, outputSchema })).toThrow(
      expect.objectContaining({ code: 'modules.invalid', reason: 'signature' }),
    );
  });
});
