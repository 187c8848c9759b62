import { defineTool, HoldfastError, type Outcome, type Tool, type ToolContext } from '@holdfast/core';
import { createSession, type LogEntry, memoryStore, type SessionStore } from '@holdfast/session';
import { expect, test } from 'vitest';
import { testClock } from '../fixtures.ts';
import { type CallOptions, executeToolCall } from '../index.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const forever = (): Promise<never> => new Promise(() => undefined);

interface Setting {
  /** Types of the records so far. */
  types(): readonly string[];
  /** True if the tool reached its body. */
  readonly entered: string[];
  readonly clock: ReturnType<typeof testClock>;
  readonly outcome: Promise<Outcome>;
}

interface Given {
  /** Before it begins. */
  prepare?(context: ToolContext): unknown;
  readonly body?: (context: ToolContext) => unknown;
  readonly tool?: object;
  readonly options?: Partial<CallOptions>;
  readonly store?: Partial<SessionStore>;
}

/** Calls a tool that prepares. */
function start({ prepare, body = () => 'done', tool, options, store }: Given): Setting {
  const memory = memoryStore();
  const entered: string[] = [];
  const clock = testClock();
  const pay = defineTool<unknown, unknown>({
    name: 'pay',
    description: 'Pays.',
    prepares: true,
    async execute(_input, context) {
      await prepare?.(context);
      await context.begin();
      entered.push(context.callId);
      return body(context) as never;
    },
    ...tool,
  }) as Tool;
  const append = memory.append.bind(memory);
  const session = createSession({ store: { append, close: () => undefined, ...store }, clock });
  const outcome = executeToolCall(
    { id: 'c', name: 'pay', arguments: '' },
    { tools: [pay], session, clock, ...options },
  );
  return { types: () => memory.records.map(({ type }) => type), entered, clock, outcome: outcome as Promise<Outcome> };
}

const starts = ({ types }: Setting): number => types().filter((type) => type === 'tool-call-start').length;

test('the start is recorded when the tool begins, not while it prepares', async () => {
  const ready = Promise.withResolvers<void>();
  const running = start({ prepare: () => ready.promise });
  await turn();
  expect([starts(running), running.entered]).toEqual([0, []]);
  ready.resolve();
  expect(await running.outcome).toMatchObject({ kind: 'ok', value: 'done' });
  expect(running.types().slice(-2)).toEqual(['tool-call-start', 'tool-call-end']);
});

test('what has begun at once may say so, and has one start record', async () => {
  const plain = start({ tool: { prepares: false }, prepare: ({ begin }) => begin() });
  expect(await plain.outcome).toMatchObject({ kind: 'ok' });
  expect(starts(plain)).toBe(1);
  const twice = start({ body: ({ begin }) => begin().then(() => 'done') });
  expect(await twice.outcome).toMatchObject({ kind: 'ok' });
  expect(starts(twice)).toBe(1);
});

const gone = (): never => {
  throw new HoldfastError('tool.process.lost', 'The process ended.', { data: { reason: 'exited' } });
};

test.each([
  { where: 'prepares', given: { prepare: forever }, kinds: ['cancelled', 'timed-out'], recorded: 0 },
  { where: 'has begun', given: { body: forever }, kinds: ['in-doubt', 'in-doubt'], recorded: 1 },
])('a call that has to stop while its tool $where: $kinds', async ({ given, kinds, recorded }) => {
  const controller = new AbortController();
  const aborted = start({ ...given, options: { signal: controller.signal } });
  await turn();
  controller.abort();
  const late = start({ ...given, tool: { timeoutMs: 10 } });
  await turn();
  late.clock.advance(10);
  expect([await aborted.outcome, await late.outcome].map(({ kind }) => kind)).toEqual(kinds);
  expect([starts(aborted), starts(late)]).toEqual([recorded, recorded]);
});

test('a process that ends before the call has begun leaves no doubt, and one that ends later does', async () => {
  const before = start({ prepare: gone });
  expect(await before.outcome).toMatchObject({ kind: 'failed', code: 'tool.process.lost', reason: 'exited' });
  expect(starts(before)).toBe(0);
  expect(await start({ body: gone }).outcome).toMatchObject({
    kind: 'in-doubt',
    code: 'tool.process.lost',
    reason: 'exited',
  });
});

