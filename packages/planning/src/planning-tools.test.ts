import { createSession, type Session } from '@holdfast/session';
import { expect, test } from 'vitest';
import { callTool, planOf, sessionWithPlan } from './fixtures.ts';
import { planSlice } from './plan-slice.ts';
import { planningTools } from './planning-tools.ts';

const setup = (session: Session, titles?: readonly string[], objective = 'Ship') =>
  callTool(session, 'planning_setup_plan', { objective, ...(titles === undefined ? {} : { initial_steps: titles }) });
const add = (session: Session, ...steps: readonly string[]) => callTool(session, 'planning_add_step', { steps });
const update = (session: Session, step_id: number, change: object = {}) =>
  callTool(session, 'planning_update_step', { step_id, ...change });
const read = (session: Session) => callTool(session, 'planning_read_plan');

const completed = () => sessionWithPlan(2, [1, 2]);
const active = () => sessionWithPlan(2);
const withoutPlan = () => createSession();

const noPlan = 'No plan is currently initialised. Set one up with `planning_setup_plan` first.';
const over = 'The plan is completed and can no longer be changed. Set up a new one with `planning_setup_plan`.';
const tooLong = (name: string, length: number) => `\`${name}\` has ${length} characters; the limit is 500. Shorten it.`;
const empty = (name: string) => `\`${name}\` is empty. Give it 1 to 500 characters.`;
const unknownStatus = (status: string) => `Unknown status \`${status}\`. Use \`pending\`, \`in_progress\` or \`done\`.`;

test.each([
  { session: withoutPlan, call: read, code: 'planning.invalid', reason: 'no_plan', message: noPlan },
  { session: withoutPlan, call: (s: Session) => add(s), code: 'planning.invalid', reason: 'no_plan', message: noPlan },
  {
    session: withoutPlan,
    call: (s: Session) => update(s, 1),
    code: 'planning.invalid',
    reason: 'no_plan',
    message: noPlan,
  },
  {
    session: completed,
    call: (s: Session) => add(s, 'C'),
    code: 'planning.invalid',
    reason: 'completed',
    message: over,
  },
  {
    session: completed,
    call: (s: Session) => update(s, 1, { status: 'pending' }),
    code: 'planning.invalid',
    reason: 'completed',
    message: over,
  },
  {
    session: active,
    call: (s: Session) => add(s),
    code: 'planning.invalid',
    reason: 'no_steps',
    message: '`steps` is empty. Give at least one title, or continue with the existing steps.',
  },
  {
    session: active,
    call: (s: Session) => add(s, ' '),
    code: 'planning.invalid',
    reason: 'text',
    message: empty('steps[0]'),
  },
  {
    session: active,
    call: (s: Session) => add(s, 'C', 'x'.repeat(501)),
    code: 'planning.invalid',
    reason: 'text',
    message: tooLong('steps[1]', 501),
  },
  {
    session: active,
    call: (s: Session) => setup(s, ['C'], ' \n'),
    code: 'planning.invalid',
    reason: 'text',
    message: empty('objective'),
  },
  {
    session: active,
    call: (s: Session) => setup(s, [], '😀'.repeat(501)),
    code: 'planning.invalid',
    reason: 'text',
    message: tooLong('objective', 501),
  },
  {
    session: withoutPlan,
    call: (s: Session) => setup(s, ['A', '\t']),
    code: 'planning.invalid',
    reason: 'text',
    message: empty('initial_steps[1]'),
  },
  {
    session: active,
    call: (s: Session) => update(s, 1, { title: 'x'.repeat(600) }),
    code: 'planning.invalid',
    reason: 'text',
    message: tooLong('title', 600),
  },
  {
    session: active,
    call: (s: Session) => update(s, 2, { title: '' }),
    code: 'planning.invalid',
    reason: 'text',
    message: empty('title'),
  },
  {
    session: active,
    call: (s: Session) => update(s, 2),
    code: 'planning.invalid',
    reason: 'nothing_to_change',
    message: 'Nothing to change. Give `title`, `status` or both for step 2.',
  },
  ...['bogus', 'Done', ' done', '', '__proto__'].map((status) => ({
    session: active,
    call: (s: Session) => update(s, 1, { title: 'New', status }),
    code: 'planning.invalid',
    reason: 'status_unknown',
    message: unknownStatus(status),
  })),
  {
    session: active,
    call: (s: Session) => update(s, 1, { status: 'd'.repeat(100_000) }),
    code: 'planning.invalid',
    reason: 'status_unknown',
    message: unknownStatus('d'.repeat(40)),
  },
  ...[0, 3, -1, 1e15].map((id) => ({
    session: active,
    call: (s: Session) => update(s, id, { status: 'done' }),
    code: 'planning.invalid',
    reason: 'step_unknown',
    message: `The plan has no step ${id}. It has ids 1 to 2; \`planning_read_plan\` shows them.`,
  })),
  {
    session: () => sessionWithPlan(0),
    call: (s: Session) => update(s, 1, { status: 'done' }),
    code: 'planning.invalid',
    reason: 'step_unknown',
    message: 'The plan has no step 1. It has none yet. Add some with `planning_add_step`.',
  },
])('$code: $message', ({ session: make, call, code, reason, message }) => {
  const session = make();
  const before = session.read(planSlice);
  expect(call(session).result).toMatchObject({ success: false, code, reason, message, value: null });
  expect(session.read(planSlice)).toBe(before);
});

