import {
  allow,
  append,
  ask,
  type Decision,
  definePolicy,
  defineSlice,
  defineTool,
  deny,
  type Policy,
  type Tool,
  upsert,
} from '@holdfast/core';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { notes, testClock, testSession, wordsResource } from '../fixtures.ts';
import { type CallOptions, executeToolCall, openCaller } from '../index.ts';
import { settled } from '../test-attempts.ts';

/** A tool that ends when the test says so, and leaves a note and a word. */
function gated(extra: Partial<Pick<Tool, 'effects' | 'dangerous'>> = {}) {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (id: string): PromiseWithResolvers<void> => {
    const gate = gates.get(id) ?? Promise.withResolvers<void>();
    gates.set(id, gate);
    return gate;
  };
  const tool = defineTool<unknown, unknown>({
    name: 'work',
    description: 'Works.',
    effects: 'state',
    ...(extra as object),
    async execute(_input, { callId, session, resources }) {
      if (tool.effects !== 'none') {
        session.dispatch({ type: 'noted', payload: callId });
        (resources.get('words') as { add(word: string): void } | undefined)?.add(callId);
      }
      await gateOf(callId).promise;
      return callId as never;
    },
  });
  return { tool, release: (id: string) => gateOf(id).resolve() };
}

/** Answers by how many calls have succeeded, and by who asks. */
function counting(answer: (count: number, id: string) => Decision | Promise<Decision>): Policy {
  return definePolicy<number>({
    name: 'counting',
    initialState: 0,
    check: ({ id }, { state }) => answer(state, id),
    onResult: (_call, _result, { state }) => state + 1,
  });
}

const onlyFirst = (count: number): Decision => (count === 0 ? allow : deny('One has been made.'));

/** Two calls that have both begun when the first one ends. */
async function overlap(
  policy: Policy,
  { tool, release }: ReturnType<typeof gated> = gated(),
  options: Partial<CallOptions> = {},
) {
  const around = testSession();
  const words = wordsResource();
  const given = { tools: [tool], session: around.session, policies: [policy], resources: { words }, ...options };
  const first = executeToolCall({ id: 'first', name: 'work', arguments: {} }, given);
  const second = executeToolCall({ id: 'second', name: 'work', arguments: {} }, given);
  await settled();
  release('first');
  await settled();
  release('second');
  const outcomes = await Promise.all([first, second]);
  return { ...around, words, outcomes };
}

test.each(['none', 'state'] as const)(
  'effects %s: what is not allowed any more when it ends is denied, and has left nothing',
  async (effects) => {
    const { outcomes, session, words, ends } = await overlap(counting(onlyFirst), gated({ effects }));
    expect(outcomes).toMatchObject([
      { kind: 'ok' },
      {
        kind: 'denied',
        code: 'policy.denied',
        message:
          'Denied: One has been made. It was allowed when it began; another call committed first, so its changes were discarded.',
      },
    ]);
    expect(session.read(notes).toArray()).toEqual(effects === 'none' ? [] : ['first']);
    expect([...words.committed]).toEqual(effects === 'none' ? [] : ['first']);
    expect(ends()).toMatchObject([
      { callId: 'first', decisions: [{ type: 'allow' }] },
      { callId: 'second', decisions: [{ policy: 'host/counting', type: 'deny', reason: 'One has been made.' }] },
    ]);
  },
);

test('what has touched the world has happened: it is not asked about again', async () => {
  const asked: string[] = [];
  const policy = counting((count, id) => {
    asked.push(id);
    return onlyFirst(count);
  });
  const { outcomes } = await overlap(policy, gated({ effects: 'external' }));
  expect(outcomes).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }]);
  expect(asked).toEqual(['first', 'second']);
});

