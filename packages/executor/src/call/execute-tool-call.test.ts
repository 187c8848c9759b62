import {
  defineTool,
  HoldfastError,
  type Outcome,
  type RunEvent,
  type Tool,
  type ToolContext,
  toolError,
  toolOk,
} from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { replay, type Session } from '@holdfast/session';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { diary, echo, notes, outcomeOf, shortKey, testClock, testSession, wordsResource, writer } from '../fixtures.ts';
import { executeToolCall } from '../index.ts';

test('a success commits state, resource and log in one record, and ends in one event', async () => {
  const { session, records } = testSession();
  const words = wordsResource();
  const events: RunEvent[] = [];
  const outcome = await outcomeOf(
    { id: 'c7', name: 'write', arguments: '{}' },
    {
      tools: [writer(() => toolOk({ n: 1 }, 'Done.'))],
      session,
      resources: { words },
      onEvent: (event) => events.push(event),
    },
  );
  expect(outcome).toEqual({
    kind: 'ok',
    callId: 'c7',
    name: 'write',
    code: undefined,
    message: 'Done.',
    value: { n: 1 },
    rendered: '{"n":1}',
    text: 'Done.\n\n{"n":1}',
  });
  expect(session.read(notes).toArray()).toEqual(['x']);
  expect([...words.committed]).toEqual(['x']);
  expect(words.log).toEqual(['prepare', 'commit']);
  expect(records.map(({ type }) => type)).toEqual(['session-start', 'event', 'tool-call-end']);
  expect(records.at(-1)).toMatchObject({
    callId: 'c7',
    rawArguments: '{}',
    input: {},
    decisions: [],
    events: [{ type: 'noted', payload: 'x' }],
    writes: [{ resource: 'words', key: 'x', change: 'created' }],
    outcome: { kind: 'ok' },
  });
  expect(events.map(({ type }) => type)).toEqual(['tool-call-start', 'tool-call-end']);
});

const hostileError = new Proxy(
  {},
  {
    get() {
      throw new Error('trap');
    },
    has: () => true,
  },
);

const endings: {
  what: string;
  does: () => unknown;
  kind: Outcome['kind'];
  code: string;
  reason?: string;
  text?: string;
}[] = [
  {
    what: 'throws an Error',
    does: () => thrown(new Error('broke')),
    kind: 'failed',
    code: 'tool.threw',
    text: 'broke',
  },
  {
    what: 'throws a HoldfastError',
    does: () => thrown(new HoldfastError('file.missing', 'No file.')),
    kind: 'failed',
    code: 'file.missing',
    text: 'No file.',
  },
  { what: 'throws null', does: () => thrown(null), kind: 'failed', code: 'tool.threw', text: 'a thrown null' },
  { what: 'throws a string', does: () => thrown('text'), kind: 'failed', code: 'tool.threw', text: 'text' },
  { what: 'throws a hostile proxy', does: () => thrown(hostileError), kind: 'failed', code: 'tool.threw' },
  {
    what: 'rejects',
    does: () => Promise.reject(new Error('later')),
    kind: 'failed',
    code: 'tool.threw',
    text: 'later',
  },
  {
    what: 'answers toolError',
    does: () => toolError('No.', { value: { hint: 1 } }),
    kind: 'failed',
    code: 'tool.failed',
    text: 'No.\n\n{"hint":1}',
  },
  {
    what: 'answers toolError with a code',
    does: () => toolError('No.', { code: 'my.code' }),
    kind: 'failed',
    code: 'my.code',
    text: 'No.',
  },
  {
    what: 'throws what looks like a deadline',
    does: () => thrown({ name: 'DeadlineExceededError', message: 'late' }),
    kind: 'failed',
    code: 'tool.threw',
  },
  { what: 'returns undefined', does: () => undefined, kind: 'invalid', code: 'output.invalid', reason: 'undefined' },
  { what: 'returns a function', does: () => () => 1, kind: 'invalid', code: 'output.invalid', reason: 'not_json' },
  { what: 'returns a cycle', does: () => cycle(), kind: 'invalid', code: 'output.invalid', reason: 'not_json' },
  { what: 'returns a BigInt', does: () => ({ n: 1n }), kind: 'invalid', code: 'output.invalid', reason: 'not_json' },
];

