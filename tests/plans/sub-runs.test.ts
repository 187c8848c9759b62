import { ask, definePolicy, defineTool, deny, type Planner, type Tool } from '@holdfast/core';
import { createBudget } from '@holdfast/executor';
import { childRecords, fanOutTool, modelPlanner, planTool, readTrace, runPlan } from '@holdfast/orchestrator';
import { childSessions } from '@holdfast/orchestrator/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { manualClock, scriptedModel } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';
import { checkedOf, fail, plannerOf, planOf, say, world, write } from './test-sub-runs.ts';

const hello = [{ id: 'a', tool: 'say', inputs: { text: 'hello' } }];
const dangerous: Tool = defineTool({
  name: 'launch',
  description: 'Launches.',
  effects: 'external',
  dangerous: true,
  execute: () => 'launched',
});

describe('a tool that plans', () => {
  test('runs a plan within its call and answers with what it came to', async () => {
    const { call, session, store } = world();
    const nodes = [
      { id: 0, tool: 'say', inputs: { text: 'hello' } },
      { id: 1, tool: 'say', inputs: { text: { greeting: { $from: 0 } } } },
    ];
    const outcome = await call(planTool({ planner: plannerOf({ greet: nodes }), tools: [say] }), { request: 'greet' });
    expect(outcome).toMatchObject({ kind: 'ok', message: '' });
    expect(outcome).toHaveProperty('value', {
      status: 'succeeded',
      output: { greeting: 'hello' },
      nodes: 2,
      succeeded: 2,
      failed: [],
      usage: { inputTokens: 6, outputTokens: 4 },
      session: expect.stringMatching(/^s\.[0-9a-f]{16}\/top\/[0-9a-f]{32}\/child_1$/),
    });
    expect(session.openWork()).toEqual({ runs: [], plans: [], calls: [] });
    expect(store.records.filter(({ type }) => type === 'tool-call-end')).toHaveLength(1);
  });

  test.each([{ request: '' }, { request: ' \n ' }, {}, { request: 5 }])(
    'SUB-1: nobody is asked for %j',
    async (input) => {
      const planner = plannerOf({});
      const { call, store } = world();
      expect(await call(planTool({ planner, tools: [say] }), input)).toMatchObject({
        kind: 'invalid',
        code: 'arguments.invalid',
      });
      expect(planner.asked).toEqual([]);
      expect(store.records.some(({ type }) => type === 'child-record')).toBe(false);
    },
  );

  test.each([
    { what: 'more depth', more: { maxDepth: 10 } },
    { what: 'a grant', more: { grants: ['launch'] } },
    { what: 'other tools', more: { tools: ['launch'] } },
    { what: 'more time', more: { timeoutMs: 1e9, deadline: 1e15 } },
  ])('SUB-3: arguments give it no $what', async ({ more }) => {
    const planner = plannerOf({ greet: hello });
    const outcome = await world().call(planTool({ planner, tools: [say] }), { request: 'greet', ...more });
    expect(outcome).toMatchObject({ kind: 'invalid', code: 'arguments.invalid' });
    expect(planner.asked).toEqual([]);
  });

  test.each([
    { what: 'a tool that is not its own', plan: [{ id: 0, tool: 'launch' }], code: 'plan.invalid' },
    { what: 'no plan at all', plan: 'I cannot do that.', code: 'planner.no_json' },
    { what: 'a no', plan: '{"status": "error", "error": "Not with these."}', code: 'plan.declined' },
  ])('SUB-9: a planner that answers with $what fails the call', async ({ plan, code }) => {
    const { call, store } = world();
    const tool = planTool({ planner: plannerOf({ it: plan }), tools: [say] });
    expect(await call(tool, { request: 'it' }, { tools: [tool, dangerous] })).toMatchObject({ kind: 'failed', code });
    expect(store.records.filter(({ type }) => type === 'tool-call-end')).toHaveLength(1);
  });

  test('SUB-5: a plan that fails is a failed call, which takes back what was staged, and the plan around it goes on', async () => {
    const { session, files, written } = world();
    const planner = plannerOf({
      good: [{ id: 0, tool: 'write', inputs: { path: 'good' } }],
      bad: [
        { id: 0, tool: 'write', inputs: { path: 'first' } },
        { id: 1, tool: 'write', inputs: { path: 'second', bad: true }, depends_on: [0] },
        { id: 2, tool: 'write', inputs: { path: 'third' }, depends_on: [1] },
      ],
    });
    const tools = [planTool({ planner, tools: [write] }), say];
    const checked = await checkedOf(
      tools,
      { id: 'good', tool: 'run_plan', inputs: { request: 'good' } },
      { id: 'bad', tool: 'run_plan', inputs: { request: 'bad' }, on_fail: 'continue' },
      { id: 'end', tool: 'say', inputs: { text: '{{STEPS.good.output}}, {{STEPS.bad.output}}' } },
    );
    const trace = await runPlan(checked, { tools, session, resources: { filesystem: files } });
    expect(trace).toMatchObject({
      status: 'partial',
      nodes: [
        { kind: 'ok', value: { status: 'succeeded', output: 'good' } },
        { kind: 'failed', code: 'plan.failed' },
        { kind: 'ok' },
      ],
    });
    expect(trace.nodes[1]?.message).toBe(
      'The plan failed: 1 of 3 nodes succeeded. Node `1` (`write`) is failed, `tool.threw`: The disk is full.',
    );
    expect(trace.output).toBe(`good, [step bad failed: ${trace.nodes[1]?.message}]`);
    expect(await written()).toEqual(['good']);
  });

  test('what failed is told with the failed call, and a plan in part succeeds', async () => {
    const planner = plannerOf({
      bad: [
        { id: 0, tool: 'fail' },
        { id: 1, tool: 'say', inputs: { text: { $from: 0 } } },
      ],
      part: [
        { id: 0, tool: 'fail', on_fail: 'continue' },
        { id: 1, tool: 'say', inputs: { text: { $from: 0, default: 'without' } } },
      ],
    });
    const tool = planTool({ planner, tools: [say, fail] });
    const one = await world().call(tool, { request: 'bad' });
    expect(one).toMatchObject({
      kind: 'failed',
      code: 'plan.failed',
      value: {
        status: 'failed',
        output: null,
        succeeded: 0,
        failed: [
          { node: 0, tool: 'fail', kind: 'failed', code: 'tool.threw', message: 'It does not work.' },
          { node: 1, tool: 'say', kind: 'skipped', code: 'plan.halted' },
        ],
      },
    });
    expect(await world().call(tool, { request: 'part' })).toMatchObject({
      kind: 'ok',
      value: { status: 'partial', output: 'without', nodes: 2, succeeded: 1, failed: [{ node: 0 }] },
    });
  });

  test.each([
    { effects: ['none', 'none'], repeat: undefined, is: ['none', 'safe'] },
    { effects: ['none', 'state'], repeat: undefined, is: ['state', 'never'] },
    { effects: ['state', 'external', 'none'], repeat: undefined, is: ['external', 'never'] },
    { effects: ['external'], repeat: 'safe', is: ['external', 'safe'] },
    // The key of a call may be that of another call in the next plan.
    { effects: ['external'], repeat: 'keyed', is: ['external', 'never'] },
  ] as const)('it declares what its tools may do: $effects', ({ effects, repeat, is }) => {
    const tools = effects.map((each, index) =>
      defineTool({
        name: `tool_${index}`,
        description: 'Any.',
        effects: each,
        ...(repeat === undefined ? {} : { repeat }),
        execute: () => null,
      }),
    );
    for (const tool of [planTool({ planner: plannerOf({}), tools }), fanOutTool({ planner: plannerOf({}), tools })]) {
      expect([tool.effects, tool.repeat, tool.dangerous]).toEqual([...is, false]);
    }
  });

  test.each([
    { options: { tools: [] } },
    { options: { maxDepth: 0 } },
    { options: { maxDepth: 1.5 } },
    { options: { maxConcurrency: 0 } },
    { options: { lockTimeoutMs: -1 } },
    { options: { rateLimits: { say: { calls: 0, perMs: 5 } } } },
    { options: { maxRuns: 0 } },
    { options: { maxParallel: 0.5 } },
  ])('options that cannot be are refused at once: $options', ({ options }) => {
    const make = () => [
      planTool({ planner: plannerOf({}), tools: [say], ...options }),
      fanOutTool({ planner: plannerOf({}), tools: [say], ...options }),
    ];
    expect(make).toThrow(expect.objectContaining({ code: 'options.invalid' }));
  });
});

