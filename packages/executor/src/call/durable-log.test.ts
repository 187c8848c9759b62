import { ask, definePolicy, defineTool, HoldfastError, type RunEvent, type Tool } from '@holdfast/core';
import { createSession, memoryStore, type Session, type SessionStore } from '@holdfast/session';
import { expect, test } from 'vitest';
import { call, playing, stop, testClock, toolsPrompt, wordsResource } from '../fixtures.ts';
import { answerApproval, executeToolCall, runAgent } from '../index.ts';

interface DurableLog {
  readonly session: Session;
  /** Types of the records that each sync so far was asked to cover. */
  readonly asked: readonly string[][];
  /** Lets the oldest sync that waits end. */
  settle(thrown?: unknown): Promise<void>;
}

/** A log whose syncs end when the test says so. */
function durableLog(): DurableLog {
  const memory = memoryStore();
  const asked: string[][] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const store: SessionStore = {
    append: memory.append.bind(memory),
    close: () => undefined,
    sync() {
      asked.push(memory.records.map(({ type }) => type));
      const sync = Promise.withResolvers<void>();
      waiting.push(sync);
      return sync.promise;
    },
  };
  return {
    session: createSession({ id: 's', store, clock: testClock() }),
    asked,
    async settle(thrown) {
      for (let round = 0; round < 10_000 && waiting.length === 0; round += 1) await idle();
      const sync = waiting.shift();
      if (thrown === undefined) sync?.resolve();
      else sync?.reject(thrown);
      await idle();
    },
  };
}

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const failure = new HoldfastError('log.broken', 'The disk is gone.', { data: { reason: 'sync' } });

function counting(
  effects: Tool['effects'],
  entered: string[] = [],
): { readonly tool: Tool; readonly entered: string[] } {
  const tool = defineTool({ name: 'act', description: 'Acts.', effects, execute: () => entered.push('in') }) as Tool;
  return { tool, entered };
}
const act = { id: 'a', name: 'act', arguments: '' };

test('what touches the world begins when its start record is on the disk, and is told when its commit is', async () => {
  const { session, asked, settle } = durableLog();
  const { tool, entered } = counting('external');
  const events: RunEvent['type'][] = [];
  let told = false;
  const calling = executeToolCall(act, { tools: [tool], session, onEvent: ({ type }) => void events.push(type) }).then(
    (outcome) => {
      told = true;
      return outcome;
    },
  );
  await idle();
  expect(asked.at(-1)?.at(-1)).toBe('tool-call-start');
  expect(entered).toEqual([]);
  await settle();
  expect(entered).toEqual(['in']);
  expect(asked.at(-1)?.at(-1)).toBe('tool-call-end');
  expect({ told, events }).toEqual({ told: false, events: ['tool-call-start'] });
  await settle();
  expect(await calling).toMatchObject({ kind: 'ok' });
  expect(events).toEqual(['tool-call-start', 'tool-call-end']);
});

test('a start that cannot be synced does not start the tool', async () => {
  const { session, settle } = durableLog();
  const { tool, entered } = counting('external');
  const calling = executeToolCall(act, { tools: [tool], session });
  await settle(failure);
  expect(await calling).toMatchObject({ kind: 'failed', code: 'log.broken', reason: 'sync' });
  expect(entered).toEqual([]);
});

test('what has to stop while its start record is brought to the disk does not begin', async () => {
  for (const late of [true, false]) {
    const { session, settle } = durableLog();
    const { tool, entered } = counting('external');
    const controller = new AbortController();
    const calling = executeToolCall(act, { tools: [tool], session, signal: controller.signal });
    await idle();
    controller.abort();
    if (late) await settle();
    expect(await calling).toMatchObject({ kind: 'cancelled', code: 'call.aborted' });
    expect(entered).toEqual([]);
    if (!late) await settle(failure);
  }
});

test('a nested call that waits for it does not begin after the one around it has ended', async () => {
  const { session, settle } = durableLog();
  const { tool, entered } = counting('external');
  const outer = defineTool({
    name: 'outer',
    description: 'Does not wait.',
    async execute(_input, context) {
      void context.call('act');
      return 'done';
    },
  });
  const calling = executeToolCall({ name: 'outer', arguments: '' }, { tools: [outer, tool], session });
  for (let round = 0; round < 4; round += 1) await settle();
  expect(await calling).toMatchObject({ kind: 'ok' });
  expect(entered).toEqual([]);
});

