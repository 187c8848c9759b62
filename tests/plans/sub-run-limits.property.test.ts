import { defineTool, type JsonObject, type Planner, type Tool } from '@holdfast/core';
import { fanOutTool, type PlanTrace, planTool, runPlan } from '@holdfast/orchestrator';
import type { RateLimit } from '@holdfast/orchestrator/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { type ManualClock, manualClock } from '@holdfast/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkedOf, planOf, world } from './test-sub-runs.ts';

interface Work {
  readonly tool: string;
  readonly locks: readonly string[];
  readonly takesMs: number;
}

/** A node: work of its own, a plan of work, or several plans of it beside each other. */
type Node = Work | { readonly plan: readonly Work[] } | { readonly plans: readonly (readonly Work[])[] };

const names = ['red', 'green'];
const work: fc.Arbitrary<Work> = fc.record({
  tool: fc.constantFrom(...names),
  locks: fc.subarray(['x', 'y', 'z']),
  takesMs: fc.integer({ min: 1, max: 60 }),
});
const inner = fc.array(work, { minLength: 1, maxLength: 3 });
const node: fc.Arbitrary<Node> = fc.oneof(
  { weight: 3, arbitrary: work },
  { weight: 2, arbitrary: fc.record({ plan: inner }) },
  { weight: 1, arbitrary: fc.record({ plans: fc.array(inner, { minLength: 1, maxLength: 3 }) }) },
);

interface Span {
  readonly work: Work;
  readonly fromMs: number;
  readonly toMs: number;
}

function workTool(name: string, clock: ManualClock, spans: Span[]): Tool {
  return defineTool({
    name,
    description: 'Works for a while.',
    effects: 'state',
    inputSchema: jsonSchema<{ readonly locks: readonly string[]; readonly takesMs: number }>({
      type: 'object',
      properties: { locks: { type: 'array', items: { type: 'string' } }, takesMs: { type: 'integer' } },
      required: ['locks', 'takesMs'],
    }),
    locks: ({ locks }) => locks,
    async execute({ locks, takesMs }) {
      const fromMs = clock.now();
      await new Promise((resolve) => clock.after(takesMs, () => resolve(undefined)));
      spans.push({ work: { tool: name, locks, takesMs }, fromMs, toMs: clock.now() });
      return null;
    },
  });
}

const toNode = ({ tool, locks, takesMs }: Work, id: number): JsonObject => ({ id, tool, inputs: { locks, takesMs } });
const toPlan = (list: readonly Work[]): JsonObject => planOf(...list.map(toNode));

/** Has the plans of `nodes` by what they are asked for. */
function toTop(nodes: readonly Node[]): { readonly top: readonly JsonObject[]; readonly planner: Planner } {
  const plans = new Map<string, JsonObject>();
  const ask = (list: readonly Work[]): string => {
    plans.set(`plan ${plans.size}`, toPlan(list));
    return `plan ${plans.size - 1}`;
  };
  const top = nodes.map((each, id): JsonObject => {
    if ('plan' in each) return { id, tool: 'run_plan', inputs: { request: ask(each.plan) }, timeout: 3_600 };
    if ('plans' in each) return { id, tool: 'run_plans', inputs: { requests: each.plans.map(ask) }, timeout: 3_600 };
    return toNode(each, id);
  });
  return {
    top,
    planner: { id: 'known', plan: ({ request }) => Promise.resolve({ plan: plans.get(request) ?? null }) },
  };
}

async function runToEnd(running: PromiseLike<PlanTrace>, clock: ManualClock): Promise<PlanTrace> {
  let over = false;
  const result = Promise.resolve(running).finally(() => {
    over = true;
  });
  void Promise.allSettled([result]);
  // On a busy machine a plan takes thousands of steps to compile. The test's own time limit ends a run that hangs.
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1);
  }
  return await result;
}

function worksOf(nodes: readonly Node[]): readonly Work[] {
  return nodes.flatMap((each) => ('plan' in each ? each.plan : 'plans' in each ? each.plans.flat() : [each]));
}

test('locks and rates hold across a plan and all the plans within it, and everything comes to its end', async () => {
  let overlapped = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(node, { minLength: 1, maxLength: 8, size: 'max' }),
      fc.record({ calls: fc.integer({ min: 1, max: 3 }), perMs: fc.integer({ min: 1, max: 80 }) }),
      fc.integer({ min: 1, max: 5 }),
      async (nodes, limit, maxConcurrency) => {
        const clock = manualClock(1_000);
        const spans: Span[] = [];
        const work = names.map((name) => workTool(name, clock, spans));
        const { top, planner } = toTop(nodes);
        const tools = [
          ...work,
          planTool({ planner, tools: work, clock, maxConcurrency }),
          fanOutTool({ planner, tools: work, clock, maxConcurrency }),
        ];
        const { session } = world();
        const rateLimits: Readonly<Record<string, RateLimit>> = { red: limit };
        const running = runPlan(await checkedOf(tools, ...top), { tools, session, clock, rateLimits, maxConcurrency });
        expect(await runToEnd(running, clock)).toMatchObject({ status: 'succeeded' });

        expect(spans.map((span) => JSON.stringify(span.work)).toSorted()).toEqual(
          worksOf(nodes)
            .map(({ tool, locks, takesMs }) => JSON.stringify({ tool, locks, takesMs }))
            .toSorted(),
        );
        for (const [index, one] of spans.entries()) {
          for (const other of spans.slice(index + 1)) {
            const apart = one.toMs <= other.fromMs || other.toMs <= one.fromMs;
            overlapped += Number(!apart);
            if (one.work.locks.some((lock) => other.work.locks.includes(lock))) expect(apart).toBe(true);
          }
        }
        const red = spans.filter((span) => span.work.tool === 'red').map(({ fromMs }) => fromMs);
        for (const start of red) {
          const within = red.filter((other) => other >= start && other < start + limit.perMs);
          expect(within.length).toBeLessThanOrEqual(limit.calls);
        }
        expect(clock.pending).toBe(0);
      },
    ),
    { numRuns: 20 },
  );
  expect(overlapped).toBeGreaterThan(20);
});