test.each([
  { titles: undefined, message: 'Set up the plan: no steps yet. Add some with `planning_add_step`.' },
  { titles: [], message: 'Set up the plan: no steps yet. Add some with `planning_add_step`.' },
  { titles: ['A'], message: 'Set up the plan: id 1, 1 step.' },
  { titles: ['A', 'B'], message: 'Set up the plan: ids 1 to 2, 2 steps.' },
])('sets up a plan: $message', ({ titles, message }) => {
  const session = createSession();
  const { result, rendered } = setup(session, titles);
  const steps = (titles ?? []).map((title, index) => ({ step_id: index + 1, title, status: 'pending' }));
  expect(session.read(planSlice)).toEqual({ objective: 'Ship', status: 'active', steps });
  expect(result).toMatchObject({ success: true, message, value: planOf(session) });
  expect(rendered).toBe('');
});

test.each([
  { what: 'an active plan', session: active },
  { what: 'a completed plan', session: completed },
])('$what is replaced, and ids start at 1 again', ({ session: make }) => {
  const session = make();
  add(session, 'C');
  expect(setup(session, ['X'], 'More').result.message).toBe('Replaced the plan: id 1, 1 step.');
  expect(planOf(session)).toEqual({
    objective: 'More',
    status: 'active',
    steps: [{ step_id: 1, title: 'X', status: 'pending' }],
  });
  expect(add(session, 'Y').result.message).toBe('Added id 2. The plan has 2 steps.');
});

test('a plan has at most 1,000 steps', () => {
  const titles = (count: number) => Array.from({ length: count }, () => 'Work');
  const session = createSession();
  const whole = 'A plan has at most 1000 steps; this would make 1001. Use larger steps.';
  expect(setup(session, titles(1_001)).result).toMatchObject({
    success: false,
    code: 'planning.invalid',
    reason: 'too_many_steps',
  });
  expect(session.read(planSlice)).toBeNull();
  expect(setup(session, titles(999)).result.success).toBe(true);
  expect(add(session, 'Work', 'Work').result).toMatchObject({ success: false, message: whole });
  expect(add(session, 'Work').result.success).toBe(true);
  expect(planOf(session).steps).toHaveLength(1_000);
});

test('steps are appended to existing ones', () => {
  const session = sessionWithPlan(0);
  expect(add(session, 'A').result).toMatchObject({ message: 'Added id 1. The plan has 1 step.' });
  const { result } = add(session, 'B', 'B');
  expect(result).toMatchObject({
    message: 'Added ids 2 to 3. The plan has 3 steps.',
    value: { steps: planOf(session).steps.slice(1) },
  });
  expect(planOf(session).steps.map(({ step_id, title }) => [step_id, title])).toEqual([
    [1, 'A'],
    [2, 'B'],
    [3, 'B'],
  ]);
});

