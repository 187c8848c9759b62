import { defineResource, defineTool, type StagedResource, type Tool, type ToolContext } from '@holdfast/core';
import type { ResourceLifetime } from '@holdfast/core/types';
import { createSession, memoryStore } from '@holdfast/session';
import { expect, test } from 'vitest';
import {
  call,
  goOnFromLog,
  outcomeOf,
  playing,
  say,
  stop,
  testClock,
  toolsPrompt,
  wordsResource,
} from '../fixtures.ts';
import { type CallOptions, runAgent } from '../index.ts';

function setUp(tools: readonly Tool[], options: Partial<CallOptions> = {}) {
  const store = memoryStore();
  const session = createSession({ id: 's', store, clock: testClock() });
  goOnFromLog(session, () => store.records);
  return {
    session,
    records: () => store.records,
    call: (name: string) => outcomeOf({ name, arguments: {} }, { tools, session, ...options }),
  };
}

const tool = (name: string, execute: (context: ToolContext) => unknown, extra: Partial<Tool> = {}): Tool =>
  defineTool({
    name,
    description: 'Works.',
    effects: 'state',
    ...(extra as object),
    execute: (_input, context) => execute(context) as never,
  });

/** Writes down what is made and disposed of. */
function numbered(lifetime: ResourceLifetime) {
  const log: string[] = [];
  let count = 0;
  const resource = defineResource({
    name: 'client',
    lifetime,
    create: () => {
      count += 1;
      log.push(`make ${count}`);
      return { number: count };
    },
    dispose: ({ number }) => void log.push(`dispose ${number}`),
  });
  return { resource, log };
}

test.each([
  ['session', ['make 1', 'call', 'call', 'dispose 1']],
  ['call', ['make 1', 'dispose 1', 'call', 'make 2', 'dispose 2', 'call']],
  ['use', ['make 1', 'make 2', 'dispose 2', 'dispose 1', 'call', 'make 3', 'make 4', 'dispose 4', 'dispose 3', 'call']],
] as const)('a resource that lives as long as a %s', async (lifetime, expected) => {
  const { resource, log } = numbered(lifetime);
  const twice = tool('twice', async ({ use }) => {
    const [a, b] = [await use(resource), await use(resource)];
    return a === b;
  });
  const { call: run, session } = setUp([twice]);
  for (let count = 0; count < 2; count += 1) {
    expect(await run('twice')).toMatchObject({ kind: 'ok', value: lifetime !== 'use' });
    log.push('call');
  }
  await session.close();
  expect(log).toEqual(expected);
});

test.each<{
  readonly title: string;
  readonly work: (context: ToolContext) => unknown;
  readonly extra?: Partial<Tool>;
  readonly kind: string;
}>([
  {
    title: 'throws',
    work: () => {
      throw new Error('broke');
    },
    kind: 'failed',
  },
  { title: 'returns nothing', work: () => undefined, kind: 'invalid' },
  { title: 'never ends', work: () => new Promise(() => undefined), extra: { timeoutMs: 10 }, kind: 'timed-out' },
])('what a tool used is disposed of when it $title', async ({ work, extra = {}, kind }) => {
  const clock = testClock();
  const { resource, log } = numbered('call');
  const uses = tool(
    'uses',
    async (context) => {
      await context.use(resource);
      clock.advance(20);
      return await work(context);
    },
    extra,
  );
  const { call: run } = setUp([uses], { clock });
  expect(await run('uses')).toMatchObject({ kind });
  expect(log).toEqual(['make 1', 'dispose 1']);
});

test('a nested call has its own, and disposes of it first', async () => {
  const { resource, log } = numbered('call');
  const inner = tool('inner', async ({ use }) => (await use(resource)).number);
  const outer = tool('outer', async ({ use, call: nested }) => {
    const { number } = await use(resource);
    const { value } = await nested('inner');
    return [number, value, (await use(resource)).number];
  });
  const { call: run } = setUp([outer, inner]);
  expect(await run('outer')).toMatchObject({ value: [1, 2, 1] });
  expect(log).toEqual(['make 1', 'make 2', 'dispose 2', 'dispose 1']);
});

test("what the host binds under the name comes first, and stays the host's", async () => {
  const { resource, log } = numbered('call');
  const uses = tool('uses', async ({ use, resources }) => [(await use(resource)).number, resources.has('client')]);
  const bound = setUp([uses], { resources: { client: { number: 99 } } });
  expect(await bound.call('uses')).toMatchObject({ value: [99, true] });
  const other = defineResource({ name: 'client', lifetime: 'call', create: () => ({ number: 7 }) });
  const replaced = setUp([uses], { resources: { client: other } });
  expect(await replaced.call('uses')).toMatchObject({ value: [7, false] });
  const nested = setUp([tool('outer', async ({ call: inner }) => (await inner('uses')).value), uses], {
    resources: { client: other },
  });
  expect(await nested.call('outer')).toMatchObject({ value: [7, false] });
  expect(log).toEqual([]);
});

