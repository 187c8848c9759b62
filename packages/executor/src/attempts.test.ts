import {
  allow,
  definePolicy,
  defineResource,
  defineTool,
  deny,
  type ExecutableTool,
  type RunEvent,
  type Tool,
  type ToolContext,
  type ToolRetry,
  toolError,
  toolOk,
  visibilityExpansionRequired,
} from '@holdfast/core';
import { createSession, replay } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { expect, test } from 'vitest';
import {
  call,
  diary,
  notes,
  outcomeOf,
  playing,
  say,
  stop,
  testClock,
  testSession,
  toolsPrompt,
  wordsResource,
} from './fixtures.ts';
import { type CallOptions, createBudget, executeToolCall, resumeToolCall, runAgent } from './index.ts';
import { dieUnder, life, mail, sending, type World } from './test-resume.ts';

const broke = (): never => {
  throw new Error('broke');
};

/** A tool whose first attempts do what `attempts` say, one after another; what comes after these does what the last one says. */
function flaky(
  attempts: readonly ((context: ToolContext) => unknown)[],
  extra: Partial<Pick<Tool, 'name' | 'effects' | 'repeat' | 'timeoutMs' | 'dangerous' | 'locks'>> & {
    readonly retry?: ToolRetry;
  } = {},
): Tool & { readonly contexts: readonly ToolContext[] } {
  const contexts: ToolContext[] = [];
  const tool = defineTool<unknown, unknown>({
    name: 'flaky',
    description: 'Fails at times.',
    effects: 'state',
    repeat: 'safe',
    retry: { attempts: 3, delayMs: 0 },
    ...(extra as object),
    execute(_input, context) {
      contexts.push(context);
      return attempts[Math.min(contexts.length, attempts.length) - 1]?.(context) as never;
    },
  });
  return { ...tool, contexts };
}

function setUp(tools: readonly Tool[], options: Partial<CallOptions> = {}) {
  const session = testSession();
  const words = wordsResource();
  const events: RunEvent[] = [];
  const clock = testClock();
  const given: CallOptions = {
    tools,
    session: session.session,
    resources: { words },
    onEvent: (event) => void events.push(event),
    clock,
    ...options,
  };
  return {
    ...session,
    words,
    events,
    clock,
    retries: () => events.filter(({ type }) => type === 'tool-call-retry'),
    notes: () => session.session.read(notes).toArray(),
    diary: () => session.session.read(diary).toArray(),
    given,
    call: (name = 'flaky') => outcomeOf({ id: 'c', name, arguments: {} }, given),
  };
}

const note =
  (text: string, then: (context: ToolContext) => unknown) =>
  (context: ToolContext): unknown => {
    context.session.dispatch({ type: 'noted', payload: text });
    context.session.publish({ type: 'happened', payload: text });
    (context.resources.get('words') as { add(word: string): void } | undefined)?.add(text);
    return then(context);
  };

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test('only what the attempt that succeeded did counts; what was published has happened', async () => {
  const tool = flaky([
    note('one', broke),
    note('two', () => toolError('No.', { code: 'busy' })),
    note('three', () => 3),
  ]);
  const { call, notes: read, diary: published, words, ends, retries } = setUp([tool]);
  expect(await call()).toMatchObject({ kind: 'ok', value: 3, attempts: 3, text: '3' });
  expect(read()).toEqual(['three']);
  expect(published()).toEqual(['one', 'two', 'three']);
  expect([...words.committed]).toEqual(['three']);
  expect(words.log).toEqual(['discard', 'discard', 'prepare', 'commit']);
  expect(ends()).toMatchObject([
    {
      outcome: { kind: 'ok', attempts: 3 },
      retries: [
        { code: 'tool.threw', message: 'broke' },
        { code: 'busy', message: 'No.' },
      ],
      events: [{ payload: 'three' }],
    },
  ]);
  expect(retries()).toEqual([
    {
      type: 'tool-call-retry',
      callId: 'c',
      name: 'flaky',
      attempt: 1,
      code: 'tool.threw',
      message: 'broke',
      delayMs: 0,
      atMs: 0,
    },
    {
      type: 'tool-call-retry',
      callId: 'c',
      name: 'flaky',
      attempt: 2,
      code: 'busy',
      message: 'No.',
      delayMs: 0,
      atMs: 0,
    },
  ]);
});

