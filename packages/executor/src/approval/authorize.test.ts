import {
  type ApprovalAnswer,
  allow,
  ask,
  type Decision,
  definePolicy,
  defineTool,
  deny,
  type KeyedState,
  type PendingApproval,
  type Policy,
  type Tool,
  upsert,
} from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { echo, notes, outcomeOf, testClock, testSession, writer } from '../fixtures.ts';
import { executeToolCall } from '../index.ts';

const echoCall = { id: 'c', name: 'echo', arguments: '{"q":"x"}' };
let entered = 0;
const counting: Tool = defineTool<unknown, unknown>({ ...echo, execute: () => (entered += 1) } as never);

function answering(name: string, answer: () => unknown): Policy {
  return definePolicy({ name, check: () => answer() as Decision });
}

const flipping = () => {
  let reads = 0;
  return {
    get type() {
      reads += 1;
      return reads === 1 ? 'deny' : 'allow';
    },
    reason: 'first answer',
  };
};
const proxied = new Proxy(
  {},
  {
    get() {
      throw new Error('trap');
    },
    has: () => true,
  },
);

const faulty: { what: string; answer: () => unknown }[] = [
  { what: 'throws', answer: () => thrown(new Error('broke')) },
  { what: 'throws null', answer: () => thrown(null) },
  { what: 'throws a hostile proxy', answer: () => thrown(proxied) },
  { what: 'rejects', answer: () => Promise.reject(new Error('broke')) },
  { what: 'rejects with null', answer: () => Promise.reject(null) },
  ...[
    undefined,
    null,
    true,
    1,
    'allow',
    [],
    {},
    { allow: true },
    { type: 'ALLOW' },
    { type: true },
    () => allow,
    Symbol('allow'),
  ].map((answer) => ({
    what: `answers ${String(typeof answer === 'object' ? JSON.stringify(answer) : String(answer))}`,
    answer: () => answer,
  })),
  { what: 'resolves to undefined', answer: async () => undefined },
  { what: 'resolves to true', answer: async () => true },
  { what: 'answers a thenable that throws', answer: () => thenable(() => thrown(new Error('broke'))) },
  {
    what: 'answers a thenable of nothing',
    answer: () => thenable((resolve) => resolve({})),
  },
  { what: 'answers a proxy that throws', answer: () => proxied },
  { what: 'answers a getter that flips', answer: flipping },
  { what: 'resolves to a getter that flips', answer: async () => flipping() },
  { what: 'denies without a reason', answer: () => ({ type: 'deny' }) },
];

test.each(faulty)('a policy that $what lets nothing through', async ({ answer }) => {
  const { session, ends } = testSession();
  entered = 0;
  const outcome = await outcomeOf(echoCall, {
    tools: [counting],
    session,
    policies: [answering('faulty', answer), answering('fine', () => allow)],
  });
  expect(outcome).toMatchObject({ kind: 'denied', code: 'policy.denied' });
  expect(entered).toBe(0);
  expect(ends()[0]).toMatchObject({
    decisions: [
      { policy: 'host/faulty', type: 'deny', reason: expect.any(String) },
      { policy: 'host/fine', type: 'allow' },
    ],
  });
});

test.each([
  { grantable: undefined, kind: 'ok' },
  { grantable: true, kind: 'ok' },
  { grantable: false, kind: 'denied' },
  { grantable: null, kind: 'denied' },
  { grantable: 'true', kind: 'denied' },
])('an ask that says `grantable: $grantable` of a granted tool: $kind', async ({ grantable, kind }) => {
  const { session } = testSession();
  // Written without types.
  const policies = [answering('asking', () => ({ type: 'ask', reason: 'Sure?', grantable }))];
  const options = { tools: [echo], session, policies, grants: ['echo'], unattended: true };
  expect(await outcomeOf(echoCall, options)).toMatchObject({ kind });
});

test('a policy that never answers is a denial after its time', async () => {
  const { session } = testSession();
  const clock = testClock();
  const ended = outcomeOf(echoCall, {
    tools: [counting],
    session,
    clock,
    policies: [answering('slow', () => new Promise(() => undefined))],
  });
  await Promise.resolve();
  clock.advance(4_999);
  await Promise.resolve();
  clock.advance(1);
  expect(await ended).toMatchObject({ kind: 'denied', message: 'Denied: The policy did not answer within 5000 ms.' });
});

