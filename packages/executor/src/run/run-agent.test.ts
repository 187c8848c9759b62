import {
  type ApprovalAnswer,
  allow,
  definePolicy,
  defineSlice,
  defineTool,
  HoldfastError,
  type ModelEvent,
  type ModelRequest,
  type Prompt,
  replace,
  type Tool,
  upsert,
} from '@holdfast/core';
import { expect, test } from 'vitest';
import {
  call,
  collect,
  echo,
  notes,
  playing,
  say,
  stop,
  testClock,
  testSession,
  toolsPrompt,
  writer,
} from '../fixtures.ts';
import { runAgent } from '../index.ts';

test('a run goes from request to answer, tells every step, and logs it', async () => {
  const { session, records } = testSession();
  const model = playing(
    [say('Let me '), say('see.'), call('echo', '{"q":"hi"}', 'a'), { ...stop, reason: 'tool-calls' } as ModelEvent],
    [say('It says hi.'), stop],
  );
  const run = runAgent({ model, prompt: toolsPrompt([echo], 'Be brief.'), session, input: 'Ask.' });
  const events = await collect(run);
  const result = await run.result;
  expect(result).toMatchObject({
    status: 'completed',
    text: 'It says hi.',
    turns: 2,
    usage: { inputTokens: 6, outputTokens: 4 },
    pending: [],
    outcomes: [{ kind: 'ok', callId: 'a', value: { a: 'hi' } }],
  });
  expect(events.map(({ type }) => type)).toEqual([
    'run-start',
    'turn-start',
    'text-delta',
    'text-delta',
    'model-message',
    'tool-call-start',
    'tool-call-end',
    'turn-start',
    'text-delta',
    'model-message',
    'run-end',
  ]);
  expect(records.map(({ type }) => type)).toEqual([
    'session-start',
    'run-start',
    'model-message',
    'tool-call-end',
    'model-message',
    'run-end',
  ]);
  expect(records[1]).toMatchObject({ input: 'Ask.', model: 'test:playing', prompt: 'test/prompt', tools: ['echo'] });
  expect(model.requests[0]).toMatchObject({
    messages: [
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Ask.' },
    ],
    tools: [{ name: 'echo', inputSchema: { type: 'object', required: ['q'], additionalProperties: false } }],
  });
  expect(model.requests[1]?.messages.slice(2)).toEqual([
    { role: 'assistant', text: 'Let me see.', calls: [{ id: 'a', name: 'echo', arguments: '{"q":"hi"}' }] },
    { role: 'tool', callId: 'a', name: 'echo', success: true, text: '{"a":"hi"}' },
  ]);
});

test('a failed call goes back to the model and the run goes on', async () => {
  const { session } = testSession();
  const model = playing([call('nope', '{}'), call('write', ''), call('echo', '{'), stop], [say('Sorry.'), stop]);
  const broken = writer(() => {
    throw new Error('broke');
  });
  const { status, outcomes } = await runAgent({ model, prompt: toolsPrompt([echo, broken]), session, input: '' })
    .result;
  expect(status).toBe('completed');
  expect(outcomes.map(({ kind, callId }) => [kind, callId])).toEqual([
    ['unknown-tool', 'call_1_0'],
    ['failed', 'call_1_1'],
    ['invalid', 'call_1_2'],
  ]);
  expect(model.requests[1]?.messages.filter(({ role }) => role === 'tool')).toMatchObject([
    { success: false },
    { success: false, text: 'broke' },
    { success: false },
  ]);
});

test('calls of one turn run in their order, each on the state that the one before left', async () => {
  const { session } = testSession();
  const done: string[] = [];
  const step = (name: string): Tool =>
    defineTool({ name, description: 'Step.', effects: 'state', execute: () => done.push(name) });
  const order = definePolicy<boolean>({
    name: 'order',
    stateKind: 'keyed',
    check: ({ tool }, { state }) =>
      tool.name === 'deploy' && !state.has('build') ? { type: 'deny', reason: 'Build first.' } : allow,
    onResult: ({ tool }) => upsert(tool.name, true),
  });
  const model = playing([call('deploy', ''), call('build', ''), call('deploy', ''), stop], [say('Done.'), stop]);
  const { outcomes } = await runAgent({
    model,
    prompt: toolsPrompt([step('build'), step('deploy')]),
    session,
    input: '',
    policies: [order],
  }).result;
  expect(outcomes.map(({ kind }) => kind)).toEqual(['denied', 'ok', 'ok']);
  expect(done).toEqual(['build', 'deploy']);
});

test('a repeated id gets the first outcome for the same call, and call.invalid for another', async () => {
  const { session, ends } = testSession();
  const model = playing(
    [
      call('write', '{}', 'x'),
      call('write', '{}', 'x'),
      call('echo', { q: 'a' }, 'x'),
      call('echo', { q: 'b' }, 'y'),
      call('echo', { q: 'b' }, 'y'),
      stop,
    ],
    [say('Ok.'), stop],
  );
  const { outcomes } = await runAgent({ model, prompt: toolsPrompt([writer(() => 1), echo]), session, input: '' })
    .result;
  expect(outcomes.map(({ kind, reason }) => reason ?? kind)).toEqual(['ok', 'ok', 'id_reused', 'ok', 'ok']);
  expect(session.read(notes).size).toBe(1);
  expect(ends()).toHaveLength(3);
});