test('the log alone gives the same state', async () => {
  const { call, records, session } = setUp([flaky([note('one', broke), note('two', () => 2)])]);
  await call();
  const rebuilt = replay(records, { slices: [notes, diary] });
  expect(rebuilt.read(notes).toArray()).toEqual(session.read(notes).toArray());
  expect(rebuilt.read(diary).toArray()).toEqual(['one', 'two']);
});

test('when no attempt succeeds the call ends as the last one did, and nothing has changed', async () => {
  const {
    call,
    notes: read,
    words,
    ends,
  } = setUp([
    flaky([note('one', broke), note('two', () => toolError('Still busy.', { code: 'busy', value: { left: 4 } }))]),
  ]);
  expect(await call()).toMatchObject({
    kind: 'failed',
    code: 'busy',
    attempts: 3,
    message: 'Tried 3 times. Still busy.',
    value: { left: 4 },
    text: 'Tried 3 times. Still busy.\n\n{"left":4}',
  });
  expect(read()).toEqual([]);
  expect([...words.committed]).toEqual([]);
  expect(ends()).toMatchObject([{ retries: [{ message: 'broke' }, { message: 'Still busy.' }], events: [] }]);
});

test('a tool without `retry`, and one that succeeds at once, say nothing of attempts', async () => {
  const once = defineTool({ name: 'once', description: 'Fails.', effects: 'none', execute: () => broke() });
  const { call, ends, retries } = setUp([once, flaky([() => 1])]);
  expect(await call('once')).toMatchObject({ kind: 'failed', message: 'broke' });
  expect(await call()).toMatchObject({ kind: 'ok' });
  for (const { retries, outcome } of ends()) {
    expect(retries).toBeUndefined();
    expect(outcome).not.toHaveProperty('attempts', expect.anything());
  }
  expect(retries()).toEqual([]);
});

test.each<{ readonly title: string; readonly attempt: (context: ToolContext) => unknown; readonly outcome: object }>([
  { title: 'no answer', attempt: () => undefined, outcome: { kind: 'invalid', code: 'output.undefined' } },
  { title: 'what is no JSON', attempt: () => 1n, outcome: { kind: 'invalid', code: 'output.not_json' } },
  {
    title: 'a failure whose payload is no JSON',
    attempt: () => toolError('No.', { value: 1n as never }),
    outcome: { kind: 'invalid', code: 'output.not_json' },
  },
  {
    title: 'a result that cannot be read',
    attempt: () => new Proxy(toolOk(1), { get: () => broke() }),
    outcome: { kind: 'invalid', code: 'output.unreadable' },
  },
  {
    title: 'a section that has to be opened',
    attempt: () => {
      throw visibilityExpansionRequired(['a']);
    },
    outcome: { kind: 'failed' },
  },
])('$title: is not tried again', async ({ attempt, outcome }) => {
  const tool = flaky([attempt]);
  const { call } = setUp([tool]);
  expect(await call()).toMatchObject(outcome);
  expect(tool.contexts).toHaveLength(1);
});

test('a tool that gave no word is not tried again', async () => {
  const tool = flaky(
    [
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')));
        }),
    ],
    { timeoutMs: 10 },
  );
  const { call, clock } = setUp([tool]);
  const outcome = call();
  clock.advance(10);
  expect(await outcome).toMatchObject({ kind: 'timed-out', code: 'call.timeout' });
  expect(tool.contexts).toHaveLength(1);
});

test('an external tool without a readable answer is in doubt, and not tried again', async () => {
  const tool = flaky([() => undefined], { effects: 'external', repeat: 'keyed' });
  const { call } = setUp([tool]);
  expect(await call()).toMatchObject({ kind: 'in-doubt' });
  expect(tool.contexts).toHaveLength(1);
});