test.each(endings)('a tool that $what: $kind, $code, and no trace', async ({ does, kind, code, reason, text }) => {
  const { session, ends } = testSession();
  const words = wordsResource();
  const outcome = await outcomeOf(
    { id: 'c', name: 'write', arguments: '' },
    { tools: [writer(does)], session, resources: { words } },
  );
  expect(outcome).toMatchObject({ kind, code, reason, ...(text === undefined ? {} : { text }) });
  expect(session.read(notes).size).toBe(0);
  expect(session.read(diary).toArray()).toEqual(['x']);
  expect(words.committed.size).toBe(0);
  expect(words.log).toEqual(['discard']);
  expect(ends()).toHaveLength(1);
  expect(ends()[0]).toMatchObject({ outcome: { kind, code }, events: [], writes: [] });
});

test.each([{ excluded: false }, { excluded: true }])(
  'a result that its schema refuses is not quoted to the model; observers see why. Kept out: $excluded',
  async ({ excluded }) => {
    const { session, ends } = testSession();
    const tool = defineTool({
      name: 'look',
      description: 'Looks.',
      outputSchema: v.object({ pin: v.number() }),
      execute: () =>
        toolOk({ pin: 'swordfish' } as unknown as { pin: number }, '', { excludeValueFromContext: excluded }),
      effects: 'none',
    });
    const outcome = await outcomeOf({ name: 'look', arguments: '' }, { tools: [tool], session });
    expect(outcome).toMatchObject({ kind: 'invalid', code: 'output.invalid', value: null });
    expect(outcome.text).toBe(
      `\`look\` returned a value that its output schema rejects${excluded ? '' : ' at `pin`'}.`,
    );
    expect(ends()[0]).toMatchObject({ error: { message: expect.stringContaining('"swordfish"') } });
  },
);

test('output.invalid', async () => {
  const { session } = testSession();
  const refusedOutput = writer(() => ({ n: 'x' }), { outputSchema: v.object({ n: v.number() }) });
  expect(await outcomeOf({ name: 'write', arguments: '' }, { tools: [refusedOutput], session })).toMatchObject({
    kind: 'invalid',
    code: 'output.invalid',
  });
  expect(session.read(notes).size).toBe(0);
});

const refusals: { raw: unknown; reason?: string }[] = [
  { raw: '{', reason: 'malformed' },
  { raw: '"{\\"q\\":\\"x\\"}"', reason: 'not_object' },
  { raw: 'null', reason: 'not_object' },
  { raw: null, reason: 'not_object' },
  { raw: [], reason: 'not_object' },
  { raw: '{"q":"/safe","q":"/etc/passwd"}', reason: 'duplicate_key' },
  { raw: '{"q":{"a":1,"a":1}}', reason: 'duplicate_key' },
  { raw: '{"q":"x","__proto__":{"isAdmin":true}}', reason: 'reserved_key' },
  { raw: { q: JSON.parse('{"__proto__":1}') }, reason: 'reserved_key' },
  { raw: { q: JSON.parse(`${'['.repeat(65)}${']'.repeat(65)}`) }, reason: 'too_deep' },
  { raw: { q: 'x'.repeat(1_048_576) }, reason: 'too_large' },
  { raw: { q: new Proxy([], { get: (_target, key) => (key === 'length' ? 1e9 : 1) }) }, reason: 'too_large' },
  { raw: Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`k${n}`, 1])), reason: 'too_large' },
  { raw: '{"q":1e999}', reason: 'not_json' },
  { raw: { q: () => 1 }, reason: 'not_json' },
  { raw: `{"q":${'['.repeat(65)}${']'.repeat(65)}}`, reason: 'too_deep' },
  { raw: `{"q":"${'x'.repeat(1_048_576)}"}`, reason: 'too_large' },
  { raw: '{"q":9007199254740993}', reason: 'number.inexact' },
  { raw: `{${Array.from({ length: 10_001 }, (_, n) => `"k${n}":1`).join()}}`, reason: 'too_large' },
  { raw: '{"q":7}' },
  { raw: '{"q":null}' },
  { raw: '{"q":"x","more":1}' },
  { raw: '{}' },
];

