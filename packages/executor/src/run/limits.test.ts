import { type Budget, defineTool, type ModelEvent, type RunEvent, type Tool, toolError, toolOk } from '@holdfast/core';
import { expect, test } from 'vitest';
import { call, echo, outcomeOf, playing, say, stop, testClock, testSession, toolsPrompt, writer } from '../fixtures.ts';
import { createBudget, type RunAgentOptions, type RunResult, runAgent } from '../index.ts';

const using = (inputTokens: number): ModelEvent => ({
  type: 'finish',
  reason: 'stop',
  usage: { inputTokens, outputTokens: 0 },
});

function run(turns: readonly (readonly ModelEvent[])[], options: Partial<RunAgentOptions> = {}): Promise<RunResult> {
  return runAgent({
    model: playing(...turns),
    prompt: toolsPrompt([echo]),
    session: testSession().session,
    input: 'go',
    ...options,
  }).result;
}

const ask = call('echo', { q: 'x' });

test.each([
  { title: 'one below', maxTokens: 21, status: 'completed', kinds: ['ok', 'ok'], text: 'bye' },
  {
    title: 'exactly used up by the last message',
    maxTokens: 20,
    status: 'completed',
    kinds: ['ok', 'ok'],
    text: 'bye',
  },
  { title: 'used up before the last message', maxTokens: 15, status: 'budget', kinds: ['ok', 'ok'], text: '' },
  { title: 'exceeded by the last message', maxTokens: 19, status: 'budget', kinds: ['ok', 'ok'], text: 'bye' },
  { title: 'exceeded by a message with a call', maxTokens: 9, status: 'budget', kinds: ['ok', 'cancelled'], text: '' },
])('tokens: $title', async ({ maxTokens, status, kinds, text }) => {
  const budget = createBudget({ maxTokens });
  const result = await run(
    [
      [ask, using(5)],
      [ask, using(10)],
      [say('bye'), using(5)],
    ],
    { budget },
  );
  expect([result.status, result.outcomes.map(({ kind }) => kind), result.text]).toEqual([status, kinds, text]);
  expect(budget.used.tokens).toBeLessThanOrEqual(20);
});

test('a call that the tokens did not suffice for ends with its own code', async () => {
  const { outcomes } = await run([[ask, using(2)]], { budget: createBudget({ maxTokens: 1 }) });
  expect(outcomes).toMatchObject([{ kind: 'cancelled', code: 'budget.used', reason: 'tokens' }]);
});

test('a provider that reports negative tokens gains nothing', async () => {
  const budget = createBudget({ maxTokens: 10 });
  await run([[say('bye'), using(-5)]], { budget });
  expect(budget.used.tokens).toBe(0);
});

test.each([
  { title: 'one run after the other', budgets: 1 },
  { title: 'each run its own', budgets: 2 },
])('calls of a budget, $title', async ({ budgets }) => {
  const made = Array.from({ length: budgets }, () => createBudget({ maxCalls: 1 }));
  const statuses: string[] = [];
  for (const index of [0, 1]) {
    const budget = made[index % budgets] as Budget;
    statuses.push(
      (
        await run(
          [
            [ask, stop],
            [say('bye'), stop],
          ],
          { budget },
        )
      ).status,
    );
  }
  expect(statuses).toEqual(budgets === 1 ? ['completed', 'budget'] : ['completed', 'completed']);
});

test('calls that never reach their tool cost nothing', async () => {
  const budget = createBudget({ maxCalls: 1 });
  await run(
    [
      [call('nothing', {}), call('echo', { wrong: 1 }), stop],
      [say('bye'), stop],
    ],
    { budget },
  );
  expect(budget.used.calls).toBe(0);
});

const hanging: Tool = defineTool({
  name: 'hang',
  description: 'Hangs.',
  effects: 'none',
  execute: () => new Promise<never>(() => undefined),
});

test('the wall time of a budget ends the call and the run', async () => {
  const clock = testClock();
  const budget = createBudget({ maxWallMs: 100 }, { clock });
  const tool = defineTool({
    name: 'hang',
    description: 'Hangs.',
    effects: 'none',
    execute: () => {
      clock.advance(100);
      return new Promise<never>(() => undefined);
    },
  });
  const result = await run([[call('hang', {}), stop]], { budget, clock, prompt: toolsPrompt([tool]) });
  expect(result).toMatchObject({
    status: 'budget',
    outcomes: [{ kind: 'timed-out', code: 'budget.used', reason: 'time' }],
  });
  expect(budget.used.wallMs).toBe(100);
  const next = await run([[say('bye'), stop]], { budget, clock });
  expect(next.status).toBe('budget');
});

test('wall time counts once for runs at the same time, and not between runs', async () => {
  const clock = testClock();
  const budget = createBudget({ maxWallMs: 1000 }, { clock });
  const controller = new AbortController();
  const options = { budget, clock, prompt: toolsPrompt([hanging]), signal: controller.signal };
  const runs = [run([[call('hang', {}), stop]], options), run([[call('hang', {}), stop]], options)];
  for (let count = 0; count < 50; count += 1) await Promise.resolve();
  clock.advance(30);
  controller.abort();
  await Promise.all(runs);
  clock.advance(500);
  expect(budget.used.wallMs).toBe(30);
});

