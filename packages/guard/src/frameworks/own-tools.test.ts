import { allow, ask, type Decision, definePolicy, defineTool } from '@holdfast/core';
import { answerApproval, pendingApprovals } from '@holdfast/executor';
import { createSession, memoryStore, replay, type Session, type SessionOptions } from '@holdfast/session';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { type OwnToolOptions, OwnToolset } from './own-tools.ts';

/** Asks about 2. */
const byOrder = definePolicy({
  name: 'by-order',
  check: ({ input }): Decision => (JSON.stringify(input) === '{"order":2}' ? ask('May it?') : allow),
});

function world(more: Partial<OwnToolOptions> = {}, session: Partial<SessionOptions> = {}) {
  const store = memoryStore();
  const ran: number[] = [];
  let wait: Promise<void> | undefined;
  const pay = defineTool({
    name: 'pay',
    description: 'Pays an order.',
    inputSchema: v.object({ order: v.number() }),
    effects: 'external',
    repeat: 'never',
    async execute({ order }) {
      ran.push(order);
      await wait;
      return { paid: order };
    },
  });
  const open = (live: Session): OwnToolset => new OwnToolset([pay], { session: live, policies: [byOrder], ...more });
  const live = createSession({ store, ...session });
  return {
    ran,
    store,
    session: live,
    own: open(live),
    beside: () => open(live),
    hang() {
      wait = new Promise(() => undefined);
    },
    again() {
      const other = replay(store.records, { store });
      wait = undefined;
      return { session: other, own: open(other) };
    },
  };
}

const pay = (order: number, id = 'c') => ({ id, name: 'pay', input: { order } });

test('an id runs once: at the same time, later, from other tools of the session and in another process', async () => {
  const { own, beside, again, ran, store } = world();
  const both = await Promise.all([own.run(pay(1)), beside().run(pay(1))]);
  const written = store.records.length;
  for (const made of [...both, await own.run(pay(1)), await again().own.run(pay(1))])
    expect(made).toMatchObject({ kind: 'ok', text: '{"paid":1}' });
  expect(ran).toEqual([1]);
  expect(store.records).toHaveLength(written);
});

test('another input under the same id is another call', async () => {
  const { own, ran } = world();
  for (const order of [1, 3, 1, 3]) expect(await own.run(pay(order))).toMatchObject({ value: { paid: order } });
  expect(ran).toEqual([1, 3]);
});

test('asked ahead: only what waits has a question, and the same one again', async () => {
  const { own, ran, store } = world();
  expect(await own.ask(pay(1, 'a'))).toBeUndefined();
  expect(await own.ask(pay(2, 'b'))).toBe('May it?');
  const written = store.records.length;
  expect(await own.ask(pay(2, 'b'))).toBe('May it?');
  expect(store.records).toHaveLength(written);
  expect(ran).toEqual([]);
});

test('a waiting call stays so without an answer', async () => {
  const { own, ran } = world();
  expect(await own.run(pay(2))).toMatchObject({ kind: 'waits', reason: 'May it?' });
  expect(await own.run(pay(2), { answer: () => undefined })).toMatchObject({ kind: 'waits' });
  expect(ran).toEqual([]);
  expect(await own.run(pay(2), { answer: () => true })).toMatchObject({ kind: 'ok' });
  expect(ran).toEqual([2]);
});

test('a no ends the call, and a later yes changes nothing', async () => {
  const { own, session, ran } = world();
  await own.run(pay(2));
  await own.answer(pay(2), false, 'Not on Sunday');
  expect(pendingApprovals(session)).toEqual([]);
  expect(await own.run(pay(2), { answer: () => true })).toMatchObject({
    kind: 'denied',
    text: expect.stringContaining('Not on Sunday'),
  });
  expect(ran).toEqual([]);
});

test('of the calls of a tool, those that were refused end', async () => {
  const { own, session } = world({ subAgentId: 'helper' });
  await own.run(pay(2, 'a'));
  await own.run(pay(2, 'b'));
  await own.refuse('pay', (id) => id === 'a');
  await own.refuse('ship', () => true);
  expect(pendingApprovals(session).map(({ callId }) => callId)).toEqual(['helper/b']);
});

test('equal calls share a question for a person in Holdfast', async () => {
  const { own, session, ran } = world({ asks: 'holdfast' });
  expect(await own.ask(pay(2))).toBeUndefined();
  for (const id of ['a', 'b'])
    expect(await own.run(pay(2, id), { answer: () => true })).toMatchObject({ kind: 'waits' });
  await answerApproval(session, 'a', { type: 'approve' });
  expect(await own.run(pay(2, 'c'))).toMatchObject({ kind: 'ok', callId: 'a' });
  expect(ran).toEqual([2]);
});

test('without a way to ask in the framework, the model calls again once a person has approved in Holdfast', async () => {
  const { own, session, ran } = world();
  expect(await own.run(pay(2, 'a'))).toMatchObject({ text: expect.stringContaining('make the same call again') });
  await answerApproval(session, 'a', { type: 'approve' });
  expect(await own.run(pay(2, 'b'))).toMatchObject({ kind: 'ok', callId: 'a' });
  expect(ran).toEqual([2]);
});

test('a call whose end the log has lost does not run again', async () => {
  const { own, session, ran } = world();
  await own.run(pay(1));
  session.records = () => [];
  await expect(own.run(pay(1))).rejects.toMatchObject({ code: 'guard.failed' });
  expect(ran).toEqual([1]);
});

test('a call whose process died in its body does not run again', async () => {
  const { own, hang, again, ran } = world();
  hang();
  void own.run(pay(1));
  await expect.poll(() => ran).toEqual([1]);
  expect(await again().own.run(pay(1))).toMatchObject({ kind: 'in-doubt' });
  expect(ran).toEqual([1]);
});

test('in a log without content an id is known by its tool', async () => {
  const { own, ran } = world({}, { content: 'none' });
  await own.run(pay(1));
  await own.run(pay(3));
  expect(ran).toEqual([1]);
});

test('a call without an id, and a wrong configuration', async () => {
  const { own, session } = world();
  await expect(own.run({ id: undefined, name: 'pay', input: {} })).rejects.toMatchObject({ code: 'guard.failed' });
  expect(() => new OwnToolset([], { session, policies: [{} as never] })).toThrow(
    expect.objectContaining({ code: 'options.invalid' }),
  );
  const ship = defineTool({ name: 'ship', description: 'Ships.', execute: () => 'shipped' });
  expect(() => new OwnToolset({ send: ship }, { session })).toThrow(
    expect.objectContaining({ code: 'tool.invalid', message: expect.stringContaining('`send`') }),
  );
});
