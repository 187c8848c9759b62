import { defineTool, type Planner, type Tool } from '@holdfast/core';
import { createBudget } from '@holdfast/executor';
import { childRecords, type FanOutReport, fanOutTool, planTool, readTrace } from '@holdfast/orchestrator';
import { childSessions } from '@holdfast/orchestrator/internal';
import { manualClock } from '@holdfast/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plannerOf, planOf, say, type World, world, write } from './test-sub-runs.ts';

/** Writes a file named like the request, and fails after it where the request says so. */
const writing: Planner = {
  id: 'writing',
  plan: ({ request }) =>
    Promise.resolve({
      plan: planOf(
        { id: 0, tool: 'write', inputs: { path: `${request}.txt` } },
        {
          id: 1,
          tool: 'write',
          inputs: { path: `${request}-end.txt`, bad: request.startsWith('bad') },
          depends_on: [0],
        },
      ),
    }),
};

async function runsOf({ call }: World, tool: Tool, requests: readonly string[]): Promise<FanOutReport['runs']> {
  const outcome = await call(tool, { requests });
  expect(outcome).toMatchObject({ kind: 'ok' });
  return (outcome as unknown as { readonly value: FanOutReport }).value.runs;
}

test('each request has a run of its own, and the answers come in their order', async () => {
  const planner = plannerOf({
    a: [{ id: 0, tool: 'say', inputs: { text: 'A' } }],
    b: [{ id: 0, tool: 'say', inputs: { text: 'B' } }],
  });
  const at = world();
  const runs = await runsOf(at, fanOutTool({ planner, tools: [say] }), ['b', 'a', 'b']);
  expect(runs).toMatchObject([
    { request: 'b', kind: 'ok', code: null, report: { status: 'succeeded', output: 'B' } },
    { request: 'a', kind: 'ok', code: null, report: { status: 'succeeded', output: 'A' } },
    { request: 'b', kind: 'ok', code: null, report: { status: 'succeeded', output: 'B' } },
  ]);
  const sessions = runs.map(({ report }) => report?.session ?? '');
  expect(new Set(sessions).size).toBe(3);
  const traces = sessions.map((id) => readTrace(childRecords(at.store.records, id)));
  expect(traces.map(({ request, output }) => [request, output])).toEqual([
    ['b', 'B'],
    ['a', 'A'],
    ['b', 'B'],
  ]);
  expect(childSessions(at.store.records)).toHaveLength(4);
});

test.each([
  { count: 6, maxRuns: 5, numbers: /6 .*5/ },
  { count: 0, maxRuns: 5, numbers: /0 .*5/ },
  { count: 3, maxRuns: 2, numbers: /3 .*2/ },
])(
  'SUB-7: $count requests where $maxRuns may be are refused, with both numbers',
  async ({ count, maxRuns, numbers }) => {
    const planner = plannerOf({});
    const requests = Array.from({ length: count }, (_, index) => `r${index}`);
    const outcome = await world().call(fanOutTool({ planner, tools: [say], maxRuns }), { requests });
    expect(outcome).toMatchObject({
      kind: 'failed',
      code: 'plan.failed',
      reason: 'fan_out',
      message: expect.stringMatching(numbers),
    });
    expect(planner.asked).toEqual([]);
  },
);

test.each([
  { requests: [''] },
  { requests: ['a', ' '] },
  { requests: 'a' },
  { requests: [1] },
  {},
  { requests: ['a'], maxRuns: 9 },
])('SUB-1: anything but a list of requests is not a call: %j', async (input) => {
  const planner = plannerOf({});
  expect(await world().call(fanOutTool({ planner, tools: [say] }), input)).toMatchObject({ kind: 'invalid' });
  expect(planner.asked).toEqual([]);
});

test('one that fails costs the others nothing, and only its own files go', async () => {
  const at = world();
  const runs = await runsOf(at, fanOutTool({ planner: writing, tools: [write] }), ['good', 'bad', 'fine']);
  expect(runs).toMatchObject([
    { kind: 'ok', report: { status: 'succeeded' } },
    { kind: 'failed', code: 'plan.failed', report: { status: 'failed', succeeded: 1, failed: [{ node: 1 }] } },
    { kind: 'ok', report: { status: 'succeeded' } },
  ]);
  expect(await at.written()).toEqual(['fine-end.txt', 'fine.txt', 'good-end.txt', 'good.txt']);
});

