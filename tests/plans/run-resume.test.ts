import type { Json, JsonObject, Tool, Vault } from '@holdfast/core';
import type { TraceEntry } from '@holdfast/core/types';
import { answerApproval, pendingApprovals, recoverSession, resumeToolCall } from '@holdfast/executor';
import { type PlanEvent, type PlanTrace, readTrace, resumePlan, runPlan } from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type LogRecord, type MemoryStore, memoryStore, replay, type Session } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { manualClock } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';
import {
  checkedOf,
  checkRun,
  echo,
  fail,
  kinds,
  macrotask,
  nodeOf,
  ok,
  passTime,
  run,
  slow,
  tool,
} from './test-run.ts';

/** The session of another process, which has only the log. */
function reopen(session: Session, count?: number): Session {
  const records = [...session.records()].slice(0, count);
  return replay(records, { store: memoryStore(records) });
}

async function resume(
  session: Session,
  tools: readonly Tool[],
  options: Partial<Parameters<typeof resumePlan>[0]> = {},
): Promise<PlanTrace> {
  const events: PlanEvent[] = [];
  const trace = await resumePlan({ tools, session, ...options, onEvent: (event) => events.push(event) });
  checkRun(trace, events, session);
  return trace;
}

const danger = (calls: unknown[]): Tool =>
  tool('danger', (input, { callId }) => calls.push([callId, input]), { dangerous: true, effects: 'external' });