test('a question that arises by then is a denial; one that a person has answered stays answered', async () => {
  const asking = (count: number): Decision => (count === 0 ? allow : ask('Really?'));
  const { outcomes } = await overlap(counting(asking));
  expect(outcomes[1]).toMatchObject({
    kind: 'denied',
    message: expect.stringMatching(/^Denied: Really\? It now needs approval\./),
  });
  const approve = () => ({ type: 'approve' }) as const;
  const answered = await overlap(
    counting(() => ask('Really?')),
    gated({ dangerous: true }),
    { approve },
  );
  expect(answered.outcomes).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }]);
  const granted = await overlap(counting(asking), gated(), { grants: ['work'] });
  expect(granted.outcomes).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }]);
});

test('a policy that only watches stops nobody', async () => {
  const { outcomes } = await overlap(
    counting((count) => (count === 0 ? allow : { type: 'allow', observed: deny('One has been made.') })),
  );
  expect(outcomes).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }]);
});

test('a policy without a state of its own is asked once', async () => {
  const asked: string[] = [];
  const plain = definePolicy({
    name: 'plain',
    check({ id }) {
      asked.push(id);
      return allow;
    },
  });
  const { outcomes } = await overlap(
    counting(() => allow),
    gated(),
    { policies: [plain, counting(() => allow)] },
  );
  expect(outcomes).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }]);
  expect(asked).toEqual(['first', 'second']);
});

test('while one call is asked about again another one counts: it is asked about once more', async () => {
  const gate = Promise.withResolvers<void>();
  const seen: [string, number][] = [];
  const policy = counting(async (count, id) => {
    seen.push([id, count]);
    if (id === 'slow' && count === 1) await gate.promise;
    return count < 2 ? allow : deny('Two have been made.');
  });
  const { tool, release } = gated();
  const { session } = testSession();
  const caller = openCaller({ tools: [tool], session, policies: [policy] });
  const calls = ['one', 'slow', 'two'].map((id) => caller.execute({ id, name: 'work', arguments: {} }));
  for (const id of ['one', 'slow', 'two']) {
    await settled();
    release(id);
  }
  await settled();
  gate.resolve();
  expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(['ok', 'denied', 'ok']);
  expect(seen.filter(([id]) => id === 'slow').map(([, count]) => count)).toEqual([0, 1, 2]);
});

test('many at once are asked about a few times each, however many there are', async () => {
  const times = new Map<string, number>();
  const policy = counting(async (_count, id) => {
    times.set(id, (times.get(id) ?? 0) + 1);
    await settled();
    return allow;
  });
  const { tool, release } = gated();
  const { session } = testSession();
  const caller = openCaller({ tools: [tool], session, policies: [policy] });
  const ids = Array.from({ length: 60 }, (_, index) => `call-${index}`);
  const calls = ids.map((id) => caller.execute({ id, name: 'work', arguments: {} }));
  await settled();
  await settled();
  for (const id of ids) release(id);
  expect((await Promise.all(calls)).every(({ kind }) => kind === 'ok')).toBe(true);
  expect(Math.max(...times.values())).toBeLessThanOrEqual(4);
});

test.each([
  {
    end: 'aborted',
    outcome: { kind: 'cancelled', code: 'call.aborted', message: expect.stringMatching(/before `work` counted/) },
  },
  { end: 'deadline', outcome: { kind: 'timed-out', code: 'call.deadline' } },
] as const)('$end while it is asked about again: it ends by that, and has left nothing', async ({ end, outcome }) => {
  const clock = testClock();
  const controller = new AbortController();
  const never = new Promise<Decision>(() => undefined);
  const { tool, release } = gated();
  const { session } = testSession();
  const policy = counting((count) => (count === 0 ? allow : never));
  const given = { tools: [tool], session, policies: [policy], clock };
  const limits = end === 'deadline' ? { timeoutMs: 100 } : { signal: controller.signal };
  const second = executeToolCall({ id: 'second', name: 'work', arguments: {} }, { ...given, ...limits });
  const first = executeToolCall({ id: 'first', name: 'work', arguments: {} }, given);
  for (const id of ['first', 'second']) {
    await settled();
    release(id);
  }
  await settled();
  controller.abort();
  clock.advance(100);
  expect(await first).toMatchObject({ kind: 'ok' });
  expect(await second).toMatchObject(outcome);
  expect(session.read(notes).toArray()).toEqual(['first']);
});

