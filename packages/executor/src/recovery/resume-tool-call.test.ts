import { type ApprovalAnswer, ask, definePolicy, defineTool, type Tool } from '@holdfast/core';
import { createSession, replay } from '@holdfast/session';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { call, notes, playing, stop, testClock, toolsPrompt } from '../fixtures.ts';
import {
  answerApproval,
  type CallOptions,
  executeToolCall,
  listGrants,
  pendingApprovals,
  resolveCall,
  resumeToolCall,
  runAgent,
  withdrawGrant,
} from '../index.ts';

import { asking, kindOf, life, mail, sending, type World, yes } from '../test-resume.ts';

test('a call that waits is seen, answered and run from another process, once', async () => {
  const world: World = { effects: [], keys: [] };
  const { clock, session, store, reopen } = life();
  const options = { tools: [sending(world)], policies: [asking('person')], clock };
  expect(kindOf(await executeToolCall(mail, { ...options, session }))).toBe('suspended');

  const second = reopen();
  const [pending] = pendingApprovals(second);
  expect(pending).toMatchObject({
    callId: 'm',
    name: 'send',
    input: { to: 'ada' },
    asks: [{ policy: 'host/person', reason: 'person wants to know.' }],
    expiresAtMs: 86_400_000,
  });
  await answerApproval(second, pending ?? '', yes, { by: 'ada', clock });
  expect(world.effects).toEqual([]);

  const third = reopen();
  const outcome = await resumeToolCall('m', { ...options, session: third });
  expect(outcome).toMatchObject({ kind: 'ok', value: { sent: 'ada' } });
  expect(store.records.at(-1)).toMatchObject({ type: 'tool-call-end', approval: { type: 'approve', by: 'ada' } });
  expect(world.effects).toEqual(['ada']);
  await expect(resumeToolCall('m', { ...options, session: third })).rejects.toMatchObject({
    code: 'work.not_open',
    reason: 'call',
  });
  await expect(resumeToolCall('m', { ...options, session: reopen() })).rejects.toMatchObject({
    code: 'work.not_open',
    reason: 'call',
  });
  expect(world.effects).toEqual(['ada']);
});

test('resumed twice at once it runs once', async () => {
  const world: World = { effects: [], keys: [] };
  const { clock, session } = life();
  const options = { tools: [sending(world)], policies: [asking('person')], clock, session };
  await executeToolCall(mail, options);
  await answerApproval(session, 'm', yes, { clock });
  const both = await Promise.allSettled([resumeToolCall('m', options), resumeToolCall('m', options)]);
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(both[1]).toMatchObject({ reason: { code: 'work.under_way', reason: 'call' } });
  expect(world.effects).toEqual(['ada']);
});

test('the id of a suspended call cannot be reused', async () => {
  const world: World = { effects: [], keys: [] };
  const { clock, session } = life();
  const options = { tools: [sending(world)], policies: [asking('person')], clock, session };
  await executeToolCall(mail, options);
  const before = session.openWork();
  for (const tools of [options.tools, []]) {
    await expect(executeToolCall(mail, { ...options, tools, policies: [] })).rejects.toMatchObject({
      code: 'work.under_way',
      reason: 'call',
    });
  }
  expect(session.openWork()).toEqual(before);
  expect(world.effects).toEqual([]);
});

test('a host that answers later lets the call wait, and a nested one is denied', async () => {
  const world: World = { effects: [], keys: [] };
  const { clock, session } = life();
  const outer = defineTool({
    name: 'outer',
    description: 'Calls another.',
    execute: async (_input, context) => (await context.call('send', { to: 'eve' })).code ?? 'none',
  });
  const policies = [definePolicy({ name: 'p', check: ({ tool }) => (tool === outer ? { type: 'allow' } : ask('?')) })];
  const options = {
    tools: [outer, sending(world)],
    policies,
    clock,
    session,
    approve: () => ({ type: 'later' }) as const,
  };
  expect(kindOf(await executeToolCall(mail, options))).toBe('suspended');
  expect(await executeToolCall({ name: 'outer', arguments: '' }, options)).toMatchObject({ value: 'approval.nested' });
  expect(kindOf(await resumeToolCall('m', options))).toBe('suspended');
  expect(kindOf(await resumeToolCall('m', { ...options, approve: () => yes }))).toBe('ok');
  expect(world.effects).toEqual(['ada']);
});

