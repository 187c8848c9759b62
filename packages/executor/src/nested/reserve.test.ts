import {
  allow,
  append,
  clear,
  definePolicy,
  defineTool,
  deny,
  HoldfastError,
  type Policy,
  remove,
  replace,
  type Tool,
  type ToolContext,
  toolError,
  upsert,
} from '@holdfast/core';
import { createSession, explainCall, memoryStore, replay, type Session, type SessionStore } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  call,
  diary,
  notes,
  playing,
  say,
  shortKey,
  stop,
  testClock,
  testSession,
  toolsPrompt,
  wordsResource,
} from '../fixtures.ts';
import { type CallOptions, executeToolCall, recoverSession, resumeRun, resumeToolCall, runAgent } from '../index.ts';
import { purse, purseOf } from '../test-reserve.ts';

const pay = (execute: (input: unknown, context: ToolContext) => unknown, extra: Partial<Tool> = {}): Tool =>
  defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: v.looseObject({}),
    ...(extra as object),
    execute: execute as never,
  }) as Tool;
const forever = (): Promise<never> => new Promise(() => undefined);
const broke = (): never => {
  throw new Error('broke');
};
const spending = { id: 'c', name: 'pay', arguments: {} };
const held = { 'doubt s/c': 5 };
const spent = { spent: 5 };
const refusing: Policy = definePolicy({ name: 'refusing', check: () => allow, onResult: broke });

interface Row {
  readonly what: string;
  readonly tool: Tool;
  readonly kind: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly options?: Partial<CallOptions>;
  /** While the tool runs. */
  readonly meanwhile?: (given: { readonly clock: ReturnType<typeof testClock>; readonly stop: () => void }) => void;
}

const rows: readonly Row[] = [
  { what: 'a success', tool: pay(() => 1), kind: 'ok', state: spent },
  { what: 'the tool fails', tool: pay(() => toolError('No.')), kind: 'failed', state: {} },
  { what: 'the tool throws', tool: pay(broke), kind: 'failed', state: {} },
  {
    what: 'the tool fails, under a policy that counts failures',
    tool: pay(() => toolError('No.')),
    kind: 'failed',
    state: held,
    options: { policies: [{ ...purse(), countsFailures: true }] },
  },
  ...(['none', 'state', 'external'] as const).flatMap((effects): readonly Row[] => {
    const tool = pay(() => toolError('No.'), { effects, repeat: 'safe' });
    return [
      {
        what: `a safe tool of effects ${effects} fails, under a policy that counts failures`,
        ...{ tool, kind: 'failed', state: held },
        options: { policies: [{ ...purse(), countsFailures: true }] },
      },
      { what: `a safe tool of effects ${effects} fails`, tool, kind: 'failed', state: {} },
    ];
  }),
  {
    what: 'it succeeds, under a policy that counts failures',
    tool: pay(() => 1),
    kind: 'ok',
    state: spent,
    options: { policies: [{ ...purse(), countsFailures: true }] },
  },
  {
    what: 'it fails, and only another policy counts failures',
    tool: pay(() => toolError('No.')),
    kind: 'failed',
    state: {},
    options: { policies: [purse(), definePolicy({ name: 'other', countsFailures: true, check: () => allow })] },
  },
  { what: 'the output is none', tool: pay(() => undefined), kind: 'in-doubt', state: held },
  {
    what: 'the output is refused',
    tool: pay(() => 1, { outputSchema: v.string() }),
    kind: 'in-doubt',
    state: held,
  },
  {
    what: 'it takes too long',
    tool: pay(forever, { timeoutMs: 10 }),
    kind: 'in-doubt',
    state: held,
    meanwhile: ({ clock }) => clock.advance(10),
  },
  { what: 'it is stopped', tool: pay(forever), kind: 'in-doubt', state: held, meanwhile: ({ stop }) => stop() },
  {
    what: 'it is stopped and may be repeated',
    tool: pay(forever, { repeat: 'safe' }),
    kind: 'cancelled',
    state: {},
    meanwhile: ({ stop }) => stop(),
  },
  {
    what: 'a keyed one is stopped',
    tool: pay(forever, { repeat: 'keyed' }),
    kind: 'in-doubt',
    state: held,
    meanwhile: ({ stop }) => stop(),
  },
  {
    what: 'another policy fails the success',
    tool: pay(() => 1),
    kind: 'in-doubt',
    state: held,
    options: { policies: [purse(), refusing] },
  },
  {
    what: 'a resource cannot be prepared',
    tool: pay((_input, { resources }) => (resources.get('words') as { add(word: string): void }).add('x') ?? 1),
    kind: 'in-doubt',
    state: held,
    options: { resources: { words: wordsResource({ prepare: true }) } },
  },
  {
    what: 'a resource cannot be applied after the commit: counted once, as the success that it is',
    tool: pay((_input, { resources }) => (resources.get('words') as { add(word: string): void }).add('x') ?? 1),
    kind: 'in-doubt',
    state: spent,
    options: { resources: { words: wordsResource({ commit: true }) } },
  },
  {
    what: 'it is denied',
    tool: pay(() => 1),
    kind: 'denied',
    state: {},
    options: { policies: [purse(), definePolicy({ name: 'no', check: () => deny('No.') })] },
  },
  { what: 'it touches nothing outside', tool: pay(() => 1n, { effects: 'state' }), kind: 'invalid', state: {} },
  {
    what: 'a failure is followed by an attempt that is stopped',
    tool: failingOnce(forever),
    kind: 'in-doubt',
    state: held,
    meanwhile: ({ stop }) => stop(),
  },
  { what: 'a failure is followed by a success', tool: failingOnce(() => 1), kind: 'ok', state: spent },
];

