import {
  allow,
  type Clock,
  definePolicy,
  defineResource,
  defineTool,
  HoldfastError,
  type RunEvent,
  type ToolContext,
  toolError,
  toolOk,
  visibilityExpansionRequired,
} from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, replay } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { expect, test } from 'vitest';
import { diary, notes, testClock, wordsResource } from '../fixtures.ts';
import { createBudget, executeToolCall } from '../index.ts';
import { broke, flaky, note, settled, setUp } from '../test-attempts.ts';

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

test('the last thing that was thrown is in the log', async () => {
  const { call, ends } = setUp([flaky([broke])]);
  expect(await call()).toMatchObject({ kind: 'failed', message: 'Tried 3 times. broke' });
  expect(ends()).toMatchObject([{ error: { name: 'Error', message: 'broke' } }]);
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
  {
    title: 'no answer',
    attempt: () => undefined,
    outcome: { kind: 'invalid', code: 'output.invalid', reason: 'undefined' },
  },
  {
    title: 'a value that is not JSON',
    attempt: () => 1n,
    outcome: { kind: 'invalid', code: 'output.invalid', reason: 'not_json' },
  },
  {
    title: 'a failure whose payload is not JSON',
    attempt: () => toolError('No.', { value: 1n as never }),
    outcome: { kind: 'invalid', code: 'output.invalid', reason: 'not_json' },
  },
  {
    title: 'a result that cannot be read',
    attempt: () => new Proxy(toolOk(1), { get: () => broke() }),
    outcome: { kind: 'invalid', code: 'output.invalid', reason: 'unreadable' },
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

test.each([
  { code: 'tool.process.lost', reason: 'exited', repeat: 'keyed', runs: 1, kind: 'in-doubt' },
  { code: 'tool.process.lost', reason: 'exited', repeat: 'safe', runs: 3, kind: 'failed' },
  { code: 'tool.process.not_started', repeat: 'keyed', runs: 3, kind: 'failed' },
] as const)('$code of an external tool, $repeat: $kind, run $runs times', async ({ code, repeat, runs, kind }) => {
  const tool = flaky(
    [
      () => {
        throw new HoldfastError(code, 'Gone.');
      },
    ],
    { effects: 'external', repeat },
  );
  const { call } = setUp([tool]);
  expect(await call()).toMatchObject({ kind, code });
  expect(tool.contexts).toHaveLength(runs);
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
      for (const late of [
        () => first?.session.dispatch({ type: 'noted', payload: 'late' }),
        () => first?.beat(),
        () => first?.resources,
      ])
        expect(late).toThrow(expect.objectContaining({ code: 'context.closed' }));
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
  const { call, clock, ends } = setUp([tool]);
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
  expect(ends()).toMatchObject([{ abandoned: true }]);
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
  const clock = testClock();
  let timers = 0;
  const counting: Clock = {
    now: clock.now,
    after(delayMs, run) {
      const cancel = clock.after(delayMs, run);
      timers += 1;
      return () => {
        timers -= 1;
        cancel();
      };
    },
  };
  const { call, ends, retries, notes: read } = setUp([tool], { signal: controller.signal, clock: counting });
  const outcome = call();
  await settled();
  expect(timers).toBe(1);
  controller.abort();
  expect(await outcome).toMatchObject({ kind: 'failed', message: 'broke', attempts: undefined });
  expect(timers).toBe(0);
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
    message: 'broke Its changes staged in `words` could not be discarded: discard broke',
  });
  expect(tool.contexts).toHaveLength(1);
  expect(retries()).toEqual([]);
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

test.each([
  { title: 'that the redactor knows', secrets: ['hunter-two!'] },
  { title: 'that only the output schema marks', secrets: [] },
])('a secret in what an attempt said, $title, is in no event and no record', async ({ secrets }) => {
  const secret = 'hunter-two!';
  const records: unknown[] = [];
  const events: RunEvent[] = [];
  const session = createSession({
    redactor: createRedactor({ key: 'a key known only to the host', secrets }),
    store: { append: (entry) => void records.push(entry), close: () => undefined },
  });
  const tool = defineTool<unknown, unknown>({
    ...flaky([() => toolError(`No: ${secret}`, { value: { token: secret } }), () => ({ token: '' })]),
    inputSchema: jsonSchema<unknown>({ type: 'object', properties: {} }),
    outputSchema: jsonSchema<unknown>({
      type: 'object',
      properties: { token: { type: 'string', format: 'password' } },
    }),
  } as Parameters<typeof defineTool<unknown, unknown>>[0]);
  const call = { id: 'c', name: 'flaky', arguments: {} };
  await executeToolCall(call, { tools: [tool], session, onEvent: (event) => void events.push(event) });
  expect(JSON.stringify(events)).toContain('"attempt":1');
  expect(JSON.stringify(records)).toContain('"retries":[');
  expect(JSON.stringify([records, events])).not.toContain(secret);
});

test('the value of a success is looked at once', async () => {
  let rendered = 0;
  const tool = defineTool<unknown, unknown>({
    ...flaky([broke, () => toolOk(1)]),
    inputSchema: jsonSchema<unknown>({ type: 'object', properties: {} }),
    renderResult: () => {
      rendered += 1;
      return 'one';
    },
  } as Parameters<typeof defineTool<unknown, unknown>>[0]);
  expect(await setUp([tool]).call()).toMatchObject({ kind: 'ok', text: 'one', attempts: 2 });
  expect(rendered).toBe(1);
});