test('what counts of a call in doubt moves the policies as well', async () => {
  const held = definePolicy<number>({
    name: 'held',
    stateKind: 'keyed',
    check: (_call, { state }) => (state.size === 0 ? allow : deny('Something may have happened.')),
    reserve: (_call, { callKey }) => upsert(callKey, 1),
    onResult: () => undefined,
  });
  const { tool, release } = gated();
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    effects: 'external',
    async execute(_input, { signal }) {
      await new Promise((_, reject) => signal.addEventListener('abort', reject));
      return null;
    },
  });
  const { session } = testSession();
  const controller = new AbortController();
  const given = { tools: [tool, pay], session, policies: [held] };
  const work = executeToolCall({ id: 'work', name: 'work', arguments: {} }, given);
  const paying = executeToolCall({ id: 'pay', name: 'pay', arguments: {} }, { ...given, signal: controller.signal });
  await settled();
  controller.abort();
  expect(await paying).toMatchObject({ kind: 'in-doubt' });
  release('work');
  expect(await work).toMatchObject({ kind: 'denied' });
});

test('nested calls count with the call around them, and are asked about again with it', async () => {
  const gate = Promise.withResolvers<void>();
  const inner = defineTool({
    name: 'inner',
    description: 'Notes.',
    effects: 'state',
    execute: (_input, { session, callId }) => {
      session.dispatch({ type: 'noted', payload: callId });
      return null;
    },
  });
  const outer = defineTool({
    name: 'outer',
    description: 'Calls.',
    effects: 'state',
    async execute(_input, { call, callId }) {
      const { kind } = await call('inner');
      if (callId === 'late') await gate.promise;
      return kind;
    },
  });
  const asked: string[] = [];
  // Keyed, so that what both have staged fits together, and nothing else refuses it.
  const once = definePolicy<true>({
    name: 'once',
    stateKind: 'keyed',
    check({ id, tool }, { state }) {
      asked.push(id);
      return tool.name === 'outer' || state.size === 0 ? allow : deny('Once only.');
    },
    onResult: ({ id, tool }) => (tool.name === 'inner' ? upsert(id, true) : undefined),
  });
  const { session, ends } = testSession();
  const caller = openCaller({ tools: [inner, outer], session, policies: [once] });
  const late = caller.execute({ id: 'late', name: 'outer', arguments: {} });
  await settled();
  expect(await caller.execute({ id: 'early', name: 'outer', arguments: {} })).toMatchObject({
    kind: 'ok',
    value: 'ok',
  });
  gate.resolve();
  expect(await late).toMatchObject({ kind: 'denied', message: expect.stringMatching(/^Denied: Once only\./) });
  expect(session.read(notes).toArray()).toEqual(['early/1']);
  expect(asked).toEqual(['late', 'late/1', 'early', 'early/1', 'late', 'late/1']);
  expect(ends().at(-1)).toMatchObject({
    callId: 'late',
    decisions: [{ policy: 'host/once', type: 'deny', reason: 'Once only.' }],
  });
});

test('nested calls are asked about again one after another: each finds what those before it count for', async () => {
  const gate = Promise.withResolvers<void>();
  const inner = defineTool({ name: 'inner', description: 'Works.', effects: 'state', execute: () => null });
  const outer = defineTool({
    name: 'outer',
    description: 'Calls twice.',
    effects: 'state',
    async execute(_input, { call, callId }) {
      await call('inner');
      const { kind } = await call('inner');
      if (callId === 'late') await gate.promise;
      return kind;
    },
  });
  const three = definePolicy<true>({
    name: 'three',
    stateKind: 'keyed',
    check: ({ tool }, { state }) => (tool.name === 'outer' || state.size < 3 ? allow : deny('Three only.')),
    onResult: ({ id, tool }) => (tool.name === 'inner' ? upsert(id, true) : undefined),
  });
  const caller = openCaller({ tools: [inner, outer], session: testSession().session, policies: [three] });
  const late = caller.execute({ id: 'late', name: 'outer', arguments: {} });
  await settled();
  expect(await caller.execute({ id: 'early', name: 'outer', arguments: {} })).toMatchObject({ value: 'ok' });
  gate.resolve();
  expect(await late).toMatchObject({ kind: 'denied', message: expect.stringMatching(/^Denied: Three only\./) });
});

