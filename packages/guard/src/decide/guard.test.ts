import { allow, ask, definePolicy, deny, type Json, type Policy } from '@holdfast/core';
import { answerApproval, pendingApprovals } from '@holdfast/executor';
import { createFacts, fileFacts, shellFacts } from '@holdfast/facts';
import { budgets } from '@holdfast/pack-budgets';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { packPolicies, requireApproval, sequentialDependency } from '@holdfast/policy';
import { createSession, type LogRecord, type MemoryStore, memoryStore, replay, type Session } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { createGuard, decisions, type Guard, type GuardedCall, type GuardOptions } from '../index.ts';

interface Clock {
  now(): number;
  after(delayMs: number, run: () => void): () => void;
  ms: number;
}

interface World {
  readonly clock: Clock;
  readonly store: MemoryStore;
  readonly session: Session;
  readonly guard: Guard;
  /** The guard of another process that opens the log. */
  again(): { readonly guard: Guard; readonly session: Session };
  records(type: string): readonly LogRecord[];
}

function world(policies: readonly Policy[], more: Partial<GuardOptions> = {}): World {
  const clock: Clock = { ms: 1000, now: () => clock.ms, after: () => () => undefined };
  const store = memoryStore();
  const session = createSession({ id: 's', store, clock });
  const facts = createFacts({ describers: [shellFacts(), fileFacts()], view: { folder: '/w', workspace: '/w' } });
  const open = (live: Session) => createGuard({ session: live, policies, clock, facts, ...more });
  return {
    clock,
    store,
    session,
    guard: open(session),
    again() {
      const live = replay(store.records, { store, clock, slices: [decisions] });
      return { guard: open(live), session: live };
    },
    records: (type) => store.records.filter((record) => record.type === type),
  };
}

const bash = (id: string, command: string, more: Partial<GuardedCall> = {}): GuardedCall => ({
  id,
  name: 'Bash',
  input: { command },
  cwd: '/w',
  ...more,
});

/** Denies `git push` until `npm test` has succeeded, by the facts of both. */
const testFirst = definePolicy({
  name: 'test-first',
  initialState: false,
  check: ({ facts }, { state }) =>
    facts?.runs.some(({ program }) => program === 'git') && state !== true ? deny('Run the tests first.') : allow,
  onResult: ({ facts }, _result, { state }) =>
    state === true || facts?.runs.some(({ program }) => program === 'npm') === true,
});

const noSecrets = definePolicy({
  name: 'no-secrets',
  check: ({ facts }) => (facts?.reads.some(({ path }) => path.endsWith('/.env')) ? deny('It reads a secret.') : allow),
});

const asking = definePolicy({ name: 'asking', check: () => ask('May it?') });

test('what a call would do is judged in its own folder, under the name that the agent gives its tool', async () => {
  const { guard } = world([noSecrets]);
  expect(await guard.before(bash('1', 'ls'))).toEqual({ type: 'allow' });
  expect(await guard.before(bash('2', 'cat .env'))).toEqual({
    type: 'deny',
    code: 'policy.denied',
    reason: 'Denied: It reads a secret.',
  });
  expect(await guard.before(bash('3', 'cat .env', { cwd: '/elsewhere' }))).toMatchObject({ type: 'deny' });
  expect(await guard.before({ id: '4', name: 'mcp__X.y__cat!', input: { path: '.env' } })).toEqual({ type: 'allow' });
  // A describer knows it by this name alone.
  const edit = { id: '5', name: 'MultiEdit', input: { file_path: '/w/.env' } };
  expect(await guard.before(edit)).toMatchObject({ type: 'deny' });
});

test('a pack of policies is in force as it is', async () => {
  const { guard } = world(packPolicies(filesystemGuard));
  expect(await guard.before(bash('1', 'base64 < .env'))).toMatchObject({ type: 'deny' });
  expect(await guard.before(bash('2', 'npm test'))).toEqual({ type: 'allow' });
});