test('thenables and promises of an allow are allows', async () => {
  const { session } = testSession();
  const policies = [
    answering('async', async () => allow),
    answering('thenable', () => thenable((resolve) => resolve(allow))),
  ];
  expect(await outcomeOf(echoCall, { tools: [echo], session, policies })).toMatchObject({ kind: 'ok' });
});

const itself: { type: string; observed?: unknown } = { type: 'allow' };
itself.observed = itself;

test.each([
  { what: 'a denial', observed: deny('No.'), noted: { observed: 'deny', reason: 'No.' } },
  { what: 'an ask', observed: ask('May I?'), noted: { observed: 'ask', reason: 'May I?' } },
  { what: 'no reason', observed: { type: 'deny' }, noted: { observed: 'deny', reason: 'No reason was given.' } },
  { what: 'an allow', observed: allow, noted: {} },
  { what: 'no decision', observed: { type: 'maybe', reason: 'No.' }, noted: {} },
  { what: 'a text', observed: 'deny', noted: {} },
  { what: 'itself', observed: itself, noted: {} },
])('an allow that observed $what is an allow, and is noted in the log', async ({ observed, noted }) => {
  for (const answer of [{ type: 'allow', observed }, Promise.resolve({ type: 'allow', observed })]) {
    const { session, ends } = testSession();
    const policies = [answering('trial', () => answer)];
    expect(await outcomeOf(echoCall, { tools: [echo], session, policies })).toMatchObject({ kind: 'ok' });
    expect(ends()[0]?.['decisions']).toEqual([{ policy: 'host/trial', type: 'allow', ...noted }]);
  }
});

test('property: deny beats ask beats allow in every order, and every reason is reported', async () => {
  const decision = fc.constantFrom<Decision>(allow, ask('please'), deny('never'));
  await fc.assert(
    fc.asyncProperty(fc.array(decision, { maxLength: 6 }), async (decisions) => {
      const { session } = testSession();
      const policies = decisions.map((answer, index) =>
        answering(`p-${index}`, () => (index % 2 === 0 ? answer : Promise.resolve(answer))),
      );
      const outcome = await executeToolCall(echoCall, { tools: [echo], session, policies });
      const types = decisions.map(({ type }) => type);
      const expected = types.includes('deny') ? 'denied' : types.includes('ask') ? 'suspended' : 'ok';
      expect(outcome.kind).toBe(expected);
      if (outcome.kind === 'denied')
        // Equal reasons are told once.
        expect(outcome.message).toBe('Denied: never');
      if (outcome.kind === 'suspended')
        expect(outcome.pending[0]?.asks).toHaveLength(types.filter((type) => type === 'ask').length);
    }),
  );
});

test('a policy sees the parsed call, frozen, and cannot change it', async () => {
  const { session } = testSession();
  const seen: unknown[] = [];
  const mutating = definePolicy({
    name: 'mutating',
    check: (call, context) => {
      seen.push(call.input, Object.isFrozen(call), Object.isFrozen(call.input), Object.isFrozen(context));
      Object.assign(call.input as object, { q: 'changed' });
      return allow;
    },
  });
  expect(await outcomeOf(echoCall, { tools: [echo], session, policies: [mutating] })).toMatchObject({ kind: 'denied' });
  expect(seen).toEqual([{ q: 'x' }, true, true, true]);
});

const visits: Policy<KeyedState<number>> = definePolicy<number>({
  name: 'visits',
  stateKind: 'keyed',
  check: (call, { state }) => ((state.get(call.tool.name) ?? 0) < 2 ? allow : deny('Twice is enough.')),
  onResult: (call, _result, { state }) => upsert(call.tool.name, (state.get(call.tool.name) ?? 0) + 1),
});

