import { getEventListeners } from 'node:events';
import {
  type ApprovalAnswer,
  ask,
  definePolicy,
  defineTool,
  isHoldfastError,
  type PendingApproval,
  type RunEvent,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore, replay } from '@holdfast/session';
import { expect, test } from 'vitest';
import { readDecision } from './approval/authorize.ts';
import { notes, shortKey, testClock, testSession, wordsResource } from './fixtures.ts';
import { answerApproval, type Caller, type CallOptions, createBudget, executeToolCall, openCaller } from './index.ts';
import { settled } from './test-attempts.ts';

const seeing = defineTool({
  name: 'seeing',
  description: 'Says what it sees of others.',
  effects: 'none',
  execute: (_, { trace }) => trace?.length ?? -1,
});

const noting = defineTool({
  name: 'noting',
  description: 'Notes.',
  effects: 'state',
  async execute(_, { callId, session }) {
    await settled();
    session.dispatch({ type: 'noted', payload: callId });
    return callId;
  },
});

/** Ends when it is told to. */
const patient = defineTool({
  name: 'patient',
  description: 'Waits.',
  effects: 'state',
  execute: (_, { signal }) => new Promise<never>((_resolve, reject) => signal.addEventListener('abort', reject)),
});

const entry = { node: 0, tool: 'a', kind: 'ok', code: undefined, message: '', value: null };
const callOf = (name: string, id: string) => ({ id, name, arguments: {} });

function setUp(tools: readonly Tool[], options: Partial<CallOptions> = {}) {
  const around = testSession();
  const events: RunEvent[] = [];
  const clock = testClock();
  const onEvent = (event: RunEvent): void => void events.push(event);
  const given: CallOptions = { tools, session: around.session, clock, onEvent, ...options };
  return { ...around, clock, events, given, caller: openCaller(given) };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'none';
  } catch (thrown) {
    return isHoldfastError(thrown) ? thrown.code : String(thrown);
  }
}

test('calls of one caller share what it was given, and each has a manner of its own', async () => {
  const session = createSession();
  const caller = openCaller({ tools: [seeing], session });
  const ends: string[] = [];
  const [plain, traced] = await Promise.all([
    caller.execute(callOf('seeing', 'one')),
    caller.execute(callOf('seeing', 'two'), { trace: () => [entry], onEnd: ({ callId }) => ends.push(callId) }),
  ]);
  expect(plain).toMatchObject({ kind: 'ok', value: -1 });
  expect(traced).toMatchObject({ kind: 'ok', value: 1 });
  expect(ends).toEqual(['two']);
  expect(caller.keyOf('a/b')).toBe(`${session.id}.${session.nonce}/a%2Fb`);
  caller.dispose();
});

test('what is nested in a call sees nothing of its trace, and to look at it does no harm once the call has ended', async () => {
  const contexts: ToolContext[] = [];
  const outer = defineTool({
    name: 'outer',
    description: 'Calls.',
    effects: 'none',
    async execute(_, context) {
      contexts.push(context);
      const nested = await context.call('seeing');
      return { own: context.trace?.length ?? -1, nested: nested.value };
    },
  });
  const { caller } = setUp([outer, seeing]);
  const outcome = await caller.execute(callOf('outer', 'c'), { trace: () => [entry, entry] });
  expect(outcome).toMatchObject({ kind: 'ok', value: { own: 2, nested: -1 } });
  expect(contexts[0]?.trace).toEqual([entry, entry]);
});

test('a thousand calls at once each end once, and leave nothing behind that listens', async () => {
  const { signal } = new AbortController();
  const { caller, ends, session } = setUp([noting], { signal });
  const ids = Array.from({ length: 1_000 }, (_, index) => `call-${index}`);
  const outcomes = await Promise.all(ids.map((id) => caller.execute(callOf('noting', id))));
  expect(outcomes.every(({ kind }) => kind === 'ok')).toBe(true);
  expect(new Set(ends().map(({ callId }) => callId)).size).toBe(1_000);
  expect(session.read(notes).size).toBe(1_000);
  expect(session.openWork().calls).toEqual([]);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  caller.dispose();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('two calls at once have two names; one that has ended may be made again', async () => {
  const { caller } = setUp([noting]);
  const first = caller.execute(callOf('noting', 'same'));
  expect(await codeOf(caller.execute(callOf('noting', 'same')))).toBe('work.under_way');
  expect(await codeOf(caller.resume('same'))).toBe('work.not_open');
  expect(await first).toMatchObject({ kind: 'ok' });
  expect(await caller.execute(callOf('noting', 'same'))).toMatchObject({ kind: 'ok' });
});

test('changes that another process has left are recovered once, before the first call', async () => {
  const words = wordsResource();
  let asked = 0;
  const unsettled = async (): Promise<readonly string[]> => {
    asked += 1;
    await settled();
    return [];
  };
  const log: string[] = [];
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    effects: 'none',
    execute: () => log.push(`call after ${asked}`),
  });
  const resource = { ...words, unsettled, recover: () => undefined };
  const { caller } = setUp([look], { resources: { words: resource } });
  await Promise.all(['a', 'b', 'c'].map((id) => caller.execute(callOf('look', id))));
  expect(asked).toBe(1);
  expect(log).toEqual(['call after 1', 'call after 1', 'call after 1']);
});