test('all attempts are one call: one start record, one call of the budget, one question', async () => {
  const tool = flaky([broke, broke, () => 1], { effects: 'external', repeat: 'keyed', dangerous: true });
  let asked = 0;
  let checked = 0;
  const counts = definePolicy({
    name: 'counts',
    check: () => {
      checked += 1;
      return allow;
    },
  });
  const budget = createBudget({ maxCalls: 1 });
  const { call, records } = setUp([tool], {
    budget,
    policies: [counts],
    approve: () => {
      asked += 1;
      return { type: 'approve' };
    },
  });
  expect(await call()).toMatchObject({ kind: 'ok', attempts: 3 });
  expect(records.filter(({ type }) => type === 'tool-call-start')).toHaveLength(1);
  // The policy before the question, and after the answer.
  expect({ asked, checked, calls: budget.used.calls }).toEqual({ asked: 1, checked: 2, calls: 1 });
});

test('each attempt has a context of its own, with the key of the call; that of a failed one is closed and its signal fires', async () => {
  const seen: string[] = [];
  const signals: AbortSignal[] = [];
  const tool = flaky([
    ({ idempotencyKey, signal, callId }) => {
      seen.push(`${callId} ${idempotencyKey}`);
      signals.push(signal);
      return broke();
    },
    ({ idempotencyKey, signal, callId }) => {
      seen.push(`${callId} ${idempotencyKey}`);
      signals.push(signal);
      const [first] = tool.contexts;
      let late: unknown;
      try {
        first?.session.dispatch({ type: 'noted', payload: 'late' });
      } catch (thrown) {
        late = thrown;
      }
      expect(late).toMatchObject({ code: 'context.closed' });
      return null;
    },
  ]);
  const { call, notes: read } = setUp([tool]);
  expect(await call()).toMatchObject({ kind: 'ok' });
  expect(new Set(seen).size).toBe(1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(read()).toEqual([]);
});

test('the delay doubles, by the clock of the host', async () => {
  const tool = flaky([broke], { retry: { attempts: 4, delayMs: 100 } });
  const { call, clock, retries } = setUp([tool]);
  const outcome = call();
  for (const [runs, ms] of [
    [1, 99],
    [1, 1],
    [2, 199],
    [2, 1],
    [3, 399],
    [3, 1],
  ] as const) {
    await settled();
    expect(tool.contexts).toHaveLength(runs);
    clock.advance(ms);
  }
  expect(await outcome).toMatchObject({ kind: 'failed', attempts: 4 });
  expect(retries()).toMatchObject([{ delayMs: 100 }, { delayMs: 200, atMs: 100 }, { delayMs: 400, atMs: 300 }]);
});

test('all attempts have the time of one', async () => {
  const deadlines: number[] = [];
  const remember = ({ deadline }: ToolContext): never => {
    deadlines.push(deadline.atMs);
    return broke();
  };
  const tool = flaky([remember, remember, () => new Promise(() => undefined)], {
    retry: { attempts: 9, delayMs: 100 },
    timeoutMs: 500,
  });
  const { call, clock } = setUp([tool]);
  const outcome = call();
  for (const ms of [100, 200, 199]) {
    await settled();
    clock.advance(ms);
  }
  await settled();
  expect(tool.contexts).toHaveLength(3);
  clock.advance(1);
  expect(await outcome).toMatchObject({
    kind: 'timed-out',
    code: 'call.timeout',
    attempts: 3,
    message: 'Tried 3 times. `flaky` did not finish within its limit of 500 ms.',
  });
  expect(deadlines).toEqual([500, 500]);
});

test.each([
  { title: 'the tool', extra: { timeoutMs: 1_000 }, options: {} },
  { title: 'the call', extra: {}, options: { timeoutMs: 1_000 } },
])('a delay that lasts until the time of $title is over is not begun', async ({ extra, options }) => {
  const tool = flaky([broke], { retry: { attempts: 3, delayMs: 1_000 }, ...extra });
  const { call, retries } = setUp([tool], options);
  expect(await call()).toMatchObject({ kind: 'failed', message: 'broke', attempts: undefined });
  expect(retries()).toEqual([]);
});

test('aborted during a delay, the call ends as its last attempt did, and nothing runs any more', async () => {
  const controller = new AbortController();
  const tool = flaky([note('one', broke)], { retry: { attempts: 3, delayMs: 1_000 } });
  const { call, clock, ends, retries, notes: read } = setUp([tool], { signal: controller.signal });
  const outcome = call();
  await settled();
  controller.abort();
  expect(await outcome).toMatchObject({ kind: 'failed', message: 'broke', attempts: undefined });
  clock.advance(5_000);
  await settled();
  expect(tool.contexts).toHaveLength(1);
  expect(retries()).toHaveLength(1);
  expect(ends()).toHaveLength(1);
  expect(read()).toEqual([]);
});

test('an attempt that cannot be undone is the last one', async () => {
  const words = wordsResource({ discard: true });
  const tool = flaky([note('one', broke)]);
  const { call, retries } = setUp([tool], { resources: { words } });
  expect(await call()).toMatchObject({
    kind: 'failed',
    code: 'tool.threw',
    message: 'broke What it had staged could not be cleaned up: discard broke',
  });
  expect(tool.contexts).toHaveLength(1);
  expect(retries()).toEqual([]);
});

const inner = (effects: Tool['effects'], then: () => unknown = () => 1): Tool =>
  defineTool({
    name: 'inner',
    description: 'Is called.',
    effects,
    execute: (_input, context) => {
      if (effects !== 'none') context.session.dispatch({ type: 'noted', payload: context.callId });
      return then() as never;
    },
  });

test('nested calls of a failed attempt are undone with it; no two have one id', async () => {
  const tool = flaky([
    async ({ call }) => {
      await call('inner');
      await call('inner');
      return broke();
    },
    async ({ call }) => (await call('inner')).callId,
  ]);
  const { call, ends, notes: read, records } = setUp([tool, inner('state')]);
  expect(await call()).toMatchObject({ kind: 'ok', value: 'c/3' });
  expect(read()).toEqual(['c/3']);
  expect(ends().map(({ callId }) => callId)).toEqual(['c/1', 'c/2', 'c/3', 'c']);
  expect(
    replay(records, { slices: [notes, diary] })
      .read(notes)
      .toArray(),
  ).toEqual(['c/3']);
});

test.each([
  { effects: 'external', times: 1 },
  { effects: 'state', times: 3 },
  { effects: 'none', times: 3 },
] as const)(
  'a call under which one with effects $effects was made is tried $times times',
  async ({ effects, times }) => {
    const tool = flaky(
      [
        async ({ call }) => {
          await call('middle');
          return broke();
        },
      ],
      { effects: 'external' },
    );
    const middle = defineTool({
      name: 'middle',
      description: 'Is called.',
      effects,
      execute: async (_input, { call }) => (await call('inner')).kind,
    });
    const { call } = setUp([tool, middle, inner(effects)]);
    expect(await call()).toMatchObject({ kind: 'failed', attempts: times === 1 ? undefined : times });
    expect(tool.contexts).toHaveLength(times);
  },
);

test('a nested call that was refused has done nothing to the world', async () => {
  const tool = flaky(
    [
      async ({ call }) => {
        await call('inner', { unknown: true });
        return broke();
      },
    ],
    { effects: 'external' },
  );
  const { call } = setUp([tool, inner('external')]);
  expect(await call()).toMatchObject({ attempts: 3 });
});

test('a nested call has attempts of its own', async () => {
  const nested = flaky([note('lost', broke), note('kept', () => 2)]);
  const outer = defineTool({
    name: 'outer',
    description: 'Calls.',
    effects: 'state',
    execute: async (_input, { call }) => (await call('flaky')).attempts ?? 0,
  });
  const { call, notes: read, words, retries } = setUp([outer, nested]);
  expect(await call('outer')).toMatchObject({ kind: 'ok', value: 2 });
  expect(read()).toEqual(['kept']);
  expect([...words.committed]).toEqual(['kept']);
  expect(retries()).toMatchObject([{ callId: 'c/1', parentId: 'c', attempt: 1 }]);
});

test('the end of the call around it ends the attempts of a nested one', async () => {
  const nested = flaky([broke], { retry: { attempts: 3, delayMs: 1_000 } });
  const outer = defineTool({
    name: 'outer',
    description: 'Does not wait.',
    effects: 'state',
    execute: async (_input, { call }) => {
      void call('flaky');
      await settled();
      return 1;
    },
  });
  const { call, clock, ends } = setUp([outer, nested]);
  expect(await call('outer')).toMatchObject({ kind: 'ok' });
  await settled();
  clock.advance(5_000);
  await settled();
  expect(nested.contexts).toHaveLength(1);
  expect(
    ends()
      .map(({ callId }) => callId)
      .sort(),
  ).toEqual(['c', 'c/1']);
});

test('what is left going of an attempt has no part in the next one', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const slow = defineTool({
    name: 'slow',
    description: 'Waits.',
    effects: 'state',
    execute: async (_input, { session }) => {
      await gate;
      session.dispatch({ type: 'noted', payload: 'slow' });
      return 1;
    },
  });
  const tool = flaky([
    async ({ call }) => {
      void call('slow');
      await settled();
      return broke();
    },
    note('kept', async () => {
      open();
      await settled();
      return 1;
    }),
  ]);
  const { call, notes: read, ends } = setUp([tool, slow]);
  expect(await call()).toMatchObject({ kind: 'ok', attempts: 2 });
  expect(read()).toEqual(['kept']);
  await settled();
  expect(ends()).toMatchObject([
    { callId: 'c/1', outcome: { kind: expect.not.stringMatching('^ok$') } },
    { callId: 'c' },
  ]);
});

