import { type PlanEvent, type PlanTrace, readTrace, resumePlan } from '@holdfast/orchestrator';
import type { NodeId } from '@holdfast/orchestrator/internal';
import { type LogRecord, memoryStore, replay } from '@holdfast/session';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeWorld, type RandomPlan, randomPlan, type World } from './test-random-run.ts';
import { checkRun, macrotask, nodeOf, passTime, type Ran, runChecked, untimed } from './test-run.ts';

const concurrency = fc.constantFrom(1, 2, 3, 100);

async function runIn(world: World, maxConcurrency: number): Promise<Ran> {
  const { clock, tools, checked } = world;
  const ran = await runChecked(checked, tools, { clock, maxConcurrency });
  expect([world.wrong, world.running, clock.pending]).toEqual([[], 0, 0]);
  return ran;
}

/** No node starts before what it needs has ended; answers how many were under way at the same time, at most. */
function checkOrder(events: readonly PlanEvent[], { plan }: PlanTrace): number {
  const needs = new Map(plan.nodes.map(({ id, depends_on: ids }) => [id, ids]));
  const ended = new Set<NodeId>();
  let running = 0;
  let most = 0;
  const started = new Set<NodeId>();
  for (const event of events) {
    if (event.type === 'node-start') {
      expect(needs.get(event.node)?.every((id) => ended.has(id))).toBe(true);
      started.add(event.node);
      running += 1;
      most = Math.max(most, running);
    } else if (event.type === 'node-end') {
      expect(needs.get(event.node.node)?.every((id) => ended.has(id)) || event.node.code === 'plan.halted').toBe(true);
      ended.add(event.node.node);
      if (started.has(event.node.node)) running -= 1;
    }
  }
  return most;
}

test('whatever fails and however long it takes: nothing starts before what it needs has ended, and no more run than may', async () => {
  await fc.assert(
    fc.asyncProperty(randomPlan(), concurrency, async (plan, maxConcurrency) => {
      const world = await makeWorld(plan);
      const { trace, events } = await runIn(world, maxConcurrency);
      expect(checkOrder(events, trace)).toBeLessThanOrEqual(maxConcurrency);
      expect(world.most).toBeLessThanOrEqual(maxConcurrency);
      const failed = trace.nodes.filter(({ kind }) => kind !== 'ok');
      const final = nodeOf(trace, trace.plan.final_output_node);
      if (failed.length === 0) expect(trace.status).toBe('succeeded');
      else expect(trace.status).toBe(final.kind !== 'ok' || trace.nodes.some(halts(plan)) ? 'failed' : 'partial');
    }),
    { numRuns: 50 },
  );
});

const halts =
  ({ nodes }: RandomPlan) =>
  ({ node, kind, callId }: PlanTrace['nodes'][number]): boolean => {
    const { onFail } = nodes.find(({ id }) => id === node) ?? {};
    return onFail === 'halt' && kind !== 'ok' && (callId !== undefined || kind === 'invalid');
  };

test('the same results make the same trace, at whatever times and beside whatever others', async () => {
  await fc.assert(
    fc.asyncProperty(
      randomPlan({ halts: false }),
      concurrency,
      fc.infiniteStream(fc.nat({ max: 9 })),
      async (plan, beside, times) => {
        const inOrder = await runIn(await makeWorld(plan), 1);
        const other = await makeWorld(plan, () => times.next().value ?? 0);
        expect(untimed((await runIn(other, beside)).trace)).toEqual(untimed(inOrder.trace));
      },
    ),
    { numRuns: 37 },
  );
});

test('where nodes only wait, a run takes as long as its longest path', async () => {
  await fc.assert(
    fc.asyncProperty(randomPlan({ halts: false, locks: false, tools: ['read'] }), async ({ nodes: found, order }) => {
      const nodes = found.map((node) => ({ ...node, failures: 0 }));
      const { trace } = await runIn(await makeWorld({ nodes, order }), nodes.length);
      const ends: number[] = [];
      for (const { needs, ms } of nodes) ends.push(Math.max(0, ...needs.map((need) => ends[need] ?? 0)) + ms);
      const took = (trace.endedAtMs ?? 0) - trace.startedAtMs;
      expect(took).toBeLessThanOrEqual(1.1 * Math.max(...ends));
      expect(took).toBeGreaterThanOrEqual(Math.max(...ends));
    }),
    { numRuns: 25 },
  );
});

