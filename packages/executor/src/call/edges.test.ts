import {
  allow,
  definePolicy,
  defineTool,
  type PendingApproval,
  type RunEvent,
  type Tool,
  type ToolContext,
  toolError,
} from '@holdfast/core';
import { createSession, type SessionStore } from '@holdfast/session';
import * as v from 'valibot';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  call,
  echo,
  notes,
  outcomeOf,
  playing,
  say,
  stop,
  testClock,
  testSession,
  toolsPrompt,
  wordsResource,
  writer,
} from '../fixtures.ts';
import { createBudget, executeToolCall, runAgent } from '../index.ts';

const unheard: unknown[] = [];
const hear = (reason: unknown): void => void unheard.push(reason);
beforeEach(() => {
  unheard.length = 0;
  process.on('unhandledRejection', hear);
});
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', hear);
  if (unheard.length > 0) throw new Error(`nobody heard of ${String(unheard[0])}`);
});

const later = async (): Promise<void> => {
  for (let count = 0; count < 50; count += 1) await Promise.resolve();
};
const rejects = (): Promise<never> => Promise.reject(new Error('late'));
const works = (execute: (context: ToolContext) => unknown, extra: Partial<Tool> = {}): Tool =>
  defineTool({
    name: 'work',
    description: 'Works.',
    effects: 'state',
    ...(extra as object),
    execute: (_input, context) => execute(context) as never,
  });
const work = { name: 'work', arguments: {} };

test('every part of a recorded call is applied, also behind one that cannot be', async () => {
  const [first, broken, last] = [wordsResource(), wordsResource({ commit: true }), wordsResource()];
  const tool = works(({ resources }) => {
    for (const view of resources.values()) (view as { add(word: string): void }).add('x');
    return null;
  });
  const { session } = testSession();
  const resources = { first, broken, last };
  expect(await outcomeOf(work, { tools: [tool], session, resources })).toMatchObject({ kind: 'in-doubt' });
  expect([first.committed.size, last.committed.size]).toEqual([1, 1]);
});

test('a nested call that could not be applied whole fails the call around it', async () => {
  const words = wordsResource();
  const flaky = {
    ...words,
    begin: () => ({ ...words.begin('x'), begin: () => ({ ...words.begin('y'), commit: rejects }) }),
  };
  const inner = writer(() => null);
  const { session } = testSession();
  const outer = works(async ({ call: nested }) => (await nested('write')).kind);
  const outcome = await outcomeOf(work, { tools: [outer, inner], session, resources: { words: flaky } });
  expect(outcome.kind).toBe('failed');
  expect(session.read(notes).size).toBe(0);
});

test('what a tool does after it has returned comes too late, also while resources are being prepared', async () => {
  const refused: unknown[] = [];
  let late: () => void = () => undefined;
  const tool = works((context) => {
    const words = context.resources.get('words') as { add(word: string): void };
    late = () => {
      for (const act of [
        () => context.session.dispatch({ type: 'noted', payload: 'late' }),
        () => context.session.read(notes),
        () => context.beat(),
      ]) {
        try {
          act();
        } catch (thrown) {
          refused.push((thrown as { code: string }).code);
        }
      }
    };
    words.add('x');
    return null;
  });
  const words = wordsResource();
  let sealed = 0;
  const slow = {
    ...words,
    begin: () => ({
      ...words.begin('x'),
      seal: () => {
        sealed += 1;
      },
      prepare: async () => {
        late();
        await later();
      },
    }),
  };
  const { session } = testSession();
  expect(await outcomeOf(work, { tools: [tool], session, resources: { words: slow } })).toMatchObject({ kind: 'ok' });
  expect(refused).toEqual(['context.closed', 'context.closed', 'context.closed']);
  expect([session.read(notes).size, sealed]).toEqual([0, 1]);
});

test('listeners that answer late and badly are noted, and break nothing', async () => {
  const { session, records } = testSession();
  const onEvent = (async () => rejects()) as () => void;
  expect(await outcomeOf({ name: 'echo', arguments: { q: 'x' } }, { tools: [echo], session, onEvent })).toMatchObject({
    kind: 'ok',
  });
  await later();
  expect(records.filter(({ type }) => type === 'subscriber-error')).toHaveLength(2);
  const run = runAgent({ model: playing([say('hi'), stop]), prompt: toolsPrompt([]), session, input: 'go', onEvent });
  for await (const event of run) expect(event.type).not.toBe('');
  expect((await run.result).status).toBe('completed');
});