test.each([
  {
    end: 'aborted',
    limits: (signal: AbortSignal) => ({ signal }),
    outcome: { kind: 'cancelled', code: 'call.aborted' },
  },
  { end: 'deadline', limits: () => ({ timeoutMs: 50 }), outcome: { kind: 'timed-out', code: 'call.deadline' } },
  {
    end: 'budget',
    limits: () => ({ budget: createBudget({ maxWallMs: 50 }, { clock: testClock() }) }),
    outcome: { kind: 'timed-out', code: 'budget.used', reason: 'time' },
  },
] as const)('$end: it ends what runs, and what waits, and what comes', async ({ end, limits, outcome }) => {
  const controller = new AbortController();
  const asking = definePolicy({
    name: 'asking',
    check: ({ id }) => (id === 'waits' ? ask('Really?') : { type: 'allow' }),
  });
  const { caller, clock, ends, session } = setUp([patient], { ...limits(controller.signal), policies: [asking] });
  const told: string[] = [];
  const stopListening = caller.onEnd((why) => told.push(`taken back ${why}`));
  caller.onEnd((why) => told.push(why));
  stopListening();
  expect(caller.ended).toBeUndefined();
  const running = ['one', 'two'].map((id) => caller.execute(callOf('patient', id)));
  expect(await caller.execute(callOf('patient', 'waits'))).toMatchObject({ kind: 'suspended' });
  await settled();
  if (end === 'aborted') controller.abort();
  else clock.advance(50);
  expect(caller.ended).toBe(end);
  expect(told).toEqual([end]);
  caller.onEnd((why) => told.push(`late ${why}`));
  expect(told).toEqual([end, `late ${end}`]);
  for (const outcomeOfRunning of await Promise.all(running)) expect(outcomeOfRunning).toMatchObject(outcome);

  const ended: string[] = [];
  expect(await caller.resume('waits', { onEnd: ({ callId }) => ended.push(callId) })).toMatchObject(outcome);
  expect(ended).toEqual(['waits']);
  expect(await caller.execute(callOf('patient', 'late'))).toMatchObject(outcome);
  expect(ends().map(({ callId }) => callId)).toEqual(['one', 'two', 'waits', 'late']);
  expect(session.openWork().calls).toEqual([]);
  expect(await codeOf(caller.resume('waits'))).toBe('work.not_open');
});

test('a call that was answered meanwhile ends by the abort all the same, and its tool never begins', async () => {
  const controller = new AbortController();
  const dangerous = defineTool({ name: 'risky', description: 'Risky.', dangerous: true, execute: () => 1 });
  const { caller, session, clock, ends } = setUp([dangerous], { signal: controller.signal });
  expect(await caller.execute(callOf('risky', 'r'))).toMatchObject({ kind: 'suspended' });
  await answerApproval(session, 'r', { type: 'approve' }, { clock });
  controller.abort();
  expect(await caller.resume('r')).toMatchObject({ kind: 'cancelled' });
  expect(ends()).toMatchObject([{ callId: 'r', outcome: { kind: 'cancelled', code: 'call.aborted' } }]);
});

test('a call suspended in a log without content can be given up but not resumed', async () => {
  const controller = new AbortController();
  const risky = defineTool({
    name: 'risky',
    description: 'Risky.',
    inputSchema: jsonSchema({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }),
    dangerous: true,
    execute: () => 1,
  });
  const session = createSession({ content: 'none' });
  const caller = openCaller({ tools: [risky], session, signal: controller.signal });
  expect(await caller.execute({ id: 'r', name: 'risky', arguments: { a: 'b' } })).toMatchObject({ kind: 'suspended' });
  expect(await codeOf(caller.resume('r'))).toBe('replay.failed');
  controller.abort();
  expect(await caller.resume('r')).toMatchObject({ kind: 'cancelled', code: 'call.aborted' });
  expect(session.openWork().calls).toEqual([]);
});

