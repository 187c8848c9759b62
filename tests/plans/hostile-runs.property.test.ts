import type { JsonObject, Tool } from '@holdfast/core';
import { answerApproval, recoverSession, resumeToolCall } from '@holdfast/executor';
import {
  type PlanEvent,
  type PlanTrace,
  type RunPlanOptions,
  readTrace,
  resumePlan,
  runPlan,
} from '@holdfast/orchestrator';
import { createSession, type LogRecord, replay, type Session } from '@holdfast/session';
import { type ManualClock, manualClock } from '@holdfast/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkedOf, fail, ok, passTime, slow, tool } from './test-run.ts';

interface Shape {
  readonly tool: 'quick' | 'slow' | 'broken' | 'asked' | 'locked' | 'deaf' | 'rated';
  readonly onFail: 'halt' | 'continue' | 'skip_dependents';
  readonly needs: readonly number[];
  readonly retry: number;
}

const shapes: fc.Arbitrary<readonly Shape[]> = fc
  .array(
    fc.record({
      tool: fc.constantFrom<Shape['tool']>(
        'quick',
        'slow',
        'broken',
        'asked',
        'asked',
        'locked',
        'locked',
        'deaf',
        'rated',
      ),
      onFail: fc.constantFrom('halt', 'continue', 'skip_dependents'),
      needs: fc.array(fc.nat(10), { maxLength: 2 }),
      retry: fc.nat(1),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((nodes) =>
    nodes.map((node, at) => ({ ...node, needs: at === 0 ? [] : [...new Set(node.needs.map((need) => need % at))] })),
  );

/** The action of a listener during an event. */
type Deed = 'abort' | 'throw' | 'answer' | 'take';
const deeds = fc.array(fc.tuple(fc.nat(25), fc.constantFrom<Deed>('abort', 'throw', 'answer', 'take')), {
  maxLength: 4,
});

function toolsOf(clock: ManualClock, done: string[]): readonly Tool[] {
  const names = { locks: () => ['one'], repeat: 'safe' } as const;
  return [
    tool('quick', ok(1)),
    tool('slow', slow(clock, 5), { repeat: 'safe' }),
    tool('broken', fail(), { repeat: 'safe' }),
    tool('asked', (_input, { callId }) => done.push(callId), { effects: 'external', dangerous: true }),
    tool('locked', slow(clock, 7), names),
    tool('deaf', () => new Promise((resolve) => clock.after(9, () => resolve(1)))),
    tool('rated', (_input, { callId }) => done.push(callId), { effects: 'external', repeat: 'never' }),
  ];
}

function documentOf(nodes: readonly Shape[]): readonly JsonObject[] {
  return nodes.map(({ tool: name, onFail, needs, retry }, id) => ({
    id,
    tool: name,
    on_fail: onFail,
    depends_on: needs,
    retry,
    timeout: 60,
  }));
}

test('whatever is done while events are told, each node ends once, and the log says what the run says', async () => {
  await fc.assert(
    fc.asyncProperty(shapes, deeds, fc.integer({ min: 1, max: 3 }), async (nodes, planned, maxConcurrency) => {
      const clock = manualClock(Date.now());
      const done: string[] = [];
      const tools = toolsOf(clock, done);
      const plan = await checkedOf(documentOf(nodes), { tools });
      const session = createSession({ id: 's', clock });
      const options = {
        tools,
        session,
        clock,
        maxConcurrency,
        lockTimeoutMs: 10,
        rateLimits: { rated: { calls: 1, perMs: 4 } },
        random: () => 0,
      };
      const first = new AbortController();
      const beside: Promise<unknown>[] = [];
      let trace = await watch(
        clock,
        session,
        planned,
        (onEvent, signal) => runPlan(plan, { ...options, onEvent, signal }),
        {
          first,
          beside,
          take: (callId) => resumeToolCall(callId, { tools, session, clock }),
        },
      );
      await passTime(clock, Promise.allSettled(beside));
      for (let round = 0; trace.status === 'suspended' && round < 10; round += 1) {
        for (const { callId } of trace.pending) {
          await answerApproval(session, callId, { type: round % 2 === 0 ? 'approve' : 'deny' }).catch(() => undefined);
        }
        trace = await watch(clock, session, [], (onEvent, signal) => resumePlan({ ...options, onEvent, signal }), {
          first: new AbortController(),
          beside,
          take: () => Promise.resolve(),
        });
      }
      expect(trace.status).not.toBe('suspended');
      const ends = [...session.records()].flatMap((record) => {
        if (record.type === 'plan-node') return [`plan_1_${String(record['node'])}`];
        return record.type === 'tool-call-end' ? [String(record['callId'])] : [];
      });
      expect(ends.toSorted()).toEqual(nodes.map((_, id) => `plan_1_${id}`).toSorted());
      const { plans, calls } = session.openWork();
      expect(plans).toEqual([]);
      // A call that the host resumes by itself may ask once more when the plan has ended: that is its own question.
      if (!planned.some(([, deed]) => deed === 'take')) expect(calls).toEqual([]);
      expect(new Set(done).size).toBe(done.length);
    }),
    { numRuns: 50 },
  );
});

test('cut off at any record, with answers and halts, nothing that ended is done again, and all comes to one end', async () => {
  await fc.assert(
    fc.asyncProperty(
      shapes,
      fc.boolean(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (nodes, recovers, where) => {
        const clock = manualClock(Date.now());
        const done: string[] = [];
        const tools = toolsOf(clock, done);
        const plan = await checkedOf(documentOf(nodes), { tools });
        const options = { tools, clock, maxConcurrency: 3 };
        const session = createSession({ id: 's', clock });
        await goToEnd(clock, session, runPlan(plan, { ...options, session }), options);
        const whole = [...session.records()];
        const records = whole.slice(0, 2 + Math.floor(where * (whole.length - 2)));
        const isEnd = ({ type, parentId }: LogRecord): boolean => type === 'tool-call-end' && parentId === undefined;
        const before = new Set(records.filter(isEnd).map(({ callId }) => callId));
        const begun = new Set(records.flatMap(({ type, callId }) => (type === 'tool-call-start' ? [callId] : [])));
        done.length = 0;
        const again = replay(records, { clock });
        if (recovers) await passTime(clock, recoverSession({ tools, session: again, clock }));
        if (again.openWork().plans.length > 0) {
          await goToEnd(clock, again, resumePlan({ ...options, session: again }), options);
        }
        // All that these tools do to the world may be done once only.
        expect(done.filter((callId) => before.has(callId) || begun.has(callId))).toEqual([]);
        expect(new Set(done).size).toBe(done.length);
        const ends = [...again.records()].flatMap((record) => {
          if (record.type === 'plan-node') return [`plan_1_${String(record['node'])}`];
          return isEnd(record) ? [String(record['callId'])] : [];
        });
        expect(ends.toSorted()).toEqual(nodes.map((_, id) => `plan_1_${id}`).toSorted());
        expect(again.openWork()).toEqual({ runs: [], plans: [], calls: [] });
      },
    ),
    { numRuns: 37 },
  );
});

/** Goes on until nobody is asked any more: one of two questions is answered with yes. */
async function goToEnd(
  clock: ManualClock,
  session: Session,
  run: { readonly result: Promise<PlanTrace> },
  options: Omit<RunPlanOptions, 'session'>,
): Promise<void> {
  let trace = await passTime(clock, run.result);
  for (let round = 0; trace.status === 'suspended'; round += 1) {
    expect(round).toBeLessThan(20);
    for (const { callId } of trace.pending) {
      await answerApproval(session, callId, { type: round % 2 === 0 ? 'approve' : 'deny' });
    }
    trace = await passTime(clock, resumePlan({ ...options, session }).result);
    expect(readTrace(session.records())).toEqual(trace);
  }
}

interface Watching {
  readonly first: AbortController;
  readonly beside: Promise<unknown>[];
  readonly take: (callId: string) => Promise<unknown>;
}

async function watch(
  clock: ManualClock,
  session: Session,
  planned: readonly (readonly [number, Deed])[],
  start: (onEvent: (event: PlanEvent) => void, signal: AbortSignal) => { readonly result: Promise<PlanTrace> },
  { first, beside, take }: Watching,
): Promise<PlanTrace> {
  const events: PlanEvent[] = [];
  const onEvent = (event: PlanEvent): void => {
    const at = events.push(event) - 1;
    for (const [when, deed] of planned) {
      if (when !== at) continue;
      if (deed === 'abort') first.abort();
      if (deed === 'throw') throw new Error('a listener that fails');
      if (deed === 'answer' || deed === 'take') beside.push(answerAll(session, deed === 'take' ? take : undefined));
    }
  };
  const trace = await passTime(clock, start(onEvent, first.signal).result);
  const records = [...session.records()];
  // Answers that come later are none of its business.
  const end = records.findLastIndex(({ type }) => type === 'plan-end');
  expect(readTrace(records.slice(0, end + 1), trace.run)).toEqual(trace);
  expect(events.filter(({ type }) => type === 'plan-end')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: 'plan-end', trace });
  return trace;
}

/** Answers every open question, and resumes the calls where `take` says how. */
async function answerAll(session: Session, take: Watching['take'] | undefined): Promise<void> {
  for (const { callId, approvals } of session.openWork().calls) {
    if (approvals.length === 0) continue;
    // Another caller may have answered, or ended it.
    await answerApproval(session, callId, { type: 'approve' }).catch(() => undefined);
    await take?.(callId).catch(() => undefined);
  }
}
