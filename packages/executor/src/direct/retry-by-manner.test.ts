import { defineTool, type Outcome, type ToolContext, toolError } from '@holdfast/core';
import type { ToolRetry } from '@holdfast/core/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallManner } from '../call/execute.ts';
import { createBudget, openCaller } from '../index.ts';
import { type AttemptsSetUp, broke, flaky, note, settled, setUp } from '../test-attempts.ts';

type FlakyTool = ReturnType<typeof flaky>;

/** One direct call made in that manner, of a tool that declares no attempts of its own. */
function inManner(tool: FlakyTool, manner: CallManner, options: Parameters<typeof setUp>[1] = {}) {
  const around = setUp([tool], options);
  const caller = openCaller(around.given);
  return {
    ...around,
    call: async (): Promise<Outcome> => {
      const outcome = await caller.execute({ id: 'c', name: 'flaky', arguments: {} }, manner);
      if (outcome.kind === 'suspended') throw new Error('suspended');
      return outcome;
    },
  };
}

/** An attempt that goes on until it is told to stop. */
const heeding = ({ signal }: ToolContext): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
/** An attempt that never listens. */
const deaf = (): Promise<never> => new Promise(() => undefined);

async function advanceBy({ clock }: Pick<AttemptsSetUp, 'clock'>, ...steps: readonly number[]): Promise<void> {
  for (const ms of steps) {
    await settled();
    clock.advance(ms);
  }
  await settled();
}

test('a tool that declares no attempts is tried as often as the caller says', async () => {
  const tool = flaky([note('one', broke), note('two', () => toolError('No.')), note('three', () => 3)], {
    retry: undefined,
  });
  const budget = createBudget({ maxCalls: 1 });
  const around = inManner(tool, { attempts: 3, delayMs: (attempt) => attempt * 10 }, { budget });
  const outcome = around.call();
  await advanceBy(around, 10, 20);
  expect(await outcome).toMatchObject({ kind: 'ok', value: 3, attempts: 3 });
  expect(around.notes()).toEqual(['three']);
  expect([...around.words.committed]).toEqual(['three']);
  expect(around.retries()).toMatchObject([{ delayMs: 10 }, { delayMs: 20 }]);
  expect(around.ends()).toHaveLength(1);
  expect(new Set(tool.contexts.map(({ callId }) => callId))).toEqual(new Set(['c']));
  expect(budget.used.calls).toBe(1);
});

test.each<{ readonly retry: ToolRetry | undefined; readonly manner: CallManner; readonly delays: readonly number[] }>([
  { retry: undefined, manner: { attempts: 3 }, delays: [1_000, 2_000] },
  { retry: { attempts: 2, delayMs: 100 }, manner: { attempts: 4 }, delays: [100, 200, 400] },
  { retry: { attempts: 3, delayMs: 100 }, manner: { delayMs: () => 7 }, delays: [7, 7] },
  { retry: { attempts: 3, delayMs: 100 }, manner: { attempts: 1 }, delays: [] },
  { retry: { attempts: 3, delayMs: 100 }, manner: {}, delays: [100, 200] },
  { retry: undefined, manner: {}, delays: [] },
])('$retry, $manner: waits $delays', async ({ retry, manner, delays }) => {
  const tool = flaky([broke], { retry });
  const around = inManner(tool, manner);
  const outcome = around.call();
  await advanceBy(around, ...delays);
  expect(await outcome).toMatchObject({ kind: 'failed' });
  expect(around.retries().map((event) => 'delayMs' in event && event.delayMs)).toEqual(delays);
  expect(tool.contexts).toHaveLength(delays.length + 1);
});