test('an id is taken from the moment in which its call is made', async () => {
  const world: World = { effects: [], keys: [] };
  const { clock, session, store } = life();
  const slow = definePolicy({ name: 'slow', check: async () => ({ type: 'allow' }) });
  const options = { tools: [sending(world)], policies: [slow], clock, session };
  const both = await Promise.allSettled([
    executeToolCall(mail, options),
    executeToolCall({ ...mail, arguments: { to: 'eve' } }, options),
  ]);
  expect(both).toMatchObject([{ value: { kind: 'ok' } }, { reason: { code: 'work.under_way', reason: 'call' } }]);
  expect(world.effects).toEqual(['ada']);
  expect(store.records.filter(({ type }) => type === 'tool-call-end')).toHaveLength(1);
  expect(kindOf(await executeToolCall(mail, options))).toBe('ok');
});

test('a log without content: a no holds, and what waits may be asked anew', async () => {
  const world: World = { effects: [], keys: [] };
  const clock = testClock();
  const session = createSession({ id: 's', content: 'none', clock });
  const options = { tools: [sending(world)], policies: [asking('person')], clock, session };
  const asked = Promise.withResolvers<ApprovalAnswer>();
  const calling = executeToolCall(mail, { ...options, approve: () => asked.promise });
  while (pendingApprovals(session).length === 0) await new Promise((resolve) => setImmediate(resolve));
  await answerApproval(session, 'm', { type: 'deny' }, { clock });
  asked.resolve(yes);
  expect(await calling).toMatchObject({ kind: 'denied', code: 'approval.denied' });
  expect(kindOf(await executeToolCall(mail, options))).toBe('suspended');
  await expect(resumeToolCall('m', options)).rejects.toMatchObject({ code: 'replay.failed', reason: 'no_content' });
  expect(kindOf(await executeToolCall(mail, { ...options, approve: () => yes }))).toBe('ok');
  expect(world.effects).toEqual(['ada']);
});

test('no one else can resume a call while the host is asked about it', async () => {
  const world: World = { effects: [], keys: [] };
  const { clock, session } = life();
  const asked = Promise.withResolvers<ApprovalAnswer>();
  const options = { tools: [sending(world)], policies: [asking('person')], clock, session };
  const calling = executeToolCall(mail, { ...options, approve: () => asked.promise });
  while (pendingApprovals(session).length === 0) await new Promise((resolve) => setImmediate(resolve));
  await expect(resumeToolCall('m', options)).rejects.toMatchObject({ code: 'work.under_way', reason: 'call' });
  asked.resolve(yes);
  expect(kindOf(await calling)).toBe('ok');
  expect(world.effects).toEqual(['ada']);
  // Its id is free again.
  expect(kindOf(await executeToolCall(mail, options))).toBe('suspended');
});

test('unanswered it stays suspended, and the question is not asked twice', async () => {
  const { clock, session, store } = life();
  const options = { tools: [sending({ effects: [], keys: [] })], policies: [asking('person')], clock, session };
  const first = await executeToolCall(mail, options);
  const length = store.records.length;
  expect(await resumeToolCall('m', options)).toEqual(first);
  expect(store.records).toHaveLength(length);
});

test.each(['deny', 'approve'] as const)('the first answer to a question counts: %s', async (type) => {
  const world: World = { effects: [], keys: [] };
  const { clock, session, store } = life();
  const asked = Promise.withResolvers<ApprovalAnswer>();
  const options = { tools: [sending(world)], policies: [asking('person')], clock, session };
  const calling = executeToolCall(mail, { ...options, approve: () => asked.promise });
  while (pendingApprovals(session).length === 0) await new Promise((resolve) => setImmediate(resolve));
  await answerApproval(session, 'm', { type }, { by: 'ada', clock });
  asked.resolve({ type: type === 'deny' ? 'approve' : 'deny' });
  expect(kindOf(await calling)).toBe(type === 'deny' ? 'denied' : 'ok');
  expect(world.effects).toEqual(type === 'deny' ? [] : ['ada']);
  expect(store.records.filter((record) => record.type === 'approval-answer')).toHaveLength(1);
  expect(store.records.at(-1)).toMatchObject({ type: 'tool-call-end', approval: { type, by: 'ada' } });
});

