import { defineTool, type JsonObject, type PendingApproval, type Prompt, toolError } from '@holdfast/core';
import type { DescribedCall } from '@holdfast/core/types';
import {
  type Approve,
  answerApproval,
  executeToolCall,
  pendingApprovals,
  resumeRun,
  runAgent,
} from '@holdfast/executor';
import { createFacts, noFacts } from '@holdfast/facts';
import { answerIdentical, approvals, groupIdentical } from '@holdfast/pack-approvals';
import { packPolicies } from '@holdfast/policy';
import { createSession, memoryStore } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';

interface World {
  readonly config?: JsonObject;
  readonly inputs?: readonly JsonObject[];
  readonly approve?: Approve;
  readonly fails?: boolean;
}

const ada = { to: 'ada', euros: 200 };

/** A run whose one turn pays three times, and a second turn that pays once more. */
function createWorld({ config = {}, inputs = [ada, { euros: 200, to: 'ada' }, ada], approve, fails }: World = {}) {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pay euros to a person.',
    inputSchema: v.object({ to: v.string(), euros: v.number() }),
    effects: 'external',
    execute(input) {
      if (fails === true) return toolError('The bank is closed.');
      paid.push(input);
      return null;
    },
  });
  const calls = inputs.map((input, index) => ({ id: `call-${index}`, name: 'pay', arguments: input }));
  const turns = [{ calls }, { calls: [{ id: 'again', name: 'pay', arguments: ada }] }, { text: 'Done.' }];
  const store = memoryStore();
  const policies = packPolicies(approvals, {
    config: { always: 'external', firstUse: [], rememberIdentical: true, ...config },
  });
  const prompt: Prompt = {
    name: 'payments',
    render: () => ({ text: 'Pay.', tools: [pay], policies: new Map(), allPolicies: [] }),
  };
  const asked: PendingApproval[] = [];
  const noting: Approve | undefined =
    approve === undefined
      ? undefined
      : (pending) => {
          asked.push(pending);
          return approve(pending);
        };
  const session = createSession({ id: 'payments', store });
  const shared = { prompt, policies, model: scriptedModel(turns), session };
  return { paid, asked, pay, policies, session, shared, approve: noting };
}

const yes: Approve = () => ({ type: 'approve' });
const no: Approve = () => ({ type: 'deny', reason: 'Not again' });

async function run({ shared, approve }: ReturnType<typeof createWorld>, answer = approve) {
  const options = { ...shared, input: 'Pay Ada.', ...(answer === undefined ? {} : { approve: answer }) };
  return runAgent(options).result;
}

test('three identical calls of a turn: one question, one yes, and none in the turns after it', async () => {
  const world = createWorld({ approve: yes });
  const { status, outcomes } = await run(world);
  expect({ status, kinds: outcomes.map(({ kind }) => kind) }).toEqual({
    status: 'completed',
    kinds: ['ok', 'ok', 'ok', 'ok'],
  });
  expect(world.asked).toHaveLength(1);
  expect(world.asked[0]?.asks[0]?.reason).toBe(
    '`pay` always needs approval.\nApproval also covers identical calls later in this session.',
  );
  expect(world.paid).toHaveLength(4);
});

test('without `rememberIdentical` each call is a question of its own', async () => {
  const world = createWorld({ approve: yes, config: { rememberIdentical: false } });
  expect(await run(world)).toMatchObject({ status: 'completed' });
  expect(world.asked).toHaveLength(4);
});

test('waiting, they have one reason and one key, and one answer lets all of them run', async () => {
  const world = createWorld();
  const waiting = await run(world);
  expect(waiting).toMatchObject({ status: 'suspended', pending: [{ callId: 'call-0' }, {}, { callId: 'call-2' }] });
  const groups = groupIdentical(pendingApprovals(world.session));
  expect(groups.map(({ questions }) => questions.map(({ callId }) => callId))).toEqual([
    ['call-0', 'call-1', 'call-2'],
  ]);
  expect(groups[0]?.key).toBe(groupIdentical([...waiting.pending].reverse())[0]?.key);

  await answerApproval(world.session, 'call-0', { type: 'approve' });
  const { status, outcomes } = await resumeRun(world.shared).result;
  expect({ status, kinds: outcomes.map(({ kind }) => kind) }).toEqual({
    status: 'completed',
    kinds: ['ok', 'ok', 'ok', 'ok'],
  });
  expect(pendingApprovals(world.session)).toEqual([]);
});

