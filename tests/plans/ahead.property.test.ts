import type { JsonObject, Policy } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import {
  allowTools,
  callBudget,
  denyTools,
  every,
  observe,
  pathScope,
  rateLimit,
  readBeforeWrite,
  requireApproval,
  requireArguments,
  sequentialDependency,
  some,
  unless,
} from '@holdfast/policy';
import { createSession, type Session } from '@holdfast/session';
import { type ManualClock, manualClock } from '@holdfast/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foretell, pay, type Step, step, tools, write } from './test-ahead.ts';

const plain = ['test', 'build', 'deploy', 'wipe'] as const;
const names = fc.uniqueArray(fc.constantFrom(...plain, 'pay', 'write_file'), { minLength: 1, maxLength: 3 });

/** Makes a policy; ids tell those of one list apart. */
type Make = (id: string, clock: ManualClock) => Policy;

const statelessLeaf: fc.Arbitrary<Make> = fc.oneof(
  names.map(
    (list): Make =>
      (id) =>
        denyTools(list, { id }),
  ),
  names.map(
    (list): Make =>
      (id) =>
        allowTools([...list, 'test', 'build'], { id }),
  ),
  names.map(
    (list): Make =>
      (id) =>
        requireApproval({ tools: list, id }),
  ),
  fc.integer({ min: 0, max: 9 }).map(
    (most): Make =>
      (id) =>
        requireArguments('pay', (input) => Number(Object(input).euros) <= most, { id }),
  ),
  fc.integer({ min: 0, max: 9 }).map(
    (most): Make =>
      (id) =>
        requireApproval({ tools: ['pay'], when: (input) => Number(Object(input).euros) > most, id }),
  ),
);

const orders = [
  { deploy: ['test'] },
  { deploy: ['test', 'build'] },
  { deploy: ['build'], build: ['test'] },
  { pay: ['deploy'], test: ['wipe'] },
];
const statefulLeaf: fc.Arbitrary<Make> = fc.oneof(
  fc.integer({ min: 1, max: 5 }).map(
    (maxCalls): Make =>
      (id) =>
        callBudget({ maxCalls, id }),
  ),
  fc.constantFrom(...orders).map(
    (order): Make =>
      (id) =>
        sequentialDependency(order, { id }),
  ),
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.boolean()).map(
    ([maxCalls, some]): Make =>
      (id, clock) =>
        rateLimit({ maxCalls, perMs: 1_000, clock, id, ...(some ? { tools: ['test', 'deploy'] } : {}) }),
  ),
  fc.constant<Make>((id) => readBeforeWrite({ id })),
  fc.constant<Make>((id) => pathScope({ write: ['src'], id })),
);

const combined = (leaf: fc.Arbitrary<Make>): fc.Arbitrary<Make> =>
  fc.oneof(
    { weight: 4, arbitrary: leaf },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom(every, some), fc.array(leaf, { minLength: 1, maxLength: 3 })).map(
        ([combine, parts]): Make =>
          (id, clock) =>
            combine(...parts.map((make, at) => make(`${id}${at}`, clock))),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...plain), leaf).map(
        ([exempt, make]): Make =>
          (id, clock) =>
            unless(({ tool }) => tool.name === exempt, make(id, clock)),
      ),
    },
    {
      weight: 1,
      arbitrary: leaf.map(
        (make): Make =>
          (id, clock) =>
            observe(make(id, clock)),
      ),
    },
  );

interface Drawn {
  readonly steps: readonly Step[];
  /** Which of those that could be next is: a number of any size. */
  readonly picks: readonly number[];
}

/** Nodes in plan order, which need not be one in which they can run. `references`: whether inputs may hold some. */
function drawPlan(references: boolean): fc.Arbitrary<Drawn> {
  const node = fc.record({
    tool: fc.constantFrom(...plain, 'pay', 'write_file'),
    euros: fc.integer({ min: 0, max: 9 }),
    path: fc.constantFrom('src/a.ts', 'src/new.ts', 'etc/a.ts'),
    after: fc.array(fc.nat(20), { maxLength: 2 }),
    refers: fc.boolean(),
  });
  return fc
    .record({
      drawn: fc.array(node, { minLength: 1, maxLength: 6 }),
      picks: fc.array(fc.nat(100), { minLength: 6, maxLength: 6 }),
      order: fc.array(fc.nat(100), { minLength: 6, maxLength: 6 }),
    })
    .map(({ drawn, picks, order }) => {
      const steps = drawn.map(({ tool, euros, path, after, refers }, id): Step => {
        const before = id === 0 ? [] : [...new Set(after.map((at) => at % id))];
        // References to a node of files take its path: they return an object.
        const from = before.find((at) => drawn[at]?.tool !== 'write_file');
        const refer = references && refers && from !== undefined ? { $from: from } : undefined;
        if (tool === 'pay') return pay(id, refer ?? euros, ...before);
        if (tool === 'write_file') return write(id, path, ...before);
        return step(id, tool, ...before);
      });
      const shuffled = steps.toSorted((left, right) => (order[left.id] ?? 0) - (order[right.id] ?? 0));
      return { steps: shuffled, picks };
    });
}