test.each(refusals)('arguments refused with the reason $reason', async ({ raw, reason }) => {
  const { session, ends } = testSession();
  let entered = 0;
  const tool = defineTool<unknown, unknown>({ ...echo, execute: () => (entered += 1) } as never);
  const outcome = await outcomeOf({ id: 'c', name: 'echo', arguments: raw }, { tools: [tool], session });
  expect(outcome).toMatchObject({ kind: 'invalid', code: 'arguments.invalid', reason, value: null });
  expect(outcome.text.length).toBeLessThanOrEqual(1_000);
  expect(entered).toBe(0);
  expect(ends()).toHaveLength(1);
});

test('arguments: empty text means no arguments, values are taken as they are, 64 levels pass', async () => {
  const { session } = testSession();
  const open = defineTool({
    name: 'open',
    description: 'Takes anything.',
    effects: 'none',
    inputSchema: v.looseObject({}),
    execute: (input) => Object.keys(input).length,
  });
  const deep = `{"q":${'['.repeat(62)}1${']'.repeat(62)}}`;
  for (const [raw, value] of [
    ['', 0],
    [' \n', 0],
    [undefined, 0],
    ['{}', 0],
    [{ a: 1 }, 1],
    [deep, 1],
    ['{"a:b":":\\":","c":2}', 2],
  ] as const) {
    expect(await outcomeOf({ name: 'open', arguments: raw }, { tools: [open], session })).toMatchObject({
      kind: 'ok',
      value,
    });
  }
  const bare = defineTool({ name: 'bare', description: 'Takes nothing.', execute: () => 1 });
  expect(await outcomeOf({ name: 'bare', arguments: '{}' }, { tools: [bare], session })).toMatchObject({ kind: 'ok' });
  expect(await outcomeOf({ name: 'bare', arguments: '{"a":1}' }, { tools: [bare], session })).toMatchObject({
    kind: 'invalid',
    code: 'arguments.invalid',
  });
});

test('property: text is accepted exactly when no object in it has a key twice', async () => {
  const { session } = testSession();
  const open = defineTool({
    name: 'open',
    description: 'Takes anything.',
    effects: 'none',
    inputSchema: v.looseObject({}),
    execute: (input) => input as never,
  });
  const key = fc.constantFrom('a', 'b', 'c:"', '\\');
  const { object } = fc.letrec<{ object: readonly (readonly [string, unknown])[] }>((tie) => ({
    object: fc.array(fc.tuple(key, fc.oneof({ maxDepth: 3 }, fc.string(), fc.constant(1), tie('object'))), {
      maxLength: 3,
    }),
  }));
  await fc.assert(
    fc.asyncProperty(object, async (pairs) => {
      const outcome = await outcomeOf({ name: 'open', arguments: toText(pairs) }, { tools: [open], session });
      expect(outcome.reason).toBe(hasDuplicate(pairs) ? 'duplicate_key' : undefined);
    }),
  );
});

test('hostile schemas: a check that throws ends the call', async () => {
  const { session } = testSession();
  const tool = defineTool({
    ...echo,
    inputSchema: v.pipe(
      v.object({ q: v.string() }),
      v.check(() => thrown(new Error('check broke'))),
    ),
  } as never) as Tool;
  expect(await outcomeOf({ name: 'echo', arguments: '{"q":"x"}' }, { tools: [tool], session })).toMatchObject({
    kind: 'invalid',
    code: 'arguments.invalid',
    reason: 'check_failed',
  });
});