function failingOnce(then: () => unknown): Tool {
  let attempts = 0;
  return pay(() => (++attempts === 1 ? toolError('Busy.') : then()), {
    repeat: 'keyed',
    retry: { attempts: 2, delayMs: 0 } as never,
  });
}

test.each(rows)('$what: $kind', async ({ tool, kind, state, options, meanwhile }) => {
  const { session, records, ends } = testSession();
  const clock = testClock();
  const abort = new AbortController();
  const given = { tools: [tool], session, policies: [purse()], clock, signal: abort.signal, ...options };
  const calling = executeToolCall(spending, given);
  await new Promise((resolve) => setImmediate(resolve));
  meanwhile?.({ clock, stop: () => abort.abort() });
  expect(await calling).toMatchObject({ kind });
  expect(purseOf(session)).toEqual(state);
  expect(ends()).toHaveLength(1);
  // One record decides, and the log alone says the same.
  expect(ends()[0]?.['changes'] !== undefined).toBe(Object.keys(state).length > 0);
  expect(purseOf(replay(records, { slices: [notes, diary] }))).toEqual(state);
});

test('what a store refuses to commit is in doubt, in a record of its own', async () => {
  const memory = memoryStore();
  const store: SessionStore = {
    append(entry, seq, atMs) {
      const { outcome } = entry as { readonly outcome?: { readonly kind: string } };
      if (outcome?.kind === 'ok') throw new HoldfastError('log.write_failed', 'The disk is full.');
      memory.append(entry, seq, atMs);
    },
    close: () => undefined,
  };
  const session = createSession({ id: 's', store });
  const outcome = await executeToolCall(spending, { tools: [pay(() => 1)], session, policies: [purse()] });
  expect(outcome).toMatchObject({ kind: 'in-doubt', code: 'log.write_failed' });
  expect(purseOf(session)).toEqual(held);
  expect(purseOf(replay(memory.records))).toEqual(held);
});

test('a start record holds what is reserved, where there is something', async () => {
  const { session, records } = testSession();
  const tools = [pay(() => 1), pay(() => 1, { name: 'buy', repeat: 'safe' })];
  await executeToolCall(spending, { tools, session, policies: [purse()] });
  await executeToolCall({ ...spending, id: 'd', name: 'buy' }, { tools, session, policies: [purse()] });
  await executeToolCall({ ...spending, id: 'e' }, { tools, session });
  const starts = records.filter(({ type }) => type === 'tool-call-start');
  expect(starts.map(({ reserved }) => reserved)).toEqual([
    [{ slice: 'policy:host/purse', op: 'upsert', key: 'doubt s/c', item: 5 }],
    undefined,
    undefined,
  ]);
});

