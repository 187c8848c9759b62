import { ask, definePolicy, defineTool, type ModelEvent, type Policy, type Tool } from '@holdfast/core';
import { createSession, type LogRecord, type MemoryStore, memoryStore, replay, type Session } from '@holdfast/session';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { call, collect, notes, playing, say, stop, testClock, toolsPrompt } from '../fixtures.ts';
import { answerApproval, pendingApprovals, type ResumeRunOptions, resolveCall, resumeRun, runAgent } from '../index.ts';

const slices = [notes];
const asking: Policy = definePolicy({
  name: 'person',
  check: ({ tool }) => (tool.name === 'deploy' ? ask('Deploys are asked about.') : { type: 'allow' }),
});

interface World {
  readonly effects: string[];
}

function deployTool(world: World, extra: Partial<Tool> = {}): Tool {
  return defineTool({
    name: 'deploy',
    description: 'Deploys.',
    inputSchema: v.object({ to: v.string() }),
    repeat: 'keyed',
    ...(extra as object),
    execute({ to }: { to: string }) {
      world.effects.push(to);
      return { deployed: to };
    },
  }) as Tool;
}

const noting: Tool = defineTool({
  name: 'note',
  description: 'Notes.',
  effects: 'state',
  inputSchema: v.object({ text: v.string() }),
  execute({ text }, { session }) {
    session.dispatch({ type: 'noted', payload: text });
    return null;
  },
}) as Tool;

const deploy = (to: string): ModelEvent => call('deploy', { to }, to);
const note = (text: string): ModelEvent => call('note', { text }, text);

/** A run whose process ends when the test says so: `reopen` gives the session that another process would have. */
function begin(
  turns: readonly (readonly ModelEvent[])[],
  world: World = { effects: [] },
  { store = memoryStore(), tools = [deployTool(world), noting] }: { store?: MemoryStore; tools?: readonly Tool[] } = {},
) {
  const clock = testClock();
  const session = createSession({ id: 's', slices, store, clock });
  const options = (at: Session, model = playing(...turns)): ResumeRunOptions & { readonly model: typeof model } => ({
    model,
    prompt: toolsPrompt(tools),
    session: at,
    policies: [asking],
    clock,
  });
  const reopen = (until = store.records.length): Session => {
    const records = store.records.slice(0, until);
    return replay(records, { slices, store: until === store.records.length ? store : memoryStore(records), clock });
  };
  return { world, clock, session, store, options, reopen };
}

/** Lets others work until something is so; digests are computed beside this thread. */
async function until(isSo: () => boolean): Promise<void> {
  for (let round = 0; round < 10_000 && !isSo(); round += 1) await new Promise((resolve) => setImmediate(resolve));
}
const endsOf = (records: readonly LogRecord[], callId: string): readonly LogRecord[] =>
  records.filter((record) => record.type === 'tool-call-end' && record['callId'] === callId);

test('a suspended run goes on in another process where it was', async () => {
  const { world, clock, session, store, options, reopen } = begin([]);
  const first = playing([say('Now.'), note('a'), deploy('x'), note('b'), stop]);
  const suspended = await runAgent({ ...options(session, first), input: 'Deploy.' }).result;
  expect(suspended).toMatchObject({ status: 'suspended', pending: [{ callId: 'x', run: 1, turn: 1 }] });
  expect([...session.read(notes)]).toEqual(['a']);

  const second = reopen();
  await answerApproval(second, 'x', { type: 'approve' }, { by: 'ada', clock });
  const third = reopen();
  const model = playing([say('Done.'), stop]);
  const run = resumeRun(options(third, model));
  const events = collect(run);
  expect(await run.result).toMatchObject({
    status: 'completed',
    text: 'Done.',
    turns: 2,
    usage: { inputTokens: 6, outputTokens: 4 },
    outcomes: [{ kind: 'ok' }, { kind: 'ok', value: { deployed: 'x' } }, { kind: 'ok' }],
    pending: [],
  });
  expect(world.effects).toEqual(['x']);
  expect([...third.read(notes)]).toEqual(['a', 'b']);
  expect((await events).map(({ type }) => type)).toEqual([
    'run-resume',
    'tool-call-start',
    'tool-call-end',
    'tool-call-start',
    'tool-call-end',
    'turn-start',
    'text-delta',
    'model-message',
    'run-end',
  ]);
  // The model gets the same request as without the pause.
  expect(model.requests[0]?.messages).toMatchObject([
    { role: 'system', text: 'Work.' },
    { role: 'user', text: 'Deploy.' },
    { role: 'assistant', text: 'Now.', calls: [{ id: 'a' }, { id: 'x' }, { id: 'b' }] },
    { role: 'tool', callId: 'a', success: true },
    { role: 'tool', callId: 'x', success: true, text: '{"deployed":"x"}' },
    { role: 'tool', callId: 'b', success: true },
  ] satisfies readonly object[]);
  expect(store.records.at(-1)).toMatchObject({ type: 'run-end', run: 1, status: 'completed' });
  await expect(resumeRun(options(third)).result).rejects.toMatchObject({ code: 'work.not_open', reason: 'run' });
  await expect(resumeRun({ ...options(reopen()), run: 1 }).result).rejects.toMatchObject({
    code: 'work.not_open',
    reason: 'run',
  });
});

