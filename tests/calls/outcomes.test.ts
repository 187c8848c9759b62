import {
  allow,
  definePolicy,
  defineTool,
  type Policy,
  type RunEvent,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import { executeToolCall, runAgent } from '@holdfast/executor';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import {
  byModel,
  diary,
  directly,
  expectOneEnd,
  kindOf,
  type MadeCall,
  makeWorld,
  makeWriter,
  nested,
  notes,
  type Runner,
  thenable,
  thrown,
  toolsPrompt,
} from './call-fixtures.ts';
import { type Cause, type RunnerName, watched } from './outcomes/cause.ts';
import { failures, withFragile } from './outcomes/failures.ts';
import { invalids } from './outcomes/invalid.ts';
import { refusals, stops } from './outcomes/refusals-and-stops.ts';
import { successes } from './outcomes/successes.ts';

const runners: Readonly<Record<RunnerName, Runner>> = { directly, byModel, nested };

const watch: Policy<number> = definePolicy<number>({
  name: 'watch',
  initialState: 0,
  check: () => allow,
  onResult: (_call, _result, { state }) => state + 1,
});

const causes = [...successes, ...failures, ...invalids, ...refusals, ...stops].flatMap((cause) =>
  (cause.by ?? (['directly', 'byModel', 'nested'] as const)).map((by) => ({ ...cause, by })),
);

test('every kind of outcome is among the causes, by every way that can end so', () => {
  const kinds = [
    'cancelled',
    'denied',
    'failed',
    'in-doubt',
    'invalid',
    'ok',
    'timed-out',
    'truncated',
    'unknown-tool',
  ];
  expect([...new Set(causes.map(({ kind }) => kind))].sort()).toEqual(kinds);
  for (const name of ['directly', 'byModel', 'nested'] as const) {
    const ended = new Set<string>(causes.filter(({ by }) => by === name).map(({ kind }) => kind));
    expect(kinds.filter((kind) => !ended.has(kind))).toEqual(name === 'byModel' ? [] : ['truncated']);
  }
});

test.each(causes)('$kind, $by: $what', async (cause) => {
  const { kind, code, by, call, does = () => 'done', tool: extra, policies = [], status = 'completed' } = cause;
  const world = makeWorld({ ...cause.world?.(), policies: [watch] });
  const { session, filesystem, clock } = world;
  const made: MadeCall = { id: 'c', name: 'write', arguments: '{}', ...call };
  const tool = makeTool(extra, (context) => does(context, world));
  const looked = await world.look();
  const ended = await runners[by](made, {
    tools: [tool],
    session,
    policies: [watch, ...policies],
    resources: { filesystem },
    clock,
    ...cause.options?.(world),
  });

  const { outcome } = ended;
  expect(outcome).toMatchObject({ kind, name: made.name, ...cause.outcome });
  expect(kindOf(outcome)).toBe(code);
  if (kind !== 'ok') expect(outcome.code).toMatch(/^[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+$/);
  expect(outcome.callId).toBe(by === 'nested' ? 'outer/1' : 'c');
  for (const text of [outcome.message, outcome.rendered, outcome.text]) expect(typeof text).toBe('string');
  if (kind !== 'ok') expect(outcome.message).not.toBe('');

  const end = expectOneEnd(ended, world);
  const reached: string = cause.reached ?? 'execute';
  const defaults = {
    type: 'tool-call-end',
    callId: outcome.callId,
    parentId: by === 'nested' ? 'outer' : undefined,
    turn: by === 'byModel' ? 1 : undefined,
    input: reached === 'parse' ? undefined : {},
    decisions:
      reached === 'parse' ? [] : [watched, ...policies.map(({ id }) => ({ policy: `host/${id}`, type: 'allow' }))],
    approval: undefined,
    abandoned: undefined,
    startedAtMs: 0,
    durationMs: expect.any(Number),
  };
  expect(end).toMatchObject({ ...defaults, ...cause.end });
  // JSON has no functions: such a value cannot be shown.
  expect(end.rawArguments).toEqual(code === 'arguments.invalid: not_json' ? null : made.arguments);
  expect(end.durationMs).toBeGreaterThanOrEqual(0);
  expect(tool.entered.count).toBe(reached === 'execute' ? 1 : 0);
  // Published events are kept, however the call ends.
  expect(session.read(diary).toArray()).toEqual(reached === 'execute' ? ['entered'] : []);

  if (kind === 'ok') {
    expect(session.read(notes).toArray()).toEqual(['before', 'written']);
    expect(await filesystem.readOnly.readText('written.txt')).toBe('written');
    expect(end.events).toEqual([{ type: 'noted', payload: 'written' }]);
    expect(end.writes.map(({ key, change }) => `${change} ${key}`).sort()).toEqual([
      'created written.txt',
      'removed kept.txt',
    ]);
  } else {
    expect(end).toMatchObject({ events: [], writes: [] });
    expect(end.changes ?? []).toEqual([]);
    if (by === 'nested') expect(session.read(notes).toArray()).toEqual(['before']);
    else expect(await world.look()).toBe(looked);
    expect(await filesystem.readOnly.readText('kept.txt')).toBe('kept');
    expect(await filesystem.readOnly.stat('written.txt')).toBeUndefined();
  }
  if (by === 'byModel') {
    expect(ended.status).toBe(status);
    expect(ended.answered).toBe(status === 'completed' ? outcome.text : undefined);
  }
});

function makeTool(extra: Cause['tool'], does: (context: ToolContext) => unknown): ReturnType<typeof makeWriter> {
  if (extra === 'declared') {
    const declared: Tool = defineTool({ name: 'write', description: 'Only declared.' });
    return { ...declared, entered: { count: 0 } };
  }
  return makeWriter(does, extra);
}

test('a subscriber that throws is recorded in the log, once for each event that it saw', async () => {
  const world = makeWorld();
  const { outcome } = await directly(
    { id: 'c', name: 'write', arguments: '' },
    { tools: [makeWriter(() => 1)], session: world.session, onEvent: () => thrown(new Error('broke')) },
  );
  expect(outcome.kind).toBe('ok');
  const errors = world.records.filter(({ type }) => type === 'subscriber-error');
  expect(errors).toMatchObject(['tool-call-start', 'tool-call-end'].map((event) => ({ event, message: 'broke' })));
});

test('a subscriber cannot change the event it gets, nor what the model, the log or the caller get', async () => {
  const forge = (event: RunEvent): void => {
    const changes: (() => unknown)[] = [];
    if (event.type === 'tool-call-start')
      changes.push(() => Object.assign(event.rawArguments as object, { q: 'forged' }));
    if (event.type === 'tool-call-end') {
      changes.push(
        () => Object.assign(event, { outcome: { ...event.outcome, kind: 'ok', text: 'forged' } }),
        () => Object.assign(event.outcome, { text: 'forged' }),
        () => (event.decisions as unknown[]).push('forged'),
        () => Object.assign(event.input as object, { q: 'forged' }),
      );
    }
    for (const change of changes) {
      try {
        change();
      } catch {
        // Frozen, as it should be.
      }
    }
  };
  for (const run of Object.values(runners)) {
    const world = makeWorld();
    const tool = makeWriter(() => thrown(new Error('broke')), { inputSchema: v.object({ q: v.string() }) });
    const { session } = world;
    const options = { tools: [tool], session, policies: [watch], onEvent: forge };
    const { outcome, answered } = await run({ id: 'c', name: 'write', arguments: { q: 'x' } }, options);
    expect(outcome).toMatchObject({ kind: 'failed', code: 'tool.threw', text: 'broke' });
    if (run === byModel) expect(answered).toBe('broke');
    expect(world.ends(outcome.callId)).toMatchObject([
      {
        outcome: { kind: 'failed', message: 'broke' },
        input: { q: 'x' },
        rawArguments: { q: 'x' },
        decisions: [watched],
      },
    ]);
    expect(world.ends(outcome.callId)[0]?.['decisions']).toHaveLength(1);
  }
});

test('a result is rendered once, and everybody gets that text', async () => {
  for (const run of Object.values(runners)) {
    const world = makeWorld();
    let count = 0;
    const renderResult = (): string => {
      count += 1;
      return `time ${count}`;
    };
    const tool = makeWriter(() => [1], { renderResult });
    const ended = await run({ id: 'c', name: 'write', arguments: '' }, { tools: [tool], session: world.session });
    expect(ended.outcome).toMatchObject({ rendered: 'time 1', text: 'time 1' });
    expect(expectOneEnd(ended, world).outcome).toMatchObject({ rendered: 'time 1', text: 'time 1' });
    if (run === byModel) expect(ended.answered).toBe('time 1');
    expect(count).toBe(1);
  }
});

test.each([
  ['throws', (): unknown => thrown(new Error('no then')), ['ok', 'failed']],
  ['never calls back', (): unknown => undefined, ['ok', 'timed-out']],
] as const)(
  'a promise whose own `then` %s ends its call, when its time is over at the latest',
  async (_what, then, kinds) => {
    const world = makeWorld();
    const { session, clock } = world;
    const tool = defineTool({
      name: 'odd',
      description: 'Answers an odd promise.',
      effects: 'state',
      timeoutMs: 100,
      execute() {
        setImmediate(() => clock.advance());
        return Object.assign(Promise.resolve('mine'), thenable(then));
      },
    });
    const ended = await directly({ id: 'c', name: 'odd', arguments: '' }, { tools: [tool], session, clock });
    expectOneEnd(ended, world);
    // The runtime may take it for the promise that it is, or for what its `then` says.
    expect(kinds).toContain(ended.outcome.kind);
  },
);

test('a reducer that throws fails the call, also when the tool hides it', async () => {
  const world = makeWorld(withFragile());
  const tool = makeWriter(({ session }) => {
    try {
      session.dispatch({ type: 'broke', payload: null });
    } catch {
      return 'nothing happened';
    }
    return 'unreachable';
  });
  const looked = await world.look();
  const ended = await directly({ id: 'c', name: 'write', arguments: '' }, { tools: [tool], session: world.session });
  expectOneEnd(ended, world);
  expect(ended.outcome).toMatchObject({ kind: 'failed', message: 'reducer broke' });
  expect(await world.look()).toBe(looked);
});

test('a turn of nothing but trouble: every call has its end, in order, and the run goes on', async () => {
  const trouble = [...failures, ...invalids].filter(
    ({ world, options, policies, tool, call }) =>
      world === undefined &&
      options === undefined &&
      policies === undefined &&
      tool !== 'declared' &&
      call?.name === undefined,
  );
  const world = makeWorld({ policies: [watch] });
  const tools = trouble.map(({ does = () => 'done', tool }, index) => ({
    ...makeTool(tool, (context) => does(context, world)),
    name: `tool-${index}`,
  }));
  const good = makeWriter(() => 'good');
  const calls = [
    ...trouble.map(({ call }, index) => ({
      id: `c${index}`,
      name: `tool-${index}`,
      arguments: call?.arguments ?? '{}',
    })),
    { id: 'good', name: 'write', arguments: '' },
  ];
  const model = scriptedModel([{ calls }, { text: 'Done.' }]);
  const { session, filesystem, clock } = world;
  const run = runAgent({
    model,
    prompt: toolsPrompt([...tools, good]),
    input: 'Work.',
    session,
    policies: [watch],
    resources: { filesystem },
    clock,
  });
  const { status, outcomes } = await run.result;
  expect(status).toBe('completed');
  expect(outcomes.map((outcome) => [outcome.callId, outcome.kind, kindOf(outcome)])).toEqual([
    ...trouble.map(({ kind, code }, index) => [`c${index}`, kind, code]),
    ['good', 'ok', undefined],
  ]);
  for (const { id } of calls) expect(world.ends(id), id).toHaveLength(1);
  const answers = model.requests[1]?.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []));
  expect(answers).toEqual(outcomes.map(({ text }) => text));
  expect(session.read(notes).toArray()).toEqual(['before', 'written']);
});