test.each([
  { answer: { type: 'deny', reason: 'too late' } as const, says: 'too late' },
  { answer: { type: 'deny' } as const, says: 'it was not approved' },
])('denied: $says', async ({ answer, says }) => {
  const world: World = { effects: [], keys: [] };
  const { clock, session } = life();
  const options = { tools: [sending(world)], policies: [asking('person')], clock, session };
  await executeToolCall(mail, options);
  await answerApproval(session, 'm', answer, { clock });
  expect(await resumeToolCall('m', options)).toMatchObject({
    kind: 'denied',
    code: 'approval.denied',
    text: expect.stringContaining(says),
  });
  expect(world.effects).toEqual([]);
});

describe('what an answer is bound to', () => {
  async function resumeWith(change: (options: CallOptions) => CallOptions, answer: ApprovalAnswer = yes) {
    const world: World = { effects: [], keys: [] };
    const { clock, session, reopen } = life();
    const options: CallOptions = { tools: [sending(world)], policies: [asking('person')], clock, session };
    await executeToolCall(mail, options);
    await answerApproval(session, 'm', answer, { clock });
    const outcome = await resumeToolCall('m', change({ ...options, session: reopen() }));
    return { outcome, world };
  }
  const world: World = { effects: [], keys: [] };

  test.each([
    {
      what: 'the tool',
      change: (options: CallOptions) => ({ ...options, tools: [sending(world, { dangerous: true })] }),
    },
    {
      what: 'what runs',
      change: (options: CallOptions) => ({
        ...options,
        tools: [sending(world, { origin: { kind: 'file', source: 'send.mjs', digest: 'ff' } })],
      }),
    },
    {
      what: 'the policies',
      change: (options: CallOptions) => ({ ...options, policies: [asking('person'), asking('other', () => false)] }),
    },
  ])('$what changed: asked anew', async ({ change }) => {
    const { outcome } = await resumeWith(change);
    expect(kindOf(outcome)).toBe('suspended');
    const alone = await resumeWith((options) => ({ ...change(options), unattended: true }));
    expect(alone.outcome).toMatchObject({
      kind: 'denied',
      code: 'approval.unattended',
      message: expect.stringContaining('have changed since it was approved, and no one is available'),
    });
    expect(world.effects).toEqual([]);
  });

  test('nothing changed, and a policy that denies by now has the last word', async () => {
    expect(kindOf((await resumeWith((options) => options)).outcome)).toBe('ok');
    let denies = false;
    const strict = definePolicy({
      name: 'person',
      check: () => (denies ? { type: 'deny', reason: 'not today' } : ask('may it?')),
    });
    const { clock, session } = life();
    const options = { tools: [sending(world)], policies: [strict], clock, session };
    await executeToolCall(mail, options);
    await answerApproval(session, 'm', yes, { clock });
    denies = true;
    expect(await resumeToolCall('m', options)).toMatchObject({ kind: 'denied', code: 'policy.denied' });
  });

  test('a policy that asks only now is a new question, and the yes before still counts', async () => {
    let asks = false;
    const { clock, session } = life();
    const sent: World = { effects: [], keys: [] };
    const policies = [asking('person'), asking('second', () => asks)];
    const options = { tools: [sending(sent)], policies, clock, session };
    await executeToolCall(mail, options);
    await answerApproval(session, 'm', yes, { clock });
    asks = true;
    expect(await resumeToolCall('m', options)).toMatchObject({
      kind: 'suspended',
      pending: [{ asks: [{ policy: 'host/second' }] }],
    });
    await answerApproval(session, 'm', yes, { clock });
    expect(kindOf(await resumeToolCall('m', options))).toBe('ok');
    expect(sent.effects).toEqual(['ada']);
  });

  test('a no stays one, also when nobody would ask any more', async () => {
    let asks = true;
    const { clock, session } = life();
    const sent: World = { effects: [], keys: [] };
    const options = { tools: [sending(sent)], policies: [asking('person', () => asks)], clock, session };
    await executeToolCall(mail, options);
    await answerApproval(session, 'm', { type: 'deny' }, { clock });
    asks = false;
    expect(await resumeToolCall('m', options)).toMatchObject({ kind: 'denied', code: 'approval.denied' });
    expect(sent.effects).toEqual([]);
  });

  test('what nobody answered runs when nobody asks any more', async () => {
    let asks = true;
    const { clock, session } = life();
    const sent: World = { effects: [], keys: [] };
    const policies = [asking('person', () => asks)];
    const options = { tools: [sending(sent)], policies, approvalTimeoutMs: 1000, clock, session };
    await executeToolCall(mail, options);
    clock.advance(2000);
    asks = false;
    expect(kindOf(await resumeToolCall('m', options))).toBe('ok');
  });

  test('a question of a version that is back is asked anew, and can be answered', async () => {
    const { clock, session } = life();
    const world: World = { effects: [], keys: [] };
    const options = { tools: [sending(world)], clock, session };
    const one = [asking('person')];
    const other = [asking('person'), asking('second', () => false)];
    await executeToolCall(mail, { ...options, policies: one });
    await resumeToolCall('m', { ...options, policies: other });
    await answerApproval(session, 'm', yes, { clock });
    expect(kindOf(await resumeToolCall('m', { ...options, policies: one }))).toBe('suspended');
    expect(pendingApprovals(session)).toHaveLength(1);
    await answerApproval(session, 'm', yes, { clock });
    expect(kindOf(await resumeToolCall('m', { ...options, policies: one }))).toBe('ok');
    expect(world.effects).toEqual(['ada']);
  });

  test('a question that leaves out a policy which asks by now is asked anew', async () => {
    let asks = false;
    const { clock, session } = life();
    const policies = [asking('person'), asking('second', () => asks)];
    const options = { tools: [sending({ effects: [], keys: [] })], policies, clock, session };
    await executeToolCall(mail, options);
    asks = true;
    expect(await resumeToolCall('m', options)).toMatchObject({
      kind: 'suspended',
      pending: [{ asks: [{ policy: 'host/person' }, { policy: 'host/second' }] }],
    });
  });

  test('an answer to a direct call is none to a nested one that has got its id', async () => {
    const { clock, session } = life();
    const sent: World = { effects: [], keys: [] };
    const outer = defineTool({
      name: 'outer',
      description: 'Calls another.',
      execute: async (_input, context) => (await context.call('send', { to: 'ada' })).kind,
    });
    const policies = [
      definePolicy({ name: 'p', check: ({ tool }) => (tool.name === 'send' ? ask('?') : { type: 'allow' }) }),
    ];
    const options = { tools: [outer, sending(sent)], policies, clock, session };
    await executeToolCall({ ...mail, id: 'o/1' }, options);
    await answerApproval(session, 'o/1', yes, { clock });
    const outcome = await executeToolCall({ id: 'o', name: 'outer', arguments: '' }, options);
    expect(outcome).toMatchObject({ kind: 'ok', value: 'denied' });
    expect(sent.effects).toEqual([]);
  });

  test('edited arguments are another question', async () => {
    const sent: World = { effects: [], keys: [] };
    const { clock, session, store } = life();
    const options = { tools: [sending(sent)], policies: [asking('person')], clock };
    await executeToolCall(mail, { ...options, session });
    await answerApproval(session, 'm', yes, { clock });
    const edited = store.records.map((record) =>
      record.type === 'approval-request' ? { ...record, rawArguments: { to: 'eve' } } : record,
    );
    const again = replay(edited, { slices: [notes], clock });
    expect(await resumeToolCall('m', { ...options, session: again })).toMatchObject({
      kind: 'suspended',
      pending: [{ input: { to: 'eve' } }],
    });
    expect(sent.effects).toEqual([]);
  });

  test('a no holds whatever asks about the call by now', async () => {
    const sent: World = { effects: [], keys: [] };
    const { clock, session } = life();
    const options = { tools: [sending(sent)], clock, session };
    await executeToolCall(mail, { ...options, policies: [asking('person')] });
    await answerApproval(session, 'm', { type: 'deny' }, { clock });
    expect(await resumeToolCall('m', { ...options, policies: [] })).toMatchObject({ code: 'approval.denied' });
    expect(sent.effects).toEqual([]);
  });

  test('a default that a schema generates each time does not change the question', async () => {
    let made = 0;
    const sent: World = { effects: [], keys: [] };
    const counted = v.object({
      to: v.optional(v.string(), () => {
        made += 1;
        return `nobody ${made}`;
      }),
    });
    const tool = sending(sent, { inputSchema: counted as never });
    const { clock, session } = life();
    const options = { tools: [tool], policies: [asking('person')], clock, session };
    await executeToolCall({ ...mail, arguments: '{ }' }, options);
    await answerApproval(session, 'm', yes, { clock });
    expect(kindOf(await resumeToolCall('m', options))).toBe('ok');
  });
});

