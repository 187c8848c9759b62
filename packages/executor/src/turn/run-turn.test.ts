import {
  allow,
  ask,
  type Decision,
  definePolicy,
  defineTool,
  deny,
  type Policy,
  type RunEvent,
  type Tool,
} from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import {
  call,
  collect,
  diary,
  echo,
  notes,
  playing,
  say,
  stop,
  testClock,
  testSession,
  toolsPrompt,
} from '../fixtures.ts';
import { createBudget, executeToolCall, type RunAgentOptions, type RunResult, runAgent } from '../index.ts';

interface Gate {
  readonly started: string[];
  open(name: string): void;
}

const named = v.object({ name: v.string() });

/** Tools that begin, say so, and end when the test says so. */
function gated(): Gate & { tool(name: string, extra?: Partial<Tool>, then?: () => unknown): Tool } {
  const started: string[] = [];
  const gates = new Map<string, () => void>();
  return {
    started,
    open: (name) => gates.get(name)?.(),
    tool: (toolName, extra = {}, then = () => 'done') =>
      defineTool({
        name: toolName,
        description: 'Waits.',
        effects: 'none',
        ...(extra as object),
        inputSchema: named,
        async execute({ name }, { progress }) {
          started.push(name);
          progress(`${name} began`);
          await new Promise<void>((resolve) => gates.set(name, resolve));
          return (await then()) as never;
        },
      }),
  };
}

const settled = async (): Promise<void> => {
  for (let count = 0; count < 50; count += 1) await Promise.resolve();
};

function run(
  calls: readonly (readonly [tool: string, name: string])[],
  tools: readonly Tool[],
  options: Partial<RunAgentOptions> = {},
): {
  readonly result: Promise<RunResult>;
  readonly events: RunEvent[];
  readonly session: ReturnType<typeof testSession>;
} {
  const session = testSession();
  const events: RunEvent[] = [];
  const model = playing(
    [...calls.map(([tool, name]) => call(tool, { name }, `id_${name}`)), stop],
    [say('done'), stop],
  );
  const { result } = runAgent({
    model,
    prompt: toolsPrompt(tools),
    session: session.session,
    input: 'go',
    onEvent: (event) => void events.push(event),
    ...options,
  });
  return { result, events, session };
}

const ends = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'tool-call-end' ? [`${event.callId} ${event.outcome.kind}`] : []));

test('calls that only read begin together and end in call order', async () => {
  const gate = gated();
  const { result, events } = run(
    [
      ['read', 'a'],
      ['read', 'b'],
      ['read', 'c'],
    ],
    [gate.tool('read')],
  );
  await settled();
  expect(gate.started).toEqual(['a', 'b', 'c']);
  gate.open('c');
  gate.open('b');
  await settled();
  expect(ends(events)).toEqual([]);
  gate.open('a');
  const { status, outcomes } = await result;
  expect(status).toBe('completed');
  expect(outcomes.map(({ callId }) => callId)).toEqual(['id_a', 'id_b', 'id_c']);
  expect(ends(events)).toEqual(['id_a ok', 'id_b ok', 'id_c ok']);
});

test('a call that changes something waits for all before it, and holds back all behind it', async () => {
  const gate = gated();
  const { result } = run(
    [
      ['read', 'a'],
      ['change', 'b'],
      ['read', 'c'],
      ['read', 'd'],
    ],
    [gate.tool('read'), gate.tool('change', { effects: 'state' })],
  );
  await settled();
  expect(gate.started).toEqual(['a']);
  gate.open('a');
  await settled();
  expect(gate.started).toEqual(['a', 'b']);
  gate.open('b');
  await settled();
  expect(gate.started).toEqual(['a', 'b', 'c', 'd']);
  gate.open('c');
  gate.open('d');
  expect((await result).outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok', 'ok']);
});

test('what takes no time of its own does not take the time of its neighbours', async () => {
  const clock = testClock();
  const gate = gated();
  const { result, events } = run(
    [
      ['read', 'a'],
      ['read', 'b'],
    ],
    [gate.tool('read')],
    { clock },
  );
  await settled();
  clock.advance(5);
  gate.open('b');
  await settled();
  clock.advance(100);
  gate.open('a');
  await result;
  const durations = events.flatMap((event) => (event.type === 'tool-call-end' ? [event.durationMs] : []));
  expect(durations).toEqual([105, 5]);
});

/** Allows as long as fewer than `max` calls succeeded. */
const atMost = (max: number, refuse: (reason: string) => Decision = deny): Policy =>
  definePolicy<number>({
    name: 'at-most',
    initialState: 0,
    check: (_call, { state }) => (state < max ? allow : refuse('enough')),
    onResult: (_call, _result, { state }) => state + 1,
  }) as Policy;

test('three calls under a policy of one: exactly one counts, and nobody sees what the others did', async () => {
  const gate = gated();
  const { result, events } = run(
    [
      ['read', 'a'],
      ['read', 'b'],
      ['read', 'c'],
    ],
    [gate.tool('read')],
    { policies: [atMost(1)] },
  );
  await settled();
  expect(gate.started).toEqual(['a', 'b', 'c']);
  for (const name of ['a', 'b', 'c']) gate.open(name);
  const { outcomes } = await result;
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'denied', 'denied']);
  const told = events.flatMap((event) => (event.type === 'tool-call-progress' ? [event.message] : []));
  expect(told).toEqual(['a began']);
});