test('state changes with successes only, and goes back with the session', async () => {
  const { session, records } = testSession();
  const options = { tools: [echo, writer(() => thrown(new Error('no')))], session, policies: [visits] };
  const kinds = [];
  const before = session.snapshot();
  for (const name of ['write', 'write', 'write', 'echo', 'echo', 'echo'])
    kinds.push((await outcomeOf({ name, arguments: name === 'echo' ? '{"q":"x"}' : '' }, options)).kind);
  expect(kinds).toEqual(['failed', 'failed', 'failed', 'ok', 'ok', 'denied']);
  expect(records.filter((record) => record['changes'] !== undefined).map((record) => record['changes'])).toEqual([
    [{ slice: 'policy:host/visits', op: 'upsert', key: 'echo', item: 1 }],
    [{ slice: 'policy:host/visits', op: 'upsert', key: 'echo', item: 2 }],
  ]);
  session.read({
    id: 'policy:host/visits',
    kind: 'keyed',
    schema: undefined,
    initial: undefined,
    reducers: new Map(),
    retention: 'state',
  });
  session.restore(before);
  expect(await outcomeOf(echoCall, options)).toMatchObject({ kind: 'ok' });
});

test('two sessions share no state', async () => {
  for (const { session } of [testSession(), testSession()]) {
    const options = { tools: [echo], session, policies: [visits] };
    expect([(await outcomeOf(echoCall, options)).kind, (await outcomeOf(echoCall, options)).kind]).toEqual([
      'ok',
      'ok',
    ]);
  }
});

test('a value state is replaced by what onResult answers, a list too', async () => {
  const { session } = testSession();
  const budget = definePolicy<number>({
    name: 'budget',
    initialState: 0,
    check: (_call, { state }) => (state < 1 ? allow : deny('Used up.')),
    onResult: (_call, _result, { state }) => state + 1,
  });
  const queue = definePolicy<readonly string[]>({
    name: 'queue',
    initialState: ['x'],
    check: (_call, { state }) => (state.length > 0 ? allow : deny('Empty.')),
    onResult: () => [],
  });
  expect(await outcomeOf(echoCall, { tools: [echo], session, policies: [budget] })).toMatchObject({ kind: 'ok' });
  expect(await outcomeOf(echoCall, { tools: [echo], session, policies: [budget] })).toMatchObject({
    kind: 'denied',
    message: 'Denied: Used up.',
  });
  expect(await outcomeOf(echoCall, { tools: [echo], session, policies: [queue] })).toMatchObject({ kind: 'ok' });
  expect(await outcomeOf(echoCall, { tools: [echo], session, policies: [queue] })).toMatchObject({
    kind: 'denied',
    message: 'Denied: Empty.',
  });
});

test.each([
  ['throws', () => thrown(new Error('onResult broke')), 'commit.failed'],
  ['answers a promise', () => Promise.resolve(1), 'policy.invalid'],
  ['answers a promise that fails', () => Promise.reject(new Error('late')), 'policy.invalid'],
  ['answers an operation that its state does not know', () => upsert('k', 1), 'slice.invalid'],
])('an onResult that %s fails the call, and nothing of it stays', async (_what, onResult, code) => {
  const { session, ends } = testSession();
  const first = definePolicy<number>({
    name: 'first',
    initialState: 0,
    check: () => allow,
    onResult: (_call, _result, { state }) => state + 1,
  });
  const second = definePolicy<number>({
    name: 'second',
    initialState: 0,
    check: () => allow,
    onResult: onResult as never,
  });
  expect(
    await outcomeOf(
      { id: 'c', name: 'write', arguments: '' },
      { tools: [writer(() => 1)], session, policies: [first, second] },
    ),
  ).toMatchObject({ kind: 'failed', code });
  expect(session.read(notes).size).toBe(0);
  expect(ends()).toHaveLength(1);
  expect(ends()[0]?.['changes']).toBeUndefined();
});

const dangerous: Tool = writer(() => 'done', { dangerous: true });
const dangerousCall = { id: 'c', name: 'write', arguments: '' };