test('a commit that cannot be is an error for the caller', async () => {
  const { session, settle } = durableLog();
  const { tool } = counting('state');
  const calling = executeToolCall(act, { tools: [tool], session });
  // Awaited later; until then nobody listens.
  const settled = Promise.allSettled([calling]);
  await settle(failure);
  expect(await settled).toMatchObject([{ reason: { code: 'log.broken', reason: 'sync' } }]);
});

test('calls that begin beside each other wait for their own start records', async () => {
  const { session, settle } = durableLog();
  const entered: string[] = [];
  let locks = 0;
  const lock = defineTool({
    name: 'act',
    description: 'Acts.',
    locks() {
      locks += 1;
      return [`lock ${locks}`];
    },
    execute: (_input, { callId }) => entered.push(callId),
  }) as Tool;
  const model = playing([call('act', {}, 'a'), call('act', {}, 'b'), stop], [stop]);
  const run = runAgent({ model, prompt: toolsPrompt([lock]), session, input: 'Go.' });
  await settle();
  await settle();
  expect([...entered].sort()).toEqual(['a', 'b']);
  await settle();
  await settle();
  expect(await run.result).toMatchObject({ status: 'completed', outcomes: [{ kind: 'ok' }, { kind: 'ok' }] });
});

test('questions and answers wait as well', async () => {
  const { session, asked, settle } = durableLog();
  const { tool, entered } = counting('none');
  const policies = [definePolicy({ name: 'p', check: () => ask('May it?') })];
  const clock = testClock();
  const calling = executeToolCall(act, { tools: [tool], session, policies, clock });
  await settle();
  expect(asked.at(-1)?.at(-1)).toBe('approval-request');
  expect(await calling).toMatchObject({ kind: 'suspended' });
  const answering = answerApproval(session, 'a', { type: 'approve' }, { clock });
  expect(asked.at(-1)?.at(-1)).toBe('approval-answer');
  await settle();
  await answering;

  const approved = executeToolCall(
    { ...act, id: 'b' },
    {
      tools: [tool],
      session,
      policies,
      clock,
      approve: () => ({ type: 'approve' }),
    },
  );
  for (let round = 0; round < 10_000 && asked.length < 3; round += 1) await idle();
  expect(asked.at(-1)?.at(-1)).toBe('approval-answer');
  expect(entered).toEqual([]);
  await settle();
  await settle();
  expect(await approved).toMatchObject({ kind: 'ok' });
});

test('what is staged is applied when the commit record is on the disk, and not without it', async () => {
  const writing = defineTool({
    name: 'act',
    description: 'Acts.',
    effects: 'state',
    execute: (_input, { resources }) => (resources.get('words') as { add(word: string): void }).add('x') ?? null,
  }) as Tool;
  for (const thrown of [undefined, failure]) {
    const { session, asked, settle } = durableLog();
    const words = wordsResource();
    const calling = Promise.allSettled([executeToolCall(act, { tools: [writing], session, resources: { words } })]);
    for (let round = 0; round < 100 && asked.length === 0; round += 1) await idle();
    expect(asked.at(-1)?.at(-1)).toBe('tool-call-end');
    expect([...words.committed]).toEqual([]);
    await settle(thrown);
    expect([...words.committed]).toEqual(thrown === undefined ? ['x'] : []);
    await settle(thrown);
    expect(await calling).toMatchObject([
      thrown === undefined
        ? { value: { kind: 'ok' } }
        : { value: { kind: 'in-doubt', code: 'log.broken', reason: 'sync' } },
    ]);
  }
});

test('a nested call does not wait: it counts with the one around it', async () => {
  const { session, asked, settle } = durableLog();
  const { tool } = counting('state');
  const outer = defineTool({
    name: 'outer',
    description: 'Calls another.',
    effects: 'state',
    execute: async (_input, context) => (await context.call('act')).kind,
  });
  const calling = executeToolCall({ name: 'outer', arguments: '' }, { tools: [outer, tool], session });
  await settle();
  expect(await calling).toMatchObject({ kind: 'ok', value: 'ok' });
  expect(asked).toHaveLength(1);
});