test('a final question after a provisional allow drops the early result and asks', async () => {
  const gate = gated();
  const { result, session } = run(
    [
      ['read', 'a'],
      ['read', 'b'],
      ['read', 'c'],
    ],
    [gate.tool('read')],
    { policies: [atMost(1, ask)] },
  );
  await settled();
  for (const name of ['a', 'b', 'c']) gate.open(name);
  const { status, outcomes, pending } = await result;
  expect(status).toBe('suspended');
  expect(outcomes.map(({ callId }) => callId)).toEqual(['id_a']);
  expect(pending.map(({ callId }) => callId)).toEqual(['id_b', 'id_c']);
  expect(session.ends()).toHaveLength(1);
});

test('nothing behind an unanswered question begins, and all questions come together', async () => {
  const gate = gated();
  const { result } = run(
    [
      ['read', 'a'],
      ['danger', 'b'],
      ['read', 'c'],
      ['danger', 'd'],
    ],
    [gate.tool('read'), gate.tool('danger', { dangerous: true })],
  );
  await settled();
  expect(gate.started).toEqual(['a']);
  gate.open('a');
  const { status, pending, outcomes } = await result;
  expect(status).toBe('suspended');
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok']);
  expect(pending.map(({ callId }) => callId)).toEqual(['id_b', 'id_d']);
  expect(gate.started).toEqual(['a']);
});

test('a sibling that throws, is unknown, is invalid or is denied costs the others nothing', async () => {
  const gate = gated();
  const thrower = gate.tool('throws', {}, () => {
    throw new Error('broke');
  });
  const never = definePolicy({
    name: 'never',
    check: ({ tool }) => (tool.name === 'forbidden' ? deny('no') : allow),
  });
  const { result } = run(
    [
      ['read', 'a'],
      ['throws', 'b'],
      ['nothing', 'c'],
      ['forbidden', 'd'],
      ['read', 'e'],
    ],
    [gate.tool('read'), thrower, gate.tool('forbidden')],
    { policies: [never] },
  );
  await settled();
  expect(gate.started).toEqual(['a', 'b', 'e']);
  for (const name of ['b', 'e', 'a']) gate.open(name);
  const { outcomes } = await result;
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'failed', 'unknown-tool', 'denied', 'ok']);
});

