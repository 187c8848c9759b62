import { getEventListeners } from 'node:events';
import { answerApproval, createBudget, resumeToolCall } from '@holdfast/executor';
import { createLockTable, type PlanEvent, readTrace, resumePlan, runPlan } from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type LogRecord, memoryStore, replay } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { checkedOf, fail, failing, kinds, macrotask, ok, run, runChecked, slow, tool } from './test-run.ts';

test('a plan that may retry more often than 10 times does, to the last time', async () => {
  const tools = [tool('flaky', failing(15, 'done'), { repeat: 'safe' }), tool('broken', fail(), { repeat: 'safe' })];
  const nodes = [
    { id: 'flaky', tool: 'flaky', retry: 15 },
    { id: 'broken', tool: 'broken', retry: 14, on_fail: 'continue' },
  ];
  const plan = await checkedOf(nodes, { tools, limits: { maxRetry: 15 } });
  const { trace } = await runChecked(plan, tools);
  expect(trace.nodes).toMatchObject([
    { kind: 'ok', value: 'done', attempts: 16 },
    { kind: 'failed', attempts: 15 },
  ]);
});

test.each([1_001, 1e9, Number.POSITIVE_INFINITY])('no more than 1,000 can be asked for: %s', async (maxRetry) => {
  const tools = [tool('a', ok())];
  await expect(checkedOf([{ id: 1, tool: 'a' }], { tools, limits: { maxRetry } })).rejects.toThrow('`limits.maxRetry`');
});

test.each(['none', 'external'] as const)(
  'locks that answer with a promise which rejects end nothing: %s',
  async (effects) => {
    const unheard: unknown[] = [];
    const listen = (reason: unknown): void => void unheard.push(reason);
    process.on('unhandledRejection', listen);
    try {
      const locks = (): never => Promise.reject(new Error('no locks')) as never;
      const { trace } = await run([tool('odd', ok(), { effects, locks })], [{ id: 1, tool: 'odd' }]);
      expect(kinds(trace)).toEqual(['ok']);
      await new Promise((resolve) => setImmediate(resolve));
      expect(unheard).toEqual([]);
    } finally {
      process.off('unhandledRejection', listen);
    }
  },
);

test('without a name the plan that was begun last is resumed', async () => {
  const tools = [tool('asked', ok(), { dangerous: true })];
  const plan = await checkedOf([{ id: 1, tool: 'asked' }], { tools });
  const session = createSession();
  const { run: first } = await runPlan(plan, { tools, session });
  const { run: second } = await runPlan(plan, { tools, session });
  const { run: resumed } = await resumePlan({ tools, session });
  expect([first < second, resumed]).toEqual([true, second]);
});

test('the caller who resumes a plan says anew how often tools may be called, also in the plans within it', async () => {
  const inner = [tool('inner', ok())];
  const nodes = [
    { id: 0, tool: 'inner' },
    { id: 1, tool: 'inner' },
  ];
  const within = await checkedOf(nodes, { tools: inner });
  const tools = [
    tool('asked', ok(), { dangerous: true }),
    tool('outer', async (_input, context) => {
      const { status } = await runPlan(within, { tools: inner, session: context.child(), clock: manualClock() });
      return status;
    }),
  ];
  const plan = await checkedOf(
    [
      { id: 'asked', tool: 'asked' },
      { id: 'outer', tool: 'outer', depends_on: ['asked'] },
    ],
    {
      tools,
    },
  );
  const session = createSession();
  await runPlan(plan, { tools, session, rateLimits: { inner: { calls: 1, perMs: 1e9 } } });
  await answerApproval(session, 'plan_1_asked', { type: 'approve' });
  expect(await resumePlan({ tools, session })).toMatchObject({ status: 'succeeded', output: 'succeeded' });
});

test('a plan within a call has the locks of the run around it, whatever it is given', async () => {
  const clock = manualClock(Date.now());
  let under = 0;
  let most = 0;
  const locked = tool(
    'locked',
    async (input, context) => {
      under += 1;
      most = Math.max(most, under);
      await slow(clock, 5)(input, context);
      under -= 1;
      return null;
    },
    { locks: () => ['one'] },
  );
  const within = await checkedOf([{ id: 0, tool: 'locked' }], { tools: [locked] });
  const outer = tool('outer', async (_input, context) => {
    const options = { tools: [locked], session: context.child(), clock, locks: createLockTable() };
    return (await runPlan(within, options)).status;
  });
  const nodes = [
    { id: 0, tool: 'locked' },
    { id: 1, tool: 'outer' },
  ];
  const { trace } = await run([locked, outer], nodes, { clock });
  expect([trace.status, trace.output, most]).toEqual(['succeeded', 'succeeded', 1]);
});