test('an external call that began in a process that ended is in doubt also when the caller is aborted', async () => {
  const store = memoryStore();
  const pay = (): Tool =>
    defineTool({ name: 'pay', description: 'Pays.', execute: () => new Promise<never>(() => undefined) });
  void openCaller({ tools: [pay()], session: createSession({ id: 's', store }) }).execute(callOf('pay', 'p'));
  await settled();
  const session = replay(store.records, { store });
  const caller = openCaller({ tools: [pay()], session, signal: AbortSignal.abort() });
  expect(await caller.resume('p')).toMatchObject({ kind: 'in-doubt' });
  expect(session.openWork().calls).toEqual([]);
});

test('a disposed caller makes no call; what it was at goes on, and so does who listens', async () => {
  const late = Promise.withResolvers<number>();
  const slow = defineTool({
    name: 'slow',
    description: 'Never listens.',
    effects: 'none',
    execute: () => late.promise,
  });
  const { caller, clock, events } = setUp([slow, noting], { timeoutMs: 50 });
  const running = caller.execute(callOf('slow', 's'));
  await settled();
  clock.advance(50);
  expect(await running).toMatchObject({ kind: 'timed-out' });
  caller.dispose();
  caller.dispose();
  expect(await codeOf(caller.execute(callOf('noting', 'n')))).toBe('context.closed');
  expect(await codeOf(caller.resume('s'))).toBe('context.closed');
  late.resolve(1);
  await settled();
  expect(events.at(-1)).toMatchObject({ type: 'tool-call-late', callId: 's', value: 1 });
});

test('overrides apply to a resumed call', async () => {
  let runs = 0;
  const flaky = defineTool({
    name: 'flaky',
    description: 'Fails once.',
    effects: 'none',
    execute(_, { trace }) {
      runs += 1;
      if (runs === 1) throw new Error('busy');
      return trace?.length ?? -1;
    },
  });
  const asking = definePolicy({ name: 'asking', check: () => ask('Really?') });
  const { caller, session, clock } = setUp([flaky], { policies: [asking] });
  const manner = { attempts: 2, delayMs: () => 0, trace: () => [entry] };
  expect(await caller.execute(callOf('flaky', 'f'), manner)).toMatchObject({ kind: 'suspended' });
  await answerApproval(session, 'f', { type: 'approve' }, { clock });
  expect(await caller.resume('f', manner)).toMatchObject({ kind: 'ok', value: 1, attempts: 2 });
});

/** Runs `work` in a call, with a caller of the child session under it. */
function delegating(
  work: (caller: Caller, context: ToolContext) => Promise<unknown>,
  inner: readonly Tool[],
  own: Partial<CallOptions> = {},
): Tool {
  return defineTool({
    name: 'delegate',
    description: 'Makes calls of its own.',
    execute: async (_, context) =>
      (await work(openCaller({ tools: inner, session: context.child(), ...own }), context)) as never,
  });
}

test('a caller under a call has the key of that call before its own, and the session above all as root', async () => {
  const seen: unknown[] = [];
  const tool = delegating(async (caller, { idempotencyKey }) => {
    const key = caller.keyOf('n');
    seen.push(key.startsWith(`${idempotencyKey}/`), caller.rootSession.id, shortKey(caller.session.id));
    const deeper = delegating(async (below) => {
      seen.push(below.keyOf('m').startsWith(`${key}/`), below.rootSession.id);
      return null;
    }, []);
    const under = openCaller({ tools: [deeper], session: caller.session as never });
    await under.execute(callOf('delegate', 'n'));
    return null;
  }, []);
  const { caller } = setUp([tool]);
  expect(await caller.execute(callOf('delegate', 'top'))).toMatchObject({ kind: 'ok' });
  expect(seen).toEqual([true, 's', 's/top/child_1', true, 's']);
  expect(caller.rootSession).toBe(caller.session);
});

test('under a call two calls at once have two names as well', async () => {
  const tool = delegating(
    async (caller) => {
      const first = caller.execute(callOf('noting', 'same'));
      const code = await codeOf(caller.execute(callOf('noting', 'same')));
      await first;
      return code;
    },
    [noting],
  );
  const { caller } = setUp([tool]);
  expect(await caller.execute(callOf('delegate', 'top'))).toMatchObject({ kind: 'ok', value: 'work.under_way' });
});

