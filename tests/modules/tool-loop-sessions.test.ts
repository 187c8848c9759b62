import { defineTool, type JsonObject } from '@holdfast/core';
import { answerApproval } from '@holdfast/executor';
import { createToolCatalog, defineSignature, predict, type ToolLoopResult, wrapTools } from '@holdfast/modules';
import { requireApproval } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore, replay } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { manualClock, scriptedModel } from '@holdfast/testing';
import { expect, expectTypeOf, test } from 'vitest';
import { calls, linesOf, noting, playing, suspended } from './test-loop.ts';

test('a loop within a tool has the time, the budget and the keys of its call', async () => {
  const clock = manualClock();
  const inner = noting('inner', undefined, { effects: 'external', repeat: 'never' });
  const hang = noting('hang', () => {
    queueMicrotask(() => clock.advance(100));
    return new Promise(() => undefined);
  });
  const results: ToolLoopResult[] = [];
  const outer = defineTool({
    name: 'outer',
    description: 'Runs a loop.',
    effects: 'external',
    repeat: 'never',
    timeoutMs: 100,
    async execute(_input, context) {
      const script = playing(calls('inner', 'inner'), calls('hang'), { never: true });
      const options = { tools: [inner.tool, hang.tool], session: context.child(), clock };
      results.push(await wrapTools(script, options).invoke({}));
      return 'done';
    },
  });
  const result = await wrapTools(playing(calls('outer'), {}), {
    tools: [outer],
    session: createSession({ id: 's', clock }),
    clock,
  }).invoke({});
  expect(result.calls[0]?.outcome?.kind).toBe('in-doubt');
  expect(results[0]).toMatchObject({ reason: 'deadline' });
  expect(inner.keys).toHaveLength(2);
  expect(new Set(inner.keys).size).toBe(2);
  for (const key of inner.keys) expect(key).toMatch(/^s(?:\.[0-9a-f]{16})?\/loop_1_0_0\/.+loop_/);
  expect(clock.pending).toBe(0);
});

test('a secret is masked in the log, and a call that waits with one is not run by another process', async () => {
  const seen: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    effects: 'external',
    inputSchema: jsonSchema<{ token: string }>({
      type: 'object',
      properties: { token: { type: 'string' } },
      required: ['token'],
    }),
    execute: ({ token }) => {
      seen.push(token);
      return 'paid';
    },
  });
  const token = 'hunter2-hunter2-hunter2';
  const redactor = createRedactor({ key: 'k'.repeat(32), secrets: [token] });
  const store = memoryStore();
  const session = createSession({ id: 's', store, redactor });
  const options = { tools: [pay], policies: [requireApproval({ tools: ['pay'] })] };
  const first = playing({ tool_call: { name: 'pay', args: { token } } });
  const state = suspended(await wrapTools(first, { ...options, session }).invoke({})).state;
  await answerApproval(session, 'loop_1_0_0', { type: 'approve' });
  expect(JSON.stringify(store.records)).not.toContain(token);

  const records = [...store.records];
  const other = replay(records, { store: memoryStore(records), redactor });
  const second = playing({});
  await wrapTools(second, { ...options, session: other }).resume(state);
  expect(linesOf(second, 0)).toEqual([expect.stringMatching(/^Tool 'pay' failed: .*its arguments contained a secret/)]);
  expect(seen).toEqual([]);

  // This one still knows it.
  await wrapTools(playing({}), { ...options, session }).resume(state);
  expect(seen).toEqual([token]);
});

test('a log without content cannot be resumed', async () => {
  const session = createSession({ content: 'none' });
  const pay = noting('pay');
  const options = { tools: [pay.tool], policies: [requireApproval({ tools: ['pay'] })], session };
  const { state } = suspended(await wrapTools(playing(calls('pay')), options).invoke({}));
  await expect(wrapTools(playing(), options).resume(state)).rejects.toMatchObject({
    code: 'replay.failed',
    reason: 'no_content',
  });
  expect(pay.keys).toEqual([]);
});

test('a log that cannot be written rejects, and no tool runs', async () => {
  const store = memoryStore();
  const broken = {
    ...store,
    append: (...[entry, seq, atMs]: Parameters<typeof store.append>) => {
      if (entry.type === 'tool-loop-start') throw new Error('The disk is full.');
      store.append(entry, seq, atMs);
    },
  };
  const act = noting('act');
  const loop = wrapTools(playing(calls('act'), {}), { tools: [act.tool], session: createSession({ store: broken }) });
  await expect(loop.invoke({})).rejects.toThrow('The disk is full.');
  expect(act.keys).toEqual([]);
});

test('loops of several models wait at once, and each goes on from its own state', async () => {
  const pay = noting('pay', undefined, { effects: 'external', repeat: 'never' });
  const text = { type: 'string' } as const;
  const signature = defineSignature({
    name: 'pay',
    inputSchema: jsonSchema<{ n: number }>({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }),
    outputSchema: jsonSchema<{ answer: string }>({
      type: 'object',
      properties: { answer: text },
      required: ['answer'],
    }),
  });
  const session = createSession({ id: 's' });
  const catalog = createToolCatalog([pay.tool], { session, policies: [requireApproval({ tools: ['pay'] })] });
  const loops = Array.from({ length: 5 }, (_, n) => {
    const model = scriptedModel([
      { text: '[[ ## tool_call ## ]]\n{"name":"pay"}', usage: { inputTokens: 10 + n, outputTokens: 1 } },
      { text: `[[ ## answer ## ]]\nPaid ${n}.`, usage: { inputTokens: 20, outputTokens: 2 } },
    ]);
    return wrapTools(predict(signature, { model }), { tools: catalog });
  });
  const waiting = await Promise.all(loops.map((loop, n) => loop.invoke({ n })));
  const questions = waiting.flatMap((result) => suspended(result).pending);
  expect(new Set(questions.map(({ callId }) => callId)).size).toBe(5);
  for (const question of questions.toReversed()) await answerApproval(session, question, { type: 'approve' });
  const ended = await Promise.all(
    loops.map((loop, n) =>
      loop.resume(JSON.parse(JSON.stringify(suspended(waiting[n] as ToolLoopResult).state)) as JsonObject),
    ),
  );
  expect(ended.map(({ output }) => output)).toEqual(loops.map((_, n) => ({ answer: `Paid ${n}.` })));
  expect(ended.map(({ usage }) => usage)).toEqual(loops.map((_, n) => ({ inputTokens: 30 + n, outputTokens: 3 })));
  expect(pay.keys).toHaveLength(5);
  expectTypeOf(ended[0]).toEqualTypeOf<ToolLoopResult<{ answer: string }> | undefined>();
  expectTypeOf(loops[0]?.invoke).parameter(0).toEqualTypeOf<{ n: number }>();
});