test('an async policy is asked for every call, and a call whose turn comes meanwhile runs once', async () => {
  const gate = gated();
  const answers: (() => void)[] = [];
  const slow = definePolicy({
    name: 'slow',
    check: () => new Promise((resolve) => answers.push(() => resolve(allow))),
  });
  const { result } = run(
    [
      ['read', 'a'],
      ['read', 'b'],
    ],
    [gate.tool('read')],
    { policies: [slow] },
  );
  await settled();
  answers.shift()?.();
  await settled();
  expect(gate.started).toEqual(['a']);
  gate.open('a');
  await settled();
  // One answer for the provisional question about `b`, one for the final one.
  for (const answer of answers.splice(0)) answer();
  await settled();
  for (const answer of answers.splice(0)) answer();
  await settled();
  expect(gate.started).toEqual(['a', 'b']);
  gate.open('b');
  expect((await result).outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok']);
});

test.each<{
  readonly title: string;
  readonly locks: readonly string[];
  readonly policies?: readonly Policy[];
  readonly together: boolean;
}>([
  { title: 'different locks and no policy', locks: ['x', 'y'], together: true },
  { title: 'one lock twice', locks: ['x', 'x'], together: false },
  { title: 'different locks and a policy with state', locks: ['x', 'y'], policies: [atMost(9)], together: false },
  {
    title: 'different locks and a policy without state',
    locks: ['x', 'y'],
    policies: [definePolicy({ name: 'fine', check: () => allow })],
    together: true,
  },
])('$title: together $together', async ({ locks, policies = [], together }) => {
  const gate = gated();
  const tools = [
    gate.tool('first', { effects: 'external', locks: () => [locks[0] ?? ''] }),
    gate.tool('second', { effects: 'external', locks: () => [locks[1] ?? ''] }),
  ];
  const { result, events } = run(
    [
      ['first', 'a'],
      ['second', 'b'],
    ],
    tools,
    { policies },
  );
  await settled();
  expect(gate.started).toEqual(together ? ['a', 'b'] : ['a']);
  gate.open('b');
  await settled();
  gate.open('a');
  await settled();
  gate.open('b');
  await result;
  expect(ends(events)).toEqual(['id_a ok', 'id_b ok']);
});

test('a locked call that may not begin yet holds back those behind it', async () => {
  const gate = gated();
  let open = false;
  const moody = definePolicy({
    name: 'moody',
    check: ({ tool }) => (tool.name === 'two' && !open ? deny('not yet') : allow),
  });
  const locked = (name: string, lock: string): Tool => gate.tool(name, { effects: 'external', locks: () => [lock] });
  const { result } = run(
    [
      ['one', 'a'],
      ['two', 'b'],
      ['three', 'c'],
    ],
    [locked('one', 'x'), locked('two', 'y'), locked('three', 'z')],
    { policies: [moody] },
  );
  await settled();
  expect(gate.started).toEqual(['a']);
  open = true;
  gate.open('a');
  await settled();
  expect(gate.started).toEqual(['a', 'b', 'c']);
  for (const name of ['b', 'c']) gate.open(name);
  expect((await result).status).toBe('completed');
});

test('a policy that looks at the session or at files decides about locked calls one by one', async () => {
  for (const where of ['session', 'filesystem'] as const) {
    const gate = gated();
    const looks = definePolicy({
      name: 'looks',
      check: async (_call, { session, filesystem }) => {
        if (where === 'session') return session.read(notes).size < 1 ? allow : deny('one only');
        await filesystem?.stat('x');
        return allow;
      },
    });
    const tool = (name: string): Tool => gate.tool(name, { effects: 'state', locks: () => [name] });
    const filesystem = { type: 'staged-resource', readOnly: { stat: async () => undefined }, begin: () => ({}) };
    const { result } = run(
      [
        ['one', 'a'],
        ['two', 'b'],
      ],
      [tool('one'), tool('two')],
      { policies: [looks], resources: { filesystem } },
    );
    await settled();
    expect(gate.started).toEqual(['a']);
    gate.open('a');
    await settled();
    gate.open('b');
    expect((await result).status).toBe('completed');
  }
});

test('nested calls of a call that began early are made when it is certain that it counts', async () => {
  const seen: string[] = [];
  const leaf = defineTool({
    name: 'leaf',
    description: 'Reads.',
    effects: 'none',
    execute: (_input, { callId }) => {
      seen.push(callId);
      return null;
    },
  });
  const gate = gated();
  const outer = defineTool({
    name: 'outer',
    description: 'Calls a leaf.',
    effects: 'none',
    inputSchema: named,
    execute: async (_input, { call: nested }) => (await nested('leaf')).kind,
  });
  const { result, session } = run(
    [
      ['read', 'a'],
      ['outer', 'b'],
      ['outer', 'c'],
    ],
    [gate.tool('read'), outer, leaf],
    { policies: [atMost(2)] },
  );
  await settled();
  expect(seen).toEqual([]);
  gate.open('a');
  const { outcomes } = await result;
  // The nested call of `b` is the second success; `b` itself and `c` come after it.
  expect(seen).toEqual(['id_b/1']);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'denied']);
  expect(session.ends().map(({ callId }) => callId)).toEqual(['id_a', 'id_b/1', 'id_b', 'id_c']);
});

