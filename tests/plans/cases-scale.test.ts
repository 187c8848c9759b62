import type { JsonObject } from '@holdfast/core';
import { checkPlan, type PlanTrace, readTrace, resumePlan, runPlan } from '@holdfast/orchestrator';
import { createSession, memoryStore, replay, type Session } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import { describe, expect, inject, test, vi } from 'vitest';
import { checkedOf, type Doing, echo, fail, macrotask, tool } from './test-run.ts';

// G4: plans as large as they may be, and larger.

const limits = { maxNodes: 100_000, maxDepth: 100_000 };
const many = <Value>(count: number, make: (index: number) => Value): readonly Value[] =>
  Array.from({ length: count }, (_, index) => make(index));
const skip = { on_fail: 'skip_dependents' };

interface Large {
  readonly trace: PlanTrace;
  readonly session: Session;
  /** Calls of `echo` and `bad` that were under way at the same time, at most. */
  readonly most: number;
  readonly calls: number;
}

async function runLarge(nodes: readonly JsonObject[], maxConcurrency = 10): Promise<Large> {
  let now = 0;
  let most = 0;
  let calls = 0;
  const counted =
    (inner: Doing): Doing =>
    async (input, context) => {
      calls += 1;
      now += 1;
      most = Math.max(most, now);
      // Many of them are under way in one turn of the event loop.
      await macrotaskNowAndThen(calls);
      now -= 1;
      return inner(input, context);
    };
  const tools = [tool('echo', counted(echo)), tool('bad', counted(fail('broke')))];
  const plan = await checkedOf(nodes, { tools, limits });
  const session = createSession();
  const trace = await runPlan(plan, { tools, session, maxConcurrency });
  return { trace, session, most, calls };
}

function macrotaskNowAndThen(count: number): Promise<void> {
  return count % 50 === 0 ? macrotask() : Promise.resolve();
}

function countKinds({ nodes }: PlanTrace): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { kind } of nodes) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

describe('the cap', () => {
  const nodes = many(100_000, (id) => ({ id, tool: 'echo', inputs: { x: { $from: 'nobody' } } }));
  const plan = { nodes, final_output_node: 0 };

  test.each([
    ['a value', plan],
    ['a text', JSON.stringify(plan)],
  ])('100,000 nodes are refused as one thing: %s', async (_name, source) => {
    const found = await checkPlan(source, { tools: [tool('echo', echo)] });
    expect(found).toMatchObject({
      type: 'invalid',
      violations: [{ code: 'plan.invalid', reason: 'nodes.limit', path: 'nodes' }],
    });
    expect(found.type === 'invalid' && found.violations.length).toBe(1);
  });

  test('100,000 nodes that are none are a list that ends', async () => {
    const source = { nodes: many(100_000, () => null), final_output_node: 0 };
    const found = await checkPlan(source, { tools: [tool('echo', echo)] });
    expect(found.type === 'invalid' && found.violations.length).toBe(1_001);
  });

  test('a chain of 10,000 is refused for its length', async () => {
    const chain = many(10_000, (id) => ({ id, tool: 'echo', ...(id === 0 ? {} : { depends_on: [id - 1] }) }));
    const found = await checkPlan({ nodes: chain, final_output_node: 9_999 }, { tools: [tool('echo', echo)] });
    expect(found).toMatchObject({ type: 'invalid', violations: [{ code: 'plan.invalid', reason: 'depth.limit' }] });
  });
});