test('a caller under a call spends its budget, ends with it, and asks nobody to wait', async () => {
  const budget = createBudget({ maxCalls: 3 });
  const risky = defineTool({
    name: 'risky',
    description: 'Risky.',
    effects: 'none',
    dangerous: true,
    execute: () => 1,
  });
  const kinds: string[] = [];
  const tool = delegating(
    async (caller) => {
      for (const [id, name] of [
        ['a', 'risky'],
        ['b', 'seeing'],
        ['c', 'seeing'],
        ['d', 'seeing'],
      ] as const) {
        const outcome = await caller.execute(callOf(name, id));
        kinds.push(`${outcome.kind} ${'code' in outcome ? outcome.code : ''}`);
      }
      return null;
    },
    [risky, seeing],
  );
  const { caller } = setUp([tool], { budget });
  await caller.execute(callOf('delegate', 'top'));
  expect(kinds).toEqual(['denied approval.nested', 'ok undefined', 'ok undefined', 'denied budget.used']);
});

test('what the host grants or answers holds under a call', async () => {
  const risky = defineTool({
    name: 'risky',
    description: 'Risky.',
    effects: 'none',
    dangerous: true,
    execute: () => 1,
  });
  const tool = delegating(async (caller) => (await caller.execute(callOf('risky', 'r'))).kind, [risky]);
  const asked: PendingApproval[] = [];
  const approve = (pending: PendingApproval): ApprovalAnswer => {
    asked.push(pending);
    return { type: 'approve' };
  };
  const granted = setUp([tool], { grants: ['risky'] });
  expect(await granted.caller.execute(callOf('delegate', 'top'))).toMatchObject({ value: 'ok' });
  const answered = setUp([tool], { approve });
  expect(await answered.caller.execute(callOf('delegate', 'top'))).toMatchObject({ value: 'ok' });
  expect(asked).toMatchObject([{ callId: 'r' }]);
});

test('the end of the call around it ends a caller, and no time of its own goes beyond', async () => {
  const kinds: string[] = [];
  const tool = delegating(
    async (caller, { deadline }) => {
      kinds.push(`${deadline.remainingMs()}`);
      const outcome = await caller.execute(callOf('patient', 'p'), { attemptTimeoutMs: 5_000 });
      kinds.push(outcome.kind, String(caller.ended));
      return null;
    },
    [patient],
    { timeoutMs: 10_000 },
  );
  const { caller, clock } = setUp([tool], { timeoutMs: 100 });
  const running = caller.execute(callOf('delegate', 'top'), { attemptTimeoutMs: 60 });
  await settled();
  clock.advance(60);
  await settled();
  expect(await running).toMatchObject({ kind: 'in-doubt' });
  expect(kinds).toEqual(['60', 'timed-out', 'deadline']);
});

test('what decides about its calls can be asked ahead of them, and the session stays as it is', async () => {
  const risky = defineTool({ name: 'risky', description: 'Risks.', dangerous: true, execute: () => null });
  const counted = definePolicy({ name: 'counted', initialState: 0, check: () => ask('Sure?') });
  const around = setUp([risky, noting], { policies: [counted], grants: ['noting'] });
  const { judges } = around.caller;
  const before = around.session.export();
  expect(judges.policies.map(({ key, slice }) => [key, slice?.id])).toEqual([['host/counted', 'policy:host/counted']]);
  expect(judges.policies[0]?.toOperations(3)).toMatchObject([{ value: 3 }]);
  expect([judges.gate(risky)?.reason, judges.gate(noting)]).toEqual(['`risky` is marked as dangerous.', undefined]);
  expect(await Promise.all([judges.isGranted(risky), judges.isGranted(noting)])).toEqual([false, true]);
  expect(around.session.export()).toEqual(before);
  const call = { name: 'risky', arguments: {} };
  await executeToolCall(call, { ...around.given, approve: () => ({ type: 'approve', grant: true }) });
  expect(await judges.isGranted(risky)).toBe(true);
});

test('an answer of a policy is read once: at once or later, and in doubt as a denial', async () => {
  expect(readDecision(ask('Sure?'))).toEqual(ask('Sure?'));
  expect(await readDecision(Promise.resolve({ type: 'allow' }))).toEqual({ type: 'allow' });
  expect(readDecision('yes')).toMatchObject({ type: 'deny' });
  const broken = Object.defineProperty({}, 'then', { get: () => JSON.parse('broken') });
  expect(readDecision(broken)).toMatchObject({ type: 'deny', reason: expect.stringMatching(/^The policy failed: /) });
  await expect(readDecision(Promise.reject(new Error('down')))).rejects.toThrow('down');
});
