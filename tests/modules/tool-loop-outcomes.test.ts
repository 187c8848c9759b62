import { getEventListeners } from 'node:events';
import {
  append,
  definePolicy,
  defineSlice,
  defineTool,
  deny,
  type OutcomeKind,
  type Policy,
  type Tool,
  toolError,
} from '@holdfast/core';
import { createBudget } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { predict as ask, createToolCatalog, defineSignature, wrapTools } from '@holdfast/modules';
import { callBudget, requireApproval, sequentialDependency } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore } from '@holdfast/session';
import { manualClock, type ScriptStep, scriptedModel } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';
import { calls, linesOf, noting, playing, summary } from './test-loop.ts';

const clock = manualClock();
/** Never ends by itself; meanwhile the time goes by. */
const hanging = (ms: number) => (): Promise<never> => {
  queueMicrotask(() => clock.advance(ms));
  return new Promise(() => undefined);
};
const none = { effects: 'none', repeat: 'safe' } as const;
const world = { effects: 'external', repeat: 'never' } as const;
const policy = (check: Policy['check']): Policy => definePolicy({ name: 'host', check }) as Policy;

describe('how a call ends is what the predictor is told', () => {
  test.each<{
    readonly kind: OutcomeKind;
    readonly tool?: Tool;
    readonly policies?: readonly Policy[];
    readonly args?: string;
    readonly line: string;
  }>([
    { kind: 'ok', line: `Tool 'act' returned: "act done"` },
    {
      kind: 'failed',
      tool: noting('act', () => toolError('The shop is closed.', { value: { until: 9 } })).tool,
      line: `Tool 'act' failed: Execution failed: The shop is closed.\\n\\n{"until":9}`,
    },
    {
      kind: 'failed',
      tool: noting('act', () => {
        throw new Error('at /home/keeper/vault.key\n    at open (/home/keeper/src/vault.ts:12:3)');
      }).tool,
      line: `Tool 'act' failed: Execution failed: at <path>`,
    },
    {
      kind: 'invalid',
      args: '[1]',
      line: `Tool 'act' failed: Invalid arguments: The arguments must be one JSON object, got an array.`,
    },
    {
      kind: 'invalid',
      tool: noting('act', () => undefined).tool,
      line: `Tool 'act' failed: Serialization error: \`act\` returned nothing. Return JSON, or null for no value.`,
    },
    {
      kind: 'denied',
      policies: [policy(() => deny('Not today.'))],
      line: `Tool 'act' failed: Execution failed: Denied: Not today.`,
    },
    { kind: 'unknown-tool', tool: noting('other').tool, line: `Tool 'act' failed: Tool not found: act` },
    {
      kind: 'timed-out',
      tool: noting('act', hanging(50), { ...none, timeoutMs: 50 }).tool,
      line: `Tool 'act' failed: Execution failed: \`act\` did not finish within its limit of 50 ms.`,
    },
    {
      kind: 'in-doubt',
      tool: noting('act', hanging(50), { ...world, timeoutMs: 50 }).tool,
      line: `Tool 'act' failed: Execution failed: It is not known whether \`act\` took effect. Find out before calling it again. \`act\` did not finish within its limit of 50 ms.`,
    },
  ])('$kind: $line', async ({ kind, tool = noting('act').tool, policies = [], args, line }) => {
    const predict = playing(
      { tool_call: { name: 'act', ...(args === undefined ? {} : { args }) } },
      { response: 'Well.' },
    );
    const result = await wrapTools(predict, { tools: [tool], policies, clock }).invoke({});
    expect(result).toMatchObject({
      reason: 'completed',
      output: { response: 'Well.' },
      calls: [{ outcome: { kind } }],
    });
    expect(linesOf(predict, 1)).toEqual([line]);
    expect(clock.pending).toBe(0);
  });
});

describe("the host's policies", () => {
  test('see what earlier rounds did: an order holds across rounds', async () => {
    const predict = playing(calls('deploy'), calls('build'), calls('deploy'), { response: 'Done.' });
    const deploy = noting('deploy');
    const result = await wrapTools(predict, {
      tools: [deploy.tool, noting('build').tool],
      policies: [sequentialDependency({ deploy: ['build'] })],
    }).invoke({});
    expect(result.calls.map(({ outcome }) => outcome?.kind)).toEqual(['denied', 'ok', 'ok']);
    expect(deploy.keys).toHaveLength(1);
  });

  test('count calls of one round one by one', async () => {
    const act = noting('act');
    const predict = playing(calls('act', 'act', 'act'), { response: 'Done.' });
    const result = await wrapTools(predict, { tools: [act.tool], policies: [callBudget({ maxCalls: 2 })] }).invoke({});
    expect(result.calls.map(({ outcome }) => outcome?.kind)).toEqual(['ok', 'ok', 'denied']);
    expect(act.keys).toHaveLength(2);
  });

  test('ask, and are answered at once or not at all', async () => {
    const act = noting('act');
    const options = { tools: [act.tool], policies: [requireApproval({ tools: ['act'] })] };
    const allowed = await wrapTools(playing(calls('act'), {}), {
      ...options,
      approve: () => ({ type: 'approve' }),
    }).invoke({});
    const alone = await wrapTools(playing(calls('act'), {}), { ...options, unattended: true }).invoke({});
    expect([allowed, alone].map(({ calls: made }) => made[0]?.outcome?.kind)).toEqual(['ok', 'denied']);
    expect(act.keys).toHaveLength(1);
  });
});