test.each([
  { attempts: 0 },
  { attempts: 1_002 },
  { attempts: 1.5 },
  { attemptTimeoutMs: 0 },
  { attemptTimeoutMs: Number.NaN },
  { attemptTimeoutMs: Number.POSITIVE_INFINITY },
  { attempts: 2, delayMs: () => -1 },
  { attempts: 2, delayMs: () => Number.NaN },
])('$attempts, $attemptTimeoutMs, $delayMs: no call begins', async (manner) => {
  const tool = flaky([() => 1]);
  const around = inManner(tool, manner);
  await expect(around.call()).rejects.toMatchObject({ code: 'options.invalid' });
  const caller = openCaller(around.given);
  await expect(caller.resume('c', manner)).rejects.toMatchObject({ code: 'options.invalid' });
  expect(around.events).toEqual([]);
});

test('each attempt has the limit anew, what it staged is dropped, and its signal and deadline tell of it', async () => {
  const seen: number[] = [];
  const look = ({ deadline }: ToolContext): void => void seen.push(deadline.remainingMs());
  const tool = flaky(
    [
      note('one', (context) => {
        look(context);
        return heeding(context);
      }),
      note('two', (context) => {
        look(context);
        return 2;
      }),
    ],
    { retry: undefined },
  );
  const around = inManner(tool, { attemptTimeoutMs: 1_000, attempts: 2, delayMs: () => 50 });
  const outcome = around.call();
  await advanceBy(around, 1_000, 50);
  expect(await outcome).toMatchObject({ kind: 'ok', value: 2, attempts: 2 });
  expect(seen).toEqual([1_000, 1_000]);
  expect(around.notes()).toEqual(['two']);
  expect(around.words.log).toEqual(['discard', 'prepare', 'commit']);
  expect(around.ends()).toMatchObject([
    { retries: [{ code: 'call.timeout', message: '`flaky` did not finish within its limit of 1000 ms.' }] },
  ]);
  const [first] = tool.contexts;
  expect(first?.signal.aborted).toBe(true);
  expect(() => first?.session.dispatch({ type: 'noted', payload: 'late' })).toThrow('ended');
});

test.each<{
  readonly title: string;
  readonly repeat: 'safe' | 'keyed' | 'never';
  readonly effects: 'state' | 'external';
  readonly attempt: (context: ToolContext) => unknown;
  readonly manner: CallManner;
  readonly runs: number;
  readonly outcome: object;
}>([
  {
    title: 'safe, stops',
    repeat: 'safe',
    effects: 'external',
    attempt: heeding,
    manner: { attempts: 3 },
    runs: 3,
    outcome: {
      kind: 'timed-out',
      code: 'call.timeout',
      message: 'Tried 3 times. `flaky` did not finish within its limit of 10 ms.',
    },
  },
  {
    title: 'safe, does not stop',
    repeat: 'safe',
    effects: 'state',
    attempt: deaf,
    manner: { attempts: 3 },
    runs: 1,
    outcome: { kind: 'timed-out', message: '`flaky` did not finish within its limit of 10 ms.' },
  },
  {
    title: 'safe, nobody asked for attempts',
    repeat: 'safe',
    effects: 'state',
    attempt: heeding,
    manner: {},
    runs: 1,
    outcome: { kind: 'timed-out' },
  },
  {
    title: 'keyed and outside',
    repeat: 'keyed',
    effects: 'external',
    attempt: heeding,
    manner: { attempts: 3 },
    runs: 1,
    outcome: { kind: 'in-doubt', code: 'call.timeout' },
  },
  {
    title: 'keyed and inside',
    repeat: 'keyed',
    effects: 'state',
    attempt: heeding,
    manner: { attempts: 3 },
    runs: 1,
    outcome: { kind: 'timed-out' },
  },
  {
    title: 'never, out of time',
    repeat: 'never',
    effects: 'external',
    attempt: heeding,
    manner: { attempts: 3 },
    runs: 1,
    outcome: { kind: 'in-doubt' },
  },
  {
    title: 'never, failed',
    repeat: 'never',
    effects: 'external',
    attempt: broke,
    manner: { attempts: 3 },
    runs: 1,
    outcome: { kind: 'failed', message: 'broke' },
  },
  {
    title: 'keyed, failed by its own word',
    repeat: 'keyed',
    effects: 'external',
    attempt: () => toolError('No.'),
    manner: { attempts: 3 },
    runs: 3,
    outcome: { kind: 'failed', attempts: 3 },
  },
])('$title: runs $runs times', async ({ repeat, effects, attempt, manner, runs, outcome }) => {
  const retry = repeat === 'never' || manner.attempts !== undefined ? undefined : { attempts: 3, delayMs: 0 };
  const tool = flaky([attempt], { repeat, effects, retry });
  const around = inManner(tool, { attemptTimeoutMs: 10, delayMs: () => 0, ...manner });
  const ending = around.call();
  await advanceBy(around, 10, 10, 10, 10);
  expect(await ending).toMatchObject(outcome);
  expect(tool.contexts).toHaveLength(runs);
  expect(new Set(tool.contexts.map(({ callId }) => callId)).size).toBe(1);
  expect(around.ends()).toHaveLength(1);
});