describe('with raised limits', { timeout: 60_000 }, () => {
  const size = inject('long') > 0 ? 10_000 : 2_000;
  const chainOf = (length: number): readonly JsonObject[] =>
    many(length, (id) => ({ id, tool: 'echo', inputs: { x: id === 0 ? 'through' : { $from: id - 1, path: 'x' } } }));

  test('a long chain: a value goes through all of it', async () => {
    const { trace, session, most, calls } = await runLarge(chainOf(2 * size));
    expect([trace.status, trace.output, most, calls]).toEqual(['succeeded', { x: 'through' }, 1, 2 * size]);
    expect(JSON.stringify(readTrace(session.records()))).toBe(JSON.stringify(trace));
  });

  test('thousands that need one, ten at a time, and one that needs all of them', async () => {
    const { trace, most, calls } = await runLarge([
      { id: 'one', tool: 'echo', inputs: { x: 'seed' } },
      ...many(size, (id) => ({ id, tool: 'echo', inputs: { x: { $from: 'one', path: 'x' }, y: id } })),
      { id: 'all', tool: 'echo', inputs: { x: many(size, (id) => ({ $from: id, path: 'y' })) } },
    ]);
    expect([trace.status, most, calls]).toEqual(['succeeded', 10, size + 2]);
    expect(trace.output).toEqual({ x: many(size, (id) => id) });
  });

  test('thousands that fail, each with one that is skipped for it; the rest goes on', async () => {
    const { trace, most, calls, session } = await runLarge([
      ...many(size, (id) => ({ id, tool: 'bad', ...skip })),
      ...many(size, (id) => ({ id: `for-${id}`, tool: 'echo', depends_on: [id] })),
      { id: 'end', tool: 'echo', inputs: { x: 'there' } },
    ]);
    expect([trace.status, trace.output, most, calls]).toEqual(['partial', { x: 'there' }, 10, size + 1]);
    expect(countKinds(trace)).toEqual({ failed: size, skipped: size, ok: 1 });
    expect(trace.nodes[2 * size - 1]).toMatchObject({ code: 'plan.dependency.failed', because: [size - 1] });
    expect(JSON.stringify(readTrace(session.records()))).toBe(JSON.stringify(trace));
  });

  test('thousands that fail before one that needs all of them', async () => {
    const { trace } = await runLarge([
      ...many(size, (id) => ({ id, tool: 'bad', ...skip })),
      { id: 'end', tool: 'echo', depends_on: many(size, (id) => id) },
    ]);
    expect([trace.status, countKinds(trace)]).toEqual(['failed', { failed: size, skipped: 1 }]);
    expect(trace.nodes.at(-1)?.because).toHaveLength(size);
  });

  test.each([
    ['skip_dependents', 'plan.dependency.failed'],
    ['halt', 'plan.halted'],
  ])('a chain of thousands whose first node fails with %s', async (onFail, code) => {
    const { trace, calls } = await runLarge([
      { id: 0, tool: 'bad', on_fail: onFail },
      ...many(size, (id) => ({ id: id + 1, tool: 'echo', depends_on: [id] })),
    ]);
    expect([trace.status, calls]).toEqual(['failed', 1]);
    expect(countKinds(trace)).toEqual({ failed: 1, skipped: size });
    expect(new Set(trace.nodes.slice(1).map((node) => node.code))).toEqual(new Set([code]));
  });

  test('a chain of thousands whose process ended in the middle', async () => {
    const { session } = await runLarge(chainOf(size));
    const records = [...session.records()].slice(0, size / 2 + 3);
    let calls = 0;
    const counted: Doing = (input) => {
      calls += 1;
      return input;
    };
    const tools = [tool('echo', counted), tool('bad', fail())];
    const other = replay(records, { store: memoryStore(records) });
    const trace = await resumePlan({ tools, session: other, limits });
    expect([trace.status, trace.output]).toEqual(['succeeded', { x: 'through' }]);
    const ended = records.filter(({ type }) => type === 'tool-call-end').length;
    expect([ended > 0.4 * size, calls]).toEqual([true, size - ended]);
  });

  test('who iterates gets every event of thousands of nodes in its order', async () => {
    const tools = [tool('echo', echo)];
    const plan = await checkedOf(
      many(size, (id) => ({ id, tool: 'echo' })),
      { tools, limits },
    );
    const ended = new Set<unknown>();
    let last = '';
    for await (const event of runPlan(plan, { tools, session: createSession() })) {
      if (event.type === 'node-end') ended.add(event.node.node);
      last = event.type;
    }
    expect([ended.size, last]).toEqual([size, 'plan-end']);
  });
});

test('many runs under one signal and one clock leave nothing at either', async () => {
  const runs = inject('long') > 0 ? 500 : 100;
  const clock = manualClock();
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, 'addEventListener');
  const removed = vi.spyOn(signal, 'removeEventListener');
  const tools = [
    tool('echo', echo, { locks: () => ['one'] }),
    tool('bad', fail()),
    tool('asked', echo, { dangerous: true }),
  ];
  const nodes = [
    { id: 0, tool: 'echo', on_fail: 'continue' },
    { id: 1, tool: 'echo', inputs: { x: { $from: 0 } } },
    { id: 2, tool: 'bad', on_fail: 'continue' },
    { id: 3, tool: 'asked', depends_on: [1, 2] },
  ];
  const plan = await checkedOf(nodes, { tools });
  for (let time = 0; time < runs; time += 1) {
    const session = createSession({ clock });
    const { status } = await runPlan(plan, {
      tools,
      session,
      clock,
      signal,
      rateLimits: { bad: { calls: 1, perMs: 5 } },
    });
    expect(status).toBe('suspended');
  }
  expect(added.mock.calls.length).toBe(removed.mock.calls.length);
  expect([added.mock.calls.length >= runs, clock.pending]).toEqual([true, 0]);
});