describe('approvals', () => {
  test('APP-1: approved, once', async () => {
    const calls: unknown[] = [];
    const { trace } = await run([danger(calls)], [{ id: 0, tool: 'danger' }], {
      approve: async () => ({ type: 'approve' }),
    });
    expect([trace.status, calls.length]).toEqual(['succeeded', 1]);
    expect(nodeOf(trace, 0).approval).toEqual({ type: 'approve', by: 'person' });
  });

  test('APP-3: nobody is there', async () => {
    const calls: unknown[] = [];
    const { trace } = await run([danger(calls)], [{ id: 0, tool: 'danger' }], { unattended: true });
    expect([trace.status, calls]).toEqual(['failed', []]);
    expect(nodeOf(trace, 0)).toMatchObject({ kind: 'denied', code: 'approval.unattended', attempts: 0 });
  });

  test('APP-5 and APP-9: two wait, each with its own question, while others go on; reading events approves nothing', async () => {
    const calls: unknown[] = [];
    const tools = [danger(calls), tool('good', ok())];
    const { trace, events, session } = await run(tools, [
      { id: 'x', tool: 'danger', inputs: { x: 1 } },
      { id: 'y', tool: 'danger', inputs: { x: 2 } },
      { id: 'a', tool: 'good' },
      { id: 'b', tool: 'good', depends_on: ['a'] },
      { id: 'c', tool: 'good', depends_on: ['x', 'b'] },
    ]);
    expect(kinds(trace)).toEqual(['suspended', 'suspended', 'ok', 'ok', 'waiting']);
    expect([trace.status, calls]).toEqual(['suspended', []]);
    expect(trace.pending.map(({ callId, input }) => [callId, input])).toEqual([
      ['plan_1_x', { x: 1 }],
      ['plan_1_y', { x: 2 }],
    ]);
    expect(events.filter(({ type }) => type === 'approval-request')).toHaveLength(2);
    expect(new Set(pendingApprovals(session))).toEqual(new Set(trace.pending));

    // One answer, in another process; nothing asks again.
    const other = reopen(session);
    await answerApproval(other, 'plan_1_x', { type: 'approve' }, { by: 'ann' });
    expect(readTrace(other.records()).pending.map(({ callId }) => callId)).toEqual(['plan_1_y']);
    const second = await resume(other, tools);
    expect([second.status, kinds(second)]).toEqual(['suspended', ['ok', 'suspended', 'ok', 'ok', 'ok']]);
    expect(nodeOf(second, 'x').approval).toEqual({ type: 'approve', by: 'ann' });
    expect([...other.records()].filter(({ type }) => type === 'approval-request')).toHaveLength(2);
    await answerApproval(other, 'plan_1_y', { type: 'deny', reason: 'Not today.' });
    const third = await resume(other, tools);
    expect([third.status, kinds(third)]).toEqual(['failed', ['ok', 'denied', 'ok', 'ok', 'ok']]);
    expect(calls).toEqual([['plan_1_x', { x: 1 }]]);
  });

  test('a call that was resumed by itself is not run again', async () => {
    const calls: unknown[] = [];
    const tools = [danger(calls), tool('good', ok())];
    const { session } = await run(tools, [
      { id: 0, tool: 'danger' },
      { id: 1, tool: 'good', depends_on: [0] },
    ]);
    await answerApproval(session, 'plan_1_0', { type: 'approve' });
    await resumeToolCall('plan_1_0', { tools, session });
    expect((await resume(session, tools)).status).toBe('succeeded');
    expect(calls).toHaveLength(1);
  });

  test('halted while a call waits: it is closed, and its question with it', async () => {
    const clock = manualClock();
    const calls: unknown[] = [];
    const late = tool('late', async (input, context) => {
      await slow(clock, 5)(input, context);
      throw new Error('no');
    });
    const { trace, session } = await run(
      [danger(calls), late],
      [
        { id: 0, tool: 'danger' },
        { id: 1, tool: 'late' },
      ],
      { clock },
    );
    expect([trace.status, kinds(trace)]).toEqual(['failed', ['cancelled', 'failed']]);
    expect([pendingApprovals(session), session.openWork().calls, session.openWork().plans]).toEqual([[], [], []]);
    expect(trace.pending).toEqual([]);
  });

  test('cancelled while a call waits for its person', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    clock.after(3, () => controller.abort());
    const { trace, session } = await run(
      [danger([]), tool('slow', slow(clock, 50))],
      [
        { id: 0, tool: 'danger' },
        { id: 1, tool: 'slow' },
      ],
      {
        clock,
        signal: controller.signal,
      },
    );
    expect([trace.status, kinds(trace)]).toEqual(['aborted', ['cancelled', 'cancelled']]);
    // Its own call says so.
    expect(nodeOf(trace, 0)).toMatchObject({ code: 'call.aborted', callId: 'plan_1_0' });
    expect(session.openWork().calls).toEqual([]);
  });

  test('a tool that changed is asked about anew', async () => {
    const calls: unknown[] = [];
    const { session } = await run([danger(calls)], [{ id: 0, tool: 'danger' }]);
    await answerApproval(session, 'plan_1_0', { type: 'approve' });
    const changed = tool('danger', () => calls.push('changed'), {
      dangerous: true,
      effects: 'external',
      description: 'Another.',
    });
    const trace = await resume(reopen(session), [changed]);
    expect([trace.status, calls]).toEqual(['suspended', []]);
  });
});

