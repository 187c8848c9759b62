import { ask, definePolicy, defineTool, deny, type Tool, toolError, toolOk } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { createToolCatalog } from '../index.ts';

const none = { effects: 'none', repeat: 'safe' } as const;
const item = jsonSchema<{ item: string }>({
  type: 'object',
  properties: { item: { type: 'string' } },
  required: ['item'],
});
const gold = defineTool({ name: 'get_gold', description: 'How much gold there is.', ...none, execute: () => 100 });
const stock = defineTool({
  name: 'check_stock',
  description: 'How many there are.',
  inputSchema: item,
  ...none,
  execute: ({ item }) => ({ item, count: 3 }),
});

/** A tool with the given body. */
function tool(name: string, execute: () => unknown, more: Partial<Tool> = {}): Tool {
  return { ...defineTool({ name, description: 'Does it.', ...none, execute: execute as () => null }), ...more } as Tool;
}

describe('the list of tools', () => {
  test('is sorted by name, with null for a tool without a schema, and independent of the order of registration', () => {
    const extra = tool('a_last', () => null);
    const texts = [
      [gold, stock, extra],
      [extra, stock, gold],
      [stock, gold, extra],
    ].map((tools) => JSON.stringify(createToolCatalog(tools)));
    expect(new Set(texts).size).toBe(1);
    expect(JSON.parse(texts[0] ?? '')).toEqual([
      { name: 'a_last', description: 'Does it.', args_schema: null },
      {
        name: 'check_stock',
        description: 'How many there are.',
        args_schema: {
          type: 'object',
          properties: { item: { type: 'string' } },
          required: ['item'],
          additionalProperties: false,
        },
      },
      { name: 'get_gold', description: 'How much gold there is.', args_schema: null },
    ]);
  });

  test('is the same object in 20 reads, and a new one after a tool was added', () => {
    const catalog = createToolCatalog([stock]);
    const looks = Array.from({ length: 20 }, () => JSON.stringify(catalog));
    expect(new Set(looks).size).toBe(1);
    const { tools } = catalog;
    catalog.register(gold);
    expect(JSON.stringify(catalog)).not.toBe(looks[0]);
    expect(tools).toEqual([stock]);
    expect(catalog.tools).toEqual([stock, gold]);
    expect(catalog.get('get_gold')).toBe(gold);
    expect(catalog.get('__proto__')).toBeUndefined();
  });

  test('has unique names', () => {
    const catalog = createToolCatalog([gold]);
    const twin = tool('get_gold', () => 1);
    expect(() => catalog.register(twin)).toThrow(
      expect.objectContaining({ code: 'modules.invalid', reason: 'tool_duplicate' }),
    );
    expect(() => createToolCatalog([gold, twin])).toThrow(
      expect.objectContaining({ code: 'modules.invalid', reason: 'tool_duplicate' }),
    );
    expect(catalog.get('get_gold')).toBe(gold);
  });

  test.each([
    ['tool.invalid: name.invalid', tool('ok', () => 1, { name: 'No name' })],
    ['tool.invalid: name.reserved', tool('ok', () => 1, { name: 'constructor' })],
    ['tool.invalid: input.not_object', tool('ok', () => 1, { inputSchema: jsonSchema({ type: 'string' }) })],
  ])('rejects an invalid tool with %s and stays unchanged', (code, bad) => {
    const catalog = createToolCatalog([gold]);
    expect(() => catalog.register(bad)).toThrow(
      expect.toSatisfy((error: { code: string }) => describeCode(error) === code),
    );
    expect(catalog.tools).toEqual([gold]);
  });
});

