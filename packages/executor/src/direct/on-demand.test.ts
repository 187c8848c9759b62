import {
  allow,
  ask,
  type Decision,
  definePolicy,
  defineResource,
  defineSlice,
  defineTool,
  type KeyedState,
  type ModelEvent,
  type Policy,
  type Tool,
  type ToolContext,
  toolError,
  upsert,
} from '@holdfast/core';
import { createSession, memoryStore } from '@holdfast/session';
import { beforeEach, expect, test, vi } from 'vitest';
import { call, playing, say, stop, testClock, wordsResource } from '../fixtures.ts';
import type { RunAgentOptions, RunResult } from '../index.ts';

/* Each run is made twice: features that it needs are loaded while it works, or before it begins. Both leave the same records. */

beforeEach(() => {
  // As in a new process: nothing is loaded.
  vi.resetModules();
});

const tool = (name: string, execute: (context: ToolContext) => unknown, extra: Partial<Tool> = {}): Tool =>
  defineTool({
    name,
    description: 'Works.',
    effects: 'state',
    ...(extra as object),
    execute: (_input, context) => execute(context) as never,
  });

const kept = defineSlice<string>({
  id: 'kept',
  kind: 'keyed',
  reducers: { kept: (_state: KeyedState<string>, text: string) => [upsert(text, text)] },
});
const keep = (text: string): Tool =>
  tool(`keep_${text}`, ({ session }) => {
    session.dispatch({ type: 'kept', payload: text });
    return text;
  });
const client = defineResource<string>({ name: 'client', lifetime: 'call', create: () => 'client' });
const failsOnce = (): (() => unknown) => {
  let failed = false;
  return () => {
    if (failed) return 'at last';
    failed = true;
    return toolError('Not yet.');
  };
};

interface Case {
  readonly tools: () => readonly Tool[];
  readonly calls: readonly ModelEvent[];
  readonly options?: Partial<RunAgentOptions>;
  readonly kinds: readonly string[];
}

const reading = (name: string): Tool => tool(name, () => name, { effects: 'none' });
const cases: Readonly<Record<string, Case>> = {
  'one call': { tools: () => [keep('a')], calls: [call('keep_a', {}, 'a')], kinds: ['ok'] },
  'several calls': {
    tools: () => [reading('read_a'), reading('read_b'), keep('c')],
    calls: [call('read_a', {}, 'a'), call('read_b', {}, 'b'), call('keep_c', {}, 'c'), call('nothing', {}, 'd')],
    kinds: ['ok', 'ok', 'ok', 'unknown-tool'],
  },
  'a nested call': {
    tools: () => [keep('b'), tool('outer', async (context) => (await context.call('keep_b', {})).kind)],
    calls: [call('outer', {}, 'a')],
    kinds: ['ok'],
  },
  'a child session': {
    tools: () => [tool('outer', ({ child }) => typeof child().id)],
    calls: [call('outer', {}, 'a')],
    kinds: ['ok'],
  },
  'a direct call in a child session': {
    tools: () => [
      tool('outer', async ({ child }) => {
        const inner = tool('inner', async ({ use }) => await use(client));
        const { executeToolCall } = await import('./execute-tool-call.ts');
        const options = { tools: [inner], session: child(), clock: testClock() };
        return (await executeToolCall({ name: 'inner', arguments: {} }, options)).kind;
      }),
    ],
    calls: [call('outer', {}, 'a')],
    kinds: ['ok'],
  },
  'a tool with a time limit': {
    tools: () => [tool('outer', async () => 'done', { timeoutMs: 10 })],
    calls: [call('outer', {}, 'a')],
    kinds: ['ok'],
  },
  'a run with a time limit': {
    tools: () => [tool('outer', async () => 'done')],
    calls: [call('outer', {}, 'a')],
    options: { timeoutMs: 10 },
    kinds: ['ok'],
  },
  'a declared resource': {
    tools: () => [tool('outer', async ({ use }) => await use(client))],
    calls: [call('outer', {}, 'a')],
    kinds: ['ok'],
  },
  'no resources': {
    tools: () => [tool('outer', ({ resources, filesystem }) => [resources.size, filesystem === undefined])],
    calls: [call('outer', {}, 'a')],
    kinds: ['ok'],
  },
  'an error': {
    tools: () => [
      tool('outer', () => {
        throw new Error('broke');
      }),
    ],
    calls: [call('outer', {}, 'a')],
    kinds: ['failed'],
  },
  'an external tool': {
    tools: () => [tool('send', () => 'sent', { effects: 'external' })],
    calls: [call('send', {}, 'a')],
    kinds: ['ok'],
  },
  'a retried tool': {
    tools: () => [tool('outer', failsOnce(), { repeat: 'safe', retry: { attempts: 2, delayMs: 0 } as never })],
    calls: [call('outer', {}, 'a')],
    kinds: ['ok'],
  },
  'a dangerous tool': {
    tools: () => [tool('outer', () => 'done', { dangerous: true })],
    calls: [call('outer', {}, 'a')],
    options: { approve: () => ({ type: 'approve' }) },
    kinds: ['ok'],
  },
  'a tool that prepares': {
    tools: () => [
      tool(
        'outer',
        async ({ begin }) => {
          await begin();
          return 'begun';
        },
        { effects: 'external', prepares: true },
      ),
    ],
    calls: [call('outer', {}, 'a')],
    kinds: ['ok'],
  },
  'a policy': {
    tools: () => [keep('a')],
    calls: [call('keep_a', {}, 'a')],
    options: { policies: [definePolicy({ name: 'asks', check: (): Decision => ask('Really?') })], unattended: true },
    kinds: ['denied'],
  },
  'a policy with state': {
    tools: () => [keep('a'), keep('b')],
    calls: [call('keep_a', {}, 'a'), call('keep_b', {}, 'b')],
    options: {
      policies: [
        definePolicy<number>({
          name: 'counts',
          initialState: 0,
          check: () => allow,
          onResult: (_call, _result, { state }) => state + 1,
        }) as Policy,
      ],
    },
    kinds: ['ok', 'ok'],
  },
};