test('it is kept beside what other calls have changed in the meantime', async () => {
  const { session } = testSession();
  const clock = testClock();
  const abort = new AbortController();
  const slow = pay(forever, { name: 'slow' });
  const shared = { tools: [slow, pay(() => 1)], session, policies: [purse()], clock };
  const calling = executeToolCall({ id: 'a', name: 'slow', arguments: {} }, { ...shared, signal: abort.signal });
  await new Promise((resolve) => setImmediate(resolve));
  await executeToolCall({ ...spending, arguments: { amount: 3 } }, shared);
  await executeToolCall({ ...spending, id: 'd', arguments: { amount: 4 } }, shared);
  abort.abort();
  expect(await calling).toMatchObject({ kind: 'in-doubt' });
  expect(purseOf(session)).toEqual({ spent: 7, 'doubt s/a': 5 });
});

describe('of calls that run at the same time', () => {
  /** Asks later than it is asked, as policies under `every` do: all of these calls are allowed before the first one begins. */
  const limited = (limit: number): Policy =>
    definePolicy<number>({
      name: 'purse',
      stateKind: 'keyed',
      check: async () => allow,
      onResult: ({ input }, _result, { state }) => upsert('spent', (state.get('spent') ?? 0) + amountIn(input)),
      reserve({ input }, { state, callKey }) {
        const used = [...state].reduce((sum, [, amount]) => sum + amount, 0);
        if (used + amountIn(input) > limit) throw new HoldfastError('test.too_much', `${limit - used} is left.`);
        return upsert(`doubt ${shortKey(callKey)}`, amountIn(input));
      },
    });
  const amountIn = (input: unknown): number => (input as { readonly amount: number }).amount;
  const later = (): Tool => pay(() => new Promise((resolve) => setImmediate(() => resolve(1))));

  test('each sees what the others have reserved', async () => {
    const { session, records } = testSession();
    const shared = { tools: [later()], session, policies: [limited(10)] };
    const amounts = [4, 4, 4, 2, 1];
    const all = await Promise.all(
      amounts.map((amount, at) => executeToolCall({ id: `c${at}`, name: 'pay', arguments: { amount } }, shared)),
    );
    expect(all.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'denied', 'ok', 'denied']);
    expect(all[2]).toMatchObject({ code: 'test.too_much', message: 'Denied: 2 is left.' });
    expect(purseOf(session)).toEqual({ spent: 10 });
    expect(records.filter(({ type }) => type === 'tool-call-start')).toHaveLength(3);
    // Ended calls reserve nothing.
    session.reset();
    expect(await executeToolCall({ id: 'd', name: 'pay', arguments: { amount: 10 } }, shared)).toMatchObject({
      kind: 'ok',
    });
  });

  test.each([
    { what: 'fails', tool: pay(() => toolError('No.')), left: 10 },
    { what: 'is in doubt', tool: pay(() => 1n), left: 6 },
  ])('what one has reserved that $what is not counted twice', async ({ tool, left }) => {
    const { session } = testSession();
    const shared = { tools: [tool], session, policies: [limited(10)] };
    await executeToolCall({ id: 'a', name: 'pay', arguments: { amount: 4 } }, shared);
    const full = { ...shared, tools: [pay(() => 1)] };
    const more = { id: 'b', name: 'pay', arguments: { amount: left + 1 } };
    expect(await executeToolCall(more, full)).toMatchObject({ kind: 'denied', message: `Denied: ${left} is left.` });
    const just = { id: 'c', name: 'pay', arguments: { amount: left } };
    expect(await executeToolCall(just, full)).toMatchObject({ kind: 'ok' });
  });

  test('what is nested sees what those around it have reserved, and others see what it has done', async () => {
    const { session } = testSession();
    const go = Promise.withResolvers<void>();
    const kinds: string[] = [];
    const buy = defineTool({
      name: 'buy',
      description: 'Pays twice.',
      inputSchema: v.looseObject({}),
      async execute(_input, context) {
        kinds.push((await context.call('pay', { amount: 3 })).kind);
        kinds.push((await context.call('pay', { amount: 5 })).kind);
        kinds.push((await context.call('pay', { amount: 4 })).kind);
        await go.promise;
        return 1;
      },
    }) as Tool;
    const shared = { tools: [buy, pay(() => 1)], session, policies: [limited(10)] };
    const buying = executeToolCall({ id: 'o', name: 'buy', arguments: { amount: 3 } }, shared);
    for (let round = 0; round < 10; round += 1) await new Promise((resolve) => setImmediate(resolve));
    // 3 of its own, 3, and 4.
    expect(kinds).toEqual(['ok', 'denied', 'ok']);
    const beside = { id: 'x', name: 'pay', arguments: { amount: 1 } };
    expect(await executeToolCall(beside, shared)).toMatchObject({ kind: 'denied', message: 'Denied: 0 is left.' });
    go.resolve();
    expect(await buying).toMatchObject({ kind: 'ok' });
    expect(purseOf(session)).toEqual({ spent: 10 });
  });

  test('an interrupted call that is not settled may be in doubt, too; when resumed, it does not block itself', async () => {
    const store = memoryStore();
    const session = createSession({ id: 's', store });
    const policies = [limited(10)];
    const spendingSix = { ...spending, arguments: { amount: 6 } };
    void executeToolCall(spendingSix, { tools: [pay(forever, { repeat: 'keyed' })], session, policies });
    await new Promise((resolve) => setImmediate(resolve));
    const again = replay(store.records, { store });
    const shared = { tools: [pay(() => 1, { repeat: 'keyed' })], session: again, policies };
    expect(await executeToolCall({ ...spendingSix, id: 'd' }, shared)).toMatchObject({ kind: 'denied' });
    expect(await resumeToolCall('c', shared)).toMatchObject({ kind: 'ok' });
    expect(purseOf(again)).toEqual({ spent: 6 });
  });
});

