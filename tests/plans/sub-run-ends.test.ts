import { defineTool, type Planner, type Tool } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import {
  childRecords,
  fanOutTool,
  type PlanTrace,
  planTool,
  readTrace,
  resumePlan,
  runPlan,
} from '@holdfast/orchestrator';
import { childSessions } from '@holdfast/orchestrator/internal';
import { type LogRecord, memoryStore, replay } from '@holdfast/session';
import { expect, test } from 'vitest';
import { checkedOf, fail, planOf, say, world } from './test-sub-runs.ts';

interface Gate {
  readonly tool: Tool;
  readonly planner: Planner;
  /** The tool has begun. */
  readonly begun: Promise<unknown>;
  open(): void;
  readonly signals: AbortSignal[];
}

/** A tool that waits until it is let go, or heeds its signal, and a planner whose plans say something and wait at it. */
function gate(heeds = true): Gate {
  const begun = Promise.withResolvers<undefined>();
  const opened = Promise.withResolvers<undefined>();
  const signals: AbortSignal[] = [];
  const tool = defineTool({
    name: 'gate',
    description: 'Waits.',
    effects: 'none',
    async execute(_, { signal }) {
      signals.push(signal);
      begun.resolve(undefined);
      if (heeds) signal.addEventListener('abort', () => opened.resolve(undefined));
      await opened.promise;
      signal.throwIfAborted();
      return 'through';
    },
  });
  const plan = planOf(
    { id: 0, tool: 'say', inputs: { text: 'hello' } },
    { id: 1, tool: 'gate', depends_on: [0] },
    { id: 2, tool: 'say', inputs: { text: 'after' }, depends_on: [1] },
  );
  return {
    tool,
    planner: { id: 'gate', plan: () => Promise.resolve({ plan }) },
    begun: begun.promise,
    open: () => opened.resolve(undefined),
    signals,
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const kindsOf = ({ nodes }: PlanTrace): readonly string[] => nodes.map(({ kind }) => kind);

test.each([
  { heeds: true, name: 'run_plan', inputs: { request: 'it' } },
  { heeds: false, name: 'run_plan', inputs: { request: 'it' } },
  { heeds: true, name: 'run_plans', inputs: { requests: ['it', 'it'] } },
])('a plan that is halted stops the plans within it ($name, heeds: $heeds)', async ({ heeds, name, inputs }) => {
  const { tool, planner, begun, open, signals } = gate(heeds);
  const failing = defineTool({
    name: 'failing',
    description: 'Fails when the other is under way.',
    effects: 'none',
    async execute() {
      await begun;
      throw new Error('That is it.');
    },
  });
  const shared = { planner, tools: [say, tool] };
  const tools = [planTool(shared), fanOutTool(shared), failing];
  const { session, store } = world();
  const checked = await checkedOf(tools, { id: 'p', tool: name, inputs }, { id: 'f', tool: 'failing' });
  const trace = await runPlan(checked, { tools, session });
  expect(trace.status).toBe('failed');
  expect(kindsOf(trace)).toEqual(['cancelled', 'failed']);
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
  const { length } = store.records;
  open();
  await turns();
  // Work that continues all the same shows in the log only.
  const late = store.records.slice(length).map(({ type, entry }) => (isPlainObject(entry) ? entry['type'] : type));
  expect(late.filter((type) => type !== 'tool-call-late')).toEqual([]);
  for (const id of childSessions(store.records)) {
    const records = [...childRecords(store.records, id)];
    if (!records.some(({ type }) => type === 'plan-start')) continue;
    const inner = readTrace(records);
    expect(['aborted', 'running']).toContain(inner.status);
    expect(kindsOf(inner)).not.toContain('running');
  }
});

test('a plan that was killed with a plan under way in it runs that again, as all of it may be', async () => {
  const first = gate();
  const { session, store } = world();
  const tools = [planTool({ planner: first.planner, tools: [say, first.tool] }), say];
  const nodes = [
    { id: 'p', tool: 'run_plan', inputs: { request: 'it' } },
    { id: 'end', tool: 'say', inputs: { text: '{{STEPS.p.output}}' } },
  ];
  const controller = new AbortController();
  const running = runPlan(await checkedOf(tools, ...nodes), { tools, session, signal: controller.signal });
  await first.begun;
  // The log of a process that ends now.
  const records = store.records.map((record): LogRecord => structuredClone(record));
  controller.abort();
  await running;

  const second = gate();
  second.open();
  const again = memoryStore(records);
  const opened = replay(again.records, { store: again });
  expect(opened.openWork().plans).toMatchObject([{ suspended: false }]);
  const fresh = [planTool({ planner: second.planner, tools: [say, second.tool] }), say];
  const trace = await resumePlan({ tools: fresh, session: opened });
  expect(trace).toMatchObject({ status: 'succeeded', output: 'after' });
  expect(readTrace(again.records)).toEqual(trace);
  const [inner = ''] = childSessions(again.records);
  expect(readTrace(childRecords(again.records, inner))).toMatchObject({ status: 'succeeded', output: 'after' });
  expect(opened.openWork()).toEqual({ runs: [], plans: [], calls: [] });
});

test('an external plan that was killed is in doubt, and nothing of it is run again', async () => {
  const { tool, planner, begun } = gate();
  const external = defineTool({ name: 'say', description: 'Says it outside.', execute: () => 'said' });
  const { session, store } = world();
  const plan: Planner = {
    ...planner,
    plan: () => Promise.resolve({ plan: planOf({ id: 0, tool: 'say' }, { id: 1, tool: 'gate', depends_on: [0] }) }),
  };
  const tools = [planTool({ planner: plan, tools: [external, tool] }), fail];
  const checked = await checkedOf(tools, { id: 'p', tool: 'run_plan', inputs: { request: 'it' } });
  const controller = new AbortController();
  const running = runPlan(checked, { tools, session, signal: controller.signal });
  await begun;
  const records = store.records.map((record): LogRecord => structuredClone(record));
  controller.abort();
  expect(kindsOf(await running)).toEqual(['in-doubt']);

  const again = memoryStore(records);
  const trace = await resumePlan({ tools, session: replay(again.records, { store: again }) });
  expect(trace.status).toBe('failed');
  expect(kindsOf(trace)).toEqual(['in-doubt']);
});