test('where none succeeds the call fails, and nothing is left', async () => {
  const at = world();
  const outcome = await at.call(fanOutTool({ planner: writing, tools: [write] }), { requests: ['bad1', 'bad2'] });
  expect(outcome).toMatchObject({
    kind: 'failed',
    code: 'plan.failed',
    message: '0 of 2 requests succeeded.',
    value: {
      runs: [
        { request: 'bad1', kind: 'failed' },
        { request: 'bad2', kind: 'failed' },
      ],
    },
  });
  expect(await at.written()).toEqual([]);
});

test('a planner that fails one of them fails that one', async () => {
  const planner = plannerOf({ a: 'No.', b: [{ id: 0, tool: 'say', inputs: { text: 'B' } }] });
  const runs = await runsOf(world(), fanOutTool({ planner, tools: [say] }), ['a', 'b']);
  expect(runs).toMatchObject([
    { kind: 'failed', code: 'planner.no_json', report: null },
    { kind: 'ok', report: { output: 'B' } },
  ]);
});

test('a request is a text, whatever it looks like', async () => {
  const requests = ['{{STEPS.0}}', '{"$from": 0}', '__proto__', 'a\u0000b'];
  const asked: string[] = [];
  const planner: Planner = {
    id: 'echo',
    plan({ request }) {
      asked.push(request);
      return Promise.resolve({ plan: planOf({ id: 0, tool: 'say', inputs: { text: 'said' } }) });
    },
  };
  const runs = await runsOf(world(), fanOutTool({ planner, tools: [say] }), requests);
  expect(asked).toEqual(requests);
  expect(runs.map(({ request, report }) => [request, report?.output])).toEqual(requests.map((text) => [text, 'said']));
});

test.each([
  { maxParallel: undefined, most: 4 },
  { maxParallel: 2, most: 2 },
  { maxParallel: 1, most: 1 },
])('of four, $most at the same time', async ({ maxParallel, most }) => {
  let running = 0;
  let seen = 0;
  let full = Promise.withResolvers<undefined>();
  const slow = defineTool({
    name: 'slow',
    description: 'Takes its time.',
    effects: 'none',
    async execute() {
      running += 1;
      seen = Math.max(seen, running);
      // Until as many are there as there should be, and then for as long as one more might take to come.
      if (running === most) full.resolve(undefined);
      await full.promise;
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (running === 0) full = Promise.withResolvers<undefined>();
      return null;
    },
  });
  const planner: Planner = { id: 'slow', plan: () => Promise.resolve({ plan: planOf({ id: 0, tool: 'slow' }) }) };
  const tool = fanOutTool({ planner, tools: [slow], ...(maxParallel === undefined ? {} : { maxParallel }) });
  await runsOf(world(), tool, ['a', 'b', 'c', 'd']);
  expect(seen).toBe(most);
});

test('the budget of the call is for all of them', async () => {
  const budget = createBudget({ maxTokens: 25, maxCalls: 100 });
  const planner = plannerOf(
    Object.fromEntries(['a', 'b', 'c'].map((text) => [text, [{ id: 0, tool: 'say', inputs: { text } }]])),
  );
  const tool = fanOutTool({ planner, tools: [say], maxParallel: 1 });
  expect(await world().call(tool, { requests: ['a', 'b', 'c'] }, { budget })).toMatchObject({
    kind: 'ok',
    message: '2 of 3 requests succeeded.',
    value: {
      runs: [{ kind: 'ok' }, { kind: 'ok' }, { kind: 'failed', code: 'budget.used', report: null }],
    },
  });
  expect(budget.used).toMatchObject({ tokens: 30, calls: 6 });
});