describe('depth', () => {
  test('a tool that uses itself does so as deep as it may, and is not offered then', async () => {
    const offered: (readonly string[])[] = [];
    const planner = {
      id: 'again',
      plan: ({
        tools,
        request,
      }: {
        readonly tools: readonly { readonly name: string }[];
        readonly request: string;
      }) => {
        const names = tools.map(({ name }) => name);
        offered.push(names);
        const node = names.includes('run_plan')
          ? { id: 0, tool: 'run_plan', inputs: { request: `${request}+` } }
          : { id: 0, tool: 'say', inputs: { text: request } };
        return Promise.resolve({ plan: { nodes: [node], final_output_node: 0 } });
      },
    };
    const tool = planTool({ planner, tools: [say], recursive: true, maxDepth: 3 });
    const { call } = world();
    expect(await call(tool, { request: 'r' })).toMatchObject({
      kind: 'ok',
      value: { output: { output: { output: 'r++' } } },
    });
    expect(offered).toEqual([['run_plan', 'say'], ['run_plan', 'say'], ['say']]);
  });

  test('what is around allows, whatever is within', async () => {
    const inner = planTool({ name: 'inner', planner: plannerOf({ greet: hello }), tools: [say], maxDepth: 9 });
    const nodes = [{ id: 0, tool: 'inner', inputs: { request: 'greet' } }];
    const around = (maxDepth: number): Tool =>
      planTool({ planner: plannerOf({ nest: nodes }), tools: [inner], maxDepth });
    expect(await world().call(around(2), { request: 'nest' })).toMatchObject({ kind: 'ok' });
    expect(await world().call(around(1), { request: 'nest' })).toMatchObject({
      kind: 'failed',
      code: 'plan.failed',
      value: {
        failed: [
          { code: 'plan.failed', reason: 'depth', message: expect.stringMatching(/2 levels deep; `maxDepth` is 1/) },
        ],
      },
    });
  });

  test('beside each other they are as deep as before', async () => {
    const tool = planTool({ planner: plannerOf({ greet: hello }), tools: [say], maxDepth: 1 });
    const { session } = world();
    const nodes = [0, 1, 2].map((id) => ({ id, tool: 'run_plan', inputs: { request: 'greet' } }));
    expect(await runPlan(await checkedOf([tool], ...nodes), { tools: [tool], session })).toMatchObject({
      status: 'succeeded',
    });
  });
});

