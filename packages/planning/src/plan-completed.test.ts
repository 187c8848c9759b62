import type { CompletionContext } from '@holdfast/core/types';
import { createSession, type Session } from '@holdfast/session';
import { expect, test } from 'vitest';
import { callTool, sessionWithPlan } from './fixtures.ts';
import { planCompleted } from './plan-completed.ts';
import { planSlice } from './plan-slice.ts';

function contextOf(session: Session): CompletionContext {
  return {
    session,
    filesystem: undefined,
    deadline: { atMs: 1e9, remainingMs: () => 1e9 },
    budget: undefined,
    calls: 0,
    text: 'Done.',
  };
}

const complete = { complete: true };
const fits =
  'Do them and mark each as done with `planning_update_step`, or replace the plan with `planning_setup_plan`.';

test.each([
  {
    what: 'no plan',
    session: createSession(),
    expected: {
      complete: false,
      feedback:
        'There is no plan yet. Set one up with `planning_setup_plan`, do its steps, and mark each as done with `planning_update_step`.',
    },
  },
  {
    what: 'a plan without steps',
    session: sessionWithPlan(0),
    expected: {
      complete: false,
      feedback:
        'The plan has no steps. Add some with `planning_add_step`, do them, and mark each as done with `planning_update_step`.',
    },
  },
  {
    what: 'one open step',
    session: sessionWithPlan(3, [1, 3]),
    expected: {
      complete: false,
      feedback: `The plan is not completed: 2 of 3 steps done. Still open: 2 (B). ${fits}`,
    },
  },
  {
    what: 'three open steps',
    session: sessionWithPlan(3),
    expected: {
      complete: false,
      feedback: `The plan is not completed: 0 of 3 steps done. Still open: 1 (A), 2 (B), 3 (C). ${fits}`,
    },
  },
  {
    what: 'more than three',
    session: sessionWithPlan(5, [2]),
    expected: {
      complete: false,
      feedback: `The plan is not completed: 1 of 5 steps done. Still open: 1 (A), 3 (C), 4 (D), ... ${fits}`,
    },
  },
  { what: 'all done', session: sessionWithPlan(2, [2, 1]), expected: complete },
])('$what', ({ session, expected }) => {
  expect(planCompleted().check(contextOf(session))).toEqual(expected);
  const optional = planCompleted({ optional: true }).check(contextOf(session));
  expect(optional).toEqual(session.read(planSlice) === null ? complete : expected);
});

test('a step in progress counts as open', () => {
  const session = sessionWithPlan(1);
  callTool(session, 'planning_update_step', { step_id: 1, status: 'in_progress' });
  expect(planCompleted().check(contextOf(session))).toMatchObject({ complete: false });
});

test('its name is a valid checker name', () => {
  expect(planCompleted().name).toBe('plan-completed');
});