test('tool.unknown lists the nearest names, and a prototype key is not a tool', async () => {
  const { session, ends } = testSession();
  const outcome = await outcomeOf({ name: 'ecko', arguments: '{}' }, { tools: [echo, writer(() => 1)], session });
  expect(outcome).toMatchObject({
    kind: 'unknown-tool',
    code: 'tool.unknown',
    text: 'There is no tool `ecko`. Did you mean `echo`?',
  });
  for (const name of ['constructor', '__proto__', 'ECHO', ' echo', 'functions.echo', '']) {
    expect(await outcomeOf({ name, arguments: '{}' }, { tools: [echo], session })).toMatchObject({
      kind: 'unknown-tool',
    });
  }
  expect(ends()).toHaveLength(7);
});

test('tool.not_executable: a declaration can be offered but not run', async () => {
  const { session } = testSession();
  const declared = defineTool({ name: 'declared', description: 'Only declared.' });
  expect(await outcomeOf({ name: 'declared', arguments: '' }, { tools: [declared], session })).toMatchObject({
    kind: 'failed',
    code: 'tool.not_executable',
  });
});

test.each([
  ['toolOk with a message', () => toolOk({ a: 'x' }, 'Done.'), 'Done.\n\n{"a":"x"}'],
  ['toolOk without a message', () => toolOk({ a: 'x' }), '{"a":"x"}'],
  ['an excluded value', () => toolOk({ a: 'secret' }, 'Done.', { excludeValueFromContext: true }), 'Done.'],
  ['null', () => toolOk(null, 'Nothing.'), 'Nothing.'],
  ['null fields', () => toolOk({ a: 1, b: null, c: [null, { d: null }] }), '{"a":1,"c":[null,{}]}'],
  ['strings that look like numbers', () => ['1', '2'], '["1","2"]'],
  ['a long value', () => 'y'.repeat(5_000), `"${'y'.repeat(5_000)}"`],
])('text for the model: %s', async (_what, then, text) => {
  const { session } = testSession();
  expect(await outcomeOf({ name: 'write', arguments: '' }, { tools: [writer(then)], session })).toMatchObject({
    kind: 'ok',
    text,
  });
});

test('what a tool returned cannot be changed afterwards, and stays its own', async () => {
  const { session } = testSession();
  const kept = { list: [1] };
  const outcome = await outcomeOf({ name: 'write', arguments: '' }, { tools: [writer(() => kept)], session });
  kept.list.push(2);
  expect(outcome.value).toEqual({ list: [1] });
  expect(Object.isFrozen(outcome.value)).toBe(true);
});

test('reasons that reach a model carry no host path, escape sequence, or stack', async () => {
  const { session, ends } = testSession();
  const message =
    "ENOENT: open '/home/me/secret/x.txt' \u001b[31mred\u202e file:///etc/passwd C:\\Users\\me see https://example.com/home/x";
  const { text } = await outcomeOf(
    { name: 'write', arguments: '' },
    { tools: [writer(() => thrown(new Error(message)))], session },
  );
  expect(text).toBe("ENOENT: open '<path>' [31mred <path> <path> see https://example.com/home/x");
  expect(JSON.stringify(ends()[0])).not.toContain('execute-tool-call.test');
});

const faults: {
  what: string;
  fail: Parameters<typeof wordsResource>[0];
  effects: Tool['effects'];
  kind: string;
  code: string;
  reason?: string;
  log: string[];
}[] = [
  {
    what: 'prepare',
    fail: { prepare: true },
    effects: 'state',
    kind: 'failed',
    code: 'commit.failed',
    log: ['prepare', 'discard'],
  },
  {
    what: 'prepare',
    fail: { prepare: true },
    effects: 'external',
    kind: 'in-doubt',
    code: 'commit.failed',
    log: ['prepare', 'discard'],
  },
  {
    what: 'commit',
    fail: { commit: true },
    effects: 'state',
    kind: 'in-doubt',
    code: 'resource.failed',
    reason: 'apply',
    log: ['prepare', 'commit'],
  },
];