test('a listener that throws when the log is full does not undo what has been recorded', async () => {
  let full = false;
  const store: SessionStore = {
    append: () => {
      if (full) throw new Error('disk full');
    },
    close: () => undefined,
  };
  const session = createSession({ id: 's', slices: [notes], store });
  const onEvent = ({ type }: RunEvent): void => {
    if (type !== 'tool-call-end') return;
    full = true;
    throw new Error('broken listener');
  };
  const outcome = await outcomeOf(
    { name: 'write', arguments: {} },
    {
      tools: [
        works(
          ({ session: staged }) => {
            staged.dispatch({ type: 'noted', payload: 'x' });
            return null;
          },
          { name: 'write' },
        ),
      ],
      session,
      onEvent,
    },
  );
  expect(outcome.kind).toBe('ok');
  expect(session.read(notes).size).toBe(1);
});

test('nobody has to wait for a nested call, a resource or a list of locks', async () => {
  const broken = {
    type: 'resource' as const,
    name: 'broken',
    lifetime: 'call' as const,
    create: rejects,
  };
  const tool = works(({ call: nested, use }) => {
    void nested('work', 'no json');
    void use(broken);
    return null;
  });
  const { session } = testSession();
  expect(await outcomeOf(work, { tools: [tool], session })).toMatchObject({ kind: 'ok' });
  const locked = works(() => null, { locks: rejects as never });
  const calls = [call('work', {}, 'a'), call('work', {}, 'b'), stop];
  const { result } = runAgent({
    model: playing(calls, [say('x'), stop]),
    prompt: toolsPrompt([locked]),
    session,
    input: 'go',
  });
  expect((await result).outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok']);
});

test('a nested call that is under way when the session is closed ends quietly', async () => {
  const slow = works(
    async ({ signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      return null;
    },
    { name: 'slow' },
  );
  const tool = works(async ({ call: nested }) => {
    void nested('slow');
    await later();
    return null;
  });
  const { session } = testSession();
  expect(await outcomeOf(work, { tools: [tool, slow], session })).toMatchObject({ kind: 'ok' });
  await session.close();
  await later();
});

test.each([
  [
    'a BigInt',
    v.pipe(
      v.string(),
      v.transform((text: string) => BigInt(text)),
    ),
    '7',
    7n,
  ],
  [
    'bytes',
    v.pipe(
      v.string(),
      v.transform(() => new Uint8Array(2)),
    ),
    'x',
    new Uint8Array(2),
  ],
  [
    'a date',
    v.pipe(
      v.string(),
      v.transform((text) => new Date(text)),
    ),
    '2026-01-01',
    new Date('2026-01-01'),
  ],
])(
  'a schema may make %s of an argument: the tool gets it, the log what was sent',
  async (_what, schema, sent, made) => {
    const lines: string[] = [];
    const store: SessionStore = { append: (entry) => void lines.push(JSON.stringify(entry)), close: () => undefined };
    const session = createSession({ id: 's', store });
    let got: unknown;
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      inputSchema: v.object({ n: schema as v.GenericSchema<string, unknown> }),
      execute: ({ n }) => {
        got = n;
        return null;
      },
    });
    const approvals: PendingApproval[] = [];
    const asks = definePolicy({ name: 'asks', check: () => ({ type: 'ask', reason: 'sure?' }) });
    const outcome = await outcomeOf(
      { name: 'work', arguments: { n: sent } },
      {
        tools: [tool],
        session,
        policies: [asks],
        approve: (pending) => {
          approvals.push(pending);
          return { type: 'approve' };
        },
      },
    );
    expect(outcome.kind).toBe('ok');
    expect(got).toEqual(made);
    expect(approvals[0]?.input).toEqual({ n: sent });
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'tool-call-end', input: { n: sent } });
  },
);

test('a failure with a code that is not a string gets the default code', async () => {
  const { session } = testSession();
  const tool = works(() => toolError('no', { code: 5n as never }));
  expect(await outcomeOf(work, { tools: [tool], session })).toMatchObject({ kind: 'failed', code: 'tool.failed' });
});