describe('what comes from around', () => {
  /** A plan within a plan, at the end of which is something dangerous. */
  const launching = (): Tool => {
    const inner = planTool({
      name: 'inner',
      planner: plannerOf({ launch: [{ id: 0, tool: 'launch' }] }),
      tools: [dangerous],
    });
    const nodes = [{ id: 0, tool: 'inner', inputs: { request: 'launch' } }];
    return planTool({ planner: plannerOf({ outer: nodes }), tools: [inner] });
  };

  test('nobody launches two plans down without a yes', async () => {
    const tool = launching();
    const outcome = await world().call(tool, { request: 'outer' });
    expect(outcome).toMatchObject({ kind: 'failed', code: 'plan.failed' });
    expect(JSON.stringify(outcome)).toContain('approval.nested');
    const { session, store } = world();
    const checked = await checkedOf([tool], { id: 0, tool: 'run_plan', inputs: { request: 'outer' } });
    const trace = await runPlan(checked, { tools: [tool], session });
    expect(trace.status).toBe('failed');
    const ends = childSessions(store.records).flatMap((id) => [...childRecords(store.records, id)]);
    expect(ends.filter(({ type }) => type === 'tool-call-end').map(({ outcome: end }) => end)).toMatchObject([
      { name: 'inner', kind: 'failed', code: 'plan.failed' },
      { name: 'launch', kind: 'denied', code: 'approval.nested' },
    ]);
  });

  test.each([
    { how: 'a grant', options: { grants: ['launch'] }, kind: 'ok' },
    { how: 'a grant of what is around', options: { grants: ['run_plan', 'inner'] }, kind: 'failed' },
    { how: 'a yes', options: { approve: () => ({ type: 'approve' as const }) }, kind: 'ok' },
    { how: 'a no', options: { approve: () => ({ type: 'deny' as const, reason: 'Not today.' }) }, kind: 'failed' },
    {
      how: 'a yes without a listener',
      options: { approve: () => ({ type: 'approve' as const }), unattended: true },
      kind: 'failed',
    },
  ])('two plans down, $how counts', async ({ options, kind }) => {
    expect(await world().call(launching(), { request: 'outer' }, options)).toMatchObject({ kind });
  });

  test('several plans at once are no way around a yes', async () => {
    const planner = plannerOf({ launch: [{ id: 0, tool: 'launch' }] });
    const tool = fanOutTool({ planner, tools: [dangerous] });
    const requests = { requests: ['launch', 'launch'] };
    const outcome = await world().call(tool, requests, { grants: ['run_plans', 'run_one'] });
    expect(outcome).toMatchObject({ kind: 'failed', code: 'plan.failed' });
    expect(JSON.stringify(outcome).split('approval.nested').length).toBeGreaterThan(2);
    expect(await world().call(tool, requests, { grants: ['launch'] })).toMatchObject({ kind: 'ok', message: '' });
  });

  test('a policy of the plans asks in vain, and denies what it denies ahead', async () => {
    const policy = definePolicy({
      name: 'careful',
      check: ({ tool }) => (tool.name === 'say' ? ask('Sure?') : deny('No.')),
    });
    const planner = plannerOf({ greet: hello, fail: [{ id: 0, tool: 'fail' }] });
    const tool = planTool({ planner, tools: [say, fail], policies: [policy] });
    const asked = await world().call(tool, { request: 'greet' });
    expect(asked).toMatchObject({ kind: 'failed', value: { failed: [{ kind: 'denied', code: 'approval.nested' }] } });
    expect(await world().call(tool, { request: 'fail' })).toMatchObject({ kind: 'failed', code: 'plan.invalid' });
  });

  test('SUB-13: the planner takes its tokens from the budget of the call', async () => {
    const budget = createBudget({ maxTokens: 100 });
    const tool = planTool({ planner: plannerOf({ greet: hello }), tools: [say] });
    expect(await world().call(tool, { request: 'greet' }, { budget })).toMatchObject({ kind: 'ok' });
    expect(budget.used).toMatchObject({ tokens: 10, calls: 2 });
  });

  test('SUB-13: a model that writes plans reports what it took, for each round', async () => {
    const usage = { inputTokens: 20, outputTokens: 5 };
    const bad = planOf({ id: 0, tool: 'nope' });
    const model = scriptedModel([
      { text: JSON.stringify(bad), usage },
      { text: JSON.stringify(planOf(...hello)), usage },
    ]);
    const budget = createBudget({ maxTokens: 100 });
    const tool = planTool({ planner: modelPlanner(model), tools: [say] });
    expect(await world().call(tool, { request: 'greet' }, { budget })).toMatchObject({
      kind: 'ok',
      value: { output: 'hello', usage: { inputTokens: 40, outputTokens: 10 } },
    });
    expect(budget.used.tokens).toBe(50);
  });

  test('SUB-13: also for answers that are not a plan, and two plans down', async () => {
    const budget = createBudget({ maxTokens: 100 });
    const inner = planTool({ name: 'inner', planner: plannerOf({ it: 'No {' }), tools: [say], maxRounds: 1 });
    const nodes = [{ id: 0, tool: 'inner', inputs: { request: 'it' } }];
    const tool = planTool({ planner: plannerOf({ outer: nodes }), tools: [inner] });
    expect(await world().call(tool, { request: 'outer' }, { budget })).toMatchObject({ kind: 'failed' });
    // One plan, and an answer that is none, which comes a second time.
    expect(budget.used.tokens).toBe(30);
  });

  test.each([
    { maxTokens: 9, asked: 1, tokens: 10, message: /not run/ },
    { maxTokens: 10, asked: 1, tokens: 10, message: undefined },
  ])(
    'a budget of $maxTokens tokens is the end of a planner that takes 10',
    async ({ maxTokens, asked, tokens, message }) => {
      const budget = createBudget({ maxTokens });
      const planner = plannerOf({ greet: hello });
      const { call, session } = world();
      const tool = planTool({ planner, tools: [say] });
      const outcome = await call(tool, { request: 'greet' }, { budget });
      if (message === undefined) expect(outcome).toMatchObject({ kind: 'ok' });
      else
        expect(outcome).toMatchObject({
          kind: 'failed',
          code: 'budget.used',
          reason: 'tokens',
          message: expect.stringMatching(message),
        });
      expect([planner.asked.length, budget.used.tokens]).toEqual([asked, tokens]);
      // Nothing remains: it is not asked again.
      const again = await call(tool, { request: 'greet' }, { budget, session });
      expect(again).toMatchObject({
        kind: 'failed',
        code: 'budget.used',
        reason: 'tokens',
        message: expect.stringMatching(/not asked/),
      });
      expect(planner.asked).toHaveLength(asked);
    },
  );

  test('its calls are counted, and the last one is denied', async () => {
    const budget = createBudget({ maxCalls: 2 });
    const nodes = [0, 1].map((id) => ({ id, tool: 'say', inputs: { text: id } }));
    const tool = planTool({ planner: plannerOf({ greet: nodes }), tools: [say] });
    expect(await world().call(tool, { request: 'greet' }, { budget })).toMatchObject({
      kind: 'failed',
      value: { succeeded: 1, failed: [{ node: 1, code: 'budget.used', reason: 'calls' }] },
    });
  });

  test('the end of the call is the end of the planner and of the plan', async () => {
    const clock = manualClock();
    const { promise: asked, resolve: hear } = Promise.withResolvers<AbortSignal>();
    const waiting: Planner = {
      id: 'slow',
      plan({ signal }) {
        hear(signal);
        return new Promise<never>(() => undefined);
      },
    };
    const tool = planTool({ planner: waiting, tools: [say], clock });
    const planning = world().call(tool, { request: 'greet' }, { clock, timeoutMs: 1_000 });
    const signal = await asked;
    expect(signal.aborted).toBe(false);
    clock.advance(1_000);
    expect(await planning).toMatchObject({ kind: 'timed-out', code: 'call.deadline' });
    expect(signal.aborted).toBe(true);
  });
});

