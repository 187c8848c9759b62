import { allow, ask, type Decision, definePolicy, deny } from '@holdfast/core';
import { createSession, memoryStore } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { createGuard, type ReleasingGuard } from '../index.ts';
import { governTools as governAiSdk } from './ai-sdk.ts';
import { holdfastMiddleware } from './langchain.ts';
import { governTools as governMastra } from './mastra.ts';
import { governTool } from './openai-agents.ts';
import { holdfastIntervention } from './strands.ts';

/** Denies 1, asks about 2, allows the rest. */
const byOrder = definePolicy({
  name: 'by-order',
  check({ input }): Decision {
    if (JSON.stringify(input) === '{"order":1}') return deny('Closed.');
    return JSON.stringify(input) === '{"order":2}' ? ask('May it?') : allow;
  },
});
const open = (): ReleasingGuard =>
  createGuard({ session: createSession({ store: memoryStore() }), policies: [byOrder] });
const execute = (input: { readonly order: number }): string => `paid ${input.order}`;

describe('AI SDK', () => {
  const at = (order: number, toolName = 'pay') => ({
    toolCall: { toolCallId: `c${order}`, toolName, input: { order } },
    messages: [],
  });

  test.each([
    [1, { type: 'denied', reason: 'Denied: Closed.' }],
    [2, { type: 'user-approval', reason: 'May it?' }],
    [3, { type: 'not-applicable' }],
  ])('order %i', async (order, approval) => {
    expect(await governAiSdk(open(), { pay: { execute } }).toolApproval(at(order))).toEqual(approval);
  });

  test("a tool's own question comes first, and its call is decided when it runs", async () => {
    const asksItself = { execute, needsApproval: async (input: { readonly order: number }) => input.order < 9 };
    const { tools, toolApproval } = governAiSdk(open(), { pay: asksItself });
    expect(await toolApproval(at(3))).toEqual({ type: 'user-approval' });
    expect(await toolApproval(at(9))).toEqual({ type: 'not-applicable' });
    const run = (order: number): unknown =>
      (tools.pay.execute as (...given: unknown[]) => unknown)({ order }, { toolCallId: `c${order}` });
    expect(await run(3)).toBe('paid 3');
    await expect(run(1)).rejects.toThrow('Closed.');
    await expect(run(2)).rejects.toThrow('A person has to approve this in Holdfast first');
  });

  test('a tool without a body, or named as a part of every object, is decided', async () => {
    const client = {};
    const { tools, toolApproval } = governAiSdk(open(), { client });
    expect(tools.client).toBe(client);
    expect(await toolApproval(at(1, 'constructor'))).toMatchObject({ type: 'denied' });
  });
});

describe('OpenAI Agents', () => {
  const make = (given: object): Record<string, (...given: unknown[]) => Promise<unknown>> =>
    governTool(open(), (options: object) => options)({ name: 'pay', execute, ...given }) as never;

  test.each([
    [1, false, 'Denied: Closed.'],
    [2, true, 'paid 2'],
    [3, false, 'paid 3'],
  ])('order %i', async (order, asks, read) => {
    const { needsApproval, execute: run } = make({});
    expect(await needsApproval?.({}, { order }, 'c')).toBe(asks);
    expect(await run?.({ order }, {}, { toolCall: { callId: 'c' } })).toBe(read);
  });

  test("a tool's own question, and a call without an id", async () => {
    const { needsApproval, execute: run } = make({ needsApproval: true });
    expect(await needsApproval?.({}, { order: 3 }, 'c')).toBe(true);
    await expect(run?.({ order: 3 }, {})).rejects.toMatchObject({ code: 'guard.failed' });
  });

  test('a refusal does not become a declared output', async () => {
    const { execute: run } = make({ outputSchema: {} });
    await expect(run?.({ order: 1 }, {}, { toolCall: { callId: 'c' } })).rejects.toThrow('Closed.');
  });
});