test('resources for a call are made anew for each attempt, those for the session are not', async () => {
  const log: string[] = [];
  let made = 0;
  const resource = (lifetime: 'call' | 'session') =>
    defineResource({
      name: lifetime,
      lifetime,
      create: () => {
        made += 1;
        log.push(`create ${lifetime} ${made}`);
        return { number: made };
      },
      dispose: ({ number }) => void log.push(`dispose ${lifetime} ${number}`),
    });
  const [own, shared] = [resource('call'), resource('session')];
  const use = async ({ use }: ToolContext): Promise<void> => {
    await use(own);
    await use(shared);
  };
  const tool = flaky([
    async (context) => {
      await use(context);
      return broke();
    },
    async (context) => {
      await use(context);
      return 1;
    },
  ]);
  const { call } = setUp([tool]);
  expect(await call()).toMatchObject({ kind: 'ok', attempts: 2 });
  expect(log).toEqual(['create call 1', 'create session 2', 'dispose call 1', 'create call 3', 'dispose call 3']);
});

test('policies hear of a success once, whatever was tried before', async () => {
  const heard: unknown[] = [];
  const policy = definePolicy({
    name: 'hears',
    check: () => ({ type: 'allow' }),
    onResult: (_call, { value, touched }) => {
      heard.push([value, [...touched.values()].flatMap(({ writes }) => writes.map(({ key }) => key))]);
      return undefined;
    },
  });
  const { call } = setUp([flaky([note('one', broke), note('two', () => 2)])], { policies: [policy] });
  await call();
  expect(heard).toEqual([[2, ['two']]]);
});