test('a tool that fails leaves nothing in the state or in staged files', async () => {
  const filesystem = memoryFilesystem({ 'a.txt': 'one' });
  const notes = defineSlice<string>({
    id: 'notes',
    kind: 'list',
    reducers: { noted: (_state, payload) => append(payload) },
  });
  const session = createSession({ slices: [notes] });
  const spoil = defineTool({
    name: 'spoil',
    description: 'Writes, and then fails.',
    effects: 'state',
    async execute(_input, { filesystem: staged, session: own }) {
      own.dispatch({ type: 'noted', payload: 'two' });
      await staged?.write('a.txt', 'two');
      throw new Error(`And now this: ${own.read(notes).toArray().length}.`);
    },
  });
  const predict = playing(
    calls('spoil'),
    { tool_call: { name: 'read_file', args: { path: 'a.txt' } } },
    { response: 'Well.' },
  );
  const result = await wrapTools(predict, {
    tools: [...fileTools(), spoil],
    session,
    resources: { filesystem },
  }).invoke({});
  expect(result.calls.map(({ outcome }) => outcome?.kind)).toEqual(['failed', 'ok']);
  expect(linesOf(predict, 2)[0]).toBe("Tool 'spoil' failed: Execution failed: And now this: 1.");
  expect(linesOf(predict, 2)[1]).toContain('one');
  expect(session.read(notes).toArray()).toEqual([]);
  expect(await filesystem.readOnly.readText('a.txt')).toBe('one');
});