test('a group is answered as one, whatever is remembered', async () => {
  const world = createWorld({ config: { rememberIdentical: false }, inputs: [ada, ada, { to: 'eve', euros: 1 }] });
  await run(world);
  const [first, second] = groupIdentical(pendingApprovals(world.session));
  expect([first?.questions.length, second?.questions.length]).toEqual([2, 1]);
  for (const question of first?.questions ?? []) await answerApproval(world.session, question, { type: 'approve' });
  for (const question of second?.questions ?? []) await answerApproval(world.session, question, { type: 'deny' });
  // The second turn asks anew.
  expect(await resumeRun(world.shared).result).toMatchObject({ status: 'suspended', pending: [{ callId: 'again' }] });
  expect(world.paid).toHaveLength(2);
});

test('a no to one of them is a no to all of the turn, and the next turn asks again', async () => {
  const world = createWorld({ approve: no });
  const { outcomes } = await run(world, world.approve && answerIdentical(world.approve));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['denied', 'denied', 'denied', 'denied']);
  expect(world.asked.map(({ callId }) => callId)).toEqual(['call-0', 'again']);
  const plain = createWorld({ approve: no });
  await run(plain);
  expect(plain.asked).toHaveLength(4);
});

test('a no is for the same call alone, and a yes is carried to none', async () => {
  const inputs = [ada, { to: 'eve', euros: 1 }, ada];
  const world = createWorld({ approve: no, inputs });
  await run(world, world.approve && answerIdentical(world.approve));
  expect(world.asked.map(({ callId }) => callId)).toEqual(['call-0', 'call-1', 'again']);
  const agreeing = createWorld({ approve: yes, inputs, config: { rememberIdentical: false } });
  await run(agreeing, agreeing.approve && answerIdentical(agreeing.approve));
  expect(agreeing.asked).toHaveLength(4);
});

test('direct calls do not make a turn', async () => {
  const answer = answerIdentical((pending) => (pending.callId === 'a' ? { type: 'deny' } : { type: 'approve' }));
  const { pay, policies } = createWorld();
  const options = { tools: [pay], policies, session: createSession(), approve: answer };
  expect((await executeToolCall({ id: 'a', name: 'pay', arguments: ada }, options)).kind).toBe('denied');
  expect((await executeToolCall({ id: 'b', name: 'pay', arguments: ada }, options)).kind).toBe('ok');
});

test('a yes to a call that failed is not remembered, nor one to another tool of the name', async () => {
  const world = createWorld({ approve: yes, fails: true });
  await run(world);
  expect(world.asked).toHaveLength(4);

  const good = createWorld();
  const other = { ...good.pay, origin: { kind: 'file', source: 'pay.mjs' } } as const;
  const asked: string[] = [];
  const options = {
    policies: good.policies,
    session: createSession(),
    approve: ({ name }: PendingApproval) => {
      asked.push(name);
      return { type: 'approve' } as const;
    },
  };
  for (const tool of [good.pay, good.pay, other, other]) {
    await executeToolCall({ name: 'pay', arguments: ada }, { ...options, tools: [tool] });
  }
  expect(asked).toHaveLength(2);
});

test('a tool whose code has changed has not been used before', async () => {
  const { pay } = createWorld();
  const policies = packPolicies(approvals, { config: { rememberIdentical: false } });
  const session = createSession();
  const asked: string[] = [];
  const approve: Approve = (pending) => {
    asked.push(pending.asks[0]?.reason ?? '');
    return { type: 'approve' };
  };
  const withDigest = (digest: string) => ({ ...pay, origin: { kind: 'file', source: 'pay.mjs', digest } }) as const;
  const counts: number[] = [];
  for (const tool of [pay, pay, withDigest('aa'), withDigest('aa'), withDigest('bb'), withDigest('aa')]) {
    await executeToolCall({ name: 'pay', arguments: ada }, { tools: [tool], policies, session, approve });
    counts.push(asked.length);
  }
  expect(counts).toEqual([1, 1, 2, 2, 3, 3]);
});