test('nor does a run within it begin before', async () => {
  const leaf = defineTool({ name: 'leaf', description: 'Reads.', effects: 'none', execute: () => null });
  const gate = gated();
  const delegate = defineTool({
    name: 'delegate',
    description: 'Lets others work.',
    effects: 'none',
    inputSchema: named,
    execute: async (_input, { child }) => {
      const model = playing([call('leaf', {}), stop], [say('done'), stop]);
      const { status } = await runAgent({ model, prompt: toolsPrompt([leaf]), session: child(), input: 'x' }).result;
      const { kind } = await executeToolCall({ name: 'leaf', arguments: {} }, { tools: [leaf], session: child() });
      return `${status} ${kind}`;
    },
  });
  const { result, session } = run(
    [
      ['read', 'a'],
      ['delegate', 'b'],
    ],
    [gate.tool('read'), delegate],
  );
  await settled();
  const ran = ({ type, entry }: (typeof session.records)[number]): boolean =>
    type === 'child-record' && (entry as { type: string }).type !== 'session-start';
  expect(session.records.some(ran)).toBe(false);
  gate.open('a');
  expect((await result).outcomes.map(({ value }) => value)).toEqual(['done', 'completed ok']);
  expect(session.records.some(ran)).toBe(true);
});

test('an empty id is none', async () => {
  const { outcomes } = await runAgent({
    model: playing([call('echo', { q: 'a' }, ''), call('echo', { q: 'b' }, ''), stop], [say('done'), stop]),
    prompt: toolsPrompt([echo]),
    session: testSession().session,
    input: 'go',
  }).result;
  expect(outcomes.map(({ callId, value }) => [callId, value])).toEqual([
    ['call_1_0', { a: 'a' }],
    ['call_1_1', { a: 'b' }],
  ]);
});

test('under a budget of calls, nested ones are paid for in call order', async () => {
  const leaf = defineTool({
    name: 'leaf',
    description: 'Reads.',
    effects: 'none',
    inputSchema: named,
    execute: () => null,
  });
  const outer = defineTool({
    name: 'outer',
    description: 'Calls a leaf.',
    effects: 'none',
    inputSchema: named,
    execute: async (input, { call: nested }) => (await nested('leaf', input)).kind,
  });
  const { result } = run(
    [
      ['outer', 'a'],
      ['leaf', 'b'],
      ['leaf', 'c'],
    ],
    [outer, leaf],
    { budget: createBudget({ maxCalls: 3 }) },
  );
  const { outcomes } = await result;
  expect(outcomes.map(({ value, code }) => code ?? value)).toEqual(['ok', null, 'budget.used']);
});

test('an id that is made is none that the message has', async () => {
  let ran = 0;
  const count = defineTool({
    name: 'count',
    description: 'Counts.',
    effects: 'state',
    execute: () => {
      ran += 1;
      return ran;
    },
  });
  const { outcomes } = await runAgent({
    model: playing([call('count', {}, 'call_1_1'), call('count', {}), stop], [say('done'), stop]),
    prompt: toolsPrompt([count]),
    session: testSession().session,
    input: 'go',
  }).result;
  expect(outcomes.map(({ callId, value }) => [callId, value])).toEqual([
    ['call_1_1', 1],
    ['call_1_1_', 2],
  ]);
});

test('locks that cannot be named make a call run alone', async () => {
  const gate = gated();
  const broken = (): readonly string[] => {
    throw new Error('broke');
  };
  const { result } = run(
    [
      ['first', 'a'],
      ['second', 'b'],
    ],
    [
      gate.tool('first', { effects: 'state', locks: broken }),
      gate.tool('second', { effects: 'state', locks: () => ['b'] }),
    ],
  );
  await settled();
  expect(gate.started).toEqual(['a']);
  gate.open('a');
  await settled();
  gate.open('b');
  expect((await result).status).toBe('completed');
});