test('the conversation that a resumed model gets is that of a run that was never interrupted', async () => {
  const turns = [
    [say('One.'), note('a'), { ...stop, providerMetadata: { signature: 'xyz' } } as ModelEvent],
    [say('Two.'), note('twice'), note('twice'), call('missing', {}, 'm'), call('note', '{"text":', 'n'), stop],
    [note('c'), note('c'), call('note', { text: 'd' }, 'c'), deploy('x'), stop],
    [say('End.'), stop],
  ];
  const whole = begin(turns);
  const model = playing(...turns);
  const approve = { approve: () => ({ type: 'approve' }) as const };
  await runAgent({ ...whole.options(whole.session, model), ...approve, input: 'Go.' }).result;
  const uninterrupted = model.requests.at(-1)?.messages;

  const split = begin(turns);
  await runAgent({ ...split.options(split.session), input: 'Go.' }).result;
  const again = playing([say('End.'), stop]);
  await resumeRun({ ...split.options(split.reopen(), again), ...approve }).result;
  expect(again.requests[0]?.messages).toEqual(uninterrupted);
});

test('answers come in any order; calls run in call order, and every question is asked once', async () => {
  const { world, clock, session, store, options } = begin([
    [deploy('a'), deploy('b'), note('n'), deploy('c'), stop],
    [stop],
  ]);
  await runAgent({ ...options(session), input: 'Go.' }).result;
  expect(pendingApprovals(session).map(({ callId }) => callId)).toEqual(['a', 'b', 'c']);

  await answerApproval(session, 'c', { type: 'deny', reason: 'not c' }, { clock });
  const resume = () => resumeRun(options(session, playing([stop]))).result;
  expect(await resume()).toMatchObject({ status: 'suspended', pending: [{ callId: 'a' }, { callId: 'b' }] });
  expect(world.effects).toEqual([]);
  await answerApproval(session, 'a', { type: 'approve' }, { clock });
  expect(await resume()).toMatchObject({ status: 'suspended', pending: [{ callId: 'b' }] });
  expect(world.effects).toEqual(['a']);
  await answerApproval(session, 'b', { type: 'approve' }, { clock });
  expect(await resume()).toMatchObject({
    status: 'completed',
    outcomes: [
      { callId: 'a', kind: 'ok' },
      { callId: 'b', kind: 'ok' },
      { callId: 'n', kind: 'ok' },
      { callId: 'c', kind: 'denied', code: 'approval.denied' },
    ],
  });
  expect(world.effects).toEqual(['a', 'b']);
  expect(store.records.filter(({ type }) => type === 'approval-request')).toHaveLength(3);
});

test('resumed twice at once, the second is refused', async () => {
  const { world, clock, session, options } = begin([[deploy('a'), stop]]);
  await runAgent({ ...options(session), input: 'Go.' }).result;
  await answerApproval(session, 'a', { type: 'approve' }, { clock });
  const model = () => playing([stop]);
  const both = await Promise.allSettled([
    resumeRun(options(session, model())).result,
    resumeRun(options(session, model())).result,
  ]);
  expect(both).toMatchObject([
    { value: { status: 'completed' } },
    { reason: { code: 'work.under_way', reason: 'run' } },
  ]);
  expect(world.effects).toEqual(['a']);
});

