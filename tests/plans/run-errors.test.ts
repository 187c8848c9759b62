import { getEventListeners } from 'node:events';
import type { Tool } from '@holdfast/core';
import { answerApproval } from '@holdfast/executor';
import {
  type CheckedPlan,
  checkPlan,
  createLockTable,
  type PlanEvent,
  readTrace,
  resumePlan,
  runPlan,
} from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore, type Session, type SessionStore } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';
import { checkedOf, checkRun, type Doing, fail, kinds, macrotask, ok, passTime, run, slow, tool } from './test-run.ts';

const good = tool('good', ok('done'));
const asked = tool('asked', ok('done'), { dangerous: true });
const tools: readonly Tool[] = [good, asked];

async function suspended(): Promise<{ readonly session: Session; readonly plan: CheckedPlan }> {
  const plan = await checkedOf(
    [
      { id: 0, tool: 'asked' },
      { id: 1, tool: 'good', depends_on: [0] },
    ],
    { tools },
  );
  const session = createSession();
  expect((await runPlan(plan, { tools, session })).status).toBe('suspended');
  return { session, plan };
}

describe('what cannot be run', () => {
  test.each<[string, (plan: CheckedPlan) => unknown]>([
    ['a copy', (plan) => ({ ...plan })],
    ['what only looks like one', () => ({ plan: { nodes: [] }, digest: '', inputs: [] })],
    ['nothing', () => undefined],
    ['a text', () => 'plan'],
  ])('%s is not a checked plan', async (_name, make) => {
    const plan = make(await checkedOf([{ id: 0, tool: 'good' }], { tools })) as CheckedPlan;
    expect(() => runPlan(plan, { tools, session: createSession() })).toThrow(
      expect.objectContaining({ code: 'plan.invalid', reason: 'unchecked' }),
    );
    if (plan === undefined) return;
    const options = { tools, session: createSession(), plan };
    expect(() => resumePlan(options)).toThrow(expect.objectContaining({ code: 'plan.invalid', reason: 'unchecked' }));
  });

  test.each([
    { maxConcurrency: 0 },
    { maxConcurrency: 1.5 },
    { maxConcurrency: Number.NaN },
    { lockTimeoutMs: 0 },
    { lockTimeoutMs: Number.POSITIVE_INFINITY },
    { rateLimits: { good: { calls: 0, perMs: 1 } } },
  ])('options %o', async (options) => {
    const plan = await checkedOf([{ id: 0, tool: 'good' }], { tools });
    const invalid = expect.objectContaining({ code: 'options.invalid' });
    expect(() => runPlan(plan, { tools, session: createSession(), ...options })).toThrow(invalid);
    expect(() => resumePlan({ tools, session: createSession(), ...options })).toThrow(invalid);
  });

  test('a wrong configuration of calls rejects before anything is recorded', async () => {
    const plan = await checkedOf([{ id: 0, tool: 'good' }], { tools });
    const session = createSession();
    await expect(runPlan(plan, { tools: [...tools, good], session })).rejects.toMatchObject({
      code: 'tool.invalid',
      reason: 'name.duplicate',
    });
    await expect(runPlan(plan, { tools, session, timeoutMs: -1 })).rejects.toMatchObject({ code: 'options.invalid' });
    expect([...session.records()].map(({ type }) => type)).toEqual(['session-start']);
  });

  test('other tools of the same names are checked anew, and fit or do not', async () => {
    const plan = await checkedOf([{ id: 0, tool: 'good', inputs: { x: 1 } }], { tools });
    const fits = tool('good', ok('other'));
    expect((await runPlan(plan, { tools: [fits], session: createSession() })).output).toBe('other');
    const misfit = tool('good', ok(), {
      inputSchema: jsonSchema({ type: 'object', properties: { x: { type: 'string' } } }),
    });
    await expect(runPlan(plan, { tools: [misfit], session: createSession() })).rejects.toMatchObject({
      code: 'plan.invalid',
      data: { violations: [{ code: 'plan.input.type', node: 0 }] },
    });
  });

  test('a list of tools that changes after the check is noticed', async () => {
    const list = [good];
    const plan = await checkedOf([{ id: 0, tool: 'good' }], { tools: list });
    list[0] = tool('good', ok(), { execute: undefined as never });
    await expect(runPlan(plan, { tools: list, session: createSession() })).rejects.toMatchObject({
      code: 'plan.invalid',
    });
  });

  test('VAL-51: what becomes of the source after the check does not matter', async () => {
    const source = { nodes: [{ id: 0, tool: 'good', inputs: { x: [1] } }], final_output_node: 0 };
    const found = await checkPlan(source, { tools: [tool('good', (input) => input)] });
    if (found.type !== 'valid') throw new Error('It is good.');
    (source.nodes[0] as { tool: string }).tool = 'other';
    source.nodes[0]?.inputs.x.push(2);
    const trace = await runPlan(found.checked, { tools: [tool('good', (input) => input)], session: createSession() });
    expect([trace.output, trace.digest]).toEqual([{ x: [1] }, found.checked.digest]);
    expect(() => Object.assign(found.checked.plan.nodes[0] ?? {}, { tool: 'other' })).toThrow(TypeError);
  });
});

