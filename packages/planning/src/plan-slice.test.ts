import { createSession, replay } from '@holdfast/session';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginCall, callTool, commit, planOf, sessionWithPlan } from './fixtures.ts';
import type { TodoPlan } from './plan.ts';
import { planSlice } from './plan-slice.ts';

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', 'x'.repeat(501)) },
);
// Mostly low ids and updates; otherwise few plans would be completed.
const stepId = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 2 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 6 }) },
);
const status = fc.constantFrom('pending', 'in_progress', 'done', 'done', 'done', 'bogus');
const call = fc.oneof(
  fc.record({
    name: fc.constant('planning_setup_plan'),
    input: fc.record(
      { objective: text, initial_steps: fc.array(text, { maxLength: 3 }) },
      { requiredKeys: ['objective'] },
    ),
  }),
  fc.record({
    name: fc.constant('planning_add_step'),
    input: fc.record({ steps: fc.array(text, { maxLength: 3 }) }),
  }),
  {
    weight: 8,
    arbitrary: fc.record({
      name: fc.constant('planning_update_step'),
      input: fc.record({ step_id: stepId, title: text, status }, { requiredKeys: ['step_id'] }),
    }),
  },
  fc.record({ name: fc.constant('planning_read_plan'), input: fc.constant({}) }),
);

test('any calls leave one valid plan: ids count up and stay, it is completed when all is done, failures change nothing', () => {
  let completions = 0;
  fc.assert(
    fc.property(fc.array(call, { maxLength: 30, size: 'max' }), (calls) => {
      const session = createSession();
      let before: TodoPlan | null = null;
      for (const { name, input } of calls) {
        const { success } = callTool(session, name, input).result;
        const after = session.read(planSlice);
        if (!success || name === 'planning_read_plan') expect(after).toBe(before);
        else expectSound(after, name === 'planning_setup_plan' ? null : before);
        if (before?.status === 'completed' && name !== 'planning_setup_plan') expect(after).toBe(before);
        if (after?.status === 'completed') completions += 1;
        before = after;
      }
      expect(session.export().slices.filter(({ id }) => id === 'planning/plan').length).toBe(calls.length > 0 ? 1 : 0);
      expect(replay([...session.records()], { slices: [planSlice] }).read(planSlice)).toEqual(before);
    }),
    { numRuns: 50 },
  );
  expect(completions).toBeGreaterThan(0);
});

function expectSound(plan: TodoPlan | null, before: TodoPlan | null): void {
  if (plan === null) throw new Error('Expected a plan after setup.');
  const ids = plan.steps.map(({ step_id }) => step_id);
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  expect(Math.min(1, ...ids)).toBe(1);
  // Existing steps keep their id and position; new ones are appended.
  expect(ids.slice(0, before?.steps.length ?? 0)).toEqual(before?.steps.map(({ step_id }) => step_id) ?? []);
  const allDone = plan.steps.length > 0 && plan.steps.every(({ status }) => status === 'done');
  expect(plan.status).toBe(allDone ? 'completed' : 'active');
  for (const line of [plan.objective, ...plan.steps.map(({ title }) => title)]) {
    expect(line).toBe(line.trim());
    expect(line.length).toBeGreaterThan(0);
    expect(line.length).toBeLessThanOrEqual(500);
  }
}

test.each([
  {
    what: 'steps were added',
    meanwhile: { name: 'planning_add_step', input: { steps: ['theirs'] } },
    call: { name: 'planning_add_step', input: { steps: ['mine'] } },
  },
  {
    what: 'the plan was completed',
    meanwhile: { name: 'planning_update_step', input: { step_id: 2, status: 'done' } },
    call: { name: 'planning_add_step', input: { steps: ['mine'] } },
  },
  {
    what: 'the plan was replaced by a shorter one',
    meanwhile: { name: 'planning_setup_plan', input: { objective: 'Other', initial_steps: ['One'] } },
    call: { name: 'planning_update_step', input: { step_id: 2, status: 'done' } },
  },
])('a call fails if its plan changed meanwhile: $what', ({ meanwhile, call }) => {
  const session = sessionWithPlan(2, [1]);
  const mine = beginCall(session, call.name, call.input);
  expect(mine.result.success).toBe(true);
  callTool(session, meanwhile.name, meanwhile.input);
  const theirs = planOf(session);
  expect(() => commit(mine.transaction)).toThrowError(expect.objectContaining({ code: 'commit.conflict' }));
  expect(planOf(session)).toBe(theirs);
});

test('overlapping calls on different steps both take effect', () => {
  const session = sessionWithPlan(2);
  const mine = beginCall(session, 'planning_update_step', { step_id: 1, status: 'done' });
  callTool(session, 'planning_update_step', { step_id: 2, status: 'done' });
  commit(mine.transaction);
  expect(planOf(session).status).toBe('completed');
});

test.each([
  { what: 'a duplicate id', plan: { status: 'active', steps: [step(1), step(1)] } },
  { what: 'decreasing ids', plan: { status: 'active', steps: [step(2), step(1)] } },
  { what: 'an id below 1', plan: { status: 'active', steps: [step(0)] } },
  { what: 'completed with an open step', plan: { status: 'completed', steps: [step(1, 'done'), step(2)] } },
  { what: 'completed without steps', plan: { status: 'completed', steps: [] } },
  { what: 'active with every step done', plan: { status: 'active', steps: [step(1, 'done')] } },
])('importing an invalid plan fails: $what', ({ plan }) => {
  const { slices, ...rest } = sessionWithPlan(1).export();
  const changed = slices.map((slice) => ({ ...slice, state: { objective: 'Ship', ...plan } }));
  const session = createSession({ slices: [planSlice] });
  expect(() => session.import({ ...rest, slices: changed })).toThrowError(
    expect.objectContaining({ code: 'slice.invalid', reason: 'value.invalid' }),
  );
  expect(session.read(planSlice)).toBeNull();
});

test('a plan can be imported into another session', () => {
  const session = createSession({ slices: [planSlice] });
  session.import(sessionWithPlan(3, [2]).export());
  expect(planOf(session)).toEqual(planOf(sessionWithPlan(3, [2])));
});

test.each([
  { type: 'planning/plan-set-up', payload: { objective: 'Ship' }, message: 'titles' },
  { type: 'planning/steps-added', payload: null, message: 'Object' },
  { type: 'planning/step-updated', payload: { step_id: 1, status: 'bogus' }, message: 'bogus' },
])('a malformed event changes nothing: $type', ({ message, ...event }) => {
  const session = sessionWithPlan(1);
  const before = planOf(session);
  expect(() => session.dispatch(event)).toThrow(message);
  expect(planOf(session)).toBe(before);
});

function step(step_id: number, status: 'pending' | 'done' = 'pending'): object {
  return { step_id, title: 'A', status };
}