test('`approve` answers what waits, and a log that cannot be read is said to be one', async () => {
  const { world, session, options } = begin([[deploy('a'), stop]]);
  await runAgent({ ...options(session), input: 'Go.' }).result;
  const approve = () => ({ type: 'approve' }) as const;
  expect(await resumeRun({ ...options(session, playing([stop])), approve }).result).toMatchObject({
    status: 'completed',
  });
  expect(world.effects).toEqual(['a']);

  const blind = createSession({ slices, store: { append: () => undefined, close: () => undefined } });
  await runAgent({ ...options(blind), input: 'Go.' }).result;
  await expect(resumeRun(options(blind)).result).rejects.toMatchObject({
    code: 'log.unreadable',
    reason: 'unsupported',
  });
});

test('messages of before count against `maxRounds`', async () => {
  const { session, options } = begin([[deploy('a'), stop]]);
  await runAgent({ ...options(session), input: 'Go.' }).result;
  const approve = () => ({ type: 'approve' }) as const;
  const run = resumeRun({ ...options(session, playing([stop])), approve, maxRounds: 1 });
  expect(await run.result).toMatchObject({ status: 'max-rounds', turns: 1 });
  expect(() => resumeRun({ ...options(session), maxRounds: 0 })).toThrow(
    expect.objectContaining({ code: 'options.invalid' }),
  );
});

describe('a run whose process ended', () => {
  test.each([
    { repeat: 'keyed', kind: 'ok', effects: ['x'] },
    { repeat: 'safe', kind: 'ok', effects: ['x'] },
    { repeat: 'never', kind: 'in-doubt', effects: [] },
  ] as const)('under a call that may be repeated `$repeat`: $kind', async ({ repeat, kind, effects }) => {
    const world: World = { effects: [] };
    const dying = defineTool({
      name: 'deploy',
      description: 'Deploys.',
      inputSchema: v.object({ to: v.string() }),
      repeat,
      execute: () => new Promise<never>(() => undefined),
    }) as Tool;
    const turn = [note('a'), deploy('x'), note('b'), stop];
    const { clock, session, store, options, reopen } = begin([turn], world, { tools: [dying, noting] });
    void runAgent({ ...options(session), input: 'Go.', approve: () => ({ type: 'approve' }) }).result;
    await until(() => store.records.at(-1)?.type === 'tool-call-start');
    expect(store.records.at(-1)).toMatchObject({ type: 'tool-call-start', callId: 'x', run: 1, turn: 1, repeat });

    const after = reopen();
    const model = playing([say('End.'), stop]);
    const tools = [deployTool(world, { repeat }), noting];
    const result = await resumeRun({ ...options(after, model), prompt: toolsPrompt(tools), clock }).result;
    const byId = new Map(result.outcomes.map((outcome) => [outcome.callId, outcome.kind]));
    expect(result.status).toBe('completed');
    // The process ended before `b` began: nobody had been asked about it, and the model is told.
    expect(Object.fromEntries(byId)).toEqual({ a: 'ok', x: kind, b: 'cancelled' });
    expect(world.effects).toEqual(effects);
    expect([...after.read(notes)]).toEqual(['a']);
    for (const id of ['a', 'x', 'b']) expect(endsOf(store.records, id)).toHaveLength(1);
  });

  test('at any record: what ended stays, and the run comes to its end', async () => {
    const turns = [
      [note('a'), deploy('x'), stop],
      [note('b'), stop],
      [say('End.'), stop],
    ];
    const whole = begin(turns);
    const approve = () => ({ type: 'approve' }) as const;
    await runAgent({ ...whole.options(whole.session), input: 'Go.', approve }).result;
    const { records } = whole.store;
    const first = records.findIndex(({ type }) => type === 'run-start');
    for (let until = first + 1; until < records.length; until += 1) {
      const store = memoryStore(records.slice(0, until));
      const session = replay(store.records, { slices, store, clock: whole.clock });
      const asked = records.slice(0, until).filter(({ type }) => type === 'model-message').length;
      const done = endsOf(records.slice(0, until), 'x').length;
      whole.world.effects.length = 0;
      const result = await resumeRun({ ...whole.options(session, playing(...turns.slice(asked))), approve }).result;
      expect({ until, status: result.status, turns: result.turns }).toEqual({ until, status: 'completed', turns: 3 });
      for (const id of ['a', 'x', 'b']) expect(endsOf(store.records, id)).toHaveLength(1);
      expect(whole.world.effects.length + done).toBeLessThanOrEqual(1);
    }
  });
});

