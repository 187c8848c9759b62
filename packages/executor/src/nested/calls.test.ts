import {
  allow,
  definePolicy,
  defineTool,
  deny,
  HoldfastError,
  type Outcome,
  type PendingApproval,
  type Policy,
  type RunEvent,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { diary, notes, outcomeOf, testClock, testSession, wordsResource } from '../fixtures.ts';
import { type CallOptions, createBudget } from '../index.ts';

/** A tool that does what the test says. */
function tool(name: string, execute: (context: ToolContext) => unknown, extra: Partial<Tool> = {}): Tool {
  return defineTool({
    name,
    description: 'Does something.',
    effects: 'state',
    ...(extra as object),
    execute: (_input, context) => execute(context) as never,
  });
}

/** Notes its own name, also as a word, and then does what `then` says. */
function noting(name: string, then: (context: ToolContext) => unknown = () => null, extra: Partial<Tool> = {}): Tool {
  return tool(
    name,
    (context) => {
      context.session.dispatch({ type: 'noted', payload: name });
      (context.resources.get('words') as { add(word: string): void } | undefined)?.add(name);
      return then(context);
    },
    extra,
  );
}

const breaks = (): never => {
  throw new Error('broke');
};

function setUp(tools: readonly Tool[], options: Partial<CallOptions> = {}) {
  const session = testSession();
  const words = wordsResource();
  const events: RunEvent[] = [];
  const given: CallOptions = {
    tools,
    session: session.session,
    resources: { words },
    onEvent: (event) => void events.push(event),
    ...options,
  };
  return {
    ...session,
    words,
    events,
    notes: () => session.session.read(notes).toArray(),
    call: (name: string, id = 'top') => outcomeOf({ id, name, arguments: {} }, given),
  };
}

test('what a nested call did counts when the call around it succeeds, in one record of that one', async () => {
  const outer = noting('outer', async ({ call, session }) => {
    const { kind } = await call('inner');
    session.dispatch({ type: 'noted', payload: 'after' });
    return kind;
  });
  const { call, notes: read, words, ends, events } = setUp([outer, noting('inner')]);
  expect(await call('outer')).toMatchObject({ kind: 'ok', value: 'ok' });
  expect(read()).toEqual(['outer', 'inner', 'after']);
  expect([...words.committed]).toEqual(['outer', 'inner']);
  expect(ends()).toMatchObject([
    { callId: 'top/1', parentId: 'top', name: 'inner' },
    { callId: 'top', name: 'outer', events: [{ payload: 'outer' }, { payload: 'inner' }, { payload: 'after' }] },
  ]);
  const told = events.map((event) => ('callId' in event ? `${event.type} ${event.callId}` : event.type));
  expect(told).toEqual(['tool-call-start top', 'tool-call-start top/1', 'tool-call-end top/1', 'tool-call-end top']);
});

test('a nested call that fails leaves the call around it as it was before', async () => {
  const outer = noting('outer', async ({ call, session }) => {
    const { kind, text } = await call('inner');
    return `${kind}: ${text} ${session.read(notes).size}`;
  });
  const { call, notes: read, words } = setUp([outer, noting('inner', breaks)]);
  expect(await call('outer')).toMatchObject({ kind: 'ok', value: 'failed: broke 1' });
  expect(read()).toEqual(['outer']);
  expect([...words.committed]).toEqual(['outer']);
});

test('a call that fails takes with it what was nested in it and had succeeded', async () => {
  const outer = noting('outer', async ({ call }) => {
    const { kind } = await call('inner');
    throw new Error(`after ${kind}`);
  });
  const { call, notes: read, words, ends } = setUp([outer, noting('inner')]);
  expect(await call('outer')).toMatchObject({ kind: 'failed', message: 'after ok' });
  expect(read()).toEqual([]);
  expect([...words.committed]).toEqual([]);
  expect(ends()).toHaveLength(2);
});

test('a policy that counts nested calls does not lose a call at the same time: the later commit fails', async () => {
  const gates: (() => void)[] = [];
  const counting = definePolicy<number>({
    name: 'counting',
    initialState: 0,
    check: () => allow,
    onResult: (_call, _result, { state }) => state + 1,
  }) as Policy;
  const outer = noting('outer', async ({ call }) => {
    await call('inner');
    await new Promise<void>((resolve) => gates.push(resolve));
    return null;
  });
  const { call, notes: read } = setUp([outer, noting('inner')], { policies: [counting] });
  const running = call('outer');
  while (gates.length === 0) await Promise.resolve();
  expect(await call('inner', 'other')).toMatchObject({ kind: 'ok' });
  gates[0]?.();
  expect(await running).toMatchObject({ kind: 'failed', code: 'commit.conflict' });
  expect(read()).toEqual(['inner']);
});

test('what was published stays, whatever becomes of any of them', async () => {
  const inner = tool('inner', ({ session }) => {
    session.publish({ type: 'happened', payload: 'x' });
    breaks();
  });
  const outer = tool('outer', async ({ call }) => {
    await call('inner');
    breaks();
  });
  const { call, session } = setUp([outer, inner]);
  await call('outer');
  expect(session.read(diary).toArray()).toEqual(['x']);
});

test('nested calls are decided on what the ones before them left, and count for policies only with the call around them', async () => {
  const once = definePolicy<number>({
    name: 'once',
    initialState: 0,
    check: ({ tool: { name } }, { state }) => (name === 'inner' && state > 0 ? deny('only once') : allow),
    onResult: ({ tool: { name } }, _result, { state }) => (name === 'inner' ? state + 1 : state),
  }) as Policy;
  const outer = noting('outer', async ({ call }) => {
    const kinds = await Promise.all([call('inner'), call('inner')]);
    if (kinds.some(({ kind }) => kind === 'failed')) breaks();
    return kinds.map(({ kind }) => kind);
  });
  const failing = noting('failing', async ({ call }) => {
    await call('inner');
    breaks();
  });
  const { call, notes: read } = setUp([outer, failing, noting('inner')], { policies: [once] });
  await call('failing');
  expect(await call('outer')).toMatchObject({ value: ['ok', 'denied'] });
  expect(read()).toEqual(['outer', 'inner']);
  expect(await call('inner')).toMatchObject({ kind: 'denied' });
});

test('a policy of a nested call sees the files and the state that the call around it has staged', async () => {
  const seen: unknown[] = [];
  const looks = definePolicy({
    name: 'looks',
    check: ({ tool: { name } }, { session }) => {
      if (name === 'inner') seen.push(session.read(notes).toArray());
      return allow;
    },
  });
  const { call } = setUp([noting('outer', ({ call: nested }) => nested('inner').then(() => null)), noting('inner')], {
    policies: [looks],
  });
  await call('outer');
  expect(seen).toEqual([['outer']]);
});

test('nested calls that only read run beside each other', async () => {
  const started: string[] = [];
  const gates: (() => void)[] = [];
  const read = defineTool({
    name: 'read',
    description: 'Reads.',
    effects: 'none',
    inputSchema: v.object({ n: v.number() }),
    execute: async ({ n }) => {
      started.push(String(n));
      await new Promise<void>((resolve) => gates.push(resolve));
      return n;
    },
  });
  const outer = tool('outer', async ({ call }) => {
    const all = [1, 2, 3].map((n) => call('read', { n }));
    for (let count = 0; count < 50; count += 1) await Promise.resolve();
    for (const open of gates.toReversed()) open();
    return (await Promise.all(all)).map(({ value }) => value);
  });
  const { call } = setUp([outer, read]);
  expect(await call('outer')).toMatchObject({ value: [1, 2, 3] });
  expect(started).toEqual(['1', '2', '3']);
});

test.each([
  { title: 'nobody to ask', options: {}, expected: { kind: 'denied', code: 'approval.nested' } },
  { title: 'a grant', options: { grants: ['inner'] }, expected: { kind: 'ok' } },
  {
    title: 'an answer',
    options: {
      approve: ({ callId, parentId }: PendingApproval) =>
        callId === 'top/1' && parentId === 'top' ? { type: 'approve' as const } : { type: 'deny' as const },
    },
    expected: { kind: 'ok' },
  },
  { title: 'unattended', options: { unattended: true }, expected: { kind: 'denied', code: 'approval.unattended' } },
])('a nested call that needs approval, with $title', async ({ options, expected }) => {
  let inner: Outcome | undefined;
  const outer = tool('outer', async ({ call }) => {
    inner = await call('inner');
    return null;
  });
  const { call } = setUp([outer, noting('inner', () => null, { dangerous: true })], options);
  expect(await call('outer')).toMatchObject({ kind: 'ok' });
  expect(inner).toMatchObject(expected);
});

test.each([
  ['none', 'state', 'tool.effects.exceeded'],
  ['none', 'external', 'tool.effects.exceeded'],
  ['state', 'external', 'tool.effects.exceeded'],
  ['external', 'external', undefined],
  ['state', 'none', undefined],
] as const)('a tool with effects %s that calls one with %s: %s', async (outer, inner, code) => {
  let entered = false;
  const caller = tool('outer', async ({ call }) => (await call('inner')).code ?? null, { effects: outer });
  const callee = tool(
    'inner',
    () => {
      entered = true;
      return null;
    },
    { effects: inner },
  );
  const { call } = setUp([caller, callee]);
  expect(await call('outer')).toMatchObject({ kind: 'ok', value: code ?? null });
  expect(entered).toBe(code === undefined);
});

test('unknown tools and bad arguments end as they do anywhere', async () => {
  const outer = tool('outer', async ({ call }) => [
    (await call('innner')).code ?? null,
    (await call('inner', { extra: 1 })).code ?? null,
    (await call('inner', 'not json')).reason ?? null,
  ]);
  const { call, ends } = setUp([outer, noting('inner')]);
  const { value } = await call('outer');
  expect(value).toEqual(['tool.unknown', 'arguments.invalid', 'malformed']);
  expect(ends()).toHaveLength(4);
});

test('a recursion without an end is stopped, and every level is put back', async () => {
  const again = noting('again', async ({ call }) => {
    const { kind, code, reason = '' } = await call('again');
    if (kind !== 'ok') throw new HoldfastError(code ?? '', 'stopped', { data: { reason } });
    return null;
  });
  const { call, notes: read, ends } = setUp([again]);
  expect(await call('again')).toMatchObject({ kind: 'failed', code: 'call.invalid', reason: 'too_deep' });
  expect(read()).toEqual([]);
  expect(ends()).toHaveLength(17);
});

test('an unawaited nested call is cancelled when the call around it ends, and counts for nothing', async () => {
  let signal: AbortSignal | undefined;
  const slow = noting('slow', async (context) => {
    signal = context.signal;
    await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
    return null;
  });
  const outer = noting('outer', async ({ call }) => {
    void call('slow');
    for (let count = 0; count < 20; count += 1) await Promise.resolve();
    return null;
  });
  const { call, notes: read, ends } = setUp([outer, slow]);
  expect(await call('outer')).toMatchObject({ kind: 'ok' });
  for (let count = 0; count < 100; count += 1) await Promise.resolve();
  expect(signal?.aborted).toBe(true);
  expect(read()).toEqual(['outer']);
  expect(ends().map(({ callId, outcome }) => [callId, (outcome as unknown as Outcome).kind])).toEqual([
    ['top', 'ok'],
    ['top/1', 'cancelled'],
  ]);
});

test('the time of the call around it is the time of a nested one', async () => {
  const clock = testClock();
  let left = 0;
  const inner = tool('inner', async ({ deadline }) => {
    left = deadline.remainingMs();
    clock.advance(100);
    await new Promise(() => undefined);
  });
  const outer = tool('outer', async ({ call }) => await call('inner'), { timeoutMs: 100 });
  const { call, ends } = setUp([outer, inner], { clock });
  expect(await call('outer')).toMatchObject({ kind: 'timed-out', code: 'call.timeout' });
  expect(left).toBe(100);
  for (let count = 0; count < 100; count += 1) await Promise.resolve();
  expect(ends().find(({ callId }) => callId === 'top/1')).toMatchObject({
    outcome: { kind: 'timed-out', code: 'call.deadline' },
  });
});

test('nested calls are paid for from the same budget', async () => {
  const budget = createBudget({ maxCalls: 2 });
  const outer = tool('outer', async ({ call }) => [(await call('inner')).kind, (await call('inner')).code ?? null]);
  const { call } = setUp([outer, noting('inner')], { budget });
  expect(await call('outer')).toMatchObject({ value: ['ok', 'budget.used'] });
  expect(budget.used.calls).toBe(2);
});

test('a kept context calls nothing once its call has ended', async () => {
  let kept: ToolContext | undefined;
  const outer = tool('outer', (context) => {
    kept = context;
    return null;
  });
  const { call } = setUp([outer, noting('inner')]);
  await call('outer');
  await expect(kept?.call('inner')).rejects.toMatchObject({ code: 'context.closed' });
  expect(() => kept?.child()).toThrow('The call has ended');
  expect(() => kept?.beat()).toThrow('The call has ended');
});

test('a failed prepare of the outer call drops what the nested one staged', async () => {
  const words = wordsResource({ prepare: true });
  const outer = noting('outer', async ({ call }) => (await call('inner')).kind);
  const { call, notes: read } = setUp([outer, noting('inner')], { resources: { words } });
  expect(await call('outer')).toMatchObject({ kind: 'failed' });
  expect(read()).toEqual([]);
  expect([...words.committed]).toEqual([]);
});
