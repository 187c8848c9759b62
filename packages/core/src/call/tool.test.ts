import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import {
  type CallFacts,
  defineTool,
  type ExecutableTool,
  type HoldfastError,
  type InputOfTool,
  isHoldfastError,
  type Json,
  type OutputOfTool,
  type Tool,
  type ToolDefinition,
  toolError,
  toolOk,
} from '../index.ts';
import { describeCode, isToolResult } from '../internal.ts';

const base: ToolDefinition<unknown, unknown> = { name: 'echo', description: 'Echoes.' };

test.each(['a', '-', '0', 'a'.repeat(64), 'read_file-2'])('the name `%s` is accepted', (name) => {
  expect(defineTool({ ...base, name }).name).toBe(name);
});

test.each([
  ['', 'tool.invalid: name.invalid', 'must be'],
  ['A', 'tool.invalid: name.invalid', 'must be'],
  ['a'.repeat(65), 'tool.invalid: name.invalid', 'must be'],
  ['writе_file', 'tool.invalid: name.invalid', 'must be'],
  [' a', 'tool.invalid: name.invalid', 'surrounding whitespace'],
  ['a ', 'tool.invalid: name.invalid', 'surrounding whitespace'],
  ['a\n', 'tool.invalid: name.invalid', 'surrounding whitespace'],
  ['then', 'tool.invalid: name.reserved', 'reserved'],
  ['__proto__', 'tool.invalid: name.reserved', 'reserved'],
  ['constructor', 'tool.invalid: name.reserved', 'reserved'],
  ['tostring', 'tool.invalid: name.reserved', 'reserved'],
])('the name %j is refused', (name, code, text) => {
  const error = thrown(() => defineTool({ ...base, name })) as HoldfastError;
  expect(describeCode(error)).toBe(code);
  expect(error.message).toContain(text);
});

test.each([
  ['', false],
  ['  ', false],
  ['x'.repeat(200), true],
  [`${'x'.repeat(200)}  `, true],
  ['x'.repeat(201), false],
  ['Größe', false],
])('description %j', (description, accepted) => {
  const error = thrown(() => defineTool({ ...base, description }));
  expect(error).toEqual(
    accepted ? undefined : expect.objectContaining({ code: 'tool.invalid', reason: 'description.invalid' }),
  );
});

test('a tool with an origin may have a long description in any script', () => {
  const origin = { kind: 'mcp', source: 'server' } as const;
  expect(defineTool({ ...base, description: 'ö'.repeat(4096), origin }).origin).toEqual(origin);
  expect(thrown(() => defineTool({ ...base, description: 'ö'.repeat(4097), origin }))).toMatchObject({
    code: 'tool.invalid',
    reason: 'description.invalid',
  });
});

test.each<[string, Partial<ToolDefinition<unknown, unknown>>]>([
  ['tool.invalid: effects.invalid', { effects: 'some' as 'none' }],
  // `retry` would repeat a tool that must not run twice.
  ['tool.invalid: repeat.invalid', { repeat: 'Never' as 'never', retry: { attempts: 2 } }],
  ['tool.invalid: repeat.invalid', { repeat: null as unknown as 'never' }],
  ['tool.invalid: timeout.invalid', { timeoutMs: 0 }],
  ['tool.invalid: timeout.invalid', { timeoutMs: Number.POSITIVE_INFINITY }],
  ['tool.invalid: example.invalid', { examples: [{ description: ' ', input: {}, output: {} }] }],
  ['tool.invalid: example.invalid', { examples: [{ description: 'x'.repeat(201), input: {}, output: {} }] }],
])('%s %j', (code, extra) => {
  expect(thrown(() => defineTool({ ...base, ...extra }))).toSatisfy(
    (error: { code: string }) => describeCode(error) === code,
  );
});

test('a tool keeps its `facts`', () => {
  const nothing: CallFacts = { runs: [], reads: [], writes: [], deletes: [], hosts: [], untrusted: true, unclear: [] };
  const tool = defineTool({ name: 'look', description: 'Looks.', facts: () => nothing });
  expect(tool.facts?.({}, { folder: '/', workspace: '/' })).toBe(nothing);
  expect(() => defineTool({ name: 'look', description: 'Looks.', facts: nothing as never })).toThrow('facts');
});

test('undeclared properties default to the safe assumption', () => {
  expect(defineTool(base)).toMatchObject({ effects: 'external', repeat: 'never', dangerous: false, examples: [] });
  expect(defineTool({ ...base, effects: 'none' }).repeat).toBe('safe');
  expect(Object.isFrozen(defineTool(base))).toBe(true);
});