test.each(faults)(
  'a resource whose $what fails ($effects): $kind',
  async ({ fail, effects, kind, code, reason, log }) => {
    const { session, records } = testSession();
    const words = wordsResource(fail);
    const outcome = await outcomeOf(
      { id: 'c', name: 'write', arguments: '' },
      { tools: [writer(() => 1, { effects })], session, resources: { words } },
    );
    expect(outcome).toMatchObject({ kind, code, reason });
    expect(words.log).toEqual(log);
    expect(words.committed.size).toBe(0);
    const last = records.at(-1);
    // After the record there is no way back: the log says what could not be applied.
    expect(last?.type).toBe(reason === 'apply' ? 'resource-apply-failed' : 'tool-call-end');
  },
);

test('a resource whose discard fails does not hide how the call ended', async () => {
  const { session } = testSession();
  const words = wordsResource({ discard: true });
  const outcome = await outcomeOf(
    { name: 'write', arguments: '' },
    { tools: [writer(() => toolError('No.'))], session, resources: { words } },
  );
  expect(outcome).toMatchObject({
    kind: 'failed',
    code: 'tool.failed',
    message: expect.stringContaining('No. Its changes staged in `words` could not be discarded'),
  });
});

/** The session, with some of its methods replaced. */
function overriding(session: Session, methods: Partial<Session>): Session {
  return new Proxy(session, {
    get(target, key) {
      const value: unknown = Reflect.get(methods, key) ?? Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('a log that refuses the commit record: nothing happened', async () => {
  const { session } = testSession();
  const words = wordsResource();
  const failing = overriding(session, {
    begin: () => {
      const transaction = session.begin();
      transaction.commit = () => thrown(new HoldfastError('log.write_failed', 'Disk full.'));
      return transaction;
    },
  });
  const outcome = await outcomeOf(
    { name: 'write', arguments: '' },
    { tools: [writer(() => 1)], session: failing, resources: { words } },
  );
  expect(outcome).toMatchObject({ kind: 'failed', code: 'log.write_failed' });
  expect([session.read(notes).size, words.committed.size]).toEqual([0, 0]);
});

test('an external call that cannot be recorded does not begin', async () => {
  const { session } = testSession();
  let entered = 0;
  const tool = defineTool({ name: 'send', description: 'Sends.', execute: () => (entered += 1) });
  let refusing = true;
  const failing = overriding(session, {
    record: (entry) => {
      if (refusing && entry.type === 'tool-call-start') throw new Error('ENOSPC');
      session.record(entry);
    },
  });
  expect(await outcomeOf({ name: 'send', arguments: '' }, { tools: [tool], session: failing })).toMatchObject({
    kind: 'failed',
    code: 'log.write_failed',
  });
  expect(entered).toBe(0);
  refusing = false;
  expect(await outcomeOf({ name: 'send', arguments: '' }, { tools: [tool], session: failing })).toMatchObject({
    kind: 'ok',
  });
});

const stops: {
  by: 'timeout' | 'deadline' | 'aborted';
  effects: Tool['effects'];
  repeat: Tool['repeat'];
  kind: string;
  code: string;
}[] = [
  { by: 'timeout', effects: 'state', repeat: 'never', kind: 'timed-out', code: 'call.timeout' },
  { by: 'deadline', effects: 'state', repeat: 'never', kind: 'timed-out', code: 'call.deadline' },
  { by: 'aborted', effects: 'state', repeat: 'never', kind: 'cancelled', code: 'call.aborted' },
  { by: 'timeout', effects: 'external', repeat: 'never', kind: 'in-doubt', code: 'call.timeout' },
  { by: 'aborted', effects: 'external', repeat: 'keyed', kind: 'in-doubt', code: 'call.aborted' },
  { by: 'deadline', effects: 'external', repeat: 'safe', kind: 'timed-out', code: 'call.deadline' },
];

test.each(stops)(
  'stopped by $by, $effects and $repeat: $kind; late writes land nowhere',
  async ({ by, effects, repeat, kind, code }) => {
    const { session, ends } = testSession();
    const clock = testClock();
    const controller = new AbortController();
    const words = wordsResource();
    const late: unknown[] = [];
    let resume: (value: unknown) => void = () => undefined;
    let heard: unknown;
    const slow = defineTool<unknown, unknown>({
      name: 'slow',
      description: 'Ignores its signal.',
      effects,
      repeat,
      ...(by === 'timeout' ? { timeoutMs: 100 } : {}),
      async execute(_input, context) {
        const { session: staged, resources, signal } = context;
        const view = resources.get('words') as { add(word: string): void };
        staged.dispatch({ type: 'noted', payload: 'x' });
        view.add('x');
        signal.addEventListener('abort', () => {
          heard = signal.reason;
        });
        await new Promise((resolve) => {
          resume = resolve;
        });
        for (const attempt of [
          () => staged.dispatch({ type: 'noted', payload: 'late' }),
          () => staged.publish({ type: 'happened', payload: 'late' }),
          () => context.resources,
          () => context.filesystem,
          () => context.progress('late'),
        ]) {
          try {
            attempt();
            late.push('accepted');
          } catch (error) {
            late.push((error as HoldfastError).code);
          }
        }
        return 'late';
      },
    });
    const ended = outcomeOf(
      { id: 'c', name: 'slow', arguments: '' },
      {
        tools: [slow],
        session,
        clock,
        resources: { words },
        signal: controller.signal,
        ...(by === 'deadline' ? { timeoutMs: 100 } : {}),
      },
    );
    await Promise.resolve();
    await Promise.resolve();
    if (by === 'aborted') controller.abort();
    else clock.advance(100);
    expect(await ended).toMatchObject({ kind, code });
    expect(heard).toBeInstanceOf(DOMException);
    expect(ends()).toHaveLength(1);
    expect(ends()[0]).toMatchObject({ abandoned: true });
    resume(undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(late).toEqual(Array.from({ length: 5 }, () => 'context.closed'));
    expect([session.read(notes).size, session.read(diary).size, words.committed.size]).toEqual([0, 0, 0]);
    expect(ends()).toHaveLength(1);
  },
);

test('a tool that heeds its signal is not reported as abandoned', async () => {
  const { session, ends } = testSession();
  const clock = testClock();
  const polite = defineTool({
    name: 'polite',
    description: 'Stops when told.',
    effects: 'none',
    timeoutMs: 10,
    execute: (_input, { signal }) =>
      new Promise<number>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  });
  const ended = outcomeOf({ name: 'polite', arguments: '' }, { tools: [polite], session, clock });
  await Promise.resolve();
  await Promise.resolve();
  clock.advance(10);
  expect(await ended).toMatchObject({ kind: 'timed-out' });
  expect(ends()[0]?.['abandoned']).toBeUndefined();
});

test('what a tool answers when it is told to stop comes too late', async () => {
  const { session } = testSession();
  const clock = testClock();
  const eager = defineTool({
    name: 'eager',
    description: 'Answers when told to stop.',
    effects: 'state',
    timeoutMs: 10,
    execute: (_input, { signal, session: staged }) => {
      staged.dispatch({ type: 'noted', payload: 'x' });
      return new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('finished after all')));
    },
  });
  const ended = outcomeOf({ name: 'eager', arguments: '' }, { tools: [eager], session, clock });
  await Promise.resolve();
  await Promise.resolve();
  clock.advance(10);
  expect(await ended).toMatchObject({ kind: 'timed-out', value: null });
  expect(session.read(notes).size).toBe(0);
});

test('a context is of no use after a success either', async () => {
  const { session } = testSession();
  const kept: ToolContext[] = [];
  const keeping = defineTool({
    name: 'keep',
    description: 'Keeps its context.',
    effects: 'state',
    execute: (_input, context) => kept.push(context),
  });
  await outcomeOf({ name: 'keep', arguments: '' }, { tools: [keeping], session });
  for (const late of [
    (context: ToolContext) => context.progress('late'),
    (context: ToolContext) => context.resources,
    (context: ToolContext) => context.session.dispatch({ type: 'noted', payload: 'late' }),
  ]) {
    expect(() => kept.forEach(late)).toThrow(expect.objectContaining({ code: 'context.closed' }));
  }
});

test('what is over before it begins is not begun', async () => {
  const { session } = testSession();
  let entered = 0;
  const tool = defineTool({ name: 'count', description: 'Counts.', execute: () => (entered += 1) });
  expect(
    await outcomeOf({ name: 'count', arguments: '' }, { tools: [tool], session, signal: AbortSignal.abort() }),
  ).toMatchObject({ kind: 'cancelled', code: 'call.aborted' });
  const clock = testClock();
  const waits = { name: 'waits', check: () => new Promise<never>(() => undefined) };
  const ended = outcomeOf(
    { name: 'count', arguments: '' },
    {
      tools: [tool],
      session,
      clock,
      timeoutMs: 50,
      policyTimeoutMs: 60,
      policies: [{ ...waits, id: 'waits', mentions: [], state: undefined }],
    },
  );
  await Promise.resolve();
  clock.advance(50);
  expect(await ended).toMatchObject({ kind: 'timed-out', code: 'call.deadline' });
  expect(entered).toBe(0);
});

test('a success of an external tool that cannot be accepted is in doubt', async () => {
  const { session } = testSession();
  const options = (extra: object) => ({ tools: [writer(() => undefined, { effects: 'external', ...extra })], session });
  expect(await outcomeOf({ name: 'write', arguments: '' }, options({}))).toMatchObject({
    kind: 'in-doubt',
    code: 'output.invalid',
    reason: 'undefined',
  });
  expect(await outcomeOf({ name: 'write', arguments: '' }, options({ repeat: 'safe' }))).toMatchObject({
    kind: 'invalid',
  });
  const throwing = { tools: [writer(() => thrown(new Error('said no')), { effects: 'external' as const })], session };
  expect(await outcomeOf({ name: 'write', arguments: '' }, throwing)).toMatchObject({ kind: 'failed' });
});

test('the start of an external call is in the log before it runs', async () => {
  const { session, records } = testSession();
  let seen: readonly string[] = [];
  const tool = defineTool({
    name: 'send',
    description: 'Sends.',
    execute: () => {
      seen = records.map(({ type }) => type);
      return 1;
    },
  });
  await outcomeOf({ name: 'send', arguments: '' }, { tools: [tool], session });
  expect(seen).toEqual(['session-start', 'tool-call-start']);
});

test('a throwing listener changes nothing and is recorded', async () => {
  const { session, records } = testSession();
  const outcome = await outcomeOf(
    { name: 'echo', arguments: '{"q":"x"}' },
    { tools: [echo], session, onEvent: () => thrown(new Error('listener broke')) },
  );
  expect(outcome).toMatchObject({ kind: 'ok' });
  expect(records.filter(({ type }) => type === 'subscriber-error')).toHaveLength(2);
});

test('progress reaches listeners', async () => {
  const { session } = testSession();
  const heard: string[] = [];
  const steady = defineTool({
    name: 'work',
    description: 'Works.',
    effects: 'none',
    execute: (_input, context) => {
      context.progress('half');
      return (
        shortKey(context.idempotencyKey) === `s/${context.callId}` &&
        context.deadline.remainingMs() === Number.POSITIVE_INFINITY
      );
    },
  });
  const outcome = await outcomeOf(
    { name: 'work', arguments: '' },
    {
      tools: [steady],
      session,
      onEvent: (event) => {
        if (event.type === 'tool-call-progress') heard.push(event.message);
      },
    },
  );
  expect(outcome.value).toBe(true);
  expect(heard).toEqual(['half']);
});

test('a context can be taken apart', async () => {
  const { session } = testSession();
  const tool = defineTool({
    name: 'apart',
    description: 'Takes its context apart.',
    effects: 'state',
    execute: (_input, { progress, session: { dispatch, read, publish }, callId }) => {
      progress('on');
      dispatch({ type: 'noted', payload: callId });
      publish({ type: 'happened', payload: callId });
      return read(notes).toArray();
    },
  });
  expect(await outcomeOf({ id: 'c', name: 'apart', arguments: '' }, { tools: [tool], session })).toMatchObject({
    kind: 'ok',
    value: ['c'],
  });
});

test.each([
  ['name.duplicate', { tools: [echo, defineTool({ ...echo } as never)] }],
  ['input.not_object', { tools: [defineTool({ name: 'a', description: 'A.', inputSchema: v.array(v.string()) })] }],
  ['input.not_object', { tools: [defineTool({ name: 'a', description: 'A.', inputSchema: jsonSchema({}) })] }],
  [
    'example.invalid',
    { tools: [defineTool({ ...echo, examples: [{ description: 'Wrong', input: { q: 1 }, output: {} }] } as never)] },
  ],
  ['options.invalid', { tools: [echo], timeoutMs: 0 }],
  ['options.invalid', { tools: [echo], policyTimeoutMs: Number.NaN }],
])('%s is a wrong configuration, and throws', async (kind, options) => {
  const calling = executeToolCall({ name: 'echo', arguments: '' }, { ...testSession(), ...options } as never);
  await expect(calling).rejects.toSatisfy(({ code, reason = code }: HoldfastError) => reason === kind);
});

test('calls without an id get one of their own', async () => {
  const { session } = testSession();
  const ids = [];
  for (let index = 0; index < 3; index += 1)
    ids.push((await outcomeOf({ name: 'echo', arguments: '{"q":"x"}' }, { tools: [echo], session })).callId);
  expect(new Set(ids).size).toBe(3);
});

test('a tool added to a list later is found', async () => {
  const { session } = testSession();
  const tools: Tool[] = [echo];
  await outcomeOf({ name: 'echo', arguments: '{"q":"x"}' }, { tools, session });
  tools.push(writer(() => 1));
  expect(await outcomeOf({ name: 'write', arguments: '' }, { tools, session })).toMatchObject({ kind: 'ok' });
});

function thrown(value: unknown): never {
  throw value;
}

function cycle(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}

function toText(pairs: unknown): string {
  if (!Array.isArray(pairs)) return JSON.stringify(pairs);
  return `{${pairs.map(([key, value]: [string, unknown]) => `${JSON.stringify(key)}: ${toText(value)}`).join(', ')}}`;
}

function hasDuplicate(pairs: unknown): boolean {
  if (!Array.isArray(pairs)) return false;
  return (
    new Set(pairs.map(([key]: [string]) => key)).size < pairs.length ||
    pairs.some(([, value]: [string, unknown]) => hasDuplicate(value))
  );
}

test('ids that are made go on in a session that is rebuilt from its log', async () => {
  const { session, records } = testSession();
  const keys: string[] = [];
  const tool = defineTool({
    name: 'key',
    description: 'Says its key.',
    effects: 'none',
    execute: (_input, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return null;
    },
  });
  const call = { name: 'key', arguments: {} };
  for (let count = 0; count < 3; count += 1) await outcomeOf(call, { tools: [tool], session });
  const again = replay(records, { slices: [notes, diary] });
  for (let count = 0; count < 3; count += 1) await outcomeOf(call, { tools: [tool], session: again });
  expect(keys.slice(0, 3).map(shortKey)).toEqual(['s/direct_1', 's/direct_2', 's/direct_3']);
  expect(new Set(keys).size).toBe(6);
});