describe('time', () => {
  test('an unanswered question counts as denied when its time is over', async () => {
    const { clock, session } = life();
    const options = {
      tools: [sending({ effects: [], keys: [] })],
      policies: [asking('person')],
      approvalTimeoutMs: 1000,
      clock,
      session,
    };
    await executeToolCall(mail, options);
    clock.advance(1000);
    await expect(answerApproval(session, 'm', yes, { clock })).rejects.toMatchObject({ code: 'approval.expired' });
    expect(await resumeToolCall('m', options)).toMatchObject({ kind: 'denied', code: 'approval.expired' });
  });

  test('so does a yes of the host that comes after it, or never', async () => {
    const { clock, session } = life();
    const world: World = { effects: [], keys: [] };
    const options = { tools: [sending(world)], policies: [asking('person')], approvalTimeoutMs: 1000, clock, session };
    const asked = Promise.withResolvers<ApprovalAnswer>();
    const calling = executeToolCall(mail, { ...options, approve: () => asked.promise });
    while (pendingApprovals(session).length === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1000);
    expect(await calling).toMatchObject({ kind: 'denied', code: 'approval.expired' });
    asked.resolve(yes);
    expect(world.effects).toEqual([]);
  });

  test('an answer that was recorded counts, though the host never answers', async () => {
    for (const type of ['approve', 'deny'] as const) {
      const { clock, session } = life();
      const world: World = { effects: [], keys: [] };
      const tools = [sending(world)];
      const options = { tools, policies: [asking('person')], approvalTimeoutMs: 1000, clock, session };
      const calling = executeToolCall(mail, { ...options, approve: () => new Promise(() => undefined) });
      while (pendingApprovals(session).length === 0) await new Promise((resolve) => setImmediate(resolve));
      await answerApproval(session, 'm', { type }, { clock });
      clock.advance(1000);
      expect(await calling).toMatchObject(type === 'approve' ? { kind: 'ok' } : { code: 'approval.denied' });
    }
  });

  test('a question that was followed by another does not make that one late', async () => {
    let asks = false;
    const { clock, session } = life();
    const policies = [asking('person'), asking('prod', () => asks)];
    const tools = [sending({ effects: [], keys: [] })];
    const options = { tools, policies, approvalTimeoutMs: 1000, clock, session };
    await executeToolCall(mail, options);
    clock.advance(900);
    asks = true;
    await resumeToolCall('m', options);
    clock.advance(200);
    await answerApproval(session, 'm', yes, { clock });
    expect(kindOf(await resumeToolCall('m', options))).toBe('ok');
  });

  test('a timer that ends before its time is set again', async () => {
    const { clock: real, session } = life();
    const options = {
      tools: [sending({ effects: [], keys: [] })],
      policies: [asking('person')],
      approvalTimeoutMs: 1000,
      clock: { now: real.now, after: (ms: number, run: () => void) => real.after(Math.min(ms, 400), run) },
      session,
    };
    let ended = false;
    const calling = executeToolCall(mail, { ...options, approve: () => new Promise(() => undefined) }).finally(() => {
      ended = true;
    });
    while (pendingApprovals(session).length === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const ms of [400, 400]) {
      real.advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
      expect(ended).toBe(false);
    }
    real.advance(200);
    expect(await calling).toMatchObject({ kind: 'denied', code: 'approval.expired' });
  });

  test('so does an answer that is not used in time', async () => {
    const { clock, session } = life();
    const options = {
      tools: [sending({ effects: [], keys: [] })],
      policies: [asking('person')],
      approvalTimeoutMs: 1000,
      clock,
      session,
    };
    await executeToolCall(mail, options);
    clock.advance(999);
    await answerApproval(session, 'm', yes, { clock });
    clock.advance(1);
    expect(await resumeToolCall('m', options)).toMatchObject({ kind: 'denied', code: 'approval.expired' });
  });
});