test('what is kept of a call in doubt is a part of its explanation', async () => {
  const { session, records } = testSession();
  await executeToolCall(spending, { tools: [pay(() => 1n)], session, policies: [purse()] });
  const [use] = explainCall(records, 'c')?.uses ?? [];
  expect(use?.changed).toMatchObject({ kept: true, changes: [{ op: 'upsert', key: 'doubt s/c' }] });
});

const wrong: readonly (readonly [string, () => unknown])[] = [
  ['it throws', broke],
  ['a promise', async () => upsert('k', 1)],
  ['a rejected promise', async () => broke()],
  ['a whole state', () => replace({ k: 1 })],
  ['clear', () => clear],
  ['append', () => append(1)],
  ['no operation', () => ({ k: 1 })],
  ['one that is none among others', () => [upsert('k', 1), 7]],
  ['a value that is not JSON', () => upsert('k', 1n)],
  ['what the schema refuses', () => upsert('k', 'text')],
];
test.each(wrong)('the tool does not begin when `reserve` answers wrongly: %s', async (_what, reserve) => {
  const { session, ends, records } = testSession();
  let begun = 0;
  const policy = definePolicy<number>({
    name: 'odd',
    stateKind: 'keyed',
    stateSchema: v.number(),
    check: () => allow,
    reserve: reserve as never,
  });
  const tools = [pay(() => ++begun)];
  const outcome = await executeToolCall(spending, { tools, session, policies: [purse(), policy] });
  expect(outcome).toMatchObject({ kind: 'denied', code: 'policy.denied', reason: 'reserve' });
  expect(outcome).toMatchObject({ message: expect.stringContaining('`host/odd`') });
  expect(begun).toBe(0);
  expect(records.some(({ type }) => type === 'tool-call-start')).toBe(false);
  expect(ends()).toHaveLength(1);
  expect(purseOf(session)).toEqual({});
});

test('a policy made by hand that keeps another state reserves nothing: its calls do not begin', async () => {
  const { session } = testSession();
  const policy: Policy = {
    name: 'odd',
    id: 'odd',
    mentions: [],
    state: undefined,
    check: () => allow,
    reserve: () => remove('k'),
  };
  const outcome = await executeToolCall(spending, { tools: [pay(() => 1)], session, policies: [policy] });
  expect(outcome).toMatchObject({ kind: 'denied', code: 'policy.denied', reason: 'reserve' });
});

test('it needs no `onResult`, sees its own state, and may have nothing to say', async () => {
  const { session } = testSession();
  const doubts = definePolicy<number>({
    name: 'doubts',
    stateKind: 'keyed',
    check: (_call, { state }) => (state.size < 2 ? allow : deny('Too many doubts.')),
    reserve: ({ input }, { callKey, state }) =>
      (input as { readonly free?: boolean }).free === true ? undefined : [upsert(shortKey(callKey), state.size)],
  });
  const shared = { tools: [pay(() => 1n)], session, policies: [doubts] };
  const kinds: string[] = [];
  for (const [id, free] of [
    ['a', false],
    ['b', true],
    ['c', false],
    ['d', false],
  ] as const) {
    kinds.push((await executeToolCall({ id, name: 'pay', arguments: { free } }, shared)).kind);
  }
  expect(kinds).toEqual(['in-doubt', 'in-doubt', 'in-doubt', 'denied']);
  const state = session.export().slices.find(({ id }) => id === 'policy:host/doubts')?.state;
  expect(Object.fromEntries(state as [string, number][])).toEqual({ 's/a': 0, 's/c': 1 });
});