interface World {
  readonly session: Session;
  readonly clock: ManualClock;
  readonly policies: readonly Policy[];
  readonly resources: Readonly<Record<string, unknown>>;
}

function createWorld(makes: readonly Make[]): World {
  const clock = manualClock();
  return {
    clock,
    session: createSession({ clock }),
    policies: makes.map((make, at) => make(`p${at}`, clock)),
    resources: { filesystem: memoryFilesystem({ 'src/a.ts': 'old' }) },
  };
}

/** How a call of the node ends, with 7 wherever it refers to something, and yes to every question. */
async function runStep(
  { tool, inputs = {} }: Step,
  world: World,
): Promise<{ readonly kind: string; readonly asked: boolean }> {
  let asked = false;
  const values: JsonObject = Object.fromEntries(
    Object.entries(inputs).map(([key, value]) => [key, typeof value === 'object' ? 7 : value]),
  );
  const { kind } = await executeToolCall(
    { name: tool, arguments: values },
    {
      ...world,
      tools,
      approve: () => {
        asked = true;
        return { type: 'approve' };
      },
    },
  );
  return { kind, asked };
}

/** The nodes in one of the orders in which they can run. */
function toOrder({ steps, picks }: Drawn): readonly Step[] {
  const order: Step[] = [];
  while (order.length < steps.length) {
    const ready = steps.filter(
      (one) => !order.includes(one) && (one.depends_on ?? []).every((id) => order.some((done) => done.id === id)),
    );
    const next = ready[(picks[order.length] ?? 0) % ready.length];
    if (next === undefined) throw new Error('There is a cycle.');
    order.push(next);
  }
  return order;
}

test('what is said to be denied is denied, in whatever order the plan runs', async () => {
  let reported = 0;
  await fc.assert(
    fc.asyncProperty(
      drawPlan(true),
      fc.array(combined(fc.oneof(statelessLeaf, statefulLeaf)), { minLength: 1, maxLength: 3 }),
      fc.array(fc.constantFrom(...plain), { maxLength: 3 }),
      fc.array(fc.constantFrom(0, 0, 400, 2_000), { minLength: 6, maxLength: 6 }),
      async (plan, makes, before, waits) => {
        const world = createWorld(makes);
        for (const tool of before) await runStep(step(0, tool), world);
        const { denied } = await foretell(plan.steps, world.policies, world);
        reported += denied.length;
        for (const [at, one] of toOrder(plan).entries()) {
          world.clock.advance(waits[at] ?? 0);
          const { kind } = await runStep(one, world);
          if (denied.includes(one.id)) expect([one.id, kind]).toEqual([one.id, 'denied']);
        }
      },
    ),
    { numRuns: 100 },
  );
  expect(reported).toBeGreaterThan(20);
});

test('what keeps no state and knows all inputs is foreseen as it comes: who is denied, and who asks', async () => {
  let free = 0;
  await fc.assert(
    fc.asyncProperty(
      drawPlan(false),
      fc.array(combined(statelessLeaf), { minLength: 1, maxLength: 3 }),
      async (plan, makes) => {
        const world = createWorld(makes);
        const { denied, asks } = await foretell(plan.steps, world.policies, world);
        if (denied.length === 0 && asks.length === 0) free += 1;
        for (const one of toOrder(plan)) {
          const { kind, asked } = await runStep(one, world);
          expect([one.id, kind === 'denied']).toEqual([one.id, denied.includes(one.id)]);
          // A plan in which something is denied is not asked about.
          if (denied.length === 0) expect([one.id, asked]).toEqual([one.id, asks.includes(one.id)]);
        }
      },
    ),
    { numRuns: 50 },
  );
  expect(free).toBeGreaterThan(5);
});