test.each(Object.entries(cases))('%s', async (_title, { tools, calls, options = {}, kinds }) => {
  const onDemand = await run(tools(), calls, options);
  expect(onDemand.result.outcomes.map(({ kind }) => kind)).toEqual(kinds);
  const before = await run(tools(), calls, { ...options, resources: {} });
  expect(onDemand.records).toEqual(before.records);
});

test('a nested call that is not awaited is cancelled if its call ends before it begins', async () => {
  const outer = tool('outer', (context) => {
    void context.call('read_b', {});
    return 'done';
  });
  const { records } = await run([outer, reading('read_b')], [call('outer', {}, 'a')], {});
  expect(records).toContainEqual(
    expect.objectContaining({
      type: 'tool-call-end',
      callId: 'a/1',
      outcome: expect.objectContaining({ kind: 'cancelled' }),
    }),
  );
});

test('staged resources are loaded before the run begins', async () => {
  const words = wordsResource();
  const adds = tool('adds', ({ resources }) => {
    (resources.get('words') as { add(word: string): void }).add('one');
    return null;
  });
  const { result } = await run([adds], [call('adds', {}, 'a')], { resources: { words } });
  expect(result.status).toBe('completed');
  expect([...words.committed]).toEqual(['one']);
});

test('a feature that is not loaded throws instead of being skipped', async () => {
  // Excluded from the alias of `npm run forced`.
  const { openPlainScope } = await import('./on-demand.ts?plain');
  const scope = await openPlainScope({ tools: [reading('read_a')], session: createSession() });
  expect(() => scope.features.recoverResources(scope)).toThrow(expect.objectContaining({ code: 'feature.missing' }));
});

async function run(
  tools: readonly Tool[],
  calls: readonly ModelEvent[],
  options: Partial<RunAgentOptions>,
): Promise<{ readonly result: RunResult; readonly records: readonly unknown[] }> {
  const { runAgent } = await import('../run/run-agent.ts');
  const store = memoryStore();
  const session = createSession({ id: 's', nonce: '', store, clock: testClock() });
  session.register(kept);
  const model = playing([...calls, stop], [say('Done.'), stop]);
  const result = (await runAgent({
    model,
    instructions: 'Work.',
    tools,
    input: 'Go',
    session,
    clock: testClock(),
    ...options,
  })) as RunResult;
  // Unawaited nested calls end after their run.
  await vi.dynamicImportSettled();
  return { result, records: JSON.parse(JSON.stringify(store.records)) as readonly unknown[] };
}