test('no tool ends a run by the code that it fails with', async () => {
  const tool = works(() => toolError('another budget', { code: 'budget.used', reason: 'calls' }));
  const { result } = runAgent({
    model: playing([call('work', {}), stop], [say('went on'), stop]),
    prompt: toolsPrompt([tool]),
    session: testSession().session,
    input: 'go',
  });
  expect(await result).toMatchObject({ status: 'completed', text: 'went on' });
});

test('a run that cannot begin leaves no timer, no listener and no running budget', async () => {
  const clock = testClock();
  let timers = 0;
  const counting = {
    ...clock,
    after: (delayMs: number, run: () => void) => {
      timers += 1;
      const stopTimer = clock.after(delayMs, run);
      return () => {
        timers -= 1;
        stopTimer();
      };
    },
  };
  const budget = createBudget({ maxWallMs: 1_000 }, { clock });
  const { session } = testSession();
  await session.close();
  const { result } = runAgent({
    model: playing(),
    prompt: toolsPrompt([]),
    session,
    input: 'go',
    clock: counting,
    timeoutMs: 50,
    budget,
  });
  await expect(result).rejects.toMatchObject({ code: 'session.closed' });
  clock.advance(500);
  expect([timers, budget.used.wallMs]).toEqual([0, 0]);
});

test("the time of an approval does not count towards the tool's timeout", async () => {
  const clock = testClock();
  let left = 0;
  const tool = works(
    ({ deadline }) => {
      left = deadline.remainingMs();
      return null;
    },
    { timeoutMs: 5_000, dangerous: true },
  );
  const { session } = testSession();
  const approve = () => {
    clock.advance(60_000);
    return { type: 'approve' as const };
  };
  expect(await outcomeOf(work, { tools: [tool], session, clock, approve })).toMatchObject({ kind: 'ok' });
  expect(left).toBe(5_000);
});

test('a clock that is set back gives no time back', async () => {
  let now = 10_000;
  const clock = { ...testClock(), now: () => now };
  const budget = createBudget({ maxWallMs: 1_000 }, { clock });
  const events: RunEvent[] = [];
  const tool = works(() => {
    now -= 5_000;
    return null;
  });
  const { session } = testSession();
  await outcomeOf(work, { tools: [tool], session, clock, budget, onEvent: (event) => void events.push(event) });
  expect(budget.used.wallMs).toBe(0);
  expect(events.find(({ type }) => type === 'tool-call-end')).toMatchObject({ durationMs: 0 });
});

test('no two calls have one idempotency key: other turns, other runs, children, and ids that look like nested ones', async () => {
  const keys: string[] = [];
  const leaf = works(
    ({ idempotencyKey }) => {
      keys.push(idempotencyKey);
      return null;
    },
    { name: 'leaf' },
  );
  const nesting = works(async ({ call: nested, child }) => {
    await nested('leaf');
    for (const session of [child(), child()]) {
      await executeToolCall({ id: 'p', name: 'leaf', arguments: {} }, { tools: [leaf], session });
    }
    return null;
  });
  const turn = [call('work', {}, 'a'), call('leaf', {}, 'a/1'), call('leaf', {}, 'a%2F1'), stop];
  const { session } = testSession();
  for (let count = 0; count < 2; count += 1) {
    const model = playing(turn, turn, [say('done'), stop]);
    await runAgent({ model, prompt: toolsPrompt([nesting, leaf]), session, input: 'go' }).result;
  }
  expect(keys).toHaveLength(20);
  expect(new Set(keys).size).toBe(20);
});

test('a resource that could not be opened stays so: nothing of it is begun twice', async () => {
  const words = wordsResource();
  let begun = 0;
  const first = {
    ...words,
    begin: () => {
      begun += 1;
      return words.begin('x');
    },
  };
  const second = {
    ...words,
    begin: () => {
      throw new Error('no');
    },
  };
  const tool = works((context) => {
    for (let count = 0; count < 2; count += 1) {
      try {
        void context.resources;
      } catch {
        // Tried again.
      }
    }
    return null;
  });
  const { session } = testSession();
  const watching = definePolicy({ name: 'watching', check: () => allow });
  await outcomeOf(work, { tools: [tool], session, resources: { first, second }, policies: [watching] });
  expect(begun).toBe(1);
});