describe('the host resumes a call by itself', () => {
  const nodes: readonly JsonObject[] = [
    { id: 0, tool: 'danger' },
    { id: 1, tool: 'slow', on_fail: 'continue' },
    { id: 2, tool: 'good', depends_on: [0] },
  ];

  /** Runs the nodes, the second of which comes to an end when it is told to; meanwhile the first one waits. */
  async function begin(
    calls: unknown[],
    options: Partial<Parameters<typeof runPlan>[1]> = {},
  ): Promise<{
    readonly session: Session;
    readonly tools: readonly Tool[];
    readonly running: Promise<PlanTrace>;
    readonly events: PlanEvent[];
    readonly end: (thrown?: Error) => void;
  }> {
    const gate = Promise.withResolvers<Json>();
    const tools = [danger(calls), tool('slow', () => gate.promise), tool('good', ok())];
    const plan = await checkedOf(nodes, { tools });
    const session = createSession({ id: 's' });
    const events: PlanEvent[] = [];
    const asked = Promise.withResolvers<void>();
    const onEvent = (event: PlanEvent): void => {
      events.push(event);
      if (event.type === 'node-end' && event.node.kind === 'suspended') asked.resolve();
    };
    const running = runPlan(plan, { tools, session, ...options, onEvent }).result;
    void Promise.allSettled([running]);
    await asked.promise;
    return { session, tools, running, events, end: (thrown) => (thrown ? gate.reject(thrown) : gate.resolve(null)) };
  }

  test('or answers during the run, which resumes it', async () => {
    const calls: unknown[] = [];
    const { session, running, end } = await begin(calls);
    await answerApproval(session, 'plan_1_0', { type: 'approve' }, { by: 'ann' });
    await ended(session, 'plan_1_2');
    end();
    const trace = await running;
    expect([trace.status, kinds(trace), calls.length]).toEqual(['succeeded', ['ok', 'ok', 'ok'], 1]);
    expect(nodeOf(trace, 0).approval).toEqual({ type: 'approve', by: 'ann' });
    expect(readTrace(session.records())).toEqual(trace);
  });

  test('or has answered before the run has heard that it waits', async () => {
    const calls: unknown[] = [];
    const tools = [danger(calls)];
    const plan = await checkedOf([{ id: 0, tool: 'danger' }], { tools });
    const session = createSession({ id: 's' });
    const onEvent = (event: PlanEvent): void => {
      if (event.type === 'approval-request') void answerApproval(session, event.pending, { type: 'approve' });
    };
    expect((await runPlan(plan, { tools, session, onEvent })).status).toBe('succeeded');
    expect(calls).toHaveLength(1);
  });

  test('or answers no', async () => {
    const { session, running, end } = await begin([]);
    await answerApproval(session, 'plan_1_0', { type: 'deny' });
    end(new Error('cancelled'));
    const trace = await running;
    expect([trace.status, nodeOf(trace, 0).code]).toEqual(['failed', 'approval.denied']);
    expect(readTrace(session.records())).toEqual(trace);
  });

  /** Waits until the log has the end of a call. */
  async function ended(session: Session, callId: string): Promise<void> {
    while (![...session.records()].some((record) => record.type === 'tool-call-end' && record['callId'] === callId)) {
      await macrotask();
    }
  }

  test('while the run goes on: what needs it starts', async () => {
    const calls: unknown[] = [];
    const { session, tools, running, events, end } = await begin(calls);
    void answerApproval(session, 'plan_1_0', { type: 'approve' });
    await resumeToolCall('plan_1_0', { tools, session });
    await ended(session, 'plan_1_2');
    end();
    const trace = await running;
    expect([trace.status, kinds(trace), calls.length]).toEqual(['succeeded', ['ok', 'ok', 'ok'], 1]);
    expect(readTrace(session.records())).toEqual(trace);
    expect(events.filter((event) => event.type === 'node-end').map(({ node: { node, kind } }) => [node, kind])).toEqual(
      [
        [0, 'suspended'],
        [0, 'ok'],
        [2, 'ok'],
        [1, 'ok'],
      ],
    );
  });

  test('and the run is cancelled then', async () => {
    const controller = new AbortController();
    const { session, tools, running } = await begin([], { signal: controller.signal });
    void answerApproval(session, 'plan_1_0', { type: 'approve' });
    await resumeToolCall('plan_1_0', { tools, session });
    controller.abort();
    const trace = await running;
    expect(nodeOf(trace, 0).kind).toBe('ok');
    expect(trace.status).toBe('aborted');
    expect(readTrace(session.records())).toEqual(trace);
  });

  test('and is at it when the run is cancelled: the run comes to its end nevertheless', async () => {
    const controller = new AbortController();
    const calls: unknown[] = [];
    const { session, tools, running } = await begin(calls, { signal: controller.signal });
    void answerApproval(session, 'plan_1_0', { type: 'approve' });
    const resumed = resumeToolCall('plan_1_0', { tools, session });
    controller.abort();
    const trace = await running;
    expect([trace.status, trace.nodes[2]?.kind]).toEqual(['aborted', 'cancelled']);
    await resumed;
    expect(calls.length).toBeLessThanOrEqual(1);
    expect(readTrace(session.records())).toEqual(trace);
    expect(session.openWork().plans).toEqual([]);
  });

  test('while another caller resumes the run: the call is made once', async () => {
    const calls: unknown[] = [];
    const tools = [danger(calls), tool('good', ok())];
    const { session } = await run(tools, [
      { id: 0, tool: 'danger' },
      { id: 1, tool: 'good', depends_on: [0] },
    ]);
    await answerApproval(session, 'plan_1_0', { type: 'approve' });
    const resumed = resumeToolCall('plan_1_0', { tools, session });
    const trace = await resumePlan({ tools, session });
    await resumed;
    // A run that found the call under way in other hands has suspended; the log has gone beyond its trace since.
    const last = trace.status === 'suspended' ? await resumePlan({ tools, session }) : trace;
    expect([last.status, kinds(last), calls.length]).toEqual(['succeeded', ['ok', 'ok'], 1]);
    expect(readTrace(session.records(), last.run)).toEqual(last);
  });
});