test('an id that comes twice: equal calls are one, another call by the same id is refused', async () => {
  const world = makeWorld();
  const tool = makeWriter(() => 'done', { inputSchema: v.object({ q: v.optional(v.string()) }) });
  const calls = ['{"q":"x"}', '{"q":"x"}', '{"q":"y"}'].map((raw) => ({ id: 'same', name: 'write', arguments: raw }));
  const model = scriptedModel([{ calls }, { text: 'Done.' }]);
  const run = runAgent({ model, prompt: toolsPrompt([tool]), input: 'Work.', session: world.session });
  const { status, outcomes } = await run.result;
  expect(status).toBe('completed');
  expect(outcomes.map((outcome) => [outcome.kind, kindOf(outcome)])).toEqual([
    ['ok', undefined],
    ['ok', undefined],
    ['invalid', 'call.invalid: id_reused'],
  ]);
  expect(tool.entered.count).toBe(1);
  expect(world.ends('same')).toHaveLength(2);
});

test('an id that comes twice: what arguments say of themselves does not make them equal', async () => {
  const world = makeWorld();
  const lying = (n: number): object => Object.defineProperty({ n }, 'toJSON', { value: () => 'the same' });
  const tool = makeWriter(() => 'done', { inputSchema: v.object({ n: v.number() }) });
  const calls = [1, 2].map((n) => ({ id: 'same', name: 'write', arguments: lying(n) }));
  const model = scriptedModel([{ calls }, { text: 'Done.' }]);
  const run = runAgent({ model, prompt: toolsPrompt([tool]), input: 'Work.', session: world.session });
  expect((await run.result).outcomes.map(kindOf)).toEqual([undefined, 'call.invalid: id_reused']);
});