test('the end of the call is the end of all of them', async () => {
  const clock = manualClock();
  const signals: AbortSignal[] = [];
  const { promise: both, resolve } = Promise.withResolvers<undefined>();
  const planner: Planner = {
    id: 'waiting',
    plan({ signal }) {
      if (signals.push(signal) === 2) resolve(undefined);
      return new Promise<never>(() => undefined);
    },
  };
  const tool = fanOutTool({ planner, tools: [say], clock });
  const calling = world().call(tool, { requests: ['a', 'b'] }, { clock, timeoutMs: 1_000 });
  await both;
  clock.advance(1_000);
  expect(await calling).toMatchObject({ kind: 'timed-out', code: 'call.deadline' });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test('it counts as one plan, and each of its runs is within it', async () => {
  const fan = fanOutTool({
    planner: plannerOf({ a: [{ id: 0, tool: 'say', inputs: { text: 'A' } }] }),
    tools: [say],
    maxDepth: 2,
  });
  const around = (maxDepth: number): Tool =>
    planTool({
      planner: plannerOf({ fan: [{ id: 0, tool: 'run_plans', inputs: { requests: ['a', 'a'] } }] }),
      tools: [fan],
      maxDepth,
    });
  expect(await world().call(around(2), { request: 'fan' })).toMatchObject({ kind: 'ok' });
  expect(await world().call(around(1), { request: 'fan' })).toMatchObject({
    kind: 'failed',
    value: { failed: [{ code: 'plan.failed' }] },
  });
});

test('whatever some of them come to, the others are as if alone', async () => {
  const outcome = fc.constantFrom('good', 'bad', 'planless', 'thrown', 'denied');
  const denied = defineTool({
    name: 'denied',
    description: 'Needs a yes.',
    effects: 'state',
    dangerous: true,
    execute: () => null,
  });
  const thrower = defineTool({
    name: 'thrower',
    description: 'Throws something other than an error.',
    effects: 'none',
    execute: () => {
      throw JSON.parse('"text"');
    },
  });
  const planner: Planner = {
    id: 'mixed',
    plan(asked) {
      const kind = asked.request.replace(/\d+$/, '');
      if (kind === 'planless') return Promise.resolve({ text: 'No.' });
      if (kind === 'thrown') return Promise.resolve({ plan: planOf({ id: 0, tool: 'thrower' }) });
      if (kind === 'denied') return Promise.resolve({ plan: planOf({ id: 0, tool: 'denied' }) });
      return writing.plan(asked);
    },
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(outcome, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 5 }),
      async (kinds, maxParallel) => {
        const at = world();
        const requests = kinds.map((kind, index) => `${kind}${index}`);
        const tool = fanOutTool({ planner, tools: [write, denied, thrower], maxParallel });
        const { kind, value } = (await at.call(tool, { requests })) as {
          readonly kind: string;
          readonly value: unknown;
        };
        const { runs } = value as FanOutReport;
        expect(kind).toBe(kinds.includes('good') ? 'ok' : 'failed');
        expect(runs.map((run) => [run.request, run.kind])).toEqual(
          requests.map((request, index) => [request, kinds[index] === 'good' ? 'ok' : 'failed']),
        );
        const good = requests.filter((request) => request.startsWith('good'));
        expect(await at.written()).toEqual(good.flatMap((name) => [`${name}-end.txt`, `${name}.txt`]).toSorted());
      },
    ),
    { numRuns: 40 },
  );
});

test('a plan can refer into what it answers', async () => {
  const planner = plannerOf({
    fan: [
      { id: 0, tool: 'run_plans', inputs: { requests: ['a'] } },
      { id: 1, tool: 'say', inputs: { text: { $from: 0, path: 'runs[0].report.output' } } },
    ],
    wrong: [
      { id: 0, tool: 'run_plans', inputs: { requests: ['a'] } },
      { id: 1, tool: 'say', inputs: { text: { $from: 0, path: 'runs[0].answer' } } },
    ],
  });
  const echo = plannerOf({ a: [{ id: 0, tool: 'say', inputs: { text: 'A' } }] });
  const tool = planTool({ planner, tools: [fanOutTool({ planner: echo, tools: [say] }), say] });
  expect(await world().call(tool, { request: 'fan' })).toMatchObject({ kind: 'ok', value: { output: 'A' } });
  expect(await world().call(tool, { request: 'wrong' })).toMatchObject({ kind: 'failed', code: 'plan.invalid' });
});