describe('runs that cannot be resumed', () => {
  test('a session without an open plan; a run that is none; one that has ended', async () => {
    const session = createSession();
    await expect(resumePlan({ tools, session })).rejects.toMatchObject({ code: 'work.not_open', reason: 'plan' });
    const plan = await checkedOf([{ id: 0, tool: 'good' }], { tools });
    const { run: ended } = await runPlan(plan, { tools, session });
    await expect(resumePlan({ tools, session })).rejects.toMatchObject({ code: 'work.not_open', reason: 'plan' });
    await expect(resumePlan({ tools, session, run: ended })).rejects.toMatchObject({
      code: 'work.not_open',
      reason: 'plan',
      data: { run: ended },
    });
  });

  test('another plan', async () => {
    const { session } = await suspended();
    const plan = await checkedOf([{ id: 0, tool: 'good' }], { tools });
    await expect(resumePlan({ tools, session, plan })).rejects.toMatchObject({
      code: 'plan.mismatch',
      data: { digest: plan.digest },
    });
  });

  test('with tools that it does not fit any more', async () => {
    const { session } = await suspended();
    await expect(resumePlan({ tools: [good], session })).rejects.toMatchObject({
      code: 'plan.invalid',
      data: { violations: [{ code: 'plan.tool.unknown', node: 0 }] },
    });
    expect(session.openWork().plans).toHaveLength(1);
  });

  test('a run that another caller has', async () => {
    const clock = manualClock();
    const slowly = [tool('good', slow(clock, 5))];
    const plan = await checkedOf([{ id: 0, tool: 'good' }], { tools: slowly });
    const session = createSession();
    const running = runPlan(plan, { tools: slowly, session, clock });
    await macrotask();
    await expect(resumePlan({ tools: slowly, session, clock })).rejects.toMatchObject({
      code: 'work.under_way',
      reason: 'plan',
    });
    expect((await passTime(clock, running.result)).status).toBe('succeeded');
  });

  test('two at once: one goes on, the other is refused', async () => {
    const { session } = await suspended();
    await answerApproval(session, 'plan_1_0', { type: 'approve' });
    const both = await Promise.allSettled([resumePlan({ tools, session }), resumePlan({ tools, session })]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(both[1]).toMatchObject({ reason: { code: 'work.under_way', reason: 'plan' } });
    await expect(resumePlan({ tools, session })).rejects.toMatchObject({ code: 'work.not_open', reason: 'plan' });
  });

  test('a log without content', async () => {
    const plan = await checkedOf([{ id: 0, tool: 'asked', inputs: { x: 'private' } }], { tools });
    const session = createSession({ content: 'none' });
    const trace = await runPlan(plan, { tools, session });
    expect(trace.status).toBe('suspended');
    await expect(resumePlan({ tools, session })).rejects.toMatchObject({ code: 'replay.failed', reason: 'no_content' });
    const read = readTrace(session.records());
    expect([read.status, kinds(read), JSON.stringify(read).includes('private')]).toEqual([
      'suspended',
      ['suspended'],
      false,
    ]);
  });

  test('readTrace: no plan, no such run, and a document that is none', async () => {
    const session = createSession();
    expect(() => readTrace(session.records())).toThrow(
      expect.objectContaining({ code: 'work.not_open', reason: 'plan_unknown' }),
    );
    await runPlan(await checkedOf([{ id: 0, tool: 'good' }], { tools }), { tools, session });
    expect(() => readTrace(session.records(), 77)).toThrow(
      expect.objectContaining({ code: 'work.not_open', data: { reason: 'plan_unknown', run: 77 } }),
    );
    const strange = [{ seq: 0, atMs: 0, type: 'plan-start', plan: 0, document: { nodes: 7 } }];
    expect(() => readTrace(strange)).toThrow(
      expect.objectContaining({ code: 'work.not_open', reason: 'plan_unknown' }),
    );
  });
});

describe('what breaks', () => {
  /** Cannot be written from record `from` on. */
  function failingStore(from: number): SessionStore {
    const store = memoryStore();
    return {
      ...store,
      append(entry, seq, atMs) {
        if (seq >= from) throw new Error('disk full');
        store.append(entry, seq, atMs);
      },
    };
  }

  test('a log that cannot be written: nothing new starts, what is under way is waited for, and then it is told', async () => {
    const clock = manualClock();
    let running = 0;
    let begun = 0;
    const work: Doing = async (input, context) => {
      running += 1;
      begun += 1;
      try {
        return await slow(clock, Number(input['x']))(input, context);
      } finally {
        running -= 1;
      }
    };
    const slowly = [tool('work', work)];
    const nodes = [5, 50, 60, 1].map((x, id) => ({ id, tool: 'work', on_fail: 'continue', inputs: { x } }));
    const plan = await checkedOf(nodes, { tools: slowly });
    const events: PlanEvent[] = [];
    const session = createSession({ store: failingStore(2) });
    const broken = runPlan(plan, {
      tools: slowly,
      session,
      clock,
      maxConcurrency: 3,
      onEvent: (event) => events.push(event),
    });
    await expect(passTime(clock, broken.result)).rejects.toThrow('disk full');
    expect([running, begun, clock.pending]).toEqual([0, 3, 0]);
    // The others were told to stop.
    expect(clock.now()).toBeLessThan(50);
    expect(events.map(({ type }) => type)).not.toContain('plan-end');
    const count = events.length;
    clock.advance(1_000);
    await macrotask();
    expect([events.length, begun]).toEqual([count, 3]);
  });

  test.each([1, 2, 3, 4, 5])('a log that cannot be written from record %i on', async (from) => {
    const all = [good, tool('bad', fail())];
    const nodes = [
      { id: 0, tool: 'bad', on_fail: 'skip_dependents' },
      { id: 1, tool: 'good', depends_on: [0] },
      { id: 2, tool: 'good' },
    ];
    const plan = await checkedOf(nodes, { tools: all });
    const session = createSession({ store: failingStore(from) });
    await expect(runPlan(plan, { tools: all, session })).rejects.toThrow('disk full');
    expect([...session.records()]).toHaveLength(from);
  });

  test('who only iterates gets the error there', async () => {
    const plan = await checkedOf([{ id: 0, tool: 'good' }], { tools });
    const iterate = async (): Promise<void> => {
      for await (const _event of runPlan(plan, { tools, session: createSession({ store: failingStore(2) }) }));
    };
    await expect(iterate()).rejects.toThrow('disk full');
  });

  test('a listener that throws, at once or later, breaks nothing', async () => {
    const plan = await checkedOf([{ id: 0, tool: 'good' }], { tools });
    const session = createSession();
    const throwing = (event: PlanEvent): void => {
      if (event.type === 'node-start') throw new Error('at once');
      if (event.type === 'node-end') void Promise.resolve();
    };
    const trace = await runPlan(plan, { tools, session, onEvent: throwing });
    const late = await runPlan(plan, {
      tools,
      session,
      onEvent: (async ({ type }: PlanEvent): Promise<void> => {
        if (type === 'node-end') throw new Error('later');
      }) as never,
    });
    await macrotask();
    expect([trace.status, late.status]).toEqual(['succeeded', 'succeeded']);
    const noted = [...session.records()].filter(({ type }) => type === 'subscriber-error');
    expect(noted.map(({ event, message }) => [event, message])).toEqual([
      ['node-start', 'at once'],
      ['node-end', 'later'],
    ]);
  });

  test('the time of the run, and the calls of its budget', async () => {
    const clock = manualClock();
    const { trace } = await run(
      [tool('slow', slow(clock, 100))],
      [
        { id: 0, tool: 'slow' },
        { id: 1, tool: 'slow', depends_on: [0] },
      ],
      {
        clock,
        timeoutMs: 50,
      },
    );
    expect([trace.status, kinds(trace)]).toEqual(['aborted', ['timed-out', 'cancelled']]);
    expect(trace.nodes.map(({ code }) => code)).toEqual(['call.deadline', 'plan.aborted']);
  });

  test('a signal that has fired before lets nothing start', async () => {
    const { trace } = await run([tool('good', ok())], [{ id: 0, tool: 'good' }], { signal: AbortSignal.abort() });
    expect([trace.status, kinds(trace)]).toEqual(['aborted', ['cancelled']]);
  });

  test.each([true, false])(
    'cancelled by a listener at any event, each node ends once (approved: %s)',
    async (approves) => {
      const clock = manualClock(Date.now());
      const all = [
        tool('work', slow(clock, 2)),
        tool('locked', slow(clock, 2), { locks: () => ['one'] }),
        tool('rated', ok()),
        tool('asked', ok(), { dangerous: true, effects: 'external' }),
      ];
      const nodes = [
        { id: 0, tool: 'work' },
        { id: 1, tool: 'asked' },
        { id: 2, tool: 'locked' },
        { id: 3, tool: 'locked' },
        { id: 4, tool: 'rated' },
        { id: 5, tool: 'rated' },
        { id: 6, tool: 'work', depends_on: [0, 1] },
      ];
      const plan = await checkedOf(nodes, { tools: all });
      for (let at = 0, reached = true; reached; at += 1) {
        const controller = new AbortController();
        const session = createSession({ id: 's', clock });
        const events: PlanEvent[] = [];
        const running = runPlan(plan, {
          tools: all,
          session,
          clock,
          signal: controller.signal,
          lockTimeoutMs: 1,
          rateLimits: { rated: { calls: 1, perMs: 3 } },
          ...(approves ? { approve: () => ({ type: 'approve' }) as const } : {}),
          onEvent(event) {
            if (events.push(event) === at) controller.abort();
          },
        });
        const trace = await passTime(clock, running.result);
        reached = events.length >= at;
        checkRun(trace, events, session);
        const ends = [...session.records()].filter(({ type }) => type === 'tool-call-end' || type === 'plan-node');
        expect(ends).toHaveLength(trace.nodes.filter(({ kind }) => kind !== 'suspended' && kind !== 'waiting').length);
        if (trace.status !== 'suspended') expect(session.openWork()).toEqual({ runs: [], plans: [], calls: [] });
        expect(clock.pending).toBe(0);
      }
    },
  );

  test('a tool that keeps the thread busy beyond the deadline, and fails: it is the time that is over', async () => {
    const clock = manualClock();
    const busy = tool('busy', () => {
      throw new Error('no');
    });
    // Time goes on, and no timer fires.
    let now = 0;
    const stopped = { now: () => now, after: clock.after };
    const passing = tool('passing', () => {
      now = 100;
      throw new Error('no');
    });
    const plan = await checkedOf(
      [
        { id: 0, tool: 'passing' },
        { id: 1, tool: 'busy', depends_on: [0] },
      ],
      { tools: [busy, passing] },
    );
    const trace = await runPlan(plan, {
      tools: [busy, passing],
      session: createSession(),
      clock: stopped,
      timeoutMs: 50,
    });
    expect([trace.status, kinds(trace)]).toEqual(['aborted', ['failed', 'cancelled']]);
  });

  test('a signal is let go of', async () => {
    const { signal } = new AbortController();
    await run([tool('good', ok())], [{ id: 0, tool: 'good' }], { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('a run that is cancelled does not wait for locks that others hold', async () => {
    const clock = manualClock();
    const locks = createLockTable();
    void locks.acquire(['db'], 'another caller', { clock });
    const controller = new AbortController();
    clock.after(5, () => controller.abort());
    const locked = tool('locked', ok(), { locks: () => ['db'] });
    const { trace } = await run([locked], [{ id: 0, tool: 'locked' }], { clock, locks, signal: controller.signal });
    expect([trace.status, kinds(trace), trace.endedAtMs]).toEqual(['aborted', ['cancelled'], 5]);
  });

  test('one that fires when all is done changes nothing', async () => {
    const controller = new AbortController();
    const last = tool('last', () => {
      controller.abort();
      return 1;
    });
    const { trace, events, session } = await run([last], [{ id: 0, tool: 'last' }], { signal: controller.signal });
    expect(trace.status).toBe('succeeded');
    checkRun(trace, events, session);
  });
});