test('of two runs that wait with one id, each has its own answer', async () => {
  const { world, clock, session, options } = begin([[deploy('a'), stop]]);
  await runAgent({ ...options(session), input: 'One.' }).result;
  await runAgent({ ...options(session), input: 'Two.' }).result;
  const [first, second] = pendingApprovals(session);
  await answerApproval(session, second ?? '', { type: 'approve' }, { clock });
  const resume = (run: number | undefined) =>
    resumeRun({ ...options(session, playing([stop])), ...(run === undefined ? {} : { run }) }).result;
  expect(await resume(first?.run)).toMatchObject({ status: 'suspended' });
  expect(world.effects).toEqual([]);
  expect(await resume(undefined)).toMatchObject({ status: 'completed' });
  expect(world.effects).toEqual(['a']);
});

test('a run is told what was said in it, not in others', async () => {
  const { session, options } = begin([[say('Mine.'), deploy('a'), stop]]);
  await runAgent({ ...options(session), input: 'One.' }).result;
  const first = pendingApprovals(session)[0]?.run;
  await runAgent({ ...options(session, playing([say('Other.'), note('z'), stop], [stop])), input: 'Two.' }).result;
  const model = playing([stop]);
  const approve = () => ({ type: 'approve' }) as const;
  await resumeRun({ ...options(session, model), ...(first === undefined ? {} : { run: first }), approve }).result;
  expect(model.requests[0]?.messages).toMatchObject([
    { role: 'system' },
    { role: 'user', text: 'One.' },
    { role: 'assistant', text: 'Mine.' },
    { role: 'tool', callId: 'a' },
  ]);
  expect(model.requests[0]?.messages).toHaveLength(4);
});

test('a no stays one, also when nobody would ask any more, and behind the first question', async () => {
  const { world, clock, session, options } = begin([[deploy('a'), deploy('b'), stop]]);
  await runAgent({ ...options(session), input: 'Go.' }).result;
  await answerApproval(session, 'b', { type: 'deny' }, { clock });
  const free = definePolicy({ name: 'person', check: () => ({ type: 'allow' }) });
  expect(await resumeRun({ ...options(session, playing([stop])), policies: [free] }).result).toMatchObject({
    outcomes: [{ kind: 'ok' }, { kind: 'denied', code: 'approval.denied' }],
  });
  expect(world.effects).toEqual(['a']);
});

test('a no holds for a call with locks, whatever became of the one beside it', async () => {
  const world: World = { effects: [] };
  const locked = deployTool(world, {
    dangerous: true,
    locks: (input) => [(input as { to: string }).to],
  } as Partial<Tool>);
  const { clock, session, options } = begin([[deploy('a'), deploy('b'), stop]], world, { tools: [locked] });
  const own = { ...options(session), policies: [] };
  await runAgent({ ...own, input: 'Go.' }).result;
  await answerApproval(session, 'a', { type: 'approve', grant: true }, { clock });
  await answerApproval(session, 'b', { type: 'deny' }, { clock });
  expect(await resumeRun({ ...own, model: playing([stop]) }).result).toMatchObject({
    outcomes: [{ kind: 'ok' }, { kind: 'denied', code: 'approval.denied' }],
  });
  expect(world.effects).toEqual(['a']);
});

test('a call that ends before it is asked about is not asked about', async () => {
  const reused = call('note', { text: 'other' }, 'x');
  const { session, options } = begin([[deploy('x'), call('deploy', { to: 'y' }, 'x'), reused, deploy('z'), stop]]);
  const { pending } = await runAgent({ ...options(session), input: 'Go.' }).result;
  expect(pending.map(({ callId, input }) => [callId, input])).toEqual([
    ['x', { to: 'x' }],
    ['z', { to: 'z' }],
  ]);
});

test('the last message that had text is the text of the run', async () => {
  const { session, options } = begin([
    [say('One.'), note('a'), stop],
    [deploy('b'), stop],
  ]);
  await runAgent({ ...options(session), input: 'Go.' }).result;
  const approve = () => ({ type: 'approve' }) as const;
  expect(await resumeRun({ ...options(session, playing([stop])), approve }).result).toMatchObject({ text: 'One.' });
});

