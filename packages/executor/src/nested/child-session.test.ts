import {
  append,
  type Clock,
  defineSlice,
  defineTool,
  type ListState,
  type RunEvent,
  type Slice,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import { expect, test } from 'vitest';
import {
  call,
  notes,
  outcomeOf,
  playing,
  say,
  shortKey,
  stop,
  testClock,
  testSession,
  toolsPrompt,
  wordsResource,
  writer,
} from '../fixtures.ts';
import {
  type CallOptions,
  createBudget,
  executeToolCall,
  openCaller,
  type RunAgentOptions,
  type RunResult,
  runAgent,
} from '../index.ts';

const thoughts: Slice<ListState<string>> = defineSlice<string>({
  id: 'thoughts',
  kind: 'list',
  reducers: { thought: (_state, payload) => append(payload) },
});

function delegating(work: (context: ToolContext) => unknown, extra: Partial<Tool> = {}): Tool {
  return defineTool({
    name: 'delegate',
    description: 'Delegates the work.',
    effects: 'external',
    ...(extra as object),
    execute: (_input, context) => work(context) as never,
  });
}

/** A run under `context`: its model calls `write` once and says that it is done. */
function nestedRun(
  context: ToolContext,
  tools: readonly Tool[],
  options: Partial<RunAgentOptions> = {},
): Promise<RunResult> {
  const model = playing([call(tools[0]?.name ?? '', {}, 'inner'), stop], [say('child done'), stop]);
  return runAgent({ model, prompt: toolsPrompt(tools), session: context.child(), input: 'sub', ...options }).result;
}

function setUp(tools: readonly Tool[], options: Partial<CallOptions> = {}) {
  const session = testSession();
  const words = wordsResource();
  const events: RunEvent[] = [];
  return {
    ...session,
    words,
    events,
    delegate: () =>
      outcomeOf(
        { id: 'top', name: 'delegate', arguments: {} },
        {
          tools,
          session: session.session,
          resources: { words },
          onEvent: (event) => void events.push(event),
          ...options,
        },
      ),
  };
}

const notesInside = (context: ToolContext): Promise<RunResult> => {
  const child = context.child();
  child.register(notes);
  const tools = [writerOf()];
  return runAgent({
    model: playing([call('write', {}, 'inner'), stop], [say('child done'), stop]),
    prompt: toolsPrompt(tools),
    session: child,
    input: 'sub',
  }).result;
};

/** Writes a word through the staged resource only. */
const writerOf = (then: () => unknown = () => null, extra: Partial<Tool> = {}): Tool =>
  defineTool({
    name: 'write',
    description: 'Writes.',
    effects: 'state',
    ...(extra as object),
    execute: (_input, { resources }) => {
      (resources.get('words') as { add(word: string): void }).add('x');
      return then() as never;
    },
  });

test('a child run writes to the staged resources of the call around it, which decides whether that counts', async () => {
  const good = setUp([delegating(async (context) => (await notesInside(context)).text)]);
  expect(await good.delegate()).toMatchObject({ kind: 'ok', value: 'child done' });
  expect([...good.words.committed]).toEqual(['x']);

  const bad = setUp([
    delegating(async (context) => {
      await notesInside(context);
      throw new Error('after all');
    }),
  ]);
  expect(await bad.delegate()).toMatchObject({ kind: 'failed' });
  expect([...bad.words.committed]).toEqual([]);
});

test('the records of a child are in the log above, and its state is its own', async () => {
  let inside: readonly string[] = [];
  const delegate = delegating((context) => {
    const child = context.child();
    child.register(thoughts);
    child.dispatch({ type: 'thought', payload: 'hm' });
    inside = child.read(thoughts).toArray();
    return child.id;
  });
  const { delegate: run, session, records } = setUp([delegate]);
  const { value: childId } = await run();
  expect(shortKey(String(childId))).toBe('s/top/child_1');
  expect(inside).toEqual(['hm']);
  expect(session.read(thoughts).size).toBe(0);
  const kept = records.filter(({ type }) => type === 'child-record');
  expect(kept.map(({ childSeq }) => childSeq)).toEqual([0, 1, 2]);
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index));
  expect(kept.at(-1)).toMatchObject({
    callId: 'top',
    sessionId: childId,
    entry: { type: 'event', events: [{ type: 'thought', payload: 'hm' }] },
  });
});

