import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tool } from '@holdfast/core';
import { answerApproval } from '@holdfast/executor';
import { type PlanTrace, readTrace, reportTrace, resumePlan, runPlan, synthesise } from '@holdfast/orchestrator';
import { createSession, replay } from '@holdfast/session';
import { createJsonlLog, openJsonlLog, readLog } from '@holdfast/session/jsonl';
import { manualClock } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  checkedOf,
  type Doing,
  echo,
  fail,
  failing,
  kinds,
  nodeOf,
  ok,
  passTime,
  run,
  slow,
  tool,
} from './test-run.ts';

const go = { on_fail: 'continue' };

describe('approvals', () => {
  const asked = (doing: Doing, options: object): Tool => tool('asked', doing, { dangerous: true, ...options });

  test('APP-1: the trace and the log say who approved, and when', async () => {
    const clock = manualClock(1_000);
    const { trace, session } = await run([asked(ok('done'), {})], [{ id: 0, tool: 'asked' }], { clock });
    expect(trace.status).toBe('suspended');
    clock.advance(500);
    const atMs = clock.now();
    await answerApproval(session, 'plan_1_0', { type: 'approve' }, { by: 'ann', clock });
    const tools = [asked(ok('done'), {})];
    const resumed = await resumePlan({ tools, session, clock });
    expect(nodeOf(resumed, 0).approval).toEqual({ type: 'approve', by: 'ann' });
    const answer = [...session.records()].find(({ type }) => type === 'approval-answer');
    expect(answer).toMatchObject({ callId: 'plan_1_0', by: 'ann', atMs });
  });

  test('what a person takes to answer is between start and end, and no part of the duration', async () => {
    const clock = manualClock(1_000);
    const { trace } = await run([asked(ok('done'), {})], [{ id: 0, tool: 'asked' }], {
      clock,
      approve: () => {
        clock.advance(700);
        return { type: 'approve' };
      },
    });
    const { startedAtMs = 0, endedAtMs = 0, durationMs = 0 } = nodeOf(trace, 0);
    // Time passes by the millisecond while the run goes on.
    expect(endedAtMs - startedAtMs - durationMs).toBeGreaterThanOrEqual(700);
  });

  test('APP-7: what may be repeated is tried again under the one approval', async () => {
    let questions = 0;
    const tools = [asked(failing(2, 'there'), { effects: 'none' })];
    const { trace } = await run(tools, [{ id: 0, tool: 'asked', retry: 2 }], {
      approve: async () => {
        questions += 1;
        return { type: 'approve' };
      },
    });
    expect(nodeOf(trace, 0)).toMatchObject({ kind: 'ok', attempts: 3, value: 'there' });
    expect(questions).toBe(1);
  });

  test('APP-7: what must not be repeated runs once for its approval, whatever `retry` says', async () => {
    let calls = 0;
    const once: Doing = () => {
      calls += 1;
      throw new Error('no');
    };
    const { trace } = await run([asked(once, { effects: 'external' })], [{ id: 0, tool: 'asked', retry: 3 }], {
      approve: async () => ({ type: 'approve' }),
    });
    expect([calls, nodeOf(trace, 0).attempts, trace.status]).toEqual([1, 1, 'failed']);
  });
});

test('EXE-17: a tool that goes from the list while the plan runs is the tool of this run', async () => {
  const calls: string[] = [];
  const list: Tool[] = [];
  list.push(
    tool('first', () => {
      list.length = 0;
      return null;
    }),
    tool('second', () => calls.push('second')),
  );
  const nodes = [
    { id: 0, tool: 'first' },
    { id: 1, tool: 'second', depends_on: [0] },
  ];
  const plan = await checkedOf(nodes, { tools: [...list] });
  expect((await runPlan(plan, { tools: list, session: createSession() })).status).toBe('succeeded');
  expect(calls).toEqual(['second']);
});