describe('after the end of a process', () => {
  const nodes: readonly JsonObject[] = [
    { id: 0, tool: 'good' },
    { id: 1, tool: 'bad', depends_on: [0] },
    { id: 2, tool: 'good', depends_on: [1] },
    { id: 3, tool: 'good', depends_on: [0] },
  ];

  test('a halt that was not carried out is', async () => {
    const tools = [tool('good', ok()), tool('bad', fail())];
    const { trace, session } = await run(tools, nodes, { maxConcurrency: 1 });
    const records = [...session.records()];
    const at = records.findIndex(({ callId, type }) => type === 'tool-call-end' && callId === 'plan_1_1');
    const resumed = await resume(reopen(session, at + 1), [
      tool('good', fail('not again')),
      tool('bad', fail('not again')),
    ]);
    expect([resumed.status, kinds(resumed)]).toEqual(['failed', kinds(trace)]);
    expect(nodeOf(resumed, 3)).toMatchObject({ kind: 'skipped', code: 'plan.halted', because: [1] });
  });

  test('of two that had to halt the run, the one that ended first has done it', async () => {
    const clock = manualClock();
    const tools = [tool('slow', slow(clock, 5)), tool('bad', fail()), tool('good', ok())];
    const { trace, session } = await run(
      tools,
      [
        { id: 0, tool: 'slow' },
        { id: 1, tool: 'bad' },
        { id: 2, tool: 'good', depends_on: [0] },
      ],
      { clock },
    );
    expect(kinds(trace)).toEqual(['cancelled', 'failed', 'skipped']);
    // Nothing was skipped yet.
    const resumed = await resume(reopen(session, 4), tools);
    expect(nodeOf(resumed, 2)).toMatchObject({ code: 'plan.halted', because: [1] });
    expect(kinds(resumed)).toEqual(kinds(trace));
  });

  test('begun calls of a run that has to halt are settled, and not run again', async () => {
    const calls: string[] = [];
    const external = (name: string, repeat: 'safe' | 'never'): Tool =>
      tool(name, () => calls.push(name), { effects: 'external', repeat });
    const tools = [external('safe', 'safe'), external('never', 'never'), tool('bad', fail())];
    const { session } = await run(
      tools,
      [
        { id: 0, tool: 'bad' },
        { id: 1, tool: 'safe' },
        { id: 2, tool: 'never' },
      ],
      { maxConcurrency: 3 },
    );
    const records = [...session.records()];
    const begun = records.filter(({ type }) => type === 'tool-call-start');
    expect(begun).toHaveLength(2);
    // Both had begun when the first one failed, and neither had ended.
    const kept = records.filter(
      ({ type, callId }) => type !== 'plan-end' && !(type === 'tool-call-end' && callId !== 'plan_1_0'),
    );
    const cut = kept.map((record, seq) => ({ ...record, seq }));
    calls.length = 0;
    const resumed = await resume(replay(cut, { store: memoryStore(cut) }), tools);
    expect(kinds(resumed)).toEqual(['failed', 'cancelled', 'in-doubt']);
    expect([resumed.status, calls]).toEqual(['failed', []]);
  });

  test('what a person or the probe knows of a call that was begun', async () => {
    const probed = (type: 'done' | 'not-done'): Tool =>
      tool('probed', fail('not again'), {
        effects: 'external',
        probe: () => (type === 'done' ? { type, value: 'found' } : { type }),
      });
    const original = tool('probed', ok('first'), { effects: 'external' });
    const { session } = await run([original], [{ id: 0, tool: 'probed' }]);
    const begun = [...session.records()].findIndex(({ type }) => type === 'tool-call-start') + 1;
    const done = await resume(reopen(session, begun), [probed('done')]);
    expect([done.status, done.output]).toEqual(['succeeded', 'found']);
    const not = await resume(reopen(session, begun), [probed('not-done')]);
    expect([not.status, kinds(not)]).toEqual(['failed', ['cancelled']]);
    // Calls settled before are taken as they are.
    const recovered = reopen(session, begun);
    await recoverSession({ tools: [original], session: recovered });
    expect(kinds(await resume(recovered, [original]))).toEqual(['in-doubt']);
  });

  test('a log that a run wrote twice: the trace is that of the last one, or of the one that is named', async () => {
    const tools = [tool('good', ok('one')), tool('bad', fail())];
    const session = createSession();
    const first = await runPlan(await checkedOf([{ id: 0, tool: 'good' }], { tools }), { tools, session });
    const second = await runPlan(await checkedOf([{ id: 0, tool: 'bad' }], { tools }), { tools, session });
    expect(second.run).toBeGreaterThan(first.run);
    expect(readTrace(session.records())).toEqual(second);
    expect(readTrace(session.records(), first.run)).toEqual(first);
  });

  test('two runs at once in one session, of one plan', async () => {
    const clock = manualClock();
    const tools = [tool('slow', slow(clock, 5, 'x')), tool('echo', echo)];
    const plan = await checkedOf(
      [
        { id: 0, tool: 'slow' },
        { id: 1, tool: 'echo', inputs: { x: { $from: 0 } } },
      ],
      { tools },
    );
    const session = createSession({ clock });
    const both = Promise.all([
      runPlan(plan, { tools, session, clock }).result,
      runPlan(plan, { tools, session, clock }).result,
    ]);
    const traces = await passTime(clock, both);
    for (const trace of traces) {
      expect([trace.status, trace.output]).toEqual(['succeeded', { x: 'x' }]);
      expect(readTrace(session.records(), trace.run)).toEqual(trace);
    }
    expect(traces[0]?.run).not.toBe(traces[1]?.run);
  });

  test('a run that has not ended reads as what is known of it', async () => {
    const clock = manualClock();
    const tools = [tool('slow', slow(clock, 5), { effects: 'external' }), tool('good', ok())];
    const plan = await checkedOf(
      [
        { id: 0, tool: 'slow' },
        { id: 1, tool: 'good', depends_on: [0] },
      ],
      { tools },
    );
    const session = createSession({ clock });
    const running = runPlan(plan, { tools, session, clock });
    await macrotask();
    const trace = readTrace(session.records());
    expect([trace.status, kinds(trace), trace.endedAtMs]).toEqual(['running', ['running', 'waiting'], undefined]);
    await passTime(clock, running.result);
  });
});

