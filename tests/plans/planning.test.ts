import { defineTool, type Json, type Outcome, type Prompt, type Tool, type ToolCall, toolError } from '@holdfast/core';
import { executeToolCall, runAgent } from '@holdfast/executor';
import { planCompleted, planningSection, planningTools, planSlice, type TodoPlan } from '@holdfast/planning';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession, replay, type Session } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';

const setUp = (...titles: readonly string[]): ToolCall => ({
  name: 'planning_setup_plan',
  arguments: { objective: 'Ship', initial_steps: titles },
});
const add = (...steps: readonly string[]): ToolCall => ({ name: 'planning_add_step', arguments: { steps } });
const update = (step_id: number, change: object): ToolCall => ({
  name: 'planning_update_step',
  arguments: { step_id, ...change },
});
const readPlan: ToolCall = { name: 'planning_read_plan', arguments: '' };
const done = { status: 'done' };

const prompt = createPrompt({ ns: 'tests', key: 'planning', sections: [planningSection()] });

async function play(
  turns: readonly (readonly ToolCall[])[],
  { session = createSession(), with: used = prompt }: { readonly session?: Session; readonly with?: Prompt } = {},
) {
  const model = scriptedModel([...turns.map((calls) => ({ calls })), { text: 'Done.' }]);
  const { status, outcomes } = await runAgent({ model, prompt: used, session, input: 'Work.' }).result;
  expect(status).toBe('completed');
  return { session, outcomes, plan: session.read(planSlice) };
}

async function call({ name, arguments: input }: ToolCall, session: Session): Promise<Outcome> {
  const outcome = await executeToolCall({ name, arguments: input }, { tools: planningTools(), session });
  if (outcome.kind === 'suspended') throw new Error('No person is asked about a plan.');
  return outcome;
}

const titlesOf = (plan: TodoPlan | null) =>
  plan?.steps.map(({ step_id, title, status }) => `${step_id} ${title} ${status}`);

test('calls of one turn come out in their order', async () => {
  const { outcomes, plan } = await play([
    [setUp('A')],
    [add('B'), add('C', 'D'), update(3, { title: 'C, too', ...done }), readPlan],
  ]);
  expect(outcomes.map(({ kind, message }) => [kind, message])).toEqual([
    ['ok', 'Set up the plan: id 1, 1 step.'],
    ['ok', 'Added id 2. The plan has 2 steps.'],
    ['ok', 'Added ids 3 to 4. The plan has 4 steps.'],
    ['ok', 'Step 3 is done. The plan is active, 1 of 4 steps done.'],
    ['ok', 'The plan is active, 1 of 4 steps done.'],
  ]);
  expect(titlesOf(plan)).toEqual(['1 A pending', '2 B pending', '3 C, too done', '4 D pending']);
  expect(outcomes[4]?.text).toContain(
    '\n\nObjective: Ship\n1. pending: A\n2. pending: B\n3. done: C, too\n4. pending: D',
  );
});

test('a plan is set up, completed, refused and replaced within one turn', async () => {
  const { outcomes, plan } = await play([
    [setUp('A'), update(1, done), add('B'), setUp('X'), add('Y'), update(9, done)],
  ]);
  expect(outcomes.map(({ kind, reason }) => reason ?? kind)).toEqual([
    'ok',
    'ok',
    'completed',
    'ok',
    'ok',
    'step_unknown',
  ]);
  expect(titlesOf(plan)).toEqual(['1 X pending', '2 Y pending']);
});

test('a session knows the plan from the moment that it meets the prompt', async () => {
  const { session } = await play([]);
  expect(session.export().slices).toContainEqual(expect.objectContaining({ id: 'planning/plan', state: null }));
});

test('without a prompt the first call lets the session know the plan', async () => {
  const session = createSession();
  expect(await call(readPlan, session)).toMatchObject({ kind: 'failed', code: 'planning.invalid', reason: 'no_plan' });
  expect(await call(setUp('A'), session)).toMatchObject({ kind: 'ok' });
  expect(titlesOf(session.read(planSlice))).toEqual(['1 A pending']);
});

test('one section serves many sessions, each with a plan of its own', async () => {
  const [one, other] = [await play([[setUp('A')]]), await play([[setUp('B')], [add('C')]])];
  expect([titlesOf(one.plan), titlesOf(other.plan)]).toEqual([['1 A pending'], ['1 B pending', '2 C pending']]);
});

test.each([
  { name: 'planning_setup_plan', input: {} },
  { name: 'planning_setup_plan', input: { objective: 'Ship', initial_steps: [{ title: 'A' }] } },
  { name: 'planning_setup_plan', input: { objective: 'Ship', steps: ['A'] } },
  { name: 'planning_add_step', input: { steps: 'A' } },
  { name: 'planning_add_step', input: {} },
  { name: 'planning_update_step', input: { status: 'done' } },
  { name: 'planning_update_step', input: { step_id: '1', status: 'done' } },
  { name: 'planning_update_step', input: { step_id: 1.5, status: 'done' } },
  { name: 'planning_update_step', input: { step_id: 1, status: null } },
  { name: 'planning_read_plan', input: { all: true } },
] satisfies { name: string; input: Json }[])('$name takes no $input', async ({ name, input }) => {
  const session = createSession();
  await call(setUp('A'), session);
  const before = session.read(planSlice);
  expect(await call({ name, arguments: input }, session)).toMatchObject({ kind: 'invalid', code: 'arguments.invalid' });
  expect(session.read(planSlice)).toBe(before);
});