describe('what is shared with the plan around', () => {
  const slow = (log: string[]): Tool =>
    defineTool({
      name: 'slow',
      description: 'Takes its time.',
      effects: 'state',
      inputSchema: jsonSchema<{ readonly id: string }>({
        type: 'object',
        properties: { id: { type: 'string' } },
        required: ['id'],
      }),
      locks: () => ['db'],
      async execute({ id }) {
        log.push(`${id} begins`);
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        log.push(`${id} ends`);
        return id;
      },
    });

  test('locks: a node of the plan around and one within exclude each other', async () => {
    const log: string[] = [];
    const tool = slow(log);
    const inside = plannerOf({
      both: ['in1', 'in2'].map((id) => ({ id, tool: 'slow', inputs: { id } })),
    });
    const tools = [planTool({ planner: inside, tools: [tool] }), tool];
    const { session } = world();
    const good = await checkedOf(
      tools,
      { id: 'p', tool: 'run_plan', inputs: { request: 'both' } },
      { id: 'out', tool: 'slow', inputs: { id: 'out' } },
    );
    expect(await runPlan(good, { tools, session })).toMatchObject({ status: 'succeeded' });
    expect(log).toHaveLength(6);
    for (let index = 0; index < 6; index += 2) {
      expect(log[index + 1]).toBe(log[index]?.replace('begins', 'ends'));
    }
  });

  test('RES-9: what a node holds the plan within it takes, one node beside another of it excluded', async () => {
    const log: string[] = [];
    const tool = slow(log);
    const inside = await checkedOf([tool], ...['in1', 'in2'].map((id) => ({ id, tool: 'slow', inputs: { id } })));
    const holding = defineTool({
      name: 'holding',
      description: 'Works on the database, by a plan.',
      effects: 'state',
      locks: () => ['db'],
      execute: async (_, { child }) => (await runPlan(inside, { tools: [tool], session: child() })).status,
    });
    const tools = [holding, tool];
    const { session } = world();
    const checked = await checkedOf(
      tools,
      { id: 'p', tool: 'holding' },
      { id: 'out', tool: 'slow', inputs: { id: 'out' } },
      { id: 'q', tool: 'holding' },
    );
    const trace = await runPlan(checked, { tools, session });
    expect(trace.nodes.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
    expect(trace.output).toBe('succeeded');
    const one = (id: string): readonly string[] => [`${id} begins`, `${id} ends`];
    const plan = [...one('in1'), ...one('in2')];
    expect(log).toEqual([...plan, ...one('out'), ...plan]);
  });

  test('RES-15: the rate of a tool holds for the plan around and those within together', async () => {
    const clock = manualClock();
    const starts: number[] = [];
    const counted = defineTool({
      name: 'counted',
      description: 'Is counted.',
      effects: 'none',
      execute: () => starts.push(clock.now()),
    });
    const nodes = [0, 1, 2].map((id) => ({ id, tool: 'counted' }));
    const tool = planTool({ planner: plannerOf({ three: nodes }), tools: [counted], clock });
    const tools = [tool, counted];
    const checked = await checkedOf(
      tools,
      { id: 'p', tool: 'run_plan', inputs: { request: 'three' } },
      ...[1, 2, 3].map((id) => ({ id, tool: 'counted' })),
    );
    const { session } = world();
    const running = runPlan(checked, { tools, session, clock, rateLimits: { counted: { calls: 2, perMs: 1_000 } } });
    let over = false;
    void running.result.finally(() => {
      over = true;
    });
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve));
      // Small steps: a plan is compiled meanwhile, on a busy machine over thousands of them, and has a time limit.
      if (clock.pending > 0) clock.advance(1);
    }
    expect(await running).toMatchObject({ status: 'succeeded' });
    expect(starts).toHaveLength(6);
    for (const start of starts) {
      expect(starts.filter((other) => other >= start && other < start + 1_000).length).toBeLessThanOrEqual(2);
    }
  });
});