describe('what there is to read', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-traces-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test('TRC-6: without a synthesis the result is what the final node gave, wherever it stands', async () => {
    const tools = [tool('echo', echo)];
    const nodes = [
      { id: 'end', tool: 'echo', inputs: { x: { $from: 'start', path: 'x' }, y: [1] } },
      { id: 'start', tool: 'echo', inputs: { x: 'begun' } },
      { id: 'beside', tool: 'echo', inputs: { x: 'beside' } },
    ];
    const plan = await checkedOf([...nodes.slice(1), ...nodes.slice(0, 1)], { tools });
    expect((await runPlan(plan, { tools, session: createSession() })).output).toEqual({ x: 'begun', y: [1] });
    const { trace } = await run(tools, [...nodes, { id: 'last', tool: 'echo', inputs: { x: { $from: 'end' } } }]);
    expect(trace.output).toEqual({ x: { x: 'begun', y: [1] } });
  });

  const everyEnd = (clock: ReturnType<typeof manualClock>): readonly Tool[] => [
    tool('good', ok({ a: [1, 'ü', null] })),
    tool('bad', fail('broke')),
    tool('slow', slow(clock, 50)),
    tool('asked', ok('yes'), { dangerous: true }),
  ];
  const nodes = [
    { id: 'good', tool: 'good', inputs: { x: 1 } },
    { id: 'bad', tool: 'bad', ...go, retry: 1 },
    { id: 'none', tool: 'good', ...go, inputs: { x: { $from: 'bad' } } },
    { id: 'wrong', tool: 'good', ...go, inputs: { x: { $from: 'good', path: 'b' } } },
    { id: 'slow', tool: 'slow', ...go, depends_on: ['wrong', 'none'] },
    { id: 'asked', tool: 'asked', depends_on: ['slow'] },
    { id: 'end', tool: 'good', inputs: { x: 'see {{STEPS.asked}}' } },
  ];

  test.each<[string, number | undefined, string, readonly string[]]>([
    ['suspended', undefined, 'suspended', ['ok', 'failed', 'skipped', 'invalid', 'ok', 'suspended', 'waiting']],
    ['aborted', 1_020, 'aborted', ['ok', 'failed', 'skipped', 'invalid', 'cancelled', 'cancelled', 'cancelled']],
  ])('TRC-8: %s, and read from its file: the same data and the same reports', async (name, abortAtMs, status, ends) => {
    const path = join(folder, `${name}.jsonl`);
    const clock = manualClock();
    const controller = new AbortController();
    if (abortAtMs !== undefined) clock.after(abortAtMs, () => controller.abort());
    const tools = everyEnd(clock);
    const session = createSession({ store: createJsonlLog(path), clock });
    const plan = await checkedOf(nodes, { tools });
    const running = runPlan(plan, { tools, session, clock, random: () => 1, signal: controller.signal });
    const trace = await passTime(clock, running.result);
    await session.close();
    expect([trace.status, kinds(trace)]).toEqual([status, ends]);
    await expectAlike(readTrace(readLog(path).records), trace);

    // The view of a later reader, after it has continued.
    const { records, store } = openJsonlLog(path);
    const again = replay(records, { store, clock });
    if (status === 'suspended') {
      const options = { tools, session: again, clock, approve: async () => ({ type: 'approve' }) as const };
      const resumed = await passTime(clock, resumePlan(options).result);
      expect([resumed.status, nodeOf(resumed, 'end').input]).toEqual(['partial', { x: 'see yes' }]);
      await again.close();
      await expectAlike(readTrace(readLog(path).records), resumed);
    } else await again.close();
  });

  async function expectAlike(read: PlanTrace, trace: PlanTrace): Promise<void> {
    expect(read).toEqual(trace);
    expect(reportTrace(read)).toEqual(reportTrace(trace));
    expect(await synthesise(read)).toEqual(await synthesise(trace));
  }

  test('every field that a trace promises is there, for a call and for none', async () => {
    const clock = manualClock(5);
    const tools = everyEnd(clock);
    const { trace } = await run(
      tools,
      [
        { id: 'bad', tool: 'bad', ...go, retry: 1, metadata: { purpose: 'Try it' } },
        { id: 'slow', tool: 'slow', inputs: { x: 'a' }, depends_on: ['bad'] },
        { id: 'none', tool: 'good', ...go, inputs: { x: { $from: 'bad' } } },
        { id: 'end', tool: 'good', ...go, depends_on: ['slow', 'none'] },
      ],
      { clock },
    );
    expect(trace.digest).toMatch(/^[\w:+/=-]{20,}$/);
    expect(nodeOf(trace, 'bad')).toMatchObject({
      purpose: 'Try it',
      kind: 'failed',
      code: 'tool.threw',
      attempts: 2,
      retries: [{ code: 'tool.threw', atMs: 5 }],
      startedAtMs: 5,
      endedAtMs: 1_005,
      durationMs: 1_000,
    });
    expect(nodeOf(trace, 'slow')).toMatchObject({
      dependsOn: ['bad'],
      input: { x: 'a' },
      callId: 'plan_1_slow',
      attempts: 1,
      startedAtMs: 1_005,
      durationMs: 50,
      value: null,
    });
    expect(nodeOf(trace, 'none')).toMatchObject({
      callId: undefined,
      input: undefined,
      startedAtMs: undefined,
      durationMs: undefined,
      attempts: 0,
      because: ['bad'],
    });
  });
});
