import { ask, definePolicy, deny, type Policy } from '@holdfast/core';
import { answerApproval, pendingApprovals } from '@holdfast/executor';
import { createSession, memoryStore, replay, type Session } from '@holdfast/session';
import { expect, test } from 'vitest';
import { createGuard, decisions, type ReleasingGuard } from '../index.ts';

const asking = definePolicy({ name: 'asking', check: () => ask('May it?') });
const call = (id: string, agentAsks = false) => ({ id, name: 'refund', input: { order: 17 }, agentAsks });

interface World {
  readonly guard: ReleasingGuard;
  readonly session: Session;
  readonly count: () => number;
  readonly again: () => Omit<World, 'again' | 'count'>;
}

function world(policies: readonly Policy[] = []): World {
  const store = memoryStore();
  const session = createSession({ store, slices: [decisions] });
  return {
    session,
    guard: createGuard({ session, policies }),
    count: () => store.records.length,
    again() {
      const other = replay(store.records, { store: memoryStore(store.records), slices: [decisions] });
      return { session: other, guard: createGuard({ session: other, policies }) };
    },
  };
}

test('a call is released once: the second time it is running, and then it has ended', async () => {
  const { guard } = world();
  expect(await guard.before(call('1'))).toEqual({ type: 'allow' });
  const both = await Promise.all([guard.release(call('1')), guard.release(call('1'))]);
  expect(both).toMatchObject([{ type: 'allow' }, { type: 'deny', code: 'work.under_way' }]);
  await guard.after(call('1'), { ok: true, value: 'paid' });
  const ended = { type: 'ended', ending: { kind: 'ok', value: 'paid' } };
  expect(await guard.release(call('1'))).toMatchObject(ended);
});

test('in another process a released call runs if it has not begun, and is in doubt if it has', async () => {
  const { guard, again } = world();
  await guard.before(call('1'));
  expect(await again().guard.release(call('1'))).toEqual({ type: 'allow' });
  await guard.release(call('1'));
  const { guard: other } = again();
  const doubt = { type: 'ended', ending: { kind: 'in-doubt', code: 'guard.unreported' } };
  expect(await other.release(call('1'))).toMatchObject(doubt);
  expect(await other.release(call('1'))).toMatchObject(doubt);
});

test('how a call failed is told again', async () => {
  const { guard, again } = world();
  await guard.release(call('1'));
  await guard.after(call('1'), { ok: false, message: 'No money.' });
  expect(await again().guard.release(call('1'))).toMatchObject({
    type: 'ended',
    ending: { kind: 'failed', message: expect.stringContaining('No money.') },
  });
});

test("a question handed to the agent's person is answered by the release, in another process as well", async () => {
  const { guard, again } = world([asking]);
  await guard.before(call('1', true));
  for (const { guard: opened, session } of [again(), { ...again() }]) {
    expect(await opened.release(call('1', true))).toEqual({ type: 'allow' });
    expect(pendingApprovals(session)).toEqual([]);
    await opened.after(call('1'), { ok: true });
    const ended = [...session.records()].find(({ type }) => type === 'tool-call-end');
    expect(ended).toMatchObject({ approval: { type: 'approve', by: 'agent' } });
  }
});

test.each([
  ['was not handed over', false],
  ['was never told', undefined],
])('a question that %s stays a question', async (_, agentAsks) => {
  const { guard } = world([asking]);
  if (agentAsks !== undefined) await guard.before(call('1', agentAsks));
  expect(await guard.release(call('1', true))).toMatchObject({ type: 'ask', reason: 'May it?' });
});

test('a question with another input stays a question', async () => {
  const { guard } = world([asking]);
  await guard.before(call('1', true));
  expect(await guard.release({ ...call('1', true), input: { order: 18 } })).toMatchObject({ type: 'ask' });
});

test('equal calls that are asked about and approved together each run once', async () => {
  const { guard } = world([asking]);
  await Promise.all([guard.before(call('1', true)), guard.before(call('2', true))]);
  const both = await Promise.all([guard.release(call('1', true)), guard.release(call('2', true))]);
  expect(both).toEqual([{ type: 'allow' }, { type: 'allow' }]);
});