test('both of two overlapping calls keep what they wrote to one list', async () => {
  const gate = gated();
  const writer = (name: string): Tool =>
    defineTool({
      name,
      description: 'Notes.',
      effects: 'state',
      inputSchema: named,
      locks: () => [name],
      async execute(input, { session }) {
        session.dispatch({ type: 'noted', payload: input.name });
        await (gate.tool('x').execute?.(input, { progress: () => undefined } as never) as Promise<unknown>);
        return null;
      },
    });
  const { result, session } = run(
    [
      ['one', 'a'],
      ['two', 'b'],
    ],
    [writer('one'), writer('two')],
  );
  await settled();
  gate.open('b');
  gate.open('a');
  await result;
  expect(session.session.read(notes).toArray()).toEqual(['a', 'b']);
});

test('a tool that declares no effects cannot write to the session', async () => {
  const reader = (write: 'dispatch' | 'publish'): Tool =>
    defineTool({
      name: write,
      description: 'Writes.',
      effects: 'none',
      inputSchema: named,
      execute: (_input, { session }) => {
        session[write]({ type: write === 'dispatch' ? 'noted' : 'happened', payload: 'x' });
        return null;
      },
    });
  const { result, session } = run(
    [
      ['dispatch', 'a'],
      ['publish', 'b'],
    ],
    [reader('dispatch'), reader('publish')],
  );
  const { outcomes } = await result;
  expect(outcomes.map(({ kind, code }) => [kind, code])).toEqual([
    ['failed', 'tool.effects.exceeded'],
    ['failed', 'tool.effects.exceeded'],
  ]);
  expect(session.session.read(notes).size + session.session.read(diary).size).toBe(0);
});

test('an abort ends what began early too, each call once', async () => {
  const gate = gated();
  const controller = new AbortController();
  const { result, events } = run(
    [
      ['read', 'a'],
      ['read', 'b'],
    ],
    [gate.tool('read')],
    { signal: controller.signal },
  );
  await settled();
  controller.abort();
  expect((await result).status).toBe('aborted');
  expect(ends(events)).toEqual(['id_a cancelled', 'id_b cancelled']);
});

test('calls behind the limit of a budget are refused in call order, and the run ends', async () => {
  const gate = gated();
  const budget = createBudget({ maxCalls: 1 });
  const { result } = run(
    [
      ['read', 'a'],
      ['read', 'b'],
      ['read', 'c'],
    ],
    [gate.tool('read')],
    { budget },
  );
  await settled();
  expect(gate.started).toEqual(['a']);
  gate.open('a');
  const { status, outcomes } = await result;
  expect(status).toBe('budget');
  expect(outcomes.map(({ kind, code }) => code ?? kind)).toEqual(['ok', 'budget.used', 'budget.used']);
  expect(budget.used.calls).toBe(1);
});

test('an early call that is denied in the end gives its part of the budget to the next one', async () => {
  const budget = createBudget({ maxCalls: 2 });
  const gate = gated();
  const second = definePolicy<number>({
    name: 'second',
    initialState: 0,
    check: ({ id }, { state }) => (state === 1 && id === 'id_b' ? deny('not the second') : allow),
    onResult: (_call, _result, { state }) => state + 1,
  });
  const { result } = run(
    [
      ['read', 'a'],
      ['read', 'b'],
      ['read', 'c'],
    ],
    [gate.tool('read')],
    { budget, policies: [second as Policy] },
  );
  await settled();
  gate.open('a');
  gate.open('b');
  await settled();
  gate.open('c');
  expect((await result).outcomes.map(({ kind }) => kind)).toEqual(['ok', 'denied', 'ok']);
  expect(budget.used.calls).toBe(2);
});

test('a broken log ends the run without leaving early calls running', async () => {
  const gate = gated();
  const signals: AbortSignal[] = [];
  const { session } = testSession();
  const tool = defineTool({
    name: 'read',
    description: 'Reads.',
    effects: 'none',
    inputSchema: named,
    async execute(input, { signal }) {
      signals.push(signal);
      await (gate.tool('x').execute?.(input, { progress: () => undefined } as never) as Promise<unknown>);
      if (input.name === 'a') await session.close();
      return null;
    },
  });
  const run = runAgent({
    model: playing([call('read', { name: 'a' }), call('read', { name: 'b' }), stop]),
    prompt: toolsPrompt([tool]),
    session,
    input: 'go',
  });
  const collected = collect(run);
  await settled();
  gate.open('a');
  await expect(collected).rejects.toThrow('closed');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
});