describe('an order rule is paid', () => {
  test('by a reported success, in another process as well', async () => {
    const { guard, again } = world([testFirst]);
    expect(await guard.before(bash('1', 'git push'))).toMatchObject({ type: 'deny' });
    expect(await guard.before(bash('2', 'npm test'))).toEqual({ type: 'allow' });
    expect(await guard.before(bash('3', 'git push'))).toMatchObject({ type: 'deny' });
    const second = again().guard;
    expect(await second.after(bash('2', 'npm test'), { ok: true, value: '3 passed' })).toMatchObject({ kind: 'ok' });
    expect(await again().guard.before(bash('4', 'git push'))).toEqual({ type: 'allow' });
  });

  test.each<[string, Parameters<Guard['after']>[1], object]>([
    ['a failure', { ok: false, message: 'exit code 1' }, { kind: 'failed', message: 'exit code 1' }],
    ['no word', { ok: 'unknown' }, { kind: 'in-doubt' }],
    ['a call that did not run', { ok: 'not-run' }, { kind: 'cancelled' }],
    [
      'another input',
      { ok: true, input: { command: 'npm test || true' } },
      { kind: 'failed', code: 'guard.input_changed' },
    ],
  ])('not by %s', async (_, report, outcome) => {
    const { guard } = world([testFirst]);
    await guard.before(bash('1', 'npm test'));
    expect(await guard.after(bash('1', 'npm test'), report)).toMatchObject(outcome);
    expect(await guard.before(bash('2', 'git push'))).toMatchObject({ type: 'deny' });
  });

  test('not by a call that was never reported: the next prompt ends it, and a late report changes nothing', async () => {
    const { guard, records } = world([testFirst]);
    await guard.before(bash('1', 'npm test'));
    expect(await guard.prompt('Go on.')).toMatchObject([{ kind: 'in-doubt', code: 'guard.unreported' }]);
    expect(await guard.after(bash('1', 'npm test'), { ok: true, value: 'passed' })).toBeUndefined();
    expect(records('tool-call-late')).toMatchObject([{ callId: '1', value: 'passed' }]);
    expect(await guard.before(bash('2', 'git push'))).toMatchObject({ type: 'deny' });
    expect(await guard.end()).toEqual([]);
  });
});

test('one call is one decision: a hundred calls, each told twice at once, leave a hundred records', async () => {
  const { guard, records } = world([noSecrets]);
  const calls = Array.from({ length: 100 }, (_, index) => bash(`c${index}`, index % 2 === 0 ? 'ls' : 'cat .env'));
  const verdicts = await Promise.all(calls.flatMap((call) => [guard.before(call), guard.before(call)]));
  expect(verdicts.filter(({ type }) => type === 'allow')).toHaveLength(100);
  expect(records('tool-call-start').filter(({ name }) => name === 'bash')).toHaveLength(50);
  expect(
    records('tool-call-end').filter(({ outcome }) => (outcome as { kind: string }).kind === 'denied'),
  ).toHaveLength(50);
});

test('a call told again, later or in another process, gets the same answer', async () => {
  const { guard, again, records } = world([noSecrets]);
  const calls = [bash('1', 'ls'), bash('2', 'cat .env')];
  const first = await Promise.all(calls.map((call) => guard.before(call)));
  await guard.after(bash('1', 'ls'), { ok: true });
  const { guard: other } = again();
  expect(await Promise.all(calls.map((call) => other.before(call)))).toEqual(first);
  expect(records('tool-call-start')).toHaveLength(1);
});

test('the id of a call with another input is a new decision', async () => {
  const { guard, records } = world([noSecrets]);
  expect(await guard.before(bash('1', 'ls'))).toEqual({ type: 'allow' });
  expect(await guard.before(bash('1', 'cat .env'))).toMatchObject({ type: 'deny' });
  expect(records('tool-call-end')).toMatchObject([{ callId: '1#2' }]);
});

test('a budget is spent when a call is released, by sub-agents at once, and in another process', async () => {
  const { guard, again } = world(packPolicies(budgets, { config: { maxCalls: 2 } }));
  const verdicts = await Promise.all(
    ['a', 'b', 'c'].map((subAgentId) => guard.before(bash('1', 'ls', { subAgentId }))),
  );
  expect(verdicts.map(({ type }) => type).sort()).toEqual(['allow', 'allow', 'deny']);
  const second = again().guard;
  expect(await second.before(bash('2', 'ls'))).toMatchObject({ type: 'deny' });
  await second.after(bash('1', 'ls', { subAgentId: 'a' }), { ok: true });
  expect(await second.before(bash('3', 'ls'))).toMatchObject({ type: 'deny' });
});

test('a released call spends its budget at once', async () => {
  const { guard } = world(packPolicies(budgets, { config: { maxCalls: 2 } }));
  const types: string[] = [];
  for (const id of ['a', 'b', 'c']) types.push((await guard.before(bash(id, 'ls'))).type);
  expect(types).toEqual(['allow', 'allow', 'deny']);
});

test.each([
  ['not-run', 'allow'],
  ['unknown', 'deny'],
] as const)('after a report of %s, one more call of a spent budget is: %s', async (ok, type) => {
  const { guard } = world(packPolicies(budgets, { config: { maxCalls: 1 } }));
  await guard.before(bash('a', 'ls'));
  await guard.after(bash('a', 'ls'), { ok });
  expect(await guard.before(bash('b', 'ls'))).toMatchObject({ type });
});