describe('answers that cannot be given', () => {
  test.each([null, 5, undefined])('a question that is none: %s', async (question) => {
    const { session } = life();
    await expect(answerApproval(session, question as never, yes)).rejects.toMatchObject({ code: 'options.invalid' });
    await expect(answerApproval(session, { callId: 5 } as never, yes)).rejects.toMatchObject({
      code: 'options.invalid',
    });
    const done = { type: 'done' } as const;
    await expect(resolveCall(session, question as never, done)).rejects.toMatchObject({ code: 'options.invalid' });
    const resuming = resumeToolCall(question as never, { tools: [], session });
    await expect(resuming).rejects.toMatchObject({ code: 'options.invalid' });
    await expect(answerApproval(session, 'm', yes, { by: 42 as never })).rejects.toMatchObject({
      code: 'options.invalid',
    });
  });

  test.each([
    { what: 'no such call', call: 'x', answer: yes, code: 'work.not_open', reason: 'call' },
    { what: 'no answer', call: 'm', answer: { type: 'yes' } as unknown as ApprovalAnswer, code: 'options.invalid' },
  ])('$what: $code', async ({ call, answer, code }) => {
    const { clock, session } = life();
    await executeToolCall(mail, {
      tools: [sending({ effects: [], keys: [] })],
      policies: [asking('p')],
      clock,
      session,
    });
    await expect(answerApproval(session, call, answer, { clock })).rejects.toMatchObject({ code });
    expect(pendingApprovals(session)).toHaveLength(1);
  });

  test('twice', async () => {
    const { clock, session } = life();
    const options = { tools: [sending({ effects: [], keys: [] })], policies: [asking('p')], clock, session };
    await executeToolCall(mail, options);
    await answerApproval(session, 'm', yes, { clock });
    await expect(answerApproval(session, 'm', yes, { clock })).rejects.toMatchObject({ code: 'approval.answered' });
  });

  test('to a question that has become a larger one', async () => {
    let asks = false;
    const { clock, session } = life();
    const policies = [asking('person'), asking('prod', () => asks)];
    const options = { tools: [sending({ effects: [], keys: [] })], policies, clock, session };
    await executeToolCall(mail, options);
    const [first] = pendingApprovals(session);
    asks = true;
    await resumeToolCall('m', options);
    const [second] = pendingApprovals(session);
    await expect(answerApproval(session, first ?? '', yes, { clock })).rejects.toMatchObject({
      code: 'approval.mismatch',
    });
    await answerApproval(session, second ?? '', yes, { clock });
    expect(kindOf(await resumeToolCall('m', options))).toBe('ok');
  });
});