test('a dangerous call waits for a person, whatever policies say', async () => {
  const { session, ends, records } = testSession();
  const outcome = await executeToolCall(dangerousCall, {
    tools: [dangerous],
    session,
    policies: [answering('fine', () => allow)],
    clock: testClock(),
  });
  expect(outcome).toEqual({
    kind: 'suspended',
    pending: [
      {
        callId: 'c',
        name: 'write',
        input: {},
        dangerous: true,
        asks: [{ policy: 'holdfast/dangerous', type: 'ask', reason: '`write` is marked as dangerous.' }],
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        toolDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        expiresAtMs: 86_400_000,
      },
    ],
  });
  expect(ends()).toHaveLength(0);
  expect(records.at(-1)).toMatchObject({ type: 'approval-request' });
  expect(session.read(notes).size).toBe(0);
});

test('a tool without declared effects needs no approval unless marked as dangerous', async () => {
  const own = defineTool({ name: 'own', description: 'Does it.', execute: () => 1 });
  const foreign: Tool = Object.freeze({ ...own, name: 'foreign', dangerous: true });
  const { session } = testSession();
  const options = { tools: [own, foreign], session };
  expect(own).toMatchObject({ dangerous: false, undeclared: true });
  expect(await executeToolCall({ name: 'own', arguments: {} }, options)).toMatchObject({ kind: 'ok' });
  expect(await executeToolCall({ name: 'foreign', arguments: {} }, options)).toMatchObject({
    pending: [{ dangerous: true, asks: [{ reason: '`foreign` says neither `dangerous` nor `effects`.' }] }],
  });
});

const answers: { what: string; answer: unknown; kind: string; code?: string; by?: string }[] = [
  { what: 'approve', answer: { type: 'approve' }, kind: 'ok' },
  { what: 'deny', answer: { type: 'deny' }, kind: 'denied', code: 'approval.denied' },
  {
    what: 'deny with a reason',
    answer: { type: 'deny', reason: 'not today' },
    kind: 'denied',
    code: 'approval.denied',
  },
  { what: 'true', answer: true, kind: 'denied', code: 'approval.denied', by: 'host' },
  { what: 'undefined', answer: undefined, kind: 'denied', code: 'approval.denied', by: 'host' },
  { what: 'APPROVE', answer: { type: 'APPROVE' }, kind: 'denied', code: 'approval.denied', by: 'host' },
  {
    what: 'a rejection',
    answer: () => Promise.reject(new Error('closed')),
    kind: 'denied',
    code: 'approval.denied',
    by: 'host',
  },
];

test.each(answers)('the answer $what: $kind', async ({ answer, kind, code, by = 'person' }) => {
  const { session, records, ends } = testSession();
  const outcome = await outcomeOf(dangerousCall, {
    tools: [dangerous],
    session,
    approve: () => (typeof answer === 'function' ? answer() : answer) as ApprovalAnswer,
  });
  expect(outcome).toMatchObject({ kind, code });
  expect(ends()).toMatchObject([{ approval: { by } }]);
  expect(session.read(notes).size).toBe(kind === 'ok' ? 1 : 0);
  expect(records.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['approval-request', 'approval-answer', 'tool-call-end']),
  );
});

test('the duration excludes the time of an approval', async () => {
  const { session, ends } = testSession();
  const clock = testClock();
  const approve = (): ApprovalAnswer => {
    clock.advance(60_000);
    return { type: 'approve' };
  };
  await outcomeOf(dangerousCall, { tools: [dangerous], session, clock, approve });
  expect(ends()[0]).toMatchObject({ startedAtMs: 0, durationMs: 0 });
});

test('approval.unattended: nobody is asked, and that is a denial', async () => {
  const { session } = testSession();
  const outcome = await outcomeOf(dangerousCall, {
    tools: [dangerous],
    session,
    unattended: true,
    approve: () => expect.unreachable(),
  });
  expect(outcome).toMatchObject({ kind: 'denied', code: 'approval.unattended' });
});