test('what is remembered is gone with the call that is undone, and with a reset', async () => {
  const { pay, policies } = createWorld();
  const around = defineTool({
    name: 'around',
    description: 'Pay, and fail.',
    effects: 'external',
    async execute(_input, context) {
      const { kind } = await context.call('pay', ada);
      return kind === 'ok' ? toolError('It fails all the same.') : null;
    },
  });
  let asked = 0;
  const session = createSession();
  const approve: Approve = () => {
    asked += 1;
    return { type: 'approve' };
  };
  const options = { tools: [pay, around], policies, session, approve };
  const call = async (name: string, input: JsonObject) =>
    (await executeToolCall({ name, arguments: input }, options)).kind;
  expect([await call('around', {}), asked]).toEqual(['failed', 2]);
  expect([await call('pay', ada), asked]).toEqual(['ok', 3]);
  expect([await call('pay', ada), asked]).toEqual(['ok', 3]);
  session.reset();
  expect([await call('pay', ada), asked]).toEqual(['ok', 4]);
});

test('arguments that a schema makes something else of are never the same', async () => {
  const book = defineTool({
    name: 'book',
    description: 'Book a day.',
    inputSchema: v.object({
      day: v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
      ),
    }),
    effects: 'external',
    execute: () => null,
  });
  const asked: string[] = [];
  const options = {
    tools: [book],
    session: createSession(),
    policies: packPolicies(approvals, { config: { always: 'external', firstUse: [], rememberIdentical: true } }),
    approve: ({ asks: [first] }: PendingApproval) => {
      asked.push(first?.reason ?? '');
      return { type: 'approve' } as const;
    },
  };
  for (const day of ['2026-01-01', '2026-01-02', '2026-01-01']) {
    expect(await executeToolCall({ name: 'book', arguments: { day } }, options)).toMatchObject({ kind: 'ok' });
  }
  expect(asked).toEqual([
    '`book` always needs approval.',
    '`book` always needs approval.',
    '`book` always needs approval.',
  ]);
});

const step = fc.record({
  name: fc.constantFrom('pay', 'mail', 'reset'),
  euros: fc.constantFrom(1, 2, 900),
  answer: fc.constantFrom('approve', 'deny'),
  fails: fc.boolean(),
});

test('whatever was answered and came of it before: asked is who has to be, and nobody twice about the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), async (steps, rememberIdentical) => {
      let failing = false;
      const tools = ['pay', 'mail'].map((name) =>
        defineTool({
          name,
          description: 'Stands in for a tool.',
          inputSchema: v.object({ euros: v.number() }),
          effects: 'external',
          execute: () => (failing ? toolError('No.') : null),
        }),
      );
      const mailing = { ...noFacts, hosts: [{ scheme: 'smtp', host: 'mail', sends: true }] };
      const describe = ({ tool }: DescribedCall) => (tool === 'mail' ? mailing : noFacts);
      const describers = [{ name: 'stand-ins', describe }];
      const facts = createFacts({ describers, view: { folder: '/w', workspace: '/w' } });
      const rules = [{ tool: 'pay', argument: 'euros', above: 500 }];
      const policies = packPolicies(approvals, { config: { firstUse: [{ sends: '*' }], rules, rememberIdentical } });
      const session = createSession();
      const used = new Set<string>();
      const agreed = new Set<string>();
      for (const { name, euros, answer, fails } of steps) {
        if (name === 'reset') {
          session.reset();
          for (const known of [used, agreed]) known.clear();
          continue;
        }
        failing = fails;
        let asked = false;
        const approve: Approve = () => {
          asked = true;
          return answer === 'approve' ? { type: 'approve' } : { type: 'deny' };
        };
        const options = { tools, policies, session, approve, facts };
        const { kind } = await executeToolCall({ name, arguments: { euros } }, options);
        const same = `${name} ${euros}`;
        const concerned = name === 'pay' ? euros > 500 : !used.has(name);
        const expected = concerned && !(rememberIdentical && agreed.has(same));
        expect(asked).toBe(expected);
        expect(kind).toBe(expected && answer === 'deny' ? 'denied' : fails ? 'failed' : 'ok');
        if (kind !== 'ok') continue;
        used.add(name);
        if (expected) agreed.add(same);
      }
    }),
    { numRuns: 80 },
  );
});