test('an id that waits in two runs is ambiguous, and the question itself is not', async () => {
  const { clock, session } = life();
  const options = { policies: [asking('person')], clock, session };
  const prompt = toolsPrompt([sending({ effects: [], keys: [] })]);
  for (const input of ['One.', 'Two.']) {
    const model = playing([call('send', { to: input }, 'm'), stop]);
    await runAgent({ ...options, model, prompt, input }).result;
  }
  await expect(answerApproval(session, 'm', yes, { clock })).rejects.toMatchObject({
    code: 'work.not_open',
    reason: 'call_ambiguous',
  });
  const [first] = pendingApprovals(session);
  await answerApproval(session, first ?? '', yes, { clock });
  expect(pendingApprovals(session)).toMatchObject([{ callId: 'm', input: { to: 'Two.' } }]);
});

test('of two sessions over one store, as two processes without a lock would be, one runs the call', async () => {
  const world: World = { effects: [], keys: [] };
  const { clock, session, reopen } = life();
  const options = { tools: [sending(world)], policies: [asking('person')], clock };
  await executeToolCall(mail, { ...options, session });
  await answerApproval(session, 'm', yes, { clock });
  const both = [reopen(), reopen()].map((each) => resumeToolCall('m', { ...options, session: each }));
  const results = await Promise.allSettled(both);
  expect(world.effects).toEqual(['ada']);
  expect(results.map((result) => (result.status === 'fulfilled' ? kindOf(result.value) : 'thrown')).sort()).toEqual([
    'ok',
    'thrown',
  ]);
  expect(results).toContainEqual(
    expect.objectContaining({ reason: expect.objectContaining({ code: 'log.write_failed', reason: 'sequence' }) }),
  );
});