test('everything that a failing call did to files is undone', async () => {
  const world = makeWorld();
  const tool = makeWriter(async ({ filesystem }) => {
    await filesystem?.makeDirectory('deep/er');
    await filesystem?.write('deep/er/a.txt', 'a');
    await filesystem?.write('written.txt', 'again');
    throw new Error('broke');
  });
  const { session, filesystem } = world;
  const looked = await world.look();
  for (const run of [directly, byModel]) {
    const { outcome } = await run(
      { id: run.name, name: 'write', arguments: '' },
      { tools: [tool], session, resources: { filesystem } },
    );
    expect(outcome.kind).toBe('failed');
    expect(await world.look()).toBe(looked);
    expect(await filesystem.readOnly.stat('deep')).toBeUndefined();
  }
});

test('a call that fails after a faster one has succeeded takes nothing of that one with it', async () => {
  const world = makeWorld();
  let fail: (reason: Error) => void = () => undefined;
  const slow = defineTool({
    name: 'slow',
    description: 'Writes, waits and fails.',
    effects: 'state',
    async execute(_input, { session, filesystem }) {
      session.dispatch({ type: 'noted', payload: 'slow' });
      await filesystem?.write('slow.txt', 'slow');
      await new Promise((_resolve, reject) => {
        fail = reject;
      });
      return 'unreachable';
    },
  });
  const { session, filesystem } = world;
  const options = { tools: [slow, makeWriter(() => 'fast')], session, resources: { filesystem } };
  const slowly = executeToolCall({ id: 'slow', name: 'slow', arguments: '' }, options);
  expect(await executeToolCall({ id: 'fast', name: 'write', arguments: '' }, options)).toMatchObject({ kind: 'ok' });
  fail(new Error('broke'));
  expect(await slowly).toMatchObject({ kind: 'failed', message: 'broke' });
  expect(session.read(notes).toArray()).toEqual(['before', 'written']);
  expect(await filesystem.readOnly.stat('slow.txt')).toBeUndefined();
  expect(await filesystem.readOnly.readText('written.txt')).toBe('written');
});

test('without a filesystem the tool sees none; changes that cannot be staged remain after a failure', async () => {
  const world = makeWorld();
  const counter = { count: 0 };
  const tool = makeWriter(({ filesystem, resources }) => {
    (resources.get('counter') as typeof counter).count += 1;
    throw new Error(`filesystem: ${typeof filesystem}`);
  });
  for (const [name, run] of Object.entries(runners)) {
    const options = { tools: [tool], session: world.session, resources: { counter } };
    expect(await run({ id: name, name: 'write', arguments: '' }, options)).toMatchObject({
      outcome: { kind: 'failed', message: 'filesystem: undefined' },
    });
  }
  expect(counter.count).toBe(3);
});