test('an unanswered ask suspends the run: calls before it have ended, calls after it are only checked', async () => {
  const { session } = testSession();
  const danger = (name: string): Tool =>
    defineTool({ name, description: 'Deletes.', effects: 'state', dangerous: true, execute: () => 1 });
  const model = playing([
    call('echo', { q: 'a' }, '1'),
    call('delete', '', '2'),
    call('write', '', '3'),
    call('erase', '', '4'),
    call('nope', '', '5'),
    stop,
  ]);
  const tools = [echo, danger('delete'), danger('erase'), writer(() => 1)];
  const { status, outcomes, pending } = await runAgent({ model, prompt: toolsPrompt(tools), session, input: '' })
    .result;
  expect(status).toBe('suspended');
  expect(outcomes.map(({ callId }) => callId)).toEqual(['1']);
  expect(pending.map(({ callId, name }) => [callId, name])).toEqual([
    ['2', 'delete'],
    ['4', 'erase'],
  ]);
  expect(session.read(notes).size).toBe(0);
});

test('approve answers in the middle of a run', async () => {
  const { session } = testSession();
  const model = playing([call('write', ''), call('write', ''), stop], [say('Done.'), stop]);
  const asked: string[] = [];
  const approve = ({ callId }: { callId: string }): ApprovalAnswer => {
    asked.push(callId);
    return asked.length === 1 ? { type: 'deny', reason: 'not this one' } : { type: 'approve' };
  };
  const { outcomes } = await runAgent({
    model,
    prompt: toolsPrompt([writer(() => 1, { dangerous: true })]),
    session,
    input: '',
    approve,
  }).result;
  expect(outcomes.map(({ kind }) => kind)).toEqual(['denied', 'ok']);
  expect(asked).toEqual(['call_1_0', 'call_1_1']);
});

test('max-rounds keeps what was reached', async () => {
  const { session } = testSession();
  const turn = [say('More.'), call('echo', { q: 'x' }), stop];
  const { status, turns, outcomes, text } = await runAgent({
    model: playing(turn, turn, turn),
    prompt: toolsPrompt([echo]),
    session,
    input: '',
    maxRounds: 2,
  }).result;
  expect({ status, turns, calls: outcomes.length, text }).toEqual({
    status: 'max-rounds',
    turns: 2,
    calls: 2,
    text: 'More.',
  });
});

test('a run that is aborted in its last round says so, not that its rounds are used up', async () => {
  const { session } = testSession();
  const controller = new AbortController();
  const aborting = defineTool({
    name: 'abort',
    description: 'Aborts the run.',
    effects: 'state',
    execute: () => controller.abort() ?? null,
  });
  const model = playing([call('abort', ''), stop]);
  const run = runAgent({
    model,
    prompt: toolsPrompt([aborting]),
    session,
    input: '',
    maxRounds: 1,
    signal: controller.signal,
  });
  expect(await run.result).toMatchObject({ status: 'aborted', turns: 1 });
});

test('model-error: a model that throws', async () => {
  const { session, records } = testSession();
  const model = {
    id: 'test:broken',
    async *stream(): AsyncGenerator<ModelEvent> {
      yield say('Well');
      throw new Error('503');
    },
  };
  const error = { message: '503' };
  const run = runAgent({ model, prompt: toolsPrompt([]), session, input: '' });
  expect(await run.result).toMatchObject({ status: 'model-error', text: 'Well', error });
  expect(records.at(-1)).toMatchObject({ type: 'run-end', status: 'model-error', error });
  expect(JSON.stringify(records)).not.toContain('run-agent.test');
});

test('model-error: the host gets code and data of a HoldfastError, the log its message', async () => {
  const { session, records } = testSession();
  const data = { status: 429, retryAfterMs: 7 };
  const model = {
    id: 'test:busy',
    stream: () => {
      throw new HoldfastError('model.rate_limited', 'Slow down.', { data });
    },
  };
  const { error } = await runAgent({ model, prompt: toolsPrompt([]), session, input: '' }).result;
  expect(error).toMatchObject({ code: 'model.rate_limited', message: 'Slow down.', data });
  expect(records.at(-1)).toMatchObject({
    error: { name: 'HoldfastError', message: 'Slow down.', code: 'model.rate_limited', data },
  });
});

test('model-error: an unknown event', async () => {
  const { session } = testSession();
  const model = playing([{ type: 'thought' } as never, stop]);
  expect(await runAgent({ model, prompt: toolsPrompt([]), session, input: '' }).result).toMatchObject({
    status: 'model-error',
    error: { message: expect.stringContaining('`thought`') },
  });
});