test('cancelled at any instant, nothing runs any more, and every node has ended', async () => {
  await fc.assert(
    fc.asyncProperty(randomPlan(), concurrency, fc.nat({ max: 30 }), async (plan, maxConcurrency, atMs) => {
      const world = await makeWorld(plan);
      const { clock, tools, checked, runs } = world;
      const controller = new AbortController();
      clock.after(atMs, () => controller.abort());
      const { trace } = await runChecked(checked, tools, { clock, maxConcurrency, signal: controller.signal });
      expect([world.wrong, world.running]).toEqual([[], 0]);
      const count = runs.length;
      clock.advance(10_000);
      await macrotask();
      expect([runs.length, clock.pending]).toEqual([count, 0]);
      const cut = trace.nodes.some(({ code }) => code === 'plan.aborted');
      if (cut) expect(trace.status).toBe('aborted');
      expect(trace.nodes.every(({ kind }) => kind !== 'waiting' && kind !== 'running')).toBe(true);
    }),
    { numRuns: 37 },
  );
});

/** Resumes the run in a session that has only the first `count` records; `undefined`: the log has no run that has not ended. */
async function resumeAt(records: readonly LogRecord[], count: number, world: World): Promise<PlanTrace | undefined> {
  const { clock, tools } = world;
  const kept = records.slice(0, count);
  const session = replay(kept, { store: memoryStore(kept), clock });
  if (session.openWork().plans.length === 0) return undefined;
  const events: PlanEvent[] = [];
  const before = readTrace(session.records());
  const resumed = resumePlan({
    tools,
    session,
    clock,
    random: () => 1,
    maxConcurrency: 1,
    onEvent: (event) => events.push(event),
  });
  const trace = await passTime(clock, resumed.result);
  checkRun(trace, events, session);
  // Ended nodes stay as they were, and are not run again.
  for (const node of before.nodes) {
    if (node.kind === 'waiting' || node.kind === 'running') continue;
    expect(nodeOf(trace, node.node)).toEqual(node);
    expect(world.runs).not.toContain(node.node);
  }
  expect([world.wrong, world.running, clock.pending, session.openWork().plans]).toEqual([[], 0, 0, []]);
  expect(session.openWork().calls).toEqual([]);
  return trace;
}

test('cut off at any record, a run of what may be repeated comes to the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      randomPlan({ tools: ['read', 'safe'] }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (found, share) => {
        // How often something has failed before is nothing that a log knows.
        const plan = {
          ...found,
          nodes: found.nodes.map((node) => ({ ...node, failures: node.failures === 2 ? 9 : 0 })),
        };
        const { trace, session } = await runIn(await makeWorld(plan), 1);
        const records = [...session.records()];
        const resumed = await resumeAt(records, Math.max(1, Math.round(share * records.length)), await makeWorld(plan));
        if (resumed !== undefined) expect(untimed(resumed)).toEqual(untimed(trace));
      },
    ),
    { numRuns: 50 },
  );
});

test('cut off at any record, what must not be repeated is not: it is in doubt', async () => {
  let doubts = 0;
  await fc.assert(
    fc.asyncProperty(randomPlan({ halts: false }), concurrency, async (found, maxConcurrency) => {
      const plan = { ...found, nodes: found.nodes.map((node) => ({ ...node, failures: 0 })) };
      const { session } = await runIn(await makeWorld(plan), maxConcurrency);
      const records = [...session.records()];
      for (let count = 2; count < records.length; count += 1) {
        const world = await makeWorld(plan);
        const resumed = await resumeAt(records, count, world);
        const begun = new Set(
          records.slice(0, count).flatMap(({ type, callId }) => (type === 'tool-call-start' ? [callId] : [])),
        );
        for (const { callId, tool, kind, node } of resumed?.nodes ?? []) {
          if (tool !== 'send' || !begun.has(callId ?? '')) continue;
          expect(world.runs).not.toContain(node);
          expect(['ok', 'in-doubt']).toContain(kind);
          if (kind === 'in-doubt') doubts += 1;
        }
      }
    }),
    { numRuns: 12 },
  );
  expect(doubts).toBeGreaterThan(0);
});