test('the limit of the tool holds for all attempts, and the message names the one that held', async () => {
  const tool = flaky([heeding], { retry: undefined, timeoutMs: 25 });
  const around = inManner(tool, { attemptTimeoutMs: 10, attempts: 10, delayMs: () => 0 });
  const outcome = around.call();
  await advanceBy(around, 10, 10, 5);
  expect(await outcome).toMatchObject({
    kind: 'timed-out',
    attempts: 3,
    message: 'Tried 3 times. `flaky` did not finish within its limit of 25 ms.',
  });
});

test('no attempt begins that the time of the tool does not last for', async () => {
  const tool = flaky([heeding], { retry: undefined, timeoutMs: 25 });
  const around = inManner(tool, { attemptTimeoutMs: 10, attempts: 10, delayMs: () => 15 });
  const outcome = around.call();
  await advanceBy(around, 10);
  expect(await outcome).toMatchObject({ message: '`flaky` did not finish within its limit of 10 ms.' });
  expect(tool.contexts).toHaveLength(1);
});

test.each([
  { options: { timeoutMs: 15 }, outcome: { kind: 'timed-out', code: 'call.deadline' } },
  {
    options: { budget: createBudget({ maxWallMs: 15 }) },
    outcome: { kind: 'timed-out', code: 'budget.used', reason: 'time' },
  },
])('the life of the run holds for everything: $outcome', async ({ options, outcome }) => {
  const tool = flaky([heeding], { retry: undefined });
  const around = inManner(tool, { attemptTimeoutMs: 10, attempts: 10, delayMs: () => 0 }, options);
  const ending = around.call();
  await advanceBy(around, 10, 5);
  expect(await ending).toMatchObject(outcome);
  expect(tool.contexts).toHaveLength(2);
});

test('an abort between two attempts ends the call as its last attempt did', async () => {
  const tool = flaky([heeding], { retry: undefined });
  const controller = new AbortController();
  const around = inManner(
    tool,
    { attemptTimeoutMs: 10, attempts: 10, delayMs: () => 100 },
    { signal: controller.signal },
  );
  const outcome = around.call();
  await advanceBy(around, 10, 50);
  controller.abort();
  expect(await outcome).toMatchObject({ kind: 'timed-out', code: 'call.timeout' });
  expect(tool.contexts).toHaveLength(1);
});

test('a tool has until the end of the delay to stop', async () => {
  const ending = Promise.withResolvers<never>();
  const tool = flaky([() => ending.promise, () => 2], { retry: undefined });
  const around = inManner(tool, { attemptTimeoutMs: 10, attempts: 2, delayMs: () => 100 });
  const outcome = around.call();
  await advanceBy(around, 10, 50);
  ending.reject(new Error('killed'));
  await advanceBy(around, 50);
  expect(await outcome).toMatchObject({ kind: 'ok', value: 2, attempts: 2 });
  expect(around.ends()).toMatchObject([{ retries: [{ code: 'call.timeout' }] }]);
  expect(around.ends()[0]).not.toHaveProperty('abandoned', true);
  expect(around.events.filter(({ type }) => type === 'tool-call-late')).toMatchObject([{ answer: 'threw' }]);
});