test.each(['deadline', 'aborted'] as const)('%s while the model ignores its signal', async (status) => {
  const { session } = testSession();
  const clock = testClock();
  const controller = new AbortController();
  let signal: AbortSignal | undefined;
  let remainingMs: number | undefined;
  let closed = false;
  const model = {
    id: 'test:hanging',
    async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
      try {
        signal = request.signal;
        remainingMs = request.deadline?.remainingMs();
        yield say('Thinking');
        if (status === 'aborted') controller.abort();
        else clock.advance(1_000);
        await new Promise((resolve) => setImmediate(resolve));
        yield say(' on');
      } finally {
        closed = true;
      }
    },
  };
  const result = await runAgent({
    model,
    prompt: toolsPrompt([]),
    session,
    input: '',
    clock,
    timeoutMs: 1_000,
    signal: controller.signal,
  }).result;
  expect(result).toMatchObject({ status, text: 'Thinking' });
  expect(signal?.aborted).toBe(true);
  expect(remainingMs).toBe(1_000);
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(closed).toBe(true);
});

test('aborted before it begins: the model is not asked', async () => {
  const { session } = testSession();
  const model = playing([say('x'), stop]);
  expect(
    await runAgent({ model, prompt: toolsPrompt([]), session, input: '', signal: AbortSignal.abort() }).result,
  ).toMatchObject({ status: 'aborted', turns: 0 });
  expect(model.requests).toHaveLength(0);
});

test('the prompt is rendered again exactly when state that it read has changed', async () => {
  const { session } = testSession();
  const mode = defineSlice<string>({
    id: 'mode',
    kind: 'value',
    initial: 'quiet',
    reducers: { switched: (_state, payload) => replace(payload) },
  });
  session.register(mode);
  const change = defineTool({
    name: 'switch',
    description: 'Switches.',
    effects: 'state',
    execute: (_input, context) => context.session.dispatch({ type: 'switched', payload: 'loud' }) ?? null,
  });
  let renders = 0;
  const prompt: Prompt = {
    name: 'test/modes',
    render: (view) => {
      renders += 1;
      const loud = view.session?.read(mode) === 'loud';
      return {
        text: loud ? 'LOUD' : 'quiet',
        tools: loud ? [change, echo] : [change],
        policies: new Map(),
        allPolicies: [],
      };
    },
  };
  const model = playing(
    [call('echo', { q: 'x' }), stop],
    [call('switch', ''), stop],
    [call('echo', { q: 'x' }), stop],
    [say('Done.'), stop],
  );
  const { outcomes } = await runAgent({ model, prompt, session, input: '' }).result;
  expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown-tool', 'ok', 'ok']);
  expect(model.requests.map(({ messages }) => messages[0])).toEqual(
    ['quiet', 'quiet', 'LOUD', 'LOUD'].map((text) => ({ role: 'system', text })),
  );
  expect(model.requests[3]?.messages).toHaveLength(8);
  expect(renders).toBe(2);
});

test("a prompt's policies are in force for its tools only, and see every success", async () => {
  const { session } = testSession();
  const seen: string[] = [];
  const guard = definePolicy({
    name: 'guard',
    initialState: 0,
    check: () => ({ type: 'deny', reason: 'Guarded.' }),
    onResult: ({ tool }, _result, { state }) => {
      seen.push(tool.name);
      return state + 1;
    },
  });
  const bound = [{ key: 'files/guard', policy: guard }];
  const prompt: Prompt = {
    name: 'p',
    render: () => ({
      text: '',
      tools: [echo, writer(() => 1)],
      policies: new Map([['write', bound]]),
      allPolicies: bound,
    }),
  };
  const model = playing([call('write', ''), call('echo', { q: 'x' }), stop], [say('x'), stop]);
  const { outcomes } = await runAgent({ model, prompt, session, input: '' }).result;
  expect(outcomes.map(({ kind }) => kind)).toEqual(['denied', 'ok']);
  expect(seen).toEqual(['echo']);
});

test('who stops looking does not stop the run, and who listens twice hears twice', async () => {
  const { session } = testSession();
  const heard: string[] = [];
  const run = runAgent({
    model: playing([call('write', ''), stop], [say('Done.'), stop]),
    prompt: toolsPrompt([writer(() => 1)]),
    session,
    input: '',
    onEvent: ({ type }) => heard.push(type),
  });
  for await (const event of run) if (event.type === 'turn-start') break;
  expect(await run.result).toMatchObject({ status: 'completed' });
  expect(heard).toContain('run-end');
  expect(session.read(notes).size).toBe(1);
});

test('a prompt that cannot be rendered rejects, for the iteration too', async () => {
  const { session } = testSession();
  const prompt: Prompt = {
    name: 'p',
    render: () => {
      throw new Error('missing parameters');
    },
  };
  const run = runAgent({ model: playing(), prompt, session, input: '' });
  await expect(collect(run)).rejects.toThrow('missing parameters');
  await expect(run.result).rejects.toThrow('missing parameters');
});

test.each([0, 1.5, -1])('options.invalid: maxRounds %d', (maxRounds) => {
  const { session } = testSession();
  expect(() => runAgent({ model: playing(), prompt: toolsPrompt([]), session, input: '', maxRounds })).toThrow(
    expect.objectContaining({ code: 'options.invalid' }),
  );
});