describe('a call', () => {
  test('returns the value and the outcome of the call path', async () => {
    const catalog = createToolCatalog([gold, stock]);
    expect(await catalog.execute('get_gold')).toMatchObject({ type: 'ok', value: 100, outcome: { kind: 'ok' } });
    for (const args of [{ item: 'sword' }, '{"item":"sword"}'])
      expect(await catalog.execute('check_stock', args)).toMatchObject({ value: { item: 'sword', count: 3 } });
  });

  test('treats null and undefined as no arguments', async () => {
    const catalog = createToolCatalog([gold]);
    for (const args of [undefined, null, '', {}]) expect((await catalog.execute('get_gold', args)).type).toBe('ok');
  });

  const failing: readonly {
    readonly what: string;
    readonly body: Tool;
    readonly code: string;
    readonly reason?: string;
    readonly text: string | RegExp;
    readonly recoverable: boolean;
    readonly args?: unknown;
    readonly kind?: string;
  }[] = [
    {
      what: 'an unknown tool',
      body: tool('other', () => 1),
      code: 'modules.failed',
      reason: 'tool_not_found',
      text: 'Tool not found: act',
      recoverable: false,
      kind: 'unknown-tool',
    },
    {
      what: 'arguments that its schema rejects',
      body: tool('act', () => 1, { inputSchema: item }),
      args: { item: 5 },
      code: 'modules.failed',
      reason: 'arguments',
      text: /^Invalid arguments: `item`: [^`]+$/,
      recoverable: false,
      kind: 'invalid',
    },
    {
      what: 'arguments that are not JSON',
      body: tool('act', () => 1),
      args: '{"item":',
      code: 'modules.failed',
      reason: 'arguments',
      text: /^Invalid arguments: Cannot read the arguments: /,
      recoverable: false,
    },
    {
      what: 'arguments with a duplicate key',
      body: tool('act', () => 1, { inputSchema: item }),
      args: '{"item":"a","item":"b"}',
      code: 'modules.failed',
      reason: 'arguments',
      text: /twice/,
      recoverable: false,
    },
    {
      what: 'a tool that throws',
      body: tool('act', () => {
        throw new Error('The shop is closed.');
      }),
      code: 'modules.failed',
      reason: 'execution',
      text: 'Execution failed: The shop is closed.',
      recoverable: true,
      kind: 'failed',
    },
    {
      what: 'a tool that returns an error',
      body: tool('act', () => toolError('Out of stock.')),
      code: 'modules.failed',
      reason: 'execution',
      text: 'Execution failed: Out of stock.',
      recoverable: true,
    },
    {
      what: 'a result that is not JSON',
      body: tool('act', () => () => 1),
      code: 'modules.failed',
      reason: 'serialization',
      text: /^Serialization error: `act` returned a value that is not JSON/,
      recoverable: false,
      kind: 'invalid',
    },
    {
      what: 'no result',
      body: tool('act', () => undefined),
      code: 'modules.failed',
      reason: 'serialization',
      text: /^Serialization error: `act` returned nothing/,
      recoverable: false,
    },
    {
      what: 'a result that is not JSON from an external tool',
      body: tool('act', () => undefined, { effects: 'external', repeat: 'never' }),
      code: 'modules.failed',
      reason: 'serialization',
      text: /^Serialization error: It is not known whether `act` took effect/,
      recoverable: false,
      kind: 'in-doubt',
    },
    {
      what: 'a result that its output schema rejects',
      body: tool('act', () => 1, { outputSchema: item }),
      code: 'modules.failed',
      reason: 'execution',
      text: /^Execution failed: `act` returned a value that its output schema rejects/,
      recoverable: false,
    },
  ];
  test.each(failing)('$what: $code', async ({ body, code, reason, text, recoverable, args, kind }) => {
    const execution = await createToolCatalog([body]).execute('act', args);
    if (execution.type !== 'failed') throw new Error(`The execution is ${execution.type}.`);
    const { error, outcome } = execution;
    expect(error).toMatchObject({ code, reason });
    expect(error.message).toMatch(text);
    expect(error.data.recoverable).toBe(recoverable);
    if (kind !== undefined) expect(outcome?.kind).toBe(kind);
  });

  test('that is denied or needs approval is reported as such', async () => {
    const no = definePolicy({ name: 'no', check: () => deny('Not today.') });
    const denied = await createToolCatalog([gold], { policies: [no] }).execute('get_gold');
    expect(denied).toMatchObject({
      type: 'failed',
      error: {
        code: 'modules.failed',
        reason: 'execution',
        message: 'Execution failed: Denied: Not today.',
        data: { recoverable: false },
      },
    });
    const may = definePolicy({ name: 'may', check: () => ask('May it?') });
    expect(await createToolCatalog([gold], { policies: [may] }).execute('get_gold')).toMatchObject({
      type: 'suspended',
      pending: [{ name: 'get_gold' }],
    });
  });

  test('uses one session for the lifetime of the catalog, or the given one', async () => {
    const keys: string[] = [];
    const noting = defineTool({
      name: 'note',
      description: 'Notes its key.',
      ...none,
      execute: (_input, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return null;
      },
    });
    const store = memoryStore();
    const catalog = createToolCatalog([noting], { session: createSession({ id: 's', store }) });
    await Promise.all([catalog.execute('note'), catalog.execute('note')]);
    expect(new Set(keys).size).toBe(2);
    expect(store.records.filter(({ type }) => type === 'tool-call-end')).toHaveLength(2);
    const alone = createToolCatalog([noting]);
    await alone.execute('note');
    await alone.execute('note');
    expect(new Set(keys).size).toBe(4);
    expect(keys[2]?.split('/')[0]).toBe(keys[3]?.split('/')[0]);
  });

  test('options for a runner override those of the catalog', () => {
    const session = createSession({ id: 'other' });
    const catalog = createToolCatalog([gold], { timeoutMs: 5, grants: ['get_gold'], session: createSession() });
    expect(catalog.callOptions({ timeoutMs: 7, session })).toEqual({
      tools: [gold],
      session,
      timeoutMs: 7,
      grants: ['get_gold'],
    });
  });

  test('`executeCall` accepts one call in any format and reports anything else', async () => {
    const catalog = createToolCatalog([stock, tool('ok', () => toolOk(null, 'Done.'))]);
    for (const call of [
      { name: 'check_stock', args: { item: 'a' } },
      '{"name":"check_stock","arguments":{"item":"a"}}',
      [{ type: 'function', function: { name: 'check_stock', arguments: '{"item":"a"}' } }],
    ])
      expect(await catalog.executeCall(call)).toMatchObject({ type: 'ok', value: { item: 'a', count: 3 } });
    expect(await catalog.executeCall({ name: 'x' })).toMatchObject({ error: { message: 'Tool not found: x' } });
    expect(await catalog.execute('x'.repeat(9_000))).toMatchObject({
      error: { message: `Tool not found: ${'x'.repeat(100)} [cut: 100 of 9000 characters shown]` },
    });
    for (const call of [null, {}, 5, [1], { args: {} }, [{ name: 'ok' }, { name: 'ok' }]])
      expect(await catalog.executeCall(call)).toMatchObject({
        type: 'failed',
        error: {
          code: 'modules.failed',
          reason: 'arguments',
          data: { kind: 'InvalidArguments', recoverable: false },
        },
        outcome: undefined,
      });
  });
});