test('what a call that fails has planned is gone with it', async () => {
  const session = createSession();
  await call(setUp('A'), session);
  const before = session.read(planSlice);
  const plans = defineTool({
    name: 'plan_and_fail',
    description: 'Adds a step, marks the first as done, and fails.',
    effects: 'state',
    async execute(_input, context) {
      for (const { name, arguments: input } of [add('B'), update(1, done)]) {
        expect(await context.call(name, input)).toMatchObject({ kind: 'ok' });
      }
      return toolError('No.');
    },
  });
  const outcome = await executeToolCall(
    { name: plans.name, arguments: '' },
    { tools: [plans, ...planningTools()], session },
  );
  expect(outcome.kind).toBe('failed');
  expect(session.read(planSlice)).toBe(before);
});

test('work on other things goes on beside a change of the plan', async () => {
  const steps: string[] = [];
  let release = (): void => undefined;
  const bothRun = new Promise<void>((resolve) => {
    release = resolve;
  });
  const work: Tool = defineTool({
    name: 'work',
    description: 'Works on one part.',
    inputSchema: v.object({ part: v.string() }),
    effects: 'state',
    locks: ({ part }) => [part],
    async execute({ part }) {
      steps.push(part);
      // Each waits for the other: one after the other they would never end.
      if (steps.length === 2) release();
      await bothRun;
      return part;
    },
  });
  const section = markdownSection({ title: 'Work', template: 'Work.', tools: [work] });
  const sections = [planningSection(), section];
  const { outcomes, plan } = await play(
    [
      [setUp('A', 'B')],
      [
        { name: 'work', arguments: { part: 'a' } },
        update(1, done),
        { name: 'work', arguments: { part: 'b' } },
        update(2, done),
      ],
    ],
    { with: createPrompt({ ns: 'tests', key: 'beside', sections }) },
  );
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
  expect(plan?.status).toBe('completed');
});

test('planCompleted sends the model back, and lets it go when the plan is completed', async () => {
  const completion = planCompleted();
  const model = scriptedModel([
    { text: 'Nothing to do.' },
    { calls: [setUp('A', 'B')] },
    { text: 'Planned.' },
    { calls: [update(1, done), update(2, done)] },
    { text: 'Done.' },
  ]);
  const guarded = createPrompt({ ns: 'tests', key: 'guarded', sections: [planningSection()], completion });
  const { status, text } = await runAgent({ model, prompt: guarded, session: createSession(), input: 'Work.' }).result;
  expect([status, text]).toEqual(['completed', 'Done.']);
  const told = [1, 3].map((index) => model.requests[index]?.messages.at(-1)?.text);
  expect(told).toEqual([
    expect.stringContaining('There is no plan yet.'),
    expect.stringContaining('Still open: 1 (A), 2 (B).'),
  ]);
});

test('a plan is resumed from its log', async () => {
  const { session } = await play([[setUp('A'), add('B'), update(1, done)]]);
  const again = replay([...session.records()], { slices: [planSlice] });
  const { plan } = await play([[add('C'), update(2, done)]], { session: again });
  expect(titlesOf(plan)).toEqual(['1 A done', '2 B done', '3 C pending']);
});

const title = fc.constantFrom('A', 'B', ' C ', '', 'x'.repeat(501));
const anyCall: fc.Arbitrary<ToolCall> = fc.oneof(
  fc.array(title, { maxLength: 2 }).map((titles) => setUp(...titles)),
  { weight: 2, arbitrary: fc.array(title, { maxLength: 3 }).map((titles) => add(...titles)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.integer({ min: 0, max: 4 }),
        fc.record({ title, status: fc.constantFrom('pending', 'in_progress', 'done', 'Done') }, { requiredKeys: [] }),
      )
      .map(([id, change]) => update(id, change)),
  },
  fc.constant(readPlan),
);

test('however calls are put into turns, they do what they do one by one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(anyCall, { minLength: 1, maxLength: 5 }), { maxLength: 4 }), async (turns) => {
      const { outcomes, plan } = await play(turns);
      const session = createSession();
      const alone: Outcome[] = [];
      for (const one of turns.flat()) alone.push(await call(one, session));
      expect(plan).toEqual(session.read(planSlice));
      expect(outcomes.map(({ kind, text }) => [kind, text])).toEqual(alone.map(({ kind, text }) => [kind, text]));
    }),
    { numRuns: 60 },
  );
});

test('of calls without an order each does what it says, or nothing', async () => {
  const session = createSession();
  await call(setUp(), session);
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => call(add(`step ${index}`), session)));
  const told = outcomes.filter(({ kind }) => kind === 'ok').flatMap(({ value }) => v.parse(addedSteps, value).steps);
  expect(session.read(planSlice)?.steps).toEqual(told.toSorted((one, other) => one.step_id - other.step_id));
  expect(told.length).toBeGreaterThan(0);
  for (const { kind, code } of outcomes) expect(kind === 'ok' || code === 'commit.conflict').toBe(true);
});

const addedSteps = v.object({
  steps: v.array(v.object({ step_id: v.number(), title: v.string(), status: v.string() })),
});