test('a secret in what an attempt said is in no event and no record', async () => {
  const secret = 'hunter-two!';
  const records: unknown[] = [];
  const events: RunEvent[] = [];
  const session = createSession({
    redactor: createRedactor({ key: 'a key of the host that nobody else knows', secrets: [secret] }),
    store: { append: (entry) => void records.push(entry), close: () => undefined },
  });
  const tool = flaky([() => toolError(`No: ${secret}`), () => 1]);
  const call = { id: 'c', name: 'flaky', arguments: {} };
  await executeToolCall(call, { tools: [tool], session, onEvent: (event) => void events.push(event) });
  expect(JSON.stringify([records, events])).toContain('"attempt":1');
  expect(JSON.stringify([records, events])).not.toContain(secret);
});

/** Two calls of one turn: `slow` ends when the test says so, and `flaky` beside it. */
function turnOf(tool: Tool, options: Partial<CallOptions> = {}) {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const slow = defineTool({
    name: 'slow',
    description: 'Waits.',
    effects: tool.effects,
    locks: () => ['slow'],
    execute: async () => {
      await gate;
      return 1;
    },
  });
  const { given, ...rest } = setUp([slow, tool], options);
  const { result } = runAgent({
    ...given,
    model: playing([call('slow', {}, 'a'), call('flaky', {}, 'c'), stop], [say('Done.'), stop]),
    prompt: toolsPrompt([slow, tool]),
    input: 'go',
  });
  return { ...rest, open, result };
}

