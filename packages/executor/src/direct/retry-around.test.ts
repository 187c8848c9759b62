import {
  allow,
  definePolicy,
  defineTool,
  deny,
  type ExecutableTool,
  type ResourceTransaction,
  type StagedResource,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import { replay } from '@holdfast/session';
import { expect, test } from 'vitest';
import { call, diary, notes, playing, say, shortKey, stop, toolsPrompt } from '../fixtures.ts';
import { type CallOptions, executeToolCall, resumeToolCall, runAgent } from '../index.ts';
import { broke, flaky, note, settled, setUp } from '../test-attempts.ts';
import { dieUnder, life, mail, sending, type World } from '../test-resume.ts';

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

test('a nested call that is being committed when its attempt fails is not kept', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const part = (prepare: () => void | Promise<void>): ResourceTransaction<null, null> => ({
    view: null,
    readOnly: null,
    begin: () => part(() => gate),
    touched: () => ({ reads: [], writes: [] }),
    seal: () => undefined,
    prepare,
    commit: () => undefined,
    discard: () => undefined,
  });
  const slow: StagedResource = { type: 'staged-resource', readOnly: null, begin: () => part(() => undefined) };
  const nested = defineTool({
    name: 'nested',
    description: 'Uses the slow resource.',
    effects: 'state',
    execute: (_input, context) => note('nested', () => context.resources.size)(context) as number,
  });
  const tool = flaky([
    async ({ call }) => {
      void call('nested');
      await settled();
      return broke();
    },
    note('kept', async () => {
      open();
      await settled();
      return 1;
    }),
  ]);
  const { call, notes: read, ends } = setUp([tool, nested], { resources: { slow } });
  expect(await call()).toMatchObject({ kind: 'ok', attempts: 2 });
  await settled();
  expect(read()).toEqual(['kept']);
  expect(ends()).toMatchObject([
    { callId: 'c/1', outcome: { kind: 'failed', code: 'context.closed' } },
    { callId: 'c' },
  ]);
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
  'a call that was interrupted, $repeat, runs $runs times when it is resumed and fails',
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

test('a call whose process ended between two attempts runs again when it is resumed', async () => {
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

test('sessions of children have names of their own over all attempts, and their state ends with them', async () => {
  const write = defineTool({
    name: 'write',
    description: 'Notes.',
    effects: 'state',
    execute: (_input, { session }) => {
      session.dispatch({ type: 'noted', payload: 'child' });
      return 1;
    },
  });
  const delegate = async (context: ToolContext): Promise<string> => {
    const child = context.child();
    child.register(notes);
    const { kind } = await executeToolCall({ name: 'write', arguments: {} }, { tools: [write], session: child });
    return `${shortKey(child.id)} ${kind} ${child.read(notes).size}`;
  };
  const seen: string[] = [];
  const tool = flaky([
    async (context) => {
      seen.push(await delegate(context));
      return broke();
    },
    async (context) => {
      seen.push(await delegate(context));
      return 1;
    },
  ]);
  const { call, records, notes: read } = setUp([tool]);
  expect(await call()).toMatchObject({ kind: 'ok', attempts: 2 });
  expect(seen).toEqual(['s/c/child_1 ok 1', 's/c/child_2 ok 1']);
  expect(read()).toEqual([]);
  expect(new Set(records.flatMap(({ type, sessionId }) => (type === 'child-record' ? [sessionId] : []))).size).toBe(2);
});