describe('secrets', () => {
  const key = 'a key known only to the host';
  const secret = 'Zq7-marked-4711';
  const marked = jsonSchema({ type: 'object', properties: { x: { type: 'string', writeOnly: true }, y: {} } });

  function setUp(): {
    readonly session: Session;
    readonly store: MemoryStore;
    readonly seen: Json[];
    readonly tools: readonly Tool[];
  } {
    const seen: Json[] = [];
    const tools = [
      tool('use', (input) => ({ used: input['x'] ?? null, count: seen.push(input) }), { inputSchema: marked as never }),
      tool('make', ok({ token: `ghp_${'abcdefghij0123456789ABCDEFGHIJ012345'}` })),
      tool('echo', (input) => ({ ...input, count: seen.push(input) })),
      tool('asked', ok('yes'), { dangerous: true }),
    ];
    const store = memoryStore();
    return { session: createSession({ store, redactor: createRedactor({ key }) }), store, seen, tools };
  }

  const nodes: readonly JsonObject[] = [
    { id: 0, tool: 'use', inputs: { x: secret, y: 'open' } },
    { id: 1, tool: 'make' },
    { id: 2, tool: 'asked', depends_on: [0, 1] },
    { id: 3, tool: 'echo', on_fail: 'continue', depends_on: [2], inputs: { x: { $from: 1, path: 'token' } } },
    { id: 4, tool: 'echo', on_fail: 'continue', depends_on: [2], inputs: { x: { $from: 2 } } },
    { id: 5, tool: 'use', on_fail: 'continue', depends_on: [2], inputs: { x: `${secret}` } },
  ];
  const token = /ghp_\w{36}/;

  test('TRC-4: masked in trace, log and events, there for the tool; also in the process that goes on', async () => {
    const { session, store, seen, tools } = setUp();
    const plan = await checkedOf(nodes, { tools });
    const events: PlanEvent[] = [];
    const trace = await runPlan(plan, { tools, session, onEvent: (event) => events.push(event) });
    checkRun(trace, events, session);
    await answerApproval(session, 'plan_1_2', { type: 'approve' });
    const resumed = await resume(session, tools);
    expect(resumed.status).toBe('succeeded');
    expect(seen.map((input) => JSON.stringify(input))).toEqual([
      JSON.stringify({ x: secret, y: 'open' }),
      expect.stringMatching(token),
      '{"x":"yes"}',
      JSON.stringify({ x: secret }),
    ]);
    for (const told of [trace, resumed, events, store.records]) {
      expect(JSON.stringify(told)).not.toContain(secret);
      expect(JSON.stringify(told)).not.toMatch(token);
    }
  });

  test('in another process, what the log has only masks of is not called', async () => {
    const { session, seen, tools } = setUp();
    const plan = await checkedOf(nodes, { tools });
    await runPlan(plan, { tools, session });
    await answerApproval(session, 'plan_1_2', { type: 'approve' });
    const records: readonly LogRecord[] = [...session.records()];
    seen.length = 0;
    const trace = await resume(
      replay(records, { store: memoryStore(records), redactor: createRedactor({ key }) }),
      tools,
    );
    expect(kinds(trace)).toEqual(['ok', 'ok', 'ok', 'invalid', 'ok', 'invalid']);
    expect(nodeOf(trace, 3)).toMatchObject({ code: 'call.redacted', reason: 'inputs', callId: undefined });
    expect(nodeOf(trace, 5)).toMatchObject({ code: 'call.redacted', reason: 'inputs', callId: undefined });
    expect(seen).toEqual([{ x: 'yes' }]);

    // With the plan itself, what it says is known; what its tools have returned is not.
    const own = await resume(
      replay(records, { store: memoryStore(records), redactor: createRedactor({ key }) }),
      tools,
      { plan },
    );
    expect(kinds(own)).toEqual(['ok', 'ok', 'ok', 'invalid', 'ok', 'ok']);
    expect(seen.at(-1)).toEqual({ x: secret });
  });

  test('with a vault, another process has what the plan says, and nothing is left in it', async () => {
    const { seen, tools } = setUp();
    const kept = new Map<string, readonly [string, string]>();
    const vault: Vault = {
      put: (name, bound, text) => void kept.set(name, [bound, text]),
      get: (name, bound) => (kept.get(name)?.[0] === bound ? kept.get(name)?.[1] : undefined),
      delete: (name) => void kept.delete(name),
      names: () => [...kept.keys()],
    };
    const store = memoryStore();
    const session = createSession({ id: 's', store, redactor: createRedactor({ key }), vault });
    await runPlan(await checkedOf(nodes, { tools }), { tools, session });
    expect([...kept.keys()]).toEqual(['plan 1']);
    const other = replay(store.records, { store, redactor: createRedactor({ key }), vault });
    await answerApproval(other, 'plan_1_2', { type: 'approve' });
    const trace = await resume(other, tools);
    // The result of a node was not sealed.
    expect(kinds(trace)).toEqual(['ok', 'ok', 'ok', 'invalid', 'ok', 'ok']);
    expect(seen.at(-1)).toEqual({ x: secret });
    expect(JSON.stringify([trace, store.records])).not.toContain(secret);
    expect(kept.size).toBe(0);
  });
});