test('a grant that was withdrawn does not come back with the answer that it came with', async () => {
  const world: World = { effects: [], keys: [] };
  const { clock, session, reopen } = life();
  const options = { policies: [asking('person')], clock };
  await executeToolCall(mail, { ...options, tools: [sending(world, { repeat: 'keyed' })], session });
  await answerApproval(session, 'm', { type: 'approve', grant: true }, { clock });
  const dying = defineTool({
    ...sending(world, { repeat: 'keyed' }),
    execute: () => {
      world.keys.push('begun');
      return new Promise<never>(() => undefined);
    },
  } as Parameters<typeof defineTool>[0]) as Tool;
  void resumeToolCall('m', { ...options, tools: [dying], session });
  while (world.keys.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const after = reopen();
  expect(listGrants(after)).toHaveLength(1);
  withdrawGrant(after, 'send');
  expect(
    kindOf(await resumeToolCall('m', { ...options, tools: [sending(world, { repeat: 'keyed' })], session: after })),
  ).toBe('ok');
  expect(listGrants(after)).toEqual([]);
});

test('a second answer that grants does so, though the first grant was withdrawn', async () => {
  const world: World = { effects: [], keys: [] };
  const { clock, session, reopen } = life();
  let asks = false;
  const policies = [asking('person'), asking('second', () => asks)];
  const dying = sending(world, { repeat: 'keyed' });
  const tools = [defineTool({ ...dying, execute: () => new Promise<never>(() => world.keys.push('begun')) } as never)];
  await executeToolCall(mail, { policies, clock, tools: [dying], session });
  await answerApproval(session, 'm', { type: 'approve', grant: true }, { clock });
  void resumeToolCall('m', { policies, clock, tools, session });
  while (world.keys.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const after = reopen();
  withdrawGrant(after, 'send');
  asks = true;
  const options = { policies, clock, tools: [dying], session: after };
  expect(kindOf(await resumeToolCall('m', options))).toBe('suspended');
  await answerApproval(after, 'm', { type: 'approve', grant: true }, { clock });
  expect(kindOf(await resumeToolCall('m', options))).toBe('ok');
  expect(listGrants(after)).toHaveLength(1);
});

test('a grant is bound to the tool, is listed, and can be withdrawn', async () => {
  const sent: World = { effects: [], keys: [] };
  const { clock, session, reopen } = life();
  const tool = sending(sent);
  const options = { tools: [tool], policies: [asking('person')], clock, session };
  await executeToolCall(mail, options);
  await answerApproval(session, 'm', { type: 'approve', grant: true }, { clock });
  await resumeToolCall('m', options);
  expect(listGrants(session)).toEqual([{ name: 'send', toolDigest: expect.stringMatching(/^[0-9a-f]{64}$/) }]);

  const again = { ...options, session: reopen() };
  expect(kindOf(await executeToolCall({ ...mail, id: 'n' }, again))).toBe('ok');
  const other = defineTool({ name: 'send', description: 'Sends anything.', execute: () => 'sent' });
  expect(kindOf(await executeToolCall({ name: 'send', arguments: '' }, { ...again, tools: [other] }))).toBe(
    'suspended',
  );
  expect(withdrawGrant(again.session, 'send')).toBe(true);
  expect(withdrawGrant(again.session, 'send')).toBe(false);
  expect(listGrants(again.session)).toEqual([]);
  expect(kindOf(await executeToolCall({ ...mail, id: 'o' }, again))).toBe('suspended');
  expect(sent.effects).toEqual(['ada', 'ada']);
});