test('equal calls without an id are settled in their order', async () => {
  const { guard, session } = world([]);
  const call = { name: 'run_shell_command', input: { command: 'ls' } };
  await guard.before(call);
  await guard.before(call);
  expect(session.openWork().calls).toHaveLength(2);
  const first = await guard.after(call, { ok: true });
  const second = await guard.after(call, { ok: true });
  expect([first?.callId, second?.callId].map((id) => id?.slice(-2))).toEqual(['~1', '~2']);
  expect(session.openWork().calls).toEqual([]);
});

describe('a question', () => {
  const push = bash('1', 'git push');

  test('is one question however often the call is tried, and a yes lets one later call through', async () => {
    const { guard, session, clock, again } = world([asking]);
    const asked = await guard.before(push);
    expect(asked).toMatchObject({ type: 'ask', reason: 'May it?', pending: { callId: '1' } });
    expect(await guard.before({ ...push, id: '2' })).toMatchObject({ type: 'ask', pending: { callId: '1' } });
    expect(pendingApprovals(session)).toHaveLength(1);
    await answerApproval(session, '1', { type: 'approve' }, { clock });
    expect(await guard.before({ ...push, id: '3', cwd: '/other' })).toMatchObject({ type: 'ask' });
    const { guard: other } = again();
    expect(await other.before({ ...push, id: '4' })).toEqual({ type: 'allow' });
    expect(await other.before({ ...push, id: '5' })).toMatchObject({ type: 'ask' });
    expect(await other.after({ ...push, id: '4' }, { ok: true })).toMatchObject({ kind: 'ok', callId: '1' });
  });

  test('answered with no is a denial, and asks anew afterwards', async () => {
    const { guard, session, clock } = world([asking]);
    await guard.before(push);
    await answerApproval(session, '1', { type: 'deny', reason: 'Not on a Friday.' }, { clock });
    expect(await guard.before({ ...push, id: '2' })).toMatchObject({
      type: 'deny',
      reason: expect.stringContaining('Not on a Friday.'),
    });
    expect(await guard.before({ ...push, id: '3' })).toMatchObject({ type: 'ask' });
  });

  test.each([
    [599_999, 'allow'],
    [600_000, 'ask'],
  ] as const)('answered with yes %i ms ago: %s', async (ms, type) => {
    const { guard, session, clock } = world([asking]);
    await guard.before(push);
    await answerApproval(session, '1', { type: 'approve' }, { clock });
    clock.ms += ms;
    expect(await guard.before({ ...push, id: '2' })).toMatchObject({ type });
  });

  test("that the agent asks its own person is answered by the call's report", async () => {
    const { guard, records } = world([asking]);
    await guard.before({ ...push, agentAsks: true, agent: 'claude-code', mode: 'default' });
    expect(await guard.after(push, { ok: true })).toMatchObject({ kind: 'ok' });
    expect(records('approval-answer')).toMatchObject([{ by: 'agent' }]);
    expect(records('tool-call-end')).toMatchObject([{ approval: { type: 'approve', by: 'agent' } }]);
  });

  test('without an answer is dropped when its call reports', async () => {
    const { guard, session, records } = world([asking]);
    await guard.before(push);
    expect(await guard.after(push, { ok: true })).toMatchObject({ kind: 'cancelled' });
    expect(session.openWork().calls).toEqual([]);
    expect(records('tool-call-late')).toMatchObject([{ callId: '1', answer: 'returned' }]);
  });
});

test('a policy that names a tool the agent does not have stays in force', async () => {
  const { guard } = world([sequentialDependency({ deploy: ['bash'] }), requireApproval({ tools: ['gone'] })]);
  expect(await guard.before({ id: '1', name: 'gone', input: {} })).toMatchObject({ type: 'ask' });
});

test.each<[string, unknown]>([
  ['no object', 7],
  ['a list', [1]],
  ['text', 'ls'],
  ['null', null],
])('an input that is %s is denied', async (_, input) => {
  const { guard } = world([]);
  expect(await guard.before({ id: '1', name: 'Bash', input: input as Json })).toMatchObject({ type: 'deny' });
});

test('what cannot be recorded is denied', async () => {
  const { guard, session } = world([]);
  await session.close();
  expect(await guard.before(bash('1', 'ls'))).toMatchObject({ type: 'deny', code: 'session.closed' });
});

test('a report of a call that was never told is nothing', async () => {
  const { guard } = world([]);
  expect(await guard.after(bash('9', 'ls'), { ok: true })).toBeUndefined();
});

test('a thousand decisions and more are remembered as the last thousand', async () => {
  const { guard, session, clock } = world([noSecrets]);
  for (let index = 0; index < 1100; index += 1) {
    clock.ms += 1;
    await guard.before(bash(`c${index}`, 'cat .env'));
  }
  expect(await guard.before(bash('c1099', 'cat .env'))).toMatchObject({ type: 'deny' });
  expect(session.openWork().calls).toEqual([]);
});