test('a run leaves neither timers nor listeners behind', async () => {
  const clock = manualClock();
  const { signal } = new AbortController();
  const tools = [tool('a', ok(), { locks: () => ['one'] })];
  const nodes = [
    { id: 0, tool: 'a' },
    { id: 1, tool: 'a' },
  ];
  const plan = await checkedOf(nodes, { tools });
  const budget = createBudget({ maxWallMs: 1e6 });
  const options = { tools, session: createSession(), signal, clock, budget, timeoutMs: 1e6, lockTimeoutMs: 1e6 };
  expect(await runPlan(plan, options)).toMatchObject({ status: 'succeeded' });
  expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
});

test('a run has ended when its log is safe', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const log = memoryStore();
  const store = { ...log, sync: () => (log.records.at(-1)?.type === 'plan-end' ? promise : Promise.resolve()) };
  const tools = [tool('a', ok())];
  const plan = await checkedOf([{ id: 1, tool: 'a' }], { tools });
  let ended = false;
  const going = runPlan(plan, { tools, session: createSession({ store }) }).result.finally(() => {
    ended = true;
  });
  for (let step = 0; step < 10; step += 1) await macrotask();
  expect(ended).toBe(false);
  resolve();
  expect((await going).status).toBe('succeeded');
});

test('a plan that is checked anew has the caps that it was checked with', async () => {
  const nodes = [{ id: 1, tool: 'a', retry: 15 }];
  const plan = await checkedOf(nodes, { tools: [tool('a', ok())], limits: { maxRetry: 15 } });
  const tools = [tool('a', ok())];
  expect(await runPlan(plan, { tools, session: createSession() })).toMatchObject({ status: 'succeeded' });
});

test('two plans down a start counts once', async () => {
  const inner = [tool('inner', ok())];
  const nodes = [
    { id: 0, tool: 'inner' },
    { id: 1, tool: 'inner' },
  ];
  const deepest = await checkedOf(nodes, { tools: inner });
  const clock = manualClock();
  const middle = tool(
    'middle',
    async (_input, context) => (await runPlan(deepest, { tools: inner, session: context.child(), clock })).status,
  );
  const within = await checkedOf([{ id: 0, tool: 'middle' }], { tools: [middle] });
  const outer = tool(
    'outer',
    async (_input, context) => (await runPlan(within, { tools: [middle], session: context.child(), clock })).output,
  );
  const plan = await checkedOf([{ id: 0, tool: 'outer' }], { tools: [outer] });
  const options = { tools: [outer], session: createSession(), clock, rateLimits: { inner: { calls: 2, perMs: 1e9 } } };
  expect(await runPlan(plan, options)).toMatchObject({ status: 'succeeded', output: 'succeeded' });
});

test('a trace is made of what is about the nodes of the run, and of the first end of each', async () => {
  const tools = [tool('a', ok('mine')), tool('asked', ok(), { dangerous: true })];
  const nodes = [
    { id: 0, tool: 'a' },
    { id: 1, tool: 'asked' },
  ];
  const session = createSession();
  const trace = await runPlan(await checkedOf(nodes, { tools }), { tools, session });
  const records = [...session.records()];
  const found = records.find(({ type }) => type === 'tool-call-end') as LogRecord;
  const closed = {
    type: 'plan-node',
    plan: 1,
    kind: 'cancelled',
    code: 'x',
    message: '',
    because: [],
    atMs: 0,
    seq: 0,
  };
  const strange: readonly LogRecord[] = [
    // Another end of one that has ended, with its call or without.
    { ...found, outcome: { kind: 'failed' } },
    { ...closed, node: 0 },
    // Ends in another run, of an agent's call and of one within a call, which happen to be called like a node.
    { ...closed, node: 1, plan: 2 },
    { ...found, callId: 'plan_1_1', run: 0, turn: 0 },
    { ...found, callId: 'plan_1_1', parentId: 'plan_1_0' },
    // An answer to what was asked before.
    { ...closed, type: 'approval-answer', callId: 'plan_1_1', digest: 'another', answer: { type: 'approve' } },
  ];
  for (const record of strange) expect(readTrace([...records, record])).toEqual(trace);
});