describe('what ends a loop', () => {
  /** Nothing of the loop may be left. */
  const controllerOf = (): AbortController & { readonly listeners: number } => {
    const controller = new AbortController();
    return Object.defineProperty(controller, 'listeners', {
      get: () => getEventListeners(controller.signal, 'abort').length,
    }) as AbortController & { listeners: number };
  };

  test('a signal, while the predictor does not listen', async () => {
    const controller = controllerOf();
    const predict = playing(calls('act'), () => {
      controller.abort(new Error('Enough.'));
      return new Promise(() => undefined);
    });
    const act = noting('act');
    const result = await wrapTools(predict, { tools: [act.tool] }).invoke({}, { signal: controller.signal });
    expect(result).toMatchObject({
      reason: 'aborted',
      iterations: 2,
      error: { code: 'modules.stopped', reason: 'aborted', recoverable: true },
    });
    expect(summary(result)).toEqual(['call_0_0 act ok: "act done"']);
    expect(controller.listeners).toBe(0);
  });

  test('a signal that the predictor hears', async () => {
    const controller = controllerOf();
    const predict = playing((_input, signal) => {
      const heard = new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      );
      controller.abort();
      return heard;
    });
    const result = await wrapTools(predict, { tools: [] }).invoke({}, { signal: controller.signal });
    expect(result).toMatchObject({ reason: 'aborted', iterations: 1, output: {}, calls: [] });
  });

  test('a signal before it began: the predictor is not asked', async () => {
    const predict = playing();
    const result = await wrapTools(predict, { tools: [] }).invoke({}, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ reason: 'aborted', iterations: 0, output: {}, calls: [] });
    expect(predict.inputs).toEqual([]);
  });

  test('a signal, while a tool runs: it and the calls behind it are cancelled', async () => {
    const controller = controllerOf();
    let stopped = false;
    const hang = noting('hang', ({ signal }) => {
      queueMicrotask(() => controller.abort());
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          stopped = true;
          reject(signal.reason);
        }),
      );
    });
    const later = noting('later');
    const predict = playing({ ...calls('hang', 'later'), response: 'So far.' });
    const loop = wrapTools(predict, { tools: [hang.tool, later.tool] });
    const result = await loop.invoke({}, { signal: controller.signal });
    expect(result).toMatchObject({ reason: 'aborted', output: { response: 'So far.' } });
    expect(result.calls.map(({ outcome }) => outcome?.kind)).toEqual(['cancelled', 'cancelled']);
    expect([stopped, later.keys.length, controller.listeners]).toEqual([true, 0, 0]);
  });

  test('only what it came to: no timer and no listener is left behind an answer', async () => {
    const controller = controllerOf();
    const budget = createBudget({ maxWallMs: 1_000 }, { clock });
    const options = { tools: [noting('act').tool], clock, timeoutMs: 100, budget };
    const result = await wrapTools(playing(calls('act'), {}), options).invoke({}, { signal: controller.signal });
    expect(result.reason).toBe('completed');
    expect([clock.pending, controller.listeners]).toEqual([0, 0]);
    clock.advance(500);
    expect(budget.used.wallMs).toBe(0);
  });

  test('its time, whether the predictor or a tool takes it', async () => {
    const slow = playing(calls('act'), hanging(100));
    const options = { tools: [noting('act').tool, noting('hang', hanging(100)).tool], clock, timeoutMs: 100 };
    const asked = await wrapTools(slow, options).invoke({});
    expect(asked).toMatchObject({
      reason: 'deadline',
      iterations: 2,
      error: { code: 'modules.stopped', reason: 'deadline' },
    });
    const ran = await wrapTools(playing(calls('hang', 'act')), options).invoke({});
    expect(ran).toMatchObject({ reason: 'deadline', iterations: 1 });
    expect(ran.calls.map(({ outcome }) => outcome?.kind)).toEqual(['timed-out', 'timed-out']);
    expect(clock.pending).toBe(0);
  });

  test('its time, which goes on when tools are registered meanwhile', async () => {
    const catalog = createToolCatalog([], { clock, timeoutMs: 100 });
    catalog.register(
      noting('learn', () => {
        catalog.register(noting(`more${catalog.tools.length}`).tool);
        clock.advance(40);
        return null;
      }).tool,
    );
    const predict = playing(calls('learn'), calls('learn'), calls('learn'), calls('learn'));
    const result = await wrapTools(predict, { tools: catalog }).invoke({});
    expect(result).toMatchObject({ reason: 'deadline', iterations: 3 });
    expect(clock.pending).toBe(0);
  });

  test('the calls of its budget', async () => {
    const budget = createBudget({ maxCalls: 2 });
    const predict = playing(calls('act', 'act', 'act'), { response: 'Never asked.' });
    const result = await wrapTools(predict, { tools: [noting('act').tool], budget }).invoke({});
    expect(result).toMatchObject({
      reason: 'budget',
      iterations: 1,
      error: { code: 'modules.stopped', reason: 'budget', recoverable: false },
    });
    expect(result.calls.map(({ outcome }) => outcome?.code)).toEqual([undefined, undefined, 'budget.used']);
  });

  test('the tokens of its budget: an answer counts, a call that took too many is not run', async () => {
    const text = jsonSchema<{ a: string }>({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] });
    const signature = defineSignature({
      name: 's',
      inputSchema: jsonSchema<object>({ type: 'object', properties: {} }),
      outputSchema: text,
    });
    const usage = { inputTokens: 8, outputTokens: 2 };
    const call = { text: '[[ ## tool_call ## ]]\n{"name":"act"}', usage };
    const answer = { text: '[[ ## a ## ]]\nYes.', usage };
    const act = noting('act');
    const run = async (maxTokens: number, ...script: readonly ScriptStep[]) => {
      const model = scriptedModel(script);
      const budget = createBudget({ maxTokens });
      const result = await wrapTools(ask(signature, { model }), { tools: [act.tool], budget }).invoke({});
      return [
        result.reason,
        result.iterations,
        ...result.calls.map(({ outcome }) => outcome?.kind ?? 'not run'),
        budget.used.tokens,
      ];
    };
    expect(await run(20, call, answer)).toEqual(['completed', 2, 'ok', 20]);
    expect(await run(15, call, answer)).toEqual(['completed', 2, 'ok', 20]);
    expect(await run(10, call)).toEqual(['budget', 1, 'ok', 10]);
    expect(await run(9, call)).toEqual(['budget', 1, 'not run', 10]);
    expect(act.keys).toHaveLength(3);
  });

  test('the wall time of its budget', async () => {
    const budget = createBudget({ maxWallMs: 100 }, { clock });
    const predict = playing(calls('act'), hanging(100));
    const result = await wrapTools(predict, { tools: [noting('act').tool], budget, clock }).invoke({});
    expect(result).toMatchObject({ reason: 'budget', iterations: 2 });
    const again = await wrapTools(playing(), { tools: [], budget, clock }).invoke({});
    expect(again).toMatchObject({ reason: 'budget', iterations: 0 });
    expect(clock.pending).toBe(0);
  });
});

test('several loops of one catalog at once have their own course', async () => {
  const act = noting('act');
  const store = memoryStore();
  const session = createSession({ id: 's', store });
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, at) => {
      const predict = playing(...Array.from({ length: at % 4 }, () => calls('act', 'act')), { at });
      return wrapTools(predict, { tools: [act.tool], session }).invoke({});
    }),
  );
  expect(results.map(({ output }) => output)).toEqual(Array.from({ length: 20 }, (_, at) => ({ at })));
  expect(act.keys).toHaveLength(60);
  expect(new Set(act.keys).size).toBe(60);
  // A loop that calls nothing leaves nothing.
  expect(store.records.filter(({ type }) => type === 'tool-loop-start')).toHaveLength(15);
});