test('the end of a nested call is not that of the call with its id', async () => {
  const world: World = { effects: [] };
  const outer = defineTool({
    name: 'outer',
    description: 'Notes.',
    effects: 'state',
    execute: async (_input, context) => (await context.call('note', { text: 'n' })).kind,
  });
  const tools = [outer, noting, deployTool(world)];
  const turn = [call('outer', {}, 'o'), call('deploy', { to: 'x' }, 'o/1'), stop];
  const { session, options } = begin([turn], world, { tools });
  expect((await runAgent({ ...options(session), input: 'Go.' }).result).pending).toMatchObject([{ callId: 'o/1' }]);
  const approve = () => ({ type: 'approve' }) as const;
  expect(await resumeRun({ ...options(session, playing([stop])), approve }).result).toMatchObject({
    status: 'completed',
    outcomes: [{ callId: 'o' }, { callId: 'o/1', name: 'deploy', kind: 'ok' }],
  });
  expect(world.effects).toEqual(['x']);
});

test('an id that two interrupted calls have is resolved with its run', async () => {
  const { session } = begin([]);
  for (const run of [1, 9]) {
    session.record({ type: 'tool-call-start', callId: 'x', name: 'deploy', input: {}, repeat: 'never', run, turn: 1 });
  }
  await expect(resolveCall(session, 'x', { type: 'done' })).rejects.toMatchObject({
    code: 'work.not_open',
    reason: 'call_ambiguous',
  });
  await resolveCall(session, { callId: 'x', run: 9, turn: 1 }, { type: 'done' });
  expect(session.openWork().calls.map(({ run, resolution }) => [run, resolution?.type])).toEqual([
    [1, undefined],
    [9, 'done'],
  ]);
});

describe('a turn that was cut off before its first call', () => {
  async function cutOff(turn: readonly ModelEvent[]) {
    const whole = begin([turn, [say('End.'), stop]]);
    await runAgent({ ...whole.options(whole.session), input: 'Go.' }).result;
    const until = whole.store.records.findIndex(({ type }) => type === 'model-message') + 1;
    const store = memoryStore(whole.store.records.slice(0, until));
    const session = replay(store.records, { slices, store, clock: whole.clock });
    const model = playing([say('End.'), stop]);
    return { store, model, result: await resumeRun(whole.options(session, model)).result };
  }

  test('a call that was sent twice is cancelled once, and told twice', async () => {
    const { store, model, result } = await cutOff([note('a'), note('a'), stop]);
    expect(result.outcomes.map(({ kind, code }) => [kind, code])).toEqual([
      ['cancelled', 'call.interrupted'],
      ['cancelled', 'call.interrupted'],
    ]);
    expect(endsOf(store.records, 'a')).toHaveLength(1);
    expect(model.requests[0]?.messages.slice(-2)).toMatchObject([{ role: 'tool' }, { role: 'tool' }]);
  });

  test('a message that had been cut itself is still no message to act on', async () => {
    const { result } = await cutOff([note('a'), { type: 'finish', reason: 'length' }]);
    expect(result.outcomes).toMatchObject([{ kind: 'truncated' }]);
  });

  test('a message without a call was the last one', async () => {
    const whole = begin([[say('That is all.'), stop]]);
    await runAgent({ ...whole.options(whole.session), input: 'Go.' }).result;
    const store = memoryStore(whole.store.records.slice(0, -1));
    const session = replay(store.records, { slices, store, clock: whole.clock });
    expect(await resumeRun(whole.options(session, playing())).result).toMatchObject({
      status: 'completed',
      text: 'That is all.',
      turns: 1,
    });
  });
});

test('a conversation whose beginning is not in the log cannot be resumed', async () => {
  const { session, store, options } = begin([[deploy('a'), stop]]);
  await runAgent({ ...options(session), input: 'Go.' }).result;
  const read = store.read.bind(store);
  store.read = function* (from) {
    for (const record of read(from)) if (record.type !== 'run-start') yield record;
  };
  await expect(resumeRun(options(session)).result).rejects.toMatchObject({
    code: 'replay.failed',
    reason: 'run_start',
  });
});