test('a grant of the host or of an earlier answer lets pass, but no denial', async () => {
  const { session, ends } = testSession();
  expect(await outcomeOf(dangerousCall, { tools: [dangerous], session, grants: ['write'] })).toMatchObject({
    kind: 'ok',
  });
  expect(ends()[0]).toMatchObject({
    decisions: [{ policy: 'holdfast/dangerous', type: 'allow', reason: 'Granted by the host.' }],
  });
  let asked = 0;
  const approve = (): ApprovalAnswer => {
    asked += 1;
    return { type: 'approve', grant: true };
  };
  for (let index = 0; index < 2; index += 1)
    expect(await outcomeOf(dangerousCall, { tools: [dangerous], session, approve })).toMatchObject({ kind: 'ok' });
  expect(asked).toBe(1);
  expect(ends()[2]).toMatchObject({ decisions: [{ type: 'allow', reason: 'Granted for the session.' }] });
  const denying = [answering('never', () => deny('never'))];
  expect(
    await outcomeOf(dangerousCall, { tools: [dangerous], session, grants: ['write'], policies: denying }),
  ).toMatchObject({ kind: 'denied' });
});

test('a grant covers the tool that it names and no other', async () => {
  const { session } = testSession();
  const other: Tool = defineTool({
    name: 'erase',
    description: 'Erases.',
    effects: 'state',
    dangerous: true,
    execute: () => 1,
  });
  const tools = [dangerous, other];
  expect(await executeToolCall({ name: 'erase', arguments: '' }, { tools, session, grants: ['write'] })).toMatchObject({
    kind: 'suspended',
  });
  await outcomeOf(dangerousCall, { tools, session, approve: () => ({ type: 'approve', grant: true }) });
  expect(await executeToolCall({ name: 'erase', arguments: '' }, { tools, session })).toMatchObject({
    kind: 'suspended',
  });
});

test('policies are asked again after a yes: a new ask asks, a denial denies', async () => {
  const { session } = testSession();
  let round = 0;
  const asked: string[][] = [];
  const changing = answering('changing', () => {
    round += 1;
    return round === 1 ? allow : round === 2 ? ask('second thoughts') : round === 3 ? deny('no after all') : allow;
  });
  const approve = ({ asks }: PendingApproval): ApprovalAnswer => {
    asked.push(asks.map(({ policy }) => policy));
    return { type: 'approve' };
  };
  expect(await outcomeOf(dangerousCall, { tools: [dangerous], session, policies: [changing], approve })).toMatchObject({
    kind: 'denied',
    message: 'Denied: no after all',
  });
  expect(asked).toEqual([['holdfast/dangerous'], ['host/changing']]);
});

test('the end of the run while a person thinks ends the call, and nobody has said no', async () => {
  const { session } = testSession();
  const controller = new AbortController();
  const approve = (): Promise<ApprovalAnswer> => {
    controller.abort();
    return new Promise(() => undefined);
  };
  expect(
    await outcomeOf(dangerousCall, { tools: [dangerous], session, approve, signal: controller.signal }),
  ).toMatchObject({ kind: 'cancelled', code: 'call.aborted' });
});

test.each([
  ['policy.invalid: key.duplicate', [answering('a', () => allow), answering('a', () => allow)]],
  ['policy.invalid: tool.unknown', [definePolicy({ name: 'a', tools: ['ecko'], check: () => allow })]],
])('%s is a wrong configuration', async (code, policies) => {
  const { session } = testSession();
  await expect(executeToolCall(echoCall, { tools: [echo], session, policies })).rejects.toSatisfy(
    (error: { code: string }) => describeCode(error) === code,
  );
});

// Spelled like this because a linter takes a literal `then` for a mistake, as it mostly is.
function thenable(then: (resolve: (value: unknown) => void) => void): unknown {
  return Object.fromEntries([['then', then]]);
}

function thrown(value: unknown): never {
  throw value;
}

test.each<[unknown, string]>([
  ['guard.self', 'guard.self'],
  [undefined, 'policy.denied'],
  ['Guard self', 'policy.denied'],
  [7, 'policy.denied'],
])('a denial with the code %o ends its call as `%s`', async (code, expected) => {
  const { session, ends } = testSession();
  const policies = [answering('fine', () => allow), answering('strict', () => ({ ...deny('No.'), code }))];
  expect(await outcomeOf(echoCall, { tools: [echo], session, policies })).toMatchObject({ code: expected });
  const noted = expected === 'policy.denied' ? {} : { code: expected };
  expect(ends()[0]).toMatchObject({
    decisions: [{ type: 'allow' }, { policy: 'host/strict', type: 'deny', reason: 'No.', ...noted }],
  });
});