test('SUB-11: the log has every plan within a plan, as the plans themselves have told', async () => {
  const inner = planTool({ name: 'inner', planner: plannerOf({ greet: hello }), tools: [say] });
  const nodes = [0, 1].map((id) => ({ id, tool: 'inner', inputs: { request: 'greet' } }));
  const tool = planTool({ planner: plannerOf({ outer: nodes }), tools: [inner] });
  const { call, store } = world();
  expect(await call(tool, { request: 'outer' })).toMatchObject({ kind: 'ok' });
  const ids = childSessions(store.records);
  expect(ids).toHaveLength(3);
  const [top, ...below] = ids.map((id) => readTrace(childRecords(store.records, id)));
  expect(top).toMatchObject({ sessionId: ids[0], request: 'outer', status: 'succeeded' });
  expect(ids[0]).toMatch(/^s\.[0-9a-f]{16}\/top\/[0-9a-f]{32}\/child_1$/);
  expect(below).toMatchObject([
    { request: 'greet', status: 'succeeded', output: 'hello' },
    { request: 'greet', status: 'succeeded', output: 'hello' },
  ]);
  for (const { sessionId } of below) expect(sessionId.startsWith(`${ids[0]}/`)).toBe(true);
  expect([...childRecords(store.records, 'nobody')]).toEqual([]);
});

test('tools get the plain result of a plan, and the log has masks', async () => {
  const secret = 'hunter-two-and-a-half';
  const store = memoryStore();
  const redactor = createRedactor({ key: 'a key known only to the host', secrets: [secret] });
  const session = createSession({ id: 's', store, redactor });
  const seen: unknown[] = [];
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    effects: 'none',
    inputSchema: jsonSchema<{ readonly at: string }>({
      type: 'object',
      properties: { at: { type: 'string' } },
      required: ['at'],
    }),
    execute: ({ at }) => seen.push(at),
  });
  const knowing = defineTool({ name: 'knowing', description: 'Knows.', effects: 'none', execute: () => secret });
  const tools = [planTool({ planner: plannerOf({ tell: [{ id: 0, tool: 'knowing' }] }), tools: [knowing] }), look];
  const checked = await checkedOf(
    tools,
    { id: 'p', tool: 'run_plan', inputs: { request: 'tell' } },
    { id: 'l', tool: 'look', inputs: { at: '{{STEPS.p.output}}' } },
  );
  const trace = await runPlan(checked, { tools, session });
  expect(trace.status).toBe('succeeded');
  expect(seen).toEqual([secret]);
  expect(JSON.stringify([trace, store.records])).not.toContain(secret);
});