test('of a nested call it is not asked again what looks at files: they have a check of their own', async () => {
  const gate = Promise.withResolvers<void>();
  const inner = defineTool({ name: 'inner', description: 'Works.', effects: 'state', execute: () => null });
  const outer = defineTool({
    name: 'outer',
    description: 'Calls.',
    effects: 'state',
    async execute(_input, { call, callId }) {
      const { kind } = await call('inner');
      if (callId === 'late') await gate.promise;
      return kind;
    },
  });
  const looking = definePolicy<number>({
    name: 'looking',
    stateKind: 'list',
    check({ tool }, { state, session }) {
      if (tool.name === 'outer') return allow;
      session.read(notes);
      return state.size === 0 ? allow : deny('Once only.');
    },
    onResult: ({ tool }) => (tool.name === 'inner' ? append(1) : undefined),
  });
  const { session } = testSession();
  const caller = openCaller({ tools: [inner, outer], session, policies: [looking] });
  const late = caller.execute({ id: 'late', name: 'outer', arguments: {} });
  await settled();
  await caller.execute({ id: 'early', name: 'outer', arguments: {} });
  gate.resolve();
  expect(await late).toMatchObject({ kind: 'ok' });
});

test('of a nested call it is not asked again what a policy keeps in itself, which has that very call in it', async () => {
  const gate = Promise.withResolvers<void>();
  const inner = defineTool({ name: 'inner', description: 'Works.', effects: 'state', execute: () => null });
  const outer = defineTool({
    name: 'outer',
    description: 'Calls.',
    effects: 'state',
    async execute(_input, { call, callId }) {
      const { kind } = await call('inner');
      if (callId === 'late') await gate.promise;
      return kind;
    },
  });
  let made = 0;
  const twice = definePolicy({
    name: 'twice',
    check: ({ tool }) => (tool.name === 'outer' || made < 2 ? allow : deny('Twice only.')),
    onResult({ tool }) {
      if (tool.name === 'inner') made += 1;
      return undefined;
    },
  });
  const caller = openCaller({ tools: [inner, outer], session: testSession().session, policies: [twice] });
  const late = caller.execute({ id: 'late', name: 'outer', arguments: {} });
  await settled();
  expect(await caller.execute({ id: 'early', name: 'outer', arguments: {} })).toMatchObject({ value: 'ok' });
  gate.resolve();
  expect(await late).toMatchObject({ kind: 'ok', value: 'ok' });
});

test('a policy that reads the session is asked again when that has changed', async () => {
  const flags = defineSlice<string>({
    id: 'flags',
    kind: 'list',
    reducers: { flagged: (_state, payload) => append(payload) },
  });
  const other: Readonly<Record<string, string>> = { left: 'right', right: 'left' };
  const apart = definePolicy({
    name: 'apart',
    check: ({ tool }, { session }) =>
      session
        .read(flags)
        .toArray()
        .includes(other[tool.name] ?? '')
        ? deny('The other one has been.')
        : allow,
  });
  const gate = Promise.withResolvers<void>();
  const tools = ['left', 'right'].map((name) =>
    defineTool({
      name,
      description: 'Flags.',
      effects: 'state',
      async execute(_input, { session }) {
        session.dispatch({ type: 'flagged', payload: name });
        await gate.promise;
        return null;
      },
    }),
  );
  const session = createSession({ slices: [flags] });
  const caller = openCaller({ tools, session, policies: [apart] });
  const running = ['left', 'right'].map((name) => caller.execute({ id: name, name, arguments: {} }));
  await settled();
  gate.resolve();
  expect((await Promise.all(running)).map(({ kind }) => kind)).toEqual(['ok', 'denied']);
  expect(session.read(flags).toArray()).toEqual(['left']);
});