test('listeners hear of a child what its own would', async () => {
  const { delegate, events } = setUp([delegating(async (context) => (await nestedRun(context, [writerOf()])).status)]);
  await delegate();
  const inner = events.flatMap((event) => (event.type === 'child-event' ? [event.event.type] : []));
  expect(inner).toEqual([
    'run-start',
    'turn-start',
    'model-message',
    'tool-call-start',
    'tool-call-end',
    'turn-start',
    'text-delta',
    'model-message',
    'run-end',
  ]);
  expect(events.map(({ type }) => type).filter((type) => type !== 'child-event')).toEqual([
    'tool-call-start',
    'tool-call-end',
  ]);
});

test.each([
  { title: 'nobody', options: {}, status: 'denied approval.nested' },
  { title: 'a grant of the host', options: { grants: ['write'] }, status: 'ok ' },
  { title: 'the host, who says yes', options: { approve: () => ({ type: 'approve' as const }) }, status: 'ok ' },
])('a question in a child run is answered by $title', async ({ options, status }) => {
  const danger = writerOf(() => null, { dangerous: true });
  const { delegate } = setUp(
    [
      delegating(async (context) => {
        const { outcomes, pending } = await nestedRun(context, [danger]);
        return [...outcomes.map(({ kind, code }) => `${kind} ${code ?? ''}`), pending.length];
      }),
    ],
    options,
  );
  expect(await delegate()).toMatchObject({ value: [status, 0] });
});

test('a child pays from the budget of its parent, and from its own', async () => {
  const budget = createBudget({ maxCalls: 10, maxTokens: 100 });
  const own = createBudget({ maxCalls: 1 });
  const { delegate } = setUp(
    [
      delegating(async (context) => {
        const child = context.child();
        const options = { tools: [writerOf()], session: child, budget: own };
        const kinds = [
          await executeToolCall({ name: 'write', arguments: {} }, options),
          await executeToolCall({ name: 'write', arguments: {} }, options),
        ].map(({ kind }) => kind);
        return [...kinds, (await nestedRun(context, [writerOf()])).status, context.budget === budget];
      }),
    ],
    { budget },
  );
  expect(await delegate()).toMatchObject({ value: ['ok', 'denied', 'completed', true] });
  expect(budget.used).toMatchObject({ calls: 3, tokens: 10 });
});

test('a child run ends with the time of the call around it', async () => {
  const clock = testClock();
  let result: Promise<RunResult> | undefined;
  const slow = writerOf(() => {
    clock.advance(50);
    return new Promise(() => undefined);
  });
  const { delegate } = setUp(
    [
      delegating(
        async (context) => {
          result = nestedRun(context, [slow], { clock });
          await result;
          return null;
        },
        { timeoutMs: 50, repeat: 'safe' },
      ),
    ],
    { clock },
  );
  expect(await delegate()).toMatchObject({ kind: 'timed-out' });
  expect(await result).toMatchObject({ status: 'deadline', outcomes: [{ kind: 'timed-out' }] });
});