describe('LangChain', () => {
  const state = (...orders: readonly number[]) => ({
    messages: [{ type: 'ai', tool_calls: orders.map((order) => ({ id: `c${order}`, name: 'pay', args: { order } })) }],
  });

  test('with all calls refused the model is asked again, else the rest runs', async () => {
    const { hook } = holdfastMiddleware(open()).afterModel;
    const told = { type: 'tool', tool_call_id: 'c1', name: 'pay', status: 'error', content: 'Denied: Closed.' };
    expect(await hook(state(1), {})).toEqual({ messages: [told], jumpTo: 'model' });
    expect(await hook(state(1, 3), {})).toEqual({ messages: [told] });
    expect(await hook({ messages: [] }, {})).toBeUndefined();
  });

  test('a body does not run without a release of its own id', async () => {
    const { afterModel, wrapToolCall } = holdfastMiddleware(open());
    await afterModel.hook(state(3), {});
    const ran: unknown[] = [];
    const tool = { invoke: (): unknown => ran.push('paid') };
    const run = (id: string, order: number): unknown =>
      wrapToolCall({ toolCall: { id, name: 'pay', args: { order } }, tool, runtime: {} }, (request) =>
        (request.tool as { invoke(): unknown }).invoke(),
      );
    expect(await run('other', 1)).toBe('Denied: Closed.');
    expect(await run('c3', 2)).toContain('A person has to approve this');
    expect(ran).toEqual([]);
    await run('c3', 3);
    expect(ran).toEqual(['paid']);
  });

  test.each([
    ['an approval', { decisions: [{ type: 'approve' }] }, undefined],
    ['a rejection', { decisions: [{ type: 'reject', message: 'Not now.' }] }, 'a person said no. Not now.'],
    ['an edit', { decisions: [{ type: 'edit' }] }, 'a person said no.'],
    ['more decisions than questions', { decisions: [{ type: 'approve' }, { type: 'approve' }] }, 'a person said no.'],
    ['anything else', 'yes', 'a person said no.'],
  ])('%s', async (_, answer, text) => {
    const told = await holdfastMiddleware(open()).afterModel.hook(state(2), { interrupt: () => answer });
    if (text === undefined) expect(told).toBeUndefined();
    else expect(told).toMatchObject({ messages: [{ content: expect.stringContaining(text) }] });
  });
});

describe('Mastra', () => {
  const run = async (order: number, agent: object): Promise<unknown> => {
    const tools = governMastra(open(), { pay: { execute } });
    return await (tools.pay.execute as (...given: unknown[]) => unknown)(
      { order },
      { agent: { toolCallId: 'c', ...agent } },
    );
  };
  const suspend = (payload: unknown): unknown => ({ suspended: payload });

  test.each<[number, object, unknown]>([
    [1, {}, 'Denied: Closed.'],
    [2, { suspend }, { suspended: { reason: 'May it?', toolCallId: 'c' } }],
    [2, { resumeData: { approved: true } }, 'paid 2'],
    [2, { resumeData: { approved: 'yes' } }, '`pay` was not run: a person said no.'],
    [3, {}, 'paid 3'],
  ])('order %i, with %o', async (order, agent, read) => {
    expect(await run(order, agent)).toEqual(read);
  });

  test('outside of an agent a call has no id', async () => {
    await expect(run(3, { toolCallId: undefined })).rejects.toMatchObject({ code: 'guard.failed' });
  });

  test('what a schema did not accept is a failure', async () => {
    const invalid = { error: true, message: 'No.', validationErrors: [] };
    const store = memoryStore();
    const guard = createGuard({ session: createSession({ store }), policies: [] });
    const { pay } = governMastra(guard, { pay: { execute: () => invalid } });
    await (pay.execute as (...given: unknown[]) => unknown)({}, { agent: { toolCallId: 'c' } });
    expect(store.records.at(-1)).toMatchObject({ outcome: { kind: 'failed', message: 'No.' } });
  });
});

describe('Strands', () => {
  const use = (order: number) => ({ name: 'pay', toolUseId: 'c', input: { order } });

  test.each([
    [1, true, { type: 'deny', reason: 'Denied: Closed.' }],
    [2, true, { type: 'proceed' }],
    [2, 'yes', { type: 'deny', reason: 'A person said no.' }],
    [3, false, { type: 'proceed' }],
  ])('order %i, answered with %s', async (order, response, action) => {
    const handler = holdfastIntervention(open());
    expect(await handler.beforeToolCall({ toolUse: use(order), interrupt: () => response })).toEqual(action);
  });

  test('a call that ran is told what it gave, and does not run again', async () => {
    const handler = holdfastIntervention(open());
    const event = { toolUse: use(3), interrupt: () => undefined };
    await handler.beforeToolCall(event);
    const result = { status: 'success', content: ['paid'] };
    for (let count = 0; count < 2; count += 1) await handler.afterToolCall({ toolUse: use(3), result, agent: {} });
    expect(await handler.beforeToolCall(event)).toEqual({ type: 'deny', reason: '`pay` has already run: ["paid"]' });
  });
});
