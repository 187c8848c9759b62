import { defineTool, type InputOfTool, type Outcome, type ToolCall } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, expectTypeOf, test } from 'vitest';
import { toAiSdkTools } from './to-ai-sdk-tools.ts';

const read = defineTool({
  name: 'read',
  description: 'Read a file.',
  inputSchema: jsonSchema({ type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }),
  effects: 'none',
  execute: () => 'unused: the host runs it',
});
const list = defineTool({ name: 'list', description: 'List files.', effects: 'none', execute: () => [] });

function outcome(parts: Partial<Outcome>): Outcome {
  return {
    kind: 'ok',
    callId: 'a',
    name: 'read',
    code: undefined,
    message: '',
    value: null,
    rendered: '',
    text: '',
    ...parts,
  };
}

test("tools have the SDK's format", () => {
  const tools = toAiSdkTools([read, list], { execute: async () => outcome({}) });
  expect(Object.keys(tools)).toEqual(['read', 'list']);
  expect(tools['read']?.description).toBe('Read a file.');
  const schema = tools['read']?.inputSchema;
  expect(schema?.jsonSchema).toMatchObject({ type: 'object', required: ['path'], additionalProperties: false });
  const marks = Object.getOwnPropertySymbols(schema).map((symbol) => [symbol, Reflect.get(schema ?? {}, symbol)]);
  expect(marks).toEqual([
    [Symbol.for('vercel.ai.schema'), true],
    [Symbol.for('vercel.ai.validator'), true],
  ]);
  expect(schema?.['~standard'].validate({ path: 1 })).toEqual({ value: { path: 1 } });
  expect(schema !== undefined && 'validate' in schema).toBe(true);
  expect(tools['list']?.inputSchema.jsonSchema).toEqual({
    type: 'object',
    properties: {},
    additionalProperties: false,
  });
});

test('declarations override those of the tool', () => {
  const told = {
    name: 'read',
    description: 'Look into a file.',
    inputSchema: { type: 'object', properties: {} },
  } as const;
  const declarations = new Map([['read', told]]);
  const tools = toAiSdkTools([read, list], { execute: async () => outcome({}), declarations });
  expect(tools['read']?.description).toBe('Look into a file.');
  expect(tools['read']?.inputSchema.jsonSchema).toEqual(told.inputSchema);
  expect(tools['list']?.description).toBe('List files.');
});

test("a call goes through the host's call path, and the model gets the outcome's text", async () => {
  const calls: [ToolCall, unknown][] = [];
  const tools = toAiSdkTools([read], {
    async execute(call, context) {
      calls.push([call, context]);
      return outcome({ text: 'found\n\n"x"' });
    },
  });
  const { signal } = new AbortController();
  expect(await tools['read']?.execute({ path: 'x' }, { toolCallId: 'a', abortSignal: signal })).toBe('found\n\n"x"');
  await tools['read']?.execute({ path: 'y' }, { toolCallId: 'b' });
  expect(calls).toEqual([
    [{ id: 'a', name: 'read', arguments: { path: 'x' } }, { signal }],
    [{ id: 'b', name: 'read', arguments: { path: 'y' } }, {}],
  ]);
});

test.each([
  [
    outcome({ kind: 'denied', code: 'policy.denied', text: 'Read it first.' }),
    { code: 'policy.denied', message: 'Read it first.', data: { kind: 'denied', callId: 'a' } },
  ],
  [
    outcome({ kind: 'failed', text: 'No.' }),
    { code: 'tool.failed', message: 'No.', data: { kind: 'failed', callId: 'a' } },
  ],
])('an outcome that is not ok is thrown for the SDK to report', async (result, error) => {
  const tools = toAiSdkTools([read], { execute: async () => result });
  await expect(tools['read']?.execute({}, { toolCallId: 'a' })).rejects.toMatchObject(error);
});

test('D10: a pending approval is told, and not thrown', async () => {
  const asked = {
    callId: 'a',
    name: 'read',
    input: {},
    dangerous: true,
    asks: [{ policy: 'p', type: 'ask' as const, reason: 'It is private.' }],
    digest: 'd',
    toolDigest: 't',
    expiresAtMs: 1,
  };
  const tools = toAiSdkTools([read], { execute: async () => ({ kind: 'suspended', pending: [asked] }) });
  expect(await tools['read']?.execute({}, { toolCallId: 'a' })).toBe(
    "`read` has not run yet: it waits for a person's approval, and runs once that is given. Do not call it again. It is private.",
  );
});

test('two tools with the same name are rejected', () => {
  expect(() => toAiSdkTools([read, read], { execute: async () => outcome({}) })).toThrow(
    expect.objectContaining({ code: 'tool.invalid', reason: 'name.duplicate' }),
  );
});

test('tools given by name keep the types of their inputs', () => {
  const tools = toAiSdkTools({ read, list }, { execute: async () => outcome({}) });
  expect(Object.keys(tools)).toEqual(['read', 'list']);
  expectTypeOf(tools.read.execute).parameter(0).toEqualTypeOf<InputOfTool<typeof read>>();
  // @ts-expect-error: not one of the tools.
  expect(tools.delete).toBeUndefined();
});

test('a key that is not the name of its tool is rejected', () => {
  expect(() => toAiSdkTools({ look: read }, { execute: async () => outcome({}) })).toThrow(
    expect.objectContaining({
      code: 'tool.invalid',
      reason: 'name.invalid',
      message: expect.stringContaining('`look`'),
    }),
  );
});
