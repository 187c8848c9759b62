import { ask, definePolicy, deny, type Policy } from '@holdfast/core';
import { answerApproval, pendingApprovals } from '@holdfast/executor';
import { budgets } from '@holdfast/pack-budgets';
import { packPolicies } from '@holdfast/policy';
import { createSession, type LogRecord, memoryStore, replay, type Session } from '@holdfast/session';
import { expect, test } from 'vitest';
import { createGuard, decisions, type Guard, type GuardedCall } from '../index.ts';

const call = (id: string, more: Partial<GuardedCall> = {}): GuardedCall => ({
  id,
  name: 'Bash',
  input: { command: 'ls' },
  cwd: '/w',
  ...more,
});

interface Reopened {
  readonly guard: Guard;
  readonly session: Session;
}

interface Crashed {
  readonly policies: readonly Policy[];
  /** Runs before call `1`. */
  readonly before?: (reopened: Reopened) => Promise<void>;
}

/** Decides call `1`; then, for each record that this left, in a process that finds the log up to there. */
async function crashAtEach(
  { policies, before = () => Promise.resolve() }: Crashed,
  test: (reopened: Reopened) => Promise<void>,
): Promise<void> {
  const store = memoryStore();
  const session = createSession({ id: 's', store, slices: [decisions] });
  const guard = createGuard({ session, policies });
  await before({ session, guard });
  const first = store.records.length;
  await guard.before(call('1'));
  const records: readonly LogRecord[] = store.records;
  expect(records.length - first).toBeGreaterThan(1);
  for (let length = first; length <= records.length; length += 1) {
    const left = records.slice(0, length);
    const again = replay(left, { store: memoryStore(left), slices: [decisions] });
    await test({ session: again, guard: createGuard({ session: again, policies }) });
  }
}

const asking = definePolicy({ name: 'asking', check: () => ask('May it?') });
const twoCalls = packPolicies(budgets, { config: { maxCalls: 2 } });

test('a call whose process ends between its start and its decision spends a budget once', async () => {
  await crashAtEach({ policies: twoCalls }, async ({ guard, session }) => {
    expect(await guard.before(call('1'))).toEqual({ type: 'allow' });
    expect(session.openWork().calls.map(({ callId }) => callId)).toEqual(['1']);
    expect(await guard.before(call('2'))).toEqual({ type: 'allow' });
    expect(await guard.before(call('3'))).toMatchObject({ type: 'deny' });
    expect(await guard.after(call('1'), { ok: true })).toMatchObject({ kind: 'ok', callId: '1' });
  });
});

test('another call under its id is a call of its own', async () => {
  await crashAtEach({ policies: twoCalls }, async ({ guard, session }) => {
    expect(await guard.before(call('1', { input: { command: 'pwd' } }))).toEqual({ type: 'allow' });
    expect(await guard.before(call('1', { name: 'Other' }))).toMatchObject({ type: /allow|deny/ });
    expect(
      session.openWork().calls.find(({ rawArguments }) => JSON.stringify(rawArguments)?.includes('pwd')),
    ).toBeDefined();
  });
});

test('a question whose process ends before its decision is one question', async () => {
  await crashAtEach({ policies: [asking] }, async ({ guard, session }) => {
    expect(await guard.before(call('1'))).toMatchObject({ type: 'ask', pending: { callId: '1' } });
    expect(pendingApprovals(session)).toHaveLength(1);
    await answerApproval(session, '1', { type: 'approve' });
    expect(await guard.before(call('2'))).toEqual({ type: 'allow' });
  });
});

test('a yes whose use ends before its decision is used once', async () => {
  const policies = [...twoCalls, asking];
  const before = async ({ guard, session }: Reopened): Promise<void> => {
    await guard.before(call('0'));
    await answerApproval(session, '0', { type: 'approve' });
  };
  await crashAtEach({ policies, before }, async ({ guard, session }) => {
    expect(await guard.before(call('1'))).toEqual({ type: 'allow' });
    expect(session.openWork().calls).toHaveLength(1);
    expect(await guard.before(call('2'))).toMatchObject({ type: 'ask' });
  });
});

test('a yes of the person whom the agent asked is not used again', async () => {
  const asked = call('0', { agentAsks: true });
  const store = memoryStore();
  const session = createSession({ id: 's', store, slices: [decisions] });
  const guard = createGuard({ session, policies: [asking] });
  await guard.before(asked);
  await guard.after(asked, { ok: true });
  for (let length = 1; length <= store.records.length; length += 1) {
    const left = store.records.slice(0, length);
    const again = replay(left, { store: memoryStore(left), slices: [decisions] });
    if (again.openCall({ callId: '0' })?.start === undefined) continue;
    const other = createGuard({ session: again, policies: [asking] });
    expect(await other.before(call('1', { agentAsks: true }))).toMatchObject({ type: 'ask' });
  }
});

test('a denial whose process ends before its decision is a denial', async () => {
  await crashAtEach(
    { policies: [definePolicy({ name: 'never', check: () => deny('No.') })] },
    async ({ guard, session }) => {
      expect(await guard.before(call('1'))).toMatchObject({ type: 'deny' });
      expect(session.openWork().calls).toEqual([]);
    },
  );
});