test('a direct call when the time of its budget is used up does not begin', async () => {
  const clock = testClock();
  const budget = createBudget({ maxWallMs: 10 }, { clock });
  const slow = writer(() => {
    clock.advance(10);
    return null;
  });
  const { session } = testSession();
  const options = { tools: [slow], session, budget, clock };
  expect(await outcomeOf({ name: 'write', arguments: {} }, options)).toMatchObject({ kind: 'ok' });
  const second = await outcomeOf({ name: 'write', arguments: {} }, options);
  expect(second).toMatchObject({ kind: 'timed-out', code: 'budget.used', reason: 'time' });
});

test.each([
  ['maxCalls', 0],
  ['maxCalls', 1.5],
  ['maxTokens', Number.NaN],
  ['maxWallMs', 0],
  ['maxWallMs', Number.POSITIVE_INFINITY],
])('a budget with %s of %s is refused', (name, value) => {
  expect(() => createBudget({ [name]: value })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});

test('a budget not made by `createBudget` is refused', async () => {
  const budget = { limits: {}, used: { calls: 0, tokens: 0, wallMs: 0 } };
  await expect(run([[say('bye'), stop]], { budget })).rejects.toMatchObject({ code: 'options.invalid' });
});

test('a tool that keeps the thread busy past the deadline is the last one to run', async () => {
  const clock = testClock();
  const busy = defineTool({
    name: 'busy',
    description: 'Busy.',
    effects: 'state',
    execute: () => {
      // The clock moves on while the timers, which need the thread, do not fire.
      now += 100;
      return 'late';
    },
  });
  let now = 0;
  const stuck = { ...clock, now: () => now };
  const prompt = toolsPrompt([busy]);
  const result = await run([[call('busy', {}, '1'), call('busy', {}, '2'), stop]], {
    clock: stuck,
    timeoutMs: 50,
    prompt,
  });
  expect(result).toMatchObject({ status: 'deadline', outcomes: [{ kind: 'ok' }, { kind: 'timed-out' }] });
});

test('signs of life reach listeners', async () => {
  const { session } = testSession();
  const events: RunEvent[] = [];
  const alive = defineTool({
    name: 'alive',
    description: 'Beats.',
    effects: 'none',
    execute: (_input, { beat }) => {
      beat();
      beat();
      return null;
    },
  });
  await outcomeOf(
    { id: 'c', name: 'alive', arguments: {} },
    { tools: [alive], session, onEvent: (event) => void events.push(event) },
  );
  expect(events.filter(({ type }) => type === 'tool-call-beat')).toMatchObject([
    { callId: 'c', name: 'alive' },
    { callId: 'c', name: 'alive' },
  ]);
});

/** A tool that ignores its signal until the test lets it go on. */
function stubborn(effects: Tool['effects'] = 'none') {
  let release: (finish: () => unknown) => void = () => undefined;
  const tool = defineTool({
    name: 'stubborn',
    description: 'Goes on.',
    effects,
    timeoutMs: 10,
    execute: async () =>
      (await new Promise<() => unknown>((resolve) => {
        release = resolve;
      }).then((then) => then())) as never,
  });
  return { tool, release: (finish: () => unknown) => release(finish) };
}

test.each([
  { title: 'a value', finish: () => ({ a: 1 }), expected: { answer: 'returned', value: { a: 1 } } },
  {
    title: 'no JSON',
    finish: () => () => 1,
    expected: { answer: 'returned', message: expect.stringContaining('Not JSON') },
  },
  {
    title: 'too much',
    finish: () => 'x'.repeat(70_000),
    expected: { answer: 'returned', message: 'Left out: 70002 characters of JSON.' },
  },
  {
    title: 'a result',
    finish: () => toolOk({ sent: 1 }, 'It is sent.'),
    expected: { answer: 'returned', value: { sent: 1 }, message: 'It is sent.' },
  },
  { title: 'a failure', finish: () => toolError('No.'), expected: { answer: 'returned', message: 'No.' } },
  {
    title: 'an error',
    finish: () => {
      throw new Error('late and broken');
    },
    expected: { answer: 'threw', message: 'late and broken' },
  },
])('what an abandoned tool comes to is kept aside: $title', async ({ finish, expected }) => {
  const clock = testClock();
  const { session, records, ends } = testSession();
  const events: RunEvent[] = [];
  const { tool, release } = stubborn();
  const running = outcomeOf(
    { id: 'c', name: 'stubborn', arguments: {} },
    { tools: [tool], session, clock, onEvent: (event) => void events.push(event) },
  );
  clock.advance(10);
  expect(await running).toMatchObject({ kind: 'timed-out' });
  expect(ends()).toMatchObject([{ abandoned: true }]);
  release(finish);
  for (let count = 0; count < 20; count += 1) await Promise.resolve();
  expect(records.at(-1)).toMatchObject({ type: 'tool-call-late', callId: 'c', name: 'stubborn', ...expected });
  expect(events.at(-1)).toMatchObject({ type: 'tool-call-late', ...expected });
  expect(ends()).toHaveLength(1);
});

test('a late result of a closed session is told to listeners and breaks nothing', async () => {
  const clock = testClock();
  const { session } = testSession();
  const events: RunEvent[] = [];
  const { tool, release } = stubborn();
  const running = outcomeOf(
    { id: 'c', name: 'stubborn', arguments: {} },
    { tools: [tool], session, clock, onEvent: (event) => void events.push(event) },
  );
  clock.advance(10);
  await running;
  await session.close();
  release(() => 1);
  for (let count = 0; count < 20; count += 1) await Promise.resolve();
  expect(events.at(-1)).toMatchObject({ type: 'tool-call-late', message: expect.stringContaining('closed') });
});