test.each([
  ['allow', []],
  ['deny', [definePolicy({ name: 'never', check: () => deny('No.') })]],
  ['ask', [asking]],
] as const)('told again, a call with the verdict %s writes nothing', async (type, policies) => {
  const { guard, count } = world(policies);
  const first = await guard.before(call('1', true));
  const written = count();
  expect(first).toMatchObject({ type });
  expect(await guard.before(call('1', true))).toEqual(first);
  expect(count()).toBe(written);
});

test('an answer in Holdfast counts as well, a no before the yes of the agent', async () => {
  const { guard, session } = world([asking]);
  await guard.before(call('1', true));
  await answerApproval(session, '1', { type: 'deny', reason: 'Closed.' });
  expect(await guard.release(call('1', true))).toMatchObject({
    type: 'deny',
    reason: expect.stringContaining('Closed.'),
  });
});

test('a release that cannot be recorded is a denial', async () => {
  const { guard, session } = world();
  await guard.before(call('1'));
  await session.close();
  expect(await guard.release(call('1'))).toMatchObject({ type: 'deny', code: 'session.closed' });
});

test("a no of the agent's own person ends the call as denied, and stands when the call is made again", async () => {
  const { guard, session, again } = world([asking]);
  await guard.before(call('1', true));
  expect(guard.asked({ name: 'refund' })).toEqual(['1']);
  expect(await guard.refuse(call('1'), 'Not today.')).toMatchObject({ kind: 'denied', code: 'approval.denied' });
  expect(pendingApprovals(session)).toEqual([]);
  expect(guard.asked({ name: 'refund' })).toEqual([]);
  expect(await guard.refuse(call('1'))).toBeUndefined();
  for (const { guard: each } of [{ guard }, again()])
    expect(await each.release(call('1', true))).toEqual({
      type: 'deny',
      code: 'approval.denied',
      reason: 'Not today.',
    });
});

test('only what was handed to a person of the agent can be refused there', async () => {
  const { guard, session } = world([asking]);
  expect(await guard.refuse(call('1'))).toBeUndefined();
  await guard.before(call('1'));
  expect(guard.asked({ name: 'refund' })).toEqual([]);
  expect(await guard.refuse(call('1'))).toBeUndefined();
  expect(pendingApprovals(session)).toHaveLength(1);
});

test('of equal calls that share a question, a no to one takes no yes from the other', async () => {
  const { guard, session } = world([asking]);
  for (const id of ['1', '2']) await guard.before(call(id, true));
  expect(pendingApprovals(session)).toHaveLength(1);
  await guard.refuse(call('2'));
  expect(await guard.release(call('1', true))).toEqual({ type: 'allow' });
  expect(await guard.release(call('2', true))).toMatchObject({ type: 'deny' });
});

test('a no after the yes to an equal call is kept for its own call', async () => {
  const { guard } = world([asking]);
  for (const id of ['1', '2']) await guard.before(call(id, true));
  expect(await guard.release(call('1', true))).toEqual({ type: 'allow' });
  expect(await guard.refuse(call('2'))).toBeUndefined();
  expect(await guard.release(call('2', true))).toMatchObject({ type: 'deny', code: 'approval.denied' });
});

test('a no outweighs a yes in Holdfast that was not used, and a sub-agent has its own calls', async () => {
  const { guard, session } = world([asking]);
  const mine = { ...call('1', true), subAgentId: 'a' };
  await guard.before(mine);
  expect(guard.asked({ name: 'refund', subAgentId: 'a' })).toEqual(['1']);
  expect(guard.asked({ name: 'refund', subAgentId: 'b' })).toEqual([]);
  await answerApproval(session, 'a/1', { type: 'approve' });
  expect(await guard.refuse(mine)).toMatchObject({ kind: expect.not.stringMatching('ok') });
  expect(await guard.release(mine)).toMatchObject({ type: 'deny' });
});