test('one that has not stopped by then is abandoned, and the last', async () => {
  const tool = flaky([deaf], { retry: undefined });
  const around = inManner(tool, { attemptTimeoutMs: 10, attempts: 3, delayMs: () => 100 });
  const outcome = around.call();
  await advanceBy(around, 10, 100);
  expect(await outcome).toMatchObject({ kind: 'timed-out', attempts: undefined });
  expect(tool.contexts).toHaveLength(1);
  expect(around.ends()).toMatchObject([{ abandoned: true }]);
});

test('what an abandoned attempt answers is recorded as late', async () => {
  const late = Promise.withResolvers<number>();
  const tool = flaky([() => late.promise], { retry: undefined });
  const around = inManner(tool, { attemptTimeoutMs: 10, attempts: 3, delayMs: () => 0 });
  const outcome = around.call();
  await advanceBy(around, 10);
  expect(await outcome).toMatchObject({ kind: 'timed-out' });
  late.resolve(7);
  await settled();
  expect(around.events.filter(({ type }) => type === 'tool-call-late')).toMatchObject([{ callId: 'c', value: 7 }]);
  expect(around.ends()).toMatchObject([{ abandoned: true }]);
});

test('calls within an attempt end with it, and those of the next have names of their own', async () => {
  const slow = defineTool({
    name: 'slow',
    description: 'Waits.',
    effects: 'none',
    execute: (_input, context) => (tool.contexts.length === 1 ? heeding(context) : 'done'),
  });
  const tool = flaky([async ({ call }) => (await call('slow')).callId], { retry: undefined });
  const around = setUp([tool, slow]);
  const caller = openCaller(around.given);
  const manner = { attemptTimeoutMs: 10, attempts: 2, delayMs: () => 0 };
  const outcome = caller.execute({ id: 'c', name: 'flaky', arguments: {} }, manner);
  await advanceBy(around, 10);
  expect(await outcome).toMatchObject({ kind: 'ok', value: 'c/2' });
  expect(around.ends().map(({ callId }) => callId)).toEqual(['c/1', 'c/2', 'c']);
});

/** The action and duration of one attempt. */
const attempt = fc.record({
  does: fc.constantFrom('answers', 'throws', 'stops', 'ignores'),
  tookMs: fc.integer({ min: 0, max: 30 }),
});

test('whatever the attempts do: one end, no more runs than allowed, and only what the last one staged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(attempt, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('safe', 'keyed', 'never'),
      fc.constantFrom('state', 'external'),
      fc.integer({ min: 1, max: 4 }),
      async (scripts, repeat, effects, attempts) => {
        const tool = flaky(
          scripts.map(({ does, tookMs }, at) =>
            note(String(at), async (context) => {
              const stopped = does === 'stops' ? heeding(context) : deaf();
              await Promise.race([stopped, new Promise<void>((resolve) => void around.clock.after(tookMs, resolve))]);
              if (does === 'throws') broke();
              return at;
            }),
          ),
          { repeat, effects, retry: undefined },
        );
        const around = inManner(tool, { attemptTimeoutMs: 15, attempts, delayMs: () => 1 });
        const ending = around.call();
        for (let step = 0; step < 120; step += 1) {
          around.clock.advance(1);
          await settled();
        }
        const outcome = await ending;
        const runs = tool.contexts.length;
        expect(runs).toBeLessThanOrEqual(repeat === 'never' ? 1 : attempts);
        expect(around.ends()).toHaveLength(1);
        expect(outcome.attempts ?? 1).toBe(runs);
        const last = String(Math.min(runs, scripts.length) - 1);
        expect(around.notes()).toEqual(outcome.kind === 'ok' ? [last] : []);
        expect([...around.words.committed]).toEqual(outcome.kind === 'ok' ? [last] : []);
        if (outcome.kind === 'failed' && repeat !== 'never') expect(runs).toBe(attempts);
        if (effects === 'external' && repeat !== 'safe') expect(outcome.kind).not.toBe('timed-out');
      },
    ),
    { numRuns: 60 },
  );
});