test('a call that waits, and of whose arguments only masks are left, ends itself', async () => {
  const redactor = createRedactor({ key: 'a key known only to the host' });
  const token = `ghp_${'abcdefghij0123456789ABCDEFGHIJ012345'}`;
  const calls: unknown[] = [];
  const plan = await checkedOf([{ id: 0, tool: 'danger', inputs: { x: token } }], { tools: [danger(calls)] });
  const session = createSession({ id: 's', redactor });
  await runPlan(plan, { tools: [danger(calls)], session });
  await answerApproval(session, 'plan_1_0', { type: 'approve' });
  const records = [...session.records()];
  const other = replay(records, { store: memoryStore(records), redactor });
  const trace = await resume(other, [danger(calls)]);
  expect(nodeOf(trace, 0)).toMatchObject({ kind: 'cancelled', code: 'call.redacted' });
  expect([calls, other.openWork().calls]).toEqual([[], []]);
});

describe('context.trace', () => {
  test('has what has become of everything that a node needs, directly or not, in plan order, and nothing else', async () => {
    let seen: readonly TraceEntry[] | undefined;
    const look = tool('look', (_input, { trace }) => {
      seen = trace;
      return null;
    });
    await run(
      [tool('good', ok({ a: 1 })), tool('bad', fail('broke')), look],
      [
        { id: 'far', tool: 'good' },
        { id: 'beside', tool: 'good' },
        { id: 'bad', tool: 'bad', on_fail: 'continue' },
        { id: 'skipped', tool: 'good', on_fail: 'continue', inputs: { x: { $from: 'bad' } } },
        { id: 'near', tool: 'good', depends_on: ['skipped', 'far'] },
        { id: 'end', tool: 'look', depends_on: ['near'] },
      ],
    );
    expect(seen?.map(({ node, kind, code }) => [node, kind, code])).toEqual([
      ['far', 'ok', undefined],
      ['bad', 'failed', 'tool.threw'],
      ['skipped', 'skipped', 'plan.inputs.unavailable'],
      ['near', 'ok', undefined],
    ]);
    expect(seen?.[0]).toEqual({ node: 'far', tool: 'good', kind: 'ok', code: undefined, message: '', value: { a: 1 } });
    expect(() => Object.assign(seen?.[0]?.value ?? {}, { a: 2 })).toThrow(TypeError);
  });

  test('a call outside of nodes has none, nor has one that a node makes itself', async () => {
    const seen: unknown[] = [];
    const inner = tool('inner', (_input, { trace }) => seen.push(trace));
    const outer = tool('outer', async (_input, { call, trace }) => {
      seen.push(trace);
      await call('inner');
      return null;
    });
    await run([inner, outer], [{ id: 0, tool: 'outer' }]);
    expect(seen).toEqual([[], undefined]);
  });
});