test('a tool that prepares may deny the call until it has begun', async () => {
  const deny = (): never => {
    throw new HoldfastError('mcp.changed', 'It is another tool now.', { data: { denies: true } });
  };
  const before = start({ prepare: deny });
  const denied = { kind: 'denied', code: 'mcp.changed', message: 'It is another tool now.' };
  expect(await before.outcome).toMatchObject(denied);
  expect(starts(before)).toBe(0);
  expect(await start({ prepare: deny, tool: { effects: 'none' } }).outcome).toMatchObject(denied);
  const failed = { kind: 'failed', code: 'mcp.changed' };
  expect(await start({ body: deny }).outcome).toMatchObject(failed);
  expect(await start({ prepare: deny, tool: { prepares: false } }).outcome).toMatchObject(failed);
  const other = (): never => {
    throw new HoldfastError('mcp.changed', 'No.', { data: { denies: 'yes' } });
  };
  expect(await start({ prepare: other }).outcome).toMatchObject(failed);
});

test('a tool that answers without having begun is in doubt where any other is', async () => {
  const never = start({ tool: { execute: () => undefined } });
  expect(await never.outcome).toMatchObject({ kind: 'in-doubt', code: 'output.invalid', reason: 'undefined' });
});

test('a call that was stopped while it prepared cannot begin any more', async () => {
  const controller = new AbortController();
  const ready = Promise.withResolvers<void>();
  const running = start({ prepare: () => ready.promise, options: { signal: controller.signal } });
  await turn();
  controller.abort();
  expect(await running.outcome).toMatchObject({ kind: 'cancelled' });
  ready.resolve();
  await turn();
  expect([starts(running), running.entered]).toEqual([0, []]);
});

test('a call does not begin before its start is durable, and not at all when it has to stop until then', async () => {
  const disk = Promise.withResolvers<void>();
  const controller = new AbortController();
  const waiting = { store: { sync: () => disk.promise } };
  const stopped = start({ ...waiting, options: { signal: controller.signal } });
  const running = start(waiting);
  await turn();
  expect([starts(stopped), stopped.entered, running.entered]).toEqual([1, [], []]);
  controller.abort();
  expect(await stopped.outcome).toMatchObject({ kind: 'cancelled' });
  disk.resolve();
  expect(await running.outcome).toMatchObject({ kind: 'ok' });
  expect([stopped.entered, running.entered]).toEqual([[], ['c']]);
});

const full = new Error('The disk is full.');

test.each<{ readonly code: string; readonly reason?: string; readonly store: Partial<SessionStore> }>([
  {
    code: 'log.write_failed',
    store: {
      append({ type }: LogEntry) {
        if (type === 'tool-call-start') throw full;
      },
    },
  },
  { code: 'log.broken', reason: 'sync', store: { sync: () => Promise.reject(full) } },
])('a start that cannot be recorded does not start the tool: $code', async ({ code, reason, store }) => {
  const running = start({ store });
  expect(await running.outcome).toMatchObject({ kind: 'failed', code, reason });
  expect(running.entered).toEqual([]);
});

test.each(['prepare', 'body'] as const)(
  'attempts that fail in their %s have one start record together',
  async (where) => {
    let attempts = 0;
    const failTwice = (): string => {
      attempts += 1;
      if (attempts < 3) throw new Error('busy');
      return 'done';
    };
    const running = start({ tool: { repeat: 'keyed', retry: { attempts: 3, delayMs: 0 } }, [where]: failTwice });
    expect(await running.outcome).toMatchObject({ kind: 'ok', attempts: 3 });
    expect(starts(running)).toBe(1);
  },
);

test('a nested call that never began does not keep the call around it from another attempt', async () => {
  let attempts = 0;
  const inner = defineTool({ name: 'inner', description: 'Fails.', prepares: true, execute: gone }) as Tool;
  const outer = defineTool({
    name: 'outer',
    description: 'Calls.',
    repeat: 'keyed',
    retry: { attempts: 3, delayMs: 0 },
    async execute(_input, { call }) {
      attempts += 1;
      const { kind } = await call('inner');
      if (attempts < 3) throw new Error(kind);
      return kind;
    },
  }) as Tool;
  const calling = executeToolCall(
    { name: 'outer', arguments: '' },
    { tools: [outer, inner], session: createSession() },
  );
  expect(await calling).toMatchObject({ kind: 'ok', value: 'failed', attempts: 3 });
});