describe('nested in a call', () => {
  const ends: readonly (readonly [string, (input: unknown, context: ToolContext) => unknown, number])[] = [
    ['succeeds', () => 1, 1],
    ['fails', () => toolError('No.'), 0],
    ['is in doubt', () => 1n, 1],
  ];
  const around: readonly (readonly [string, () => unknown, boolean])[] = [
    ['succeeds', () => 1, true],
    ['fails', broke, false],
    ['is in doubt', () => 1n, false],
  ];
  const table = ends.flatMap(([inner, execute, counts]) =>
    around.map(([outer, then, ok]) => ({ inner, execute, counts, outer, then, ok })),
  );

  test.each(table)(
    'what $inner in a call that $outer is not lost',
    async ({ inner, execute, counts, outer, then, ok }) => {
      const { session, records } = testSession();
      const buy = defineTool({
        name: 'buy',
        description: 'Pays for it.',
        async execute(_input, { call }) {
          await call('pay', { amount: 2 });
          return then() as never;
        },
      }) as Tool;
      const shared = { tools: [buy, pay(execute)], session, policies: [purse(10)] };
      await executeToolCall({ id: 'o', name: 'buy', arguments: {} }, shared);
      const nestedSpent = ok && inner === 'succeeds';
      expect(purseOf(session)).toEqual({
        ...(ok ? { spent: nestedSpent ? 12 : 10 } : {}),
        ...(counts > 0 && !nestedSpent ? { 'doubt s/o/1': 2 } : {}),
        ...(outer === 'is in doubt' ? { 'doubt s/o': 10 } : {}),
      });
      expect(purseOf(replay(records, { slices: [notes, diary] }))).toEqual(purseOf(session));
    },
  );

  test('at any depth', async () => {
    const { session } = testSession();
    const via = (name: string, inner: string, then: () => unknown): Tool =>
      defineTool({
        name,
        description: 'Goes on.',
        async execute(_input, { call }) {
          await call(inner, {});
          return then() as never;
        },
      }) as Tool;
    const tools = [via('top', 'middle', broke), via('middle', 'low', () => 1), via('low', 'pay', broke), pay(() => 1)];
    await executeToolCall({ id: 'o', name: 'top', arguments: {} }, { tools, session, policies: [purse()] });
    // `low` and `top` say that they failed; `pay` has paid, and `middle` has done its part.
    expect(purseOf(session)).toEqual({ 'doubt s/o/1': 5, 'doubt s/o/1/1/1': 5 });
  });

  test('still under way when the one around it has ended, it counts by itself', async () => {
    const { session, records } = testSession();
    const hasty = defineTool({
      name: 'hasty',
      description: 'Does not wait.',
      async execute(_input, { call }) {
        void call('pay', {});
        await new Promise((resolve) => setImmediate(resolve));
        return 1;
      },
    }) as Tool;
    const shared = { tools: [hasty, pay(forever)], session, policies: [purse()] };
    expect(await executeToolCall({ id: 'o', name: 'hasty', arguments: {} }, shared)).toMatchObject({ kind: 'ok' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(purseOf(session)).toEqual({ spent: 5, 'doubt s/o/1': 5 });
    expect(purseOf(replay(records, { slices: [notes, diary] }))).toEqual(purseOf(session));
  });
});

test('what is reserved has masks where it is secret: in the log, in the state, and after the end of the process', async () => {
  const secret = 'Zq7-a-secret-4711';
  const redactor = createRedactor({ key: 'a key known only to the host' });
  redactor.learn(secret);
  const policy = definePolicy<string>({
    name: 'secretive',
    stateKind: 'keyed',
    check: () => allow,
    reserve: (_call, { callKey }) => upsert(shortKey(callKey), secret),
  });
  const stateOf = (session: Session): unknown =>
    Object.fromEntries(
      session.export().slices.find(({ id }) => id === 'policy:host/secretive')?.state as [string, string][],
    );
  const store = memoryStore();
  const session = createSession({ id: 's', store, redactor });
  const shared = { session, policies: [policy] };
  await executeToolCall(spending, { ...shared, tools: [pay(() => 1n)] });
  void executeToolCall({ ...spending, id: 'd' }, { ...shared, tools: [pay(forever)] });
  const again = replay(store.records, { store, redactor });
  await recoverSession({ session: again, tools: [pay(() => 1)] });
  const masked = expect.stringMatching(/^\[redacted/);
  expect(stateOf(session)).toEqual({ 's/c': masked });
  expect(stateOf(again)).toEqual({ 's/c': masked, 's/d': masked });
  expect(JSON.stringify([store.records, stateOf(again)])).not.toContain(secret);
});

test('a log without content keeps none of it', async () => {
  const store = memoryStore();
  const session = createSession({ id: 's', store, content: 'none' });
  await executeToolCall(spending, { tools: [pay(() => 1n)], session, policies: [purse()] });
  expect(purseOf(session)).toEqual(held);
  expect(JSON.stringify(store.records)).not.toContain('doubt s/c');
});

describe('in a run', () => {
  const paying = [call('pay', { amount: 2 }, 'p'), stop];

  test('calls of a turn see what those before them have reserved; ids may come again', async () => {
    const { session } = testSession();
    const cautious = definePolicy<number>({
      name: 'purse',
      stateKind: 'keyed',
      check: (_call, { state }) => (state.size < 2 ? allow : deny('Too many doubts.')),
      reserve: (_call, { callKey }) => upsert(shortKey(callKey), 2),
    });
    const twice = [call('pay', {}, 'p'), call('pay', {}, 'q'), stop];
    const model = playing(paying, twice, [say('End.'), stop]);
    const prompt = toolsPrompt([pay(() => 1n)]);
    const { outcomes } = await runAgent({ model, prompt, session, policies: [cautious], input: 'Go.' }).result;
    expect(outcomes.map(({ kind }) => kind)).toEqual(['in-doubt', 'in-doubt', 'denied']);
    expect(purseOf(session)).toEqual({ 's/1.1/p': 2, 's/1.2/p': 2 });
  });

  test.each(['never', 'keyed'] as const)(
    'what was reserved before the process ended is not lost: %s',
    async (repeat) => {
      const store = memoryStore();
      const session = createSession({ id: 's', store, slices: [notes] });
      const prompt = toolsPrompt([pay(forever, { repeat })]);
      void runAgent({ model: playing(paying), prompt, session, policies: [purse()], input: 'Go.' }).result;
      for (let round = 0; round < 1_000 && store.records.at(-1)?.type !== 'tool-call-start'; round += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      const again = replay(store.records, { store, slices: [notes] });
      const no = definePolicy({ name: 'no', check: () => deny('No.') });
      const model = playing([say('End.'), stop]);
      // Also when nobody lets it run again.
      const resumed = await resumeRun({ model, prompt, session: again, policies: [purse(), no] }).result;
      expect(resumed.outcomes).toMatchObject([{ kind: 'in-doubt' }]);
      expect(purseOf(again)).toEqual({ 'doubt s/1.1/p': 2 });
    },
  );
});

test('whatever `reserve` answers or throws, the call ends once, and its tool begins only with what can be kept', async () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const hostile = [revoked.proxy, Object.defineProperty({}, 'then', { get: broke, enumerable: true }), [revoked.proxy]];
  // By number: the property looks at what it makes.
  const answers = fc.oneof(
    fc.anything().map((value) => () => value),
    fc.anything().map((item) => () => upsert('k', item)),
    fc.nat(hostile.length - 1).map((at) => () => hostile[at]),
  );
  await fc.assert(
    fc.asyncProperty(answers, fc.boolean(), async (answer, throws) => {
      const { session, ends, records } = testSession();
      let begun = 0;
      const policy = definePolicy<unknown>({
        name: 'odd',
        stateKind: 'keyed',
        check: () => allow,
        reserve() {
          if (throws) throw answer();
          return answer() as undefined;
        },
      });
      const { kind } = await executeToolCall(spending, { tools: [pay(() => ++begun)], session, policies: [policy] });
      expect(['ok', 'denied']).toContain(kind);
      expect(begun).toBe(kind === 'ok' ? 1 : 0);
      expect(records.filter(({ type }) => type === 'tool-call-start')).toHaveLength(begun);
      expect(ends()).toHaveLength(1);
      if (throws) expect(kind).toBe('denied');
    }),
    { numRuns: 50 },
  );
});