test('a node whose inputs its tool refuses waits for nobody', async () => {
  const clock = manualClock(Date.now());
  const inputSchema = jsonSchema({ type: 'object', properties: { x: { type: 'number' } } }) as never;
  const locks = (): readonly string[] => ['one'];
  const tools = [
    tool('make', ok({ x: 'no number' })),
    tool('slow', slow(clock, 100), { locks }),
    tool('strict', ok(), { locks, inputSchema }),
  ];
  const nodes = [
    { id: 'make', tool: 'make' },
    { id: 'slow', tool: 'slow', depends_on: ['make'] },
    { id: 'strict', tool: 'strict', on_fail: 'continue', inputs: { x: { $from: 'make', path: 'x' } } },
  ];
  const { trace } = await run(tools, nodes, { clock });
  expect(kinds(trace)).toEqual(['ok', 'ok', 'invalid']);
  const [, slowest, strict] = trace.nodes;
  expect(strict?.endedAtMs).toBeLessThan(slowest?.endedAtMs ?? 0);
});

test('a process that ends while it closes what was cancelled: what is not closed yet goes on, and nothing is halted', async () => {
  const tools = [tool('a', ok())];
  const nodes = [0, 1, 2].map((id) => ({ id, tool: 'a' }));
  const plan = await checkedOf(nodes, { tools });
  const session = createSession();
  await runPlan(plan, { tools, session, signal: AbortSignal.abort() });
  const records = [...session.records()];
  const cut = records.findIndex(({ type }) => type === 'plan-node') + 1;
  const trace = await resumePlan({ tools, session: replay(records.slice(0, cut), {}) });
  expect([trace.status, kinds(trace)]).toEqual(['partial', ['cancelled', 'ok', 'ok']]);
});

test('a node that fails when the time is over, which no timer could tell, halts nothing: the run is aborted', async () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, after: () => () => undefined };
  const busy = tool('busy', () => {
    nowMs += 30;
    throw new Error('no');
  });
  const nodes = [
    { id: 0, tool: 'busy', on_fail: 'continue' },
    { id: 1, tool: 'busy', depends_on: [0] },
    { id: 2, tool: 'busy', depends_on: [1] },
  ];
  const plan = await checkedOf(nodes, { tools: [busy] });
  const options = { tools: [busy], session: createSession({ clock }), clock, timeoutMs: 50 };
  const trace = await runPlan(plan, options);
  expect([trace.status, kinds(trace), trace.nodes[2]?.code]).toEqual([
    'aborted',
    ['failed', 'failed', 'cancelled'],
    'plan.aborted',
  ]);
});

test('what the host itself ends while a plan runs comes from the log, and no tool is given its masks', async () => {
  const clock = manualClock(Date.now());
  const seen: unknown[] = [];
  // Another node goes on until the host is done, however long that takes.
  const done = Promise.withResolvers<null>();
  const token = `ghp_${'abcdefghij0123456789ABCDEFGHIJ012345'}`;
  const tools = [
    tool('asked', ok({ token }), { dangerous: true }),
    tool('slow', () => done.promise),
    tool('use', (input) => seen.push(input)),
  ];
  const nodes = [
    { id: 0, tool: 'asked' },
    { id: 1, tool: 'slow' },
    { id: 2, tool: 'use', on_fail: 'continue', inputs: { x: { $from: 0, path: 'token' } } },
    { id: 3, tool: 'use', depends_on: [0, 1, 2] },
  ];
  const session = createSession({
    clock,
    redactor: createRedactor({ key: 'a key known only to the host' }),
  });
  const plan = await checkedOf(nodes, { tools });
  const beside: Promise<unknown>[] = [];
  const onEvent = (event: PlanEvent): void => {
    if (event.type !== 'node-end' || event.node.kind !== 'suspended') return;
    const callId = event.node.callId ?? '';
    // At once: the run finds the call under way.
    beside.push(
      answerApproval(session, callId, { type: 'approve' }),
      resumeToolCall(callId, { tools, session, clock }),
    );
    void Promise.allSettled(beside).then(() => done.resolve(null));
  };
  const trace = await runPlan(plan, { tools, session, clock, onEvent });
  await Promise.all(beside);
  expect(readTrace(session.records())).toEqual(trace);
  expect([kinds(trace), trace.nodes[2]?.code]).toEqual([['ok', 'ok', 'invalid', 'ok'], 'call.redacted']);
  expect(seen).toEqual([{}]);
  expect(JSON.stringify([...session.records()])).not.toContain(token);
});