test.each([
  { title: 'reads only', effects: 'none' },
  { title: 'has locks of its own', effects: 'state' },
] as const)('a call that began early and $title is tried again when its turn has come', async ({ effects }) => {
  const progress = (text: string) => (context: ToolContext) => context.progress(text);
  const tool = flaky(
    [
      (context) => {
        progress('one')(context);
        return broke();
      },
      (context) => {
        progress('two')(context);
        return 2;
      },
    ],
    { effects, locks: () => ['flaky'], timeoutMs: 500, retry: { attempts: 2, delayMs: 100 } },
  );
  const { clock, open, result, events, ends, retries } = turnOf(tool);
  await settled();
  clock.advance(400);
  await settled();
  expect(tool.contexts).toHaveLength(1);
  expect(retries()).toEqual([]);
  open();
  await settled();
  expect(retries()).toMatchObject([{ callId: 'c', attempt: 1, atMs: 400 }]);
  clock.advance(100);
  // That it waited for its turn takes nothing from its time.
  expect(await result).toMatchObject({ status: 'completed', outcomes: [{ kind: 'ok' }, { kind: 'ok', attempts: 2 }] });
  const told = events.flatMap((event) => (event.type === 'tool-call-progress' ? [event.message] : []));
  expect(told).toEqual(['one', 'two']);
  expect(ends()).toMatchObject([
    { callId: 'a', durationMs: 400 },
    { callId: 'c', durationMs: 100 },
  ]);
});

test('a call that began early and is denied in the end is not tried again', async () => {
  let open = true;
  const moody = definePolicy({ name: 'moody', check: () => (open ? allow : deny('Closed.')) });
  const tool = flaky([broke], { effects: 'none' });
  const { open: goOn, result, retries } = turnOf(tool, { policies: [moody] });
  await settled();
  expect(tool.contexts).toHaveLength(1);
  open = false;
  goOn();
  expect((await result).outcomes).toMatchObject([{ kind: 'ok' }, { kind: 'denied', attempts: undefined }]);
  expect(tool.contexts).toHaveLength(1);
  expect(retries()).toEqual([]);
});

test.each([
  // It may have taken effect before its process ended, so that no failure is the last word.
  { repeat: 'keyed', runs: 1, outcome: { kind: 'in-doubt', attempts: undefined } },
  { repeat: 'safe', runs: 3, outcome: { kind: 'failed', attempts: 3 } },
] as const)(
  'a call that was interrupted, $repeat, is run $runs times when it is gone on with and fails',
  async ({ repeat, runs, outcome }) => {
    const world: World = { effects: [], keys: [] };
    const { options } = await dieUnder((at) => sending(at, { repeat }), world);
    const keys: string[] = [];
    const failing = defineTool({
      ...(options.tools[0] as ExecutableTool),
      retry: { attempts: 3, delayMs: 0 },
      execute(_input, { idempotencyKey }) {
        keys.push(idempotencyKey);
        return broke();
      },
    } as Parameters<typeof defineTool>[0]);
    expect(await resumeToolCall('m', { ...options, tools: [failing] })).toMatchObject(outcome);
    expect(keys).toEqual(Array.from({ length: runs }, () => world.keys[0]));
  },
);

test('a call whose process ended between two attempts is run again when it is gone on with', async () => {
  const world: World = { effects: [], keys: [] };
  let begun = 0;
  const sendingAtLast = (at: World): Tool => {
    const tool = sending(at, { repeat: 'keyed', retry: { attempts: 3, delayMs: 50 } });
    return {
      ...tool,
      execute(input, context) {
        begun += 1;
        return begun === 1 ? broke() : tool.execute?.(input, context);
      },
    };
  };
  const { session, store, reopen, clock } = life();
  const tools = [sendingAtLast(world)];
  void executeToolCall(mail, { tools, session, clock });
  await settled();
  expect([begun, store.records.at(-1)?.type]).toEqual([1, 'tool-call-start']);
  const outcome = await resumeToolCall('m', { tools, session: reopen(), clock });
  expect(outcome).toMatchObject({ kind: 'ok', attempts: undefined });
  expect(world.effects).toEqual(['ada']);
});