test('a plan in a child session: its records are in the log around it, its deadline is that of the call', async () => {
  const clock = manualClock();
  let inner: PlanTrace | undefined;
  const good = tool('good', slow(clock, 2, 'inner'));
  const plan = await checkedOf(
    [
      { id: 0, tool: 'good' },
      { id: 1, tool: 'good', depends_on: [0] },
    ],
    { tools: [good] },
  );
  const outer = tool('outer', async (_input, context) => {
    inner = await runPlan(plan, { tools: [good], session: context.child(), clock });
    return inner.output ?? null;
  });
  const { trace, session, events } = await run([outer], [{ id: 0, tool: 'outer' }], { clock });
  expect([trace.output, inner?.status]).toEqual(['inner', 'succeeded']);
  expect(inner?.sessionId).toMatch(/^s\.[0-9a-f]{16}\/plan_1_0\/[0-9a-f]{32}\/child_/);
  expect(session.openWork().plans).toEqual([]);
  expect(events.filter(({ type }) => type === 'child-event').length).toBeGreaterThan(0);
  const cut = await run([outer], [{ id: 0, tool: 'outer', timeout: 0.003 }], { clock });
  expect(kinds(cut.trace)).toEqual(['timed-out']);
  expect([inner?.status, inner && kinds(inner)]).toEqual(['aborted', ['ok', 'timed-out']]);
});