test('types follow from the schemas', () => {
  const tool = defineTool({
    name: 'look_up',
    description: 'Looks up.',
    inputSchema: v.object({ id: v.string(), deep: v.optional(v.boolean(), false) }),
    outputSchema: v.object({ url: v.string() }),
    examples: [{ description: 'One', input: { id: 'E42' }, output: { url: 'x' } }],
    execute: ({ id }) => (id === '' ? toolError('Empty.') : toolOk({ url: id })),
  });
  expectTypeOf(tool.execute).parameter(0).toEqualTypeOf<{ id: string; deep: boolean }>();
  expectTypeOf(tool).toExtend<Tool>();
  const define = (): unknown =>
    defineTool({
      name: 'look_up',
      description: 'Looks up.',
      outputSchema: v.object({ url: v.string() }),
      // @ts-expect-error the output has no url
      execute: () => toolOk({ uri: 'x' }),
    });
  expect(define).not.toThrow();
});

test("a wrong field is one error, at that field, and keeps the other fields' types", () => {
  const inputSchema = v.object({ euros: v.number() });
  const wrong = [
    () =>
      defineTool({
        name: 'refund',
        description: 'Refund.',
        inputSchema,
        // @ts-expect-error no field of a tool: efects
        efects: 'none',
        execute: ({ euros }) => euros.toFixed(),
      }),
    () =>
      defineTool({
        name: 'refund',
        description: 'Refund.',
        inputSchema,
        // @ts-expect-error no such effects
        effects: 'nothing',
        execute: ({ euros }) => euros.toFixed(),
      }),
    () =>
      defineTool({
        name: 'refund',
        description: 'Refund.',
        inputSchema,
        // @ts-expect-error milliseconds are a number
        timeoutMs: '5',
        execute: ({ euros }) => euros.toFixed(),
      }),
  ];
  const codes = wrong.map((define) => thrown(define)).map((error) => isHoldfastError(error) && error.code);
  expect(codes).toEqual(['options.invalid', 'tool.invalid', 'tool.invalid']);
});

test('a tool is executable if its `execute` is always given', () => {
  const executable = defineTool({ name: 'a', description: 'A.', execute: () => 'done' });
  expectTypeOf(executable).toEqualTypeOf<ExecutableTool<Record<string, never>, string>>();
  expectTypeOf(defineTool({ name: 'a', description: 'A.' })).toEqualTypeOf<Tool<Record<string, never>, Json>>();
  const definition: ToolDefinition<Record<string, never>, string> = { name: 'a', description: 'A.' };
  expectTypeOf(defineTool({ ...definition, dangerous: true })).toEqualTypeOf<Tool<Record<string, never>, string>>();
  expectTypeOf<InputOfTool<typeof executable>>().toEqualTypeOf<Record<string, never>>();
  expectTypeOf<InputOfTool<'a'>>().toEqualTypeOf<Json>();
  expectTypeOf<OutputOfTool<typeof executable>>().toEqualTypeOf<string>();
});

test('results are recognised by their brand', () => {
  expect(toolOk({ a: 1 }, 'done')).toMatchObject({
    success: true,
    message: 'done',
    value: { a: 1 },
    excludeValueFromContext: false,
  });
  expect(toolError('no', { code: 'x.y', value: [1] })).toMatchObject({
    success: false,
    message: 'no',
    code: 'x.y',
    value: [1],
  });
  expect(toolError('no').value).toBeNull();
  expect(isToolResult(toolOk(1))).toBe(true);
  expect(isToolResult({ success: true, message: '', value: null })).toBe(false);
});

function thrown(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return isHoldfastError(error) ? error : expect.unreachable(String(error));
  }
}

test('environment variables are declared by name, and checked', () => {
  const environment = ['API_KEY', 'REGION?'];
  const tool = defineTool({ name: 'a', description: 'A.', environment, execute: () => 1 });
  environment.push('LATER');
  expect(tool.environment).toEqual(['API_KEY', 'REGION?']);
  for (const [wrong, code] of [
    ['API-KEY', 'tool.invalid: environment.invalid'],
    ['PATH', 'tool.invalid: environment.reserved'],
  ] as const) {
    const define = () => defineTool({ name: 'a', description: 'A.', environment: [wrong], execute: () => 1 });
    expect(define).toThrow(expect.toSatisfy((error: { code: string }) => describeCode(error) === code));
  }
});