test.each([
  { whose: 'the run', around: { timeoutMs: 50 }, tool: {}, code: 'call.deadline' },
  { whose: 'the call', around: {}, tool: { timeoutMs: 50 }, code: 'call.deadline' },
])(
  'the time of $whose around is over for children and nested calls also where a tool keeps timers from firing',
  async ({ around, tool, code }) => {
    let now = 0;
    const clock: Clock = { now: () => now, after: () => () => undefined };
    let times = 0;
    const busy = writerOf(() => {
      times += 1;
      now += 30;
      return null;
    });
    const child: unknown[] = [];
    const nested: unknown[] = [];
    const heard: unknown[] = [];
    const { delegate } = setUp(
      [
        delegating(async (context) => {
          const caller = openCaller({ tools: [busy], session: context.child(), clock });
          for (const id of ['a', 'b', 'c']) child.push(await caller.execute({ id, name: busy.name, arguments: {} }));
          caller.onEnd((end) => heard.push(end));
          caller.dispose();
          const late = openCaller({ tools: [busy], session: context.child(), clock });
          late.onEnd((end) => heard.push(end));
          late.dispose();
          nested.push(await context.call(busy.name, {}));
          return null;
        }, tool),
        busy,
      ],
      { clock, ...around },
    );
    await delegate();
    expect(times).toBe(2);
    expect(heard).toEqual(['deadline', 'deadline']);
    expect(child).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }, { kind: 'timed-out', code }]);
    expect(nested).toMatchObject([{ kind: 'timed-out', code }]);
  },
);

test('a child of an ended call can still say how it ended, and does nothing more', async () => {
  let result: Promise<RunResult> | undefined;
  let inside: ToolContext | undefined;
  const waits = defineTool({
    name: 'write',
    description: 'Waits.',
    effects: 'state',
    execute: async (_input, context) => {
      inside = context;
      await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
      return null;
    },
  });
  const { delegate, words, records } = setUp([
    delegating(async (context) => {
      result = nestedRun(context, [waits]);
      while (inside === undefined) await Promise.resolve();
      return null;
    }),
  ]);
  expect(await delegate()).toMatchObject({ kind: 'ok' });
  expect(await result).toMatchObject({ status: 'aborted', outcomes: [{ kind: 'cancelled' }] });
  expect([...words.committed]).toEqual([]);
  expect(records.at(-1)).toMatchObject({ type: 'child-record', entry: { type: 'run-end', status: 'aborted' } });
});

test('runs within runs within runs come to an end', async () => {
  let calls = 0;
  const again: Tool = delegating(async (context) => {
    calls += 1;
    const { outcomes } = await nestedRun(context, [again]);
    return outcomes[0]?.code ?? null;
  });
  const { delegate } = setUp([again]);
  expect(await delegate()).toMatchObject({ kind: 'ok' });
  expect(calls).toBe(16);
});

test('a nested run that fails ends the call only if the tool says so', async () => {
  const { delegate } = setUp([
    delegating(async (context) => {
      const { status, error } = await runAgent({
        model: playing(),
        prompt: toolsPrompt([]),
        session: context.child(),
        input: 'sub',
      }).result;
      throw new Error(`${status}: ${error?.message}`);
    }),
  ]);
  expect(await delegate()).toMatchObject({ kind: 'failed', message: expect.stringContaining('model-error') });
});

test('a host passes its own resources to a child beside those of the call', async () => {
  const more = wordsResource();
  const { delegate, words } = setUp([
    delegating(async (context) => {
      const tool = defineTool({
        name: 'both',
        description: 'Writes twice.',
        effects: 'state',
        execute: (_input, { resources }) => {
          for (const name of ['words', 'more']) (resources.get(name) as { add(word: string): void }).add(name);
          return null;
        },
      });
      const { outcomes } = await nestedRun(context, [tool], { resources: { more } });
      return outcomes.map(({ kind }) => kind);
    }),
  ]);
  expect(await delegate()).toMatchObject({ value: ['ok'] });
  expect([...words.committed, ...more.committed]).toEqual(['words', 'more']);
});

test('a tool that writes to the session is governed there as anywhere', async () => {
  const { delegate, session } = setUp([
    delegating(async (context) => {
      const child = context.child();
      return (await executeToolCall({ name: 'write', arguments: {} }, { tools: [writer(() => null)], session: child }))
        .kind;
    }),
  ]);
  // The child never met the slices of the parent, and says so instead of writing to them.
  expect(await delegate()).toMatchObject({ value: 'failed' });
  expect(session.read(notes).size).toBe(0);
});