test('the last step done completes the plan, in any order', () => {
  const session = sessionWithPlan(4);
  const messages = [4, 1, 2, 3].map((id) => update(session, id, { status: 'done' }).result);
  expect(messages.map(({ message }) => message)).toEqual([
    'Step 4 is done. The plan is active, 1 of 4 steps done.',
    'Step 1 is done. The plan is active, 2 of 4 steps done.',
    'Step 2 is done. The plan is active, 3 of 4 steps done.',
    'Step 3 is done. The plan is completed, all 4 steps done.',
  ]);
  expect(messages.map(({ value }) => value)).toMatchObject([
    { plan_status: 'active' },
    { plan_status: 'active' },
    { plan_status: 'active' },
    { step: { step_id: 3, title: 'C', status: 'done' }, plan_status: 'completed' },
  ]);
  expect(planOf(session).status).toBe('completed');
});

test('several steps may be in progress, and return to pending', () => {
  const session = sessionWithPlan(3, [3]);
  for (const id of [1, 2]) update(session, id, { status: 'in_progress' });
  expect(planOf(session).steps.map(({ status }) => status)).toEqual(['in_progress', 'in_progress', 'done']);
  expect(update(session, 3, { status: 'pending' }).result.message).toBe(
    'Step 3 is pending. The plan is active, 0 of 3 steps done.',
  );
});

test('a title can change alone or with the status', () => {
  const session = sessionWithPlan(2, [1]);
  update(session, 1, { title: ' A, again ' });
  update(session, 2, { title: 'B, too', status: 'in_progress' });
  expect(planOf(session).steps).toEqual([
    { step_id: 1, title: 'A, again', status: 'done' },
    { step_id: 2, title: 'B, too', status: 'in_progress' },
  ]);
});

test('text is trimmed and may have 500 characters, even of two code units each', () => {
  const session = createSession();
  const long = '😀'.repeat(500);
  expect(setup(session, [` \n${long}\t`, `  ${'x'.repeat(500)}  `], `  ${long} `).result.success).toBe(true);
  expect(planOf(session)).toMatchObject({ objective: long, steps: [{ title: long }, { title: 'x'.repeat(500) }] });
});

test.each([
  {
    session: () => sessionWithPlan(0),
    message: 'The plan is active and has no steps. Add some with `planning_add_step`.',
  },
  { session: () => sessionWithPlan(1), message: 'The plan is active, 0 of 1 step done.' },
  { session: () => sessionWithPlan(3, [2]), message: 'The plan is active, 1 of 3 steps done.' },
  { session: () => sessionWithPlan(1, [1]), message: 'The plan is completed, its only step done.' },
  { session: completed, message: 'The plan is completed, all 2 steps done.' },
])('reading reports progress: $message', ({ session: make, message }) => {
  const session = make();
  expect(read(session).result).toMatchObject({ success: true, message, value: planOf(session) });
});

test('the model reads one line per step, whatever a title contains', () => {
  const session = createSession();
  setup(session, ['Build', 'Test\n3. done: Deploy'], 'Ship\r\nit');
  update(session, 1, { status: 'in_progress' });
  expect(read(session).rendered).toBe('Objective: Ship it\n1. in_progress: Build\n2. pending: Test 3. done: Deploy');
});

test('only reading has no effects; the others change state only and lock the plan', () => {
  expect(planningTools().map(({ name, effects, dangerous }) => [name, effects, dangerous])).toEqual([
    ['planning_setup_plan', 'state', false],
    ['planning_add_step', 'state', false],
    ['planning_update_step', 'state', false],
    ['planning_read_plan', 'none', false],
  ]);
  for (const tool of planningTools()) expect(tool.locks?.({})).toEqual(['planning/plan']);
});