test("errors of resources are the tool's failure, with their code", async () => {
  const broken = defineResource({
    name: 'broken',
    lifetime: 'call',
    create: () => {
      throw new Error('no route');
    },
  });
  const { call: run } = setUp([tool('uses', async ({ use }) => await use(broken))]);
  expect(await run('uses')).toMatchObject({ kind: 'failed', code: 'resource.failed', reason: 'create' });
});

test('a disposal that fails is recorded, and changes no outcome', async () => {
  const careless = (lifetime: ResourceLifetime) =>
    defineResource({
      name: `careless-${lifetime}`,
      lifetime,
      create: () => ({}),
      dispose: () => {
        throw new Error('stuck');
      },
    });
  const uses = tool('uses', async ({ use }) => {
    await use(careless('call'));
    await use(careless('session'));
    return null;
  });
  const { call: run, records, session } = setUp([uses]);
  expect(await run('uses')).toMatchObject({ kind: 'ok' });
  expect(records().at(-1)).toMatchObject({
    type: 'resource-dispose-failed',
    resource: 'careless-call',
    message: 'stuck',
  });
  await session.close();
  expect(records().at(-1)).toMatchObject({
    type: 'close-error',
    message: expect.stringContaining('`careless-session`: stuck'),
  });
});

test('what goes wrong after session and call have ended breaks nothing', async () => {
  const clock = testClock();
  let make: () => void = () => undefined;
  const disposed: string[] = [];
  const late = defineResource({
    name: 'late',
    lifetime: 'call',
    create: () =>
      new Promise<object>((resolve) => {
        make = () => resolve({});
      }),
    dispose: () => {
      disposed.push('late');
      throw new Error('stuck');
    },
  });
  const uses = tool('uses', async ({ use }) => await use(late), { timeoutMs: 10 });
  const { call: run, session } = setUp([uses], { clock });
  const running = run('uses');
  clock.advance(10);
  expect(await running).toMatchObject({ kind: 'timed-out' });
  await session.close();
  make();
  for (let count = 0; count < 50; count += 1) await Promise.resolve();
  expect(disposed).toEqual(['late']);
});

test('a disposal that hangs holds up a call for five seconds at most', async () => {
  const clock = testClock();
  const hanging = defineResource({
    name: 'hanging',
    lifetime: 'call',
    create: () => ({}),
    dispose: () => {
      queueMicrotask(() => clock.advance(5_000));
      return new Promise<void>(() => undefined);
    },
  });
  const { call: run, records } = setUp([tool('uses', async ({ use }) => (await use(hanging)) && null)], { clock });
  expect(await run('uses')).toMatchObject({ kind: 'ok' });
  expect(records().at(-1)).toMatchObject({
    type: 'resource-dispose-failed',
    message: 'Disposal took more than 5000 ms.',
  });
});

/** A declared resource that is staged; its instance is kept for the test to look at. */
function declaredWords(lifetime: ResourceLifetime) {
  const made: ReturnType<typeof wordsResource>[] = [];
  const left: number[] = [];
  const resource = defineResource<StagedResource>({
    name: 'declared',
    lifetime,
    create: () => {
      const words = wordsResource();
      made.push(words);
      return words;
    },
    dispose: (words) => void left.push((words as ReturnType<typeof wordsResource>).committed.size),
  });
  const add = async ({ use }: ToolContext, word: string): Promise<void> => {
    // For a staged resource `use` returns its view.
    ((await use(resource)) as unknown as { add(word: string): void }).add(word);
  };
  return { made, add, left };
}

test.each(['session', 'call'] as const)(
  'a staged one, made for the %s, takes part in the transaction, nested or not',
  async (lifetime) => {
    const { made, add, left } = declaredWords(lifetime);
    const inner = tool('inner', async (context) => {
      await add(context, 'inner');
      return null;
    });
    const bad = tool('bad', async (context) => {
      await add(context, 'bad');
      throw new Error('broke');
    });
    const outer = tool('outer', async (context) => {
      await add(context, 'outer');
      await context.call('inner');
      await context.call('bad');
      return null;
    });
    const only = tool('only', async (context) => {
      await context.call('inner');
      throw new Error('after all');
    });
    const { call: run } = setUp([outer, inner, bad, only]);
    await run('outer');
    expect(made.flatMap(({ committed }) => [...committed])).toEqual(['outer', 'inner']);
    // The nested call's changes are committed before the instance is disposed with the outer call.
    if (lifetime === 'call') expect(left.toSorted()).toEqual([0, 1, 1]);
    await run('only');
    expect(made.flatMap(({ committed }) => [...committed])).toEqual(['outer', 'inner']);
  },
);

test('in a child run too, session resources are those of the session above', async () => {
  const { resource, log } = numbered('session');
  const uses = tool('uses', async ({ use }) => (await use(resource)).number);
  const delegate = tool('delegate', async (context) => {
    const { outcomes } = await runAgent({
      model: playing([call('uses', {}), stop], [say('done'), stop]),
      prompt: toolsPrompt([uses]),
      session: context.child(),
      input: 'go',
    }).result;
    return [(await context.use(resource)).number, outcomes[0]?.value ?? null];
  });
  const { call: run, session } = setUp([delegate]);
  expect(await run('delegate')).toMatchObject({ value: [1, 1] });
  await session.close();
  expect(log).toEqual(['make 1', 'dispose 1']);
});
