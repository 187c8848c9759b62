import {
  definePolicy,
  defineResource,
  defineSlice,
  defineTool,
  deny,
  HoldfastError,
  type KeyedState,
  type Prompt,
  type Slice,
  type Tool,
  upsert,
  visibilityExpansionRequired,
} from '@holdfast/core';
import { readExpansion } from '@holdfast/core/internal';
import { replay } from '@holdfast/session';
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
  testSession,
  toolsPrompt,
  wordsResource,
  writer,
} from '../fixtures.ts';
import { resumeRun, runAgent } from '../index.ts';

const opened: Slice<KeyedState<boolean>> = defineSlice<boolean>({
  id: 'opened',
  kind: 'keyed',
  reducers: { opened: (_state, key) => upsert(String(key), true) },
});

const extra: Tool = defineTool({ name: 'extra', description: 'Only when open.', effects: 'none', execute: () => 1 });

/** A prompt with one section `g`, closed at first, that brings the tool `extra` and a policy. */
function foldedPrompt(tools: readonly Tool[], { policies = [extraPolicy] } = {}): Prompt {
  return {
    name: 'test/folded',
    slices: [opened],
    toolNames: new Set([...tools.map(({ name }) => name), 'extra']),
    render({ session }) {
      const open = session?.read(opened).has('g') === true;
      return {
        text: open ? 'Open.' : 'Closed.',
        tools: open ? [...tools, extra] : tools,
        policies: open ? new Map([['extra', policies]]) : new Map(),
        allPolicies: policies,
      };
    },
    opening(thrown) {
      const keys = readExpansion(thrown)?.keys;
      if (keys === undefined) return undefined;
      return ({ session }) => {
        if (!keys.includes('g'))
          throw new HoldfastError('section.unavailable', `There is no section \`${keys.join()}\`.`, {
            data: { reason: 'unknown' },
          });
        session.dispatch({ type: 'opened', payload: 'g' });
        return 'The section `g` is open now.';
      };
    },
  };
}

const extraPolicy = {
  key: 'g/no-extra',
  policy: definePolicy({
    name: 'no-extra',
    check: ({ tool }) => (tool.name === 'extra' ? deny('Not yet.') : { type: 'allow' }),
  }),
};

const needy = (thrown: () => unknown = () => visibilityExpansionRequired(['g'], 'Read it first.')): Tool =>
  writer(() => {
    throw thrown();
  });

test('D10: what the tool wrote is dropped, its section opens, and the run continues with its tools and policies', async () => {
  const { session, records } = testSession();
  const words = wordsResource();
  const model = playing([call('write', {}, 'a'), stop], [call('extra', {}, 'b'), stop], [say('Done.'), stop]);
  const run = runAgent({ model, prompt: foldedPrompt([needy()]), session, input: 'Go.', resources: { words } });
  const result = await run.result;
  expect(result).toMatchObject({
    status: 'completed',
    outcomes: [
      { kind: 'ok', callId: 'a', value: null, text: 'The section `g` is open now.' },
      { kind: 'denied', callId: 'b', message: 'Denied: Not yet.' },
    ],
  });
  expect(session.read(notes).size).toBe(0);
  // Published events are kept however the call ends.
  expect(session.read(diary).size).toBe(1);
  expect([...words.committed]).toEqual([]);
  expect(words.log).toEqual(['discard']);
  expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
    ['write'],
    ['write', 'extra'],
    ['write', 'extra'],
  ]);
  // The conversation is kept: only the system's text is another.
  expect(model.requests[1]?.messages).toMatchObject([
    { role: 'system', text: 'Open.' },
    { role: 'user', text: 'Go.' },
    { role: 'assistant' },
    { role: 'tool', callId: 'a', success: true, text: 'The section `g` is open now.' },
  ]);
  const end = records.find(({ type, callId }) => type === 'tool-call-end' && callId === 'a');
  expect(end).toMatchObject({ events: [{ type: 'opened', payload: 'g' }], writes: [] });
  expect(
    replay(records, { slices: [notes, diary, opened] })
      .read(opened)
      .toObject(),
  ).toEqual({ g: true });
});

test('a tool that only wanted a section has not succeeded: no policy hears of it', async () => {
  const { session } = testSession();
  const seen: string[] = [];
  const counting = definePolicy({
    name: 'counting',
    initialState: 0,
    check: () => ({ type: 'allow' }),
    onResult: ({ tool }, _result, { state }) => {
      seen.push(tool.name);
      return state + 1;
    },
  });
  const model = playing([call('write', {}, 'a'), stop], [say('.'), stop]);
  await runAgent({ model, prompt: foldedPrompt([needy()]), session, input: 'Go.', policies: [counting] }).result;
  expect(seen).toEqual([]);
});

test.each<[string, Tool['effects']]>([
  ['that only reads', 'none'],
  ['that touches the world', 'external'],
])('a tool %s may ask for a section, too', async (_title, effects) => {
  const { session } = testSession();
  const asking = defineTool({
    name: 'ask',
    description: 'Needs a section.',
    effects,
    execute: () => Promise.reject(visibilityExpansionRequired(['g'])),
  });
  const model = playing([call('ask', {}, 'a'), call('ask', {}, 'b'), stop], [say('.'), stop]);
  const result = await runAgent({ model, prompt: foldedPrompt([asking]), session, input: 'Go.' }).result;
  expect(result.outcomes).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }]);
  expect(session.read(opened).has('g')).toBe(true);
});

test('a prompt whose `opening` throws fails the call', async () => {
  const { session } = testSession();
  const opening = (): never => {
    throw new Error('boo');
  };
  const model = playing([call('write', {}, 'a'), stop], [say('.'), stop]);
  const result = await runAgent({ model, prompt: { ...foldedPrompt([needy()]), opening }, session, input: 'Go.' });
  expect(result).toMatchObject({ status: 'completed', outcomes: [{ kind: 'failed', message: 'boo' }] });
});

test('what such a call has used is given back, and what it does too late counts for nothing', async () => {
  const { session } = testSession();
  const ends: string[] = [];
  const client = defineResource({
    name: 'client',
    lifetime: 'call',
    create: () => 'open',
    dispose: (value) => void ends.push(value),
  });
  let late: (() => void) | undefined;
  const asking = defineTool({
    name: 'ask',
    description: 'Needs a section.',
    effects: 'state',
    async execute(_input, context) {
      await context.use(client);
      late = () => context.session.dispatch({ type: 'noted', payload: 'late' });
      throw visibilityExpansionRequired(['g']);
    },
  });
  const model = playing([call('ask', {}, 'a'), stop], [say('.'), stop]);
  const result = await runAgent({ model, prompt: foldedPrompt([asking]), session, input: 'Go.' }).result;
  expect(result.outcomes).toMatchObject([{ kind: 'ok' }]);
  expect(ends).toEqual(['open']);
  expect(late).toThrow(expect.objectContaining({ code: 'context.closed' }));
  expect(session.read(notes).size).toBe(0);
});

test('where what was staged cannot be cleaned up, the call fails and nothing opens', async () => {
  const { session } = testSession();
  const words = wordsResource({ discard: true });
  const model = playing([call('write', {}, 'a'), stop], [say('.'), stop]);
  const run = runAgent({ model, prompt: foldedPrompt([needy()]), session, input: 'Go.', resources: { words } });
  expect(await run.result).toMatchObject({
    outcomes: [{ kind: 'failed', code: 'resource.failed', reason: 'discard' }],
  });
  expect(session.read(opened).size).toBe(0);
});

test('a section that cannot be opened is a failure of the call', async () => {
  const { session } = testSession();
  const words = wordsResource();
  const tool = needy(() => visibilityExpansionRequired(['h']));
  const model = playing([call('write', {}, 'a'), stop], [say('.'), stop]);
  const run = runAgent({ model, prompt: foldedPrompt([tool]), session, input: 'Go.', resources: { words } });
  expect(await run.result).toMatchObject({
    outcomes: [{ kind: 'failed', code: 'section.unavailable', reason: 'unknown' }],
  });
  expect(words.log).toEqual(['discard']);
  expect(session.read(opened).size).toBe(0);
});

test('where nothing can be opened, it is a failure that says what to do', async () => {
  const { session } = testSession();
  const model = playing([call('write', {}, 'a'), stop], [say('.'), stop]);
  const result = await runAgent({ model, prompt: toolsPrompt([needy()]), session, input: 'Go.' }).result;
  expect(result.outcomes).toMatchObject([
    {
      kind: 'failed',
      code: 'visibility.expansion_required',
      message: expect.stringMatching(/`g`.*`open_sections`.*Read it first/),
    },
  ]);
});

test('in a nested call it is a failure of that call, and opens nothing', async () => {
  const { session } = testSession();
  const outer = defineTool({
    name: 'outer',
    description: 'Calls another.',
    effects: 'state',
    execute: async (_input, context) => (await context.call('write')).code ?? '',
  });
  const model = playing([call('outer', {}, 'a'), stop], [say('.'), stop]);
  const prompt = foldedPrompt([outer, needy()]);
  const result = await runAgent({ model, prompt, session, input: 'Go.' }).result;
  expect(result.outcomes).toMatchObject([{ kind: 'ok', value: 'visibility.expansion_required' }]);
  expect(session.read(opened).size).toBe(0);
});

test('in a run of a child session the section of its prompt opens, for that session', async () => {
  const { session, records } = testSession();
  const inner = playing([call('ask', {}, 'a'), stop], [call('extra', {}, 'b'), stop], [say('.'), stop]);
  const asks = defineTool({
    name: 'ask',
    description: 'Needs a section.',
    execute: () => {
      throw visibilityExpansionRequired(['g']);
    },
  });
  const prompt = foldedPrompt([asks], { policies: [] });
  const nest = defineTool({
    name: 'nest',
    description: 'Runs another prompt.',
    async execute(_input, context) {
      const run = runAgent({ model: inner, prompt, session: context.child(), input: 'Go.' });
      return (await run.result).outcomes.map(({ kind }) => kind);
    },
  });
  const model = playing([call('nest', {}, 'n'), stop], [say('.'), stop]);
  const result = await runAgent({ model, prompt: toolsPrompt([nest]), session, input: 'Go.' }).result;
  expect(result.outcomes).toMatchObject([{ kind: 'ok', value: ['ok', 'ok'] }]);
  expect(records.some(({ type, id }) => type === 'slice' && id === 'opened')).toBe(false);
});

test('the host may mention tools of sections that are still closed', async () => {
  const { session } = testSession();
  const policy = definePolicy({ name: 'host', tools: ['extra'], check: () => ({ type: 'allow' }) });
  const model = playing([say('.'), stop]);
  const options = { model, session, input: 'Go.' };
  const run = runAgent({ ...options, prompt: foldedPrompt([needy()]), policies: [policy] });
  expect(await run.result).toMatchObject({ status: 'completed' });
  const wrong = definePolicy({ name: 'wrong', tools: ['other'], check: () => ({ type: 'allow' }) });
  await expect(runAgent({ ...options, prompt: foldedPrompt([needy()]), policies: [wrong] }).result).rejects.toThrow(
    expect.objectContaining({ code: 'policy.invalid', reason: 'tool.unknown' }),
  );
});

test('a tool of a closed section is not offered, and the model is told why', async () => {
  const { session } = testSession();
  const model = playing([call('extra', {}, 'a'), call('extar', {}, 'b'), stop], [say('.'), stop]);
  const result = await runAgent({ model, prompt: foldedPrompt([needy()]), session, input: 'Go.' }).result;
  expect(result.outcomes).toMatchObject([
    { kind: 'unknown-tool', message: expect.stringContaining('collapsed or disabled') },
    { kind: 'unknown-tool', message: expect.stringContaining('There is no tool') },
  ]);
});

test("the prompt's slices listen from the start", async () => {
  const { session } = testSession();
  const dispatching = defineTool({
    name: 'open',
    description: 'Opens.',
    effects: 'state',
    execute(_input, context) {
      context.session.dispatch({ type: 'opened', payload: 'x' });
      return null;
    },
  });
  const model = playing([call('open', {}, 'a'), stop], [say('.'), stop]);
  const prompt: Prompt = { ...toolsPrompt([dispatching]), slices: [opened] };
  expect(await runAgent({ model, prompt, session, input: 'Go.' }).result).toMatchObject({ outcomes: [{ kind: 'ok' }] });
  expect(session.read(opened).has('x')).toBe(true);
});

test("the model sees the prompt's description of a tool; calls are checked against the tool's own schema", async () => {
  const { session } = testSession();
  const told = { name: 'extra', description: 'Told otherwise.', inputSchema: { type: 'object' } } as const;
  const prompt: Prompt = {
    name: 'test/told',
    render: () => ({
      text: '',
      tools: [extra, needy()],
      declarations: new Map([['extra', told]]),
      policies: new Map(),
      allPolicies: [],
    }),
  };
  const model = playing([call('extra', { any: 1 }, 'a'), stop], [say('.'), stop]);
  const result = await runAgent({ model, prompt, session, input: 'Go.' }).result;
  expect(model.requests[0]?.tools).toMatchObject([told, { name: 'write', description: 'Writes.' }]);
  expect(result.outcomes).toMatchObject([{ kind: 'invalid' }]);
});

test.each<[string, () => unknown]>([
  ['keys that are not strings', () => expansion({ keys: [{ toString: 1, valueOf: 1 }] })],
  [
    'data that throws',
    () =>
      Object.defineProperty(expansion(null), 'data', {
        get() {
          throw new Error('boo');
        },
      }),
  ],
])('%s: a failure like any other', async (_title, thrown) => {
  const { session, ends } = testSession();
  const needy = writer(() => {
    throw thrown();
  });
  const prompt = foldedPrompt([needy]);
  const model = playing([call('write', {}, 'a'), stop], [say('Done.'), stop]);
  const result = await runAgent({ model, prompt, session, input: 'Go.' }).result;
  expect(result).toMatchObject({ status: 'completed', outcomes: [{ kind: 'failed', callId: 'a' }] });
  expect(ends()).toHaveLength(1);
  expect(session.read(notes).size).toBe(0);
});

test('a call that was begun before its process ended is in doubt, and opens nothing', async () => {
  let attempt = 0;
  const charge: Tool = {
    ...echo,
    name: 'charge',
    effects: 'external',
    repeat: 'keyed',
    execute() {
      attempt += 1;
      if (attempt > 1) throw expansion({ keys: ['g'] });
      return { a: '' };
    },
  };
  const { session, records } = testSession();
  const prompt = foldedPrompt([charge]);
  await runAgent({ model: playing([call('charge', { q: '' }, 'a'), stop], [stop]), prompt, session, input: 'Go.' })
    .result;
  const cut = records.slice(0, records.findIndex(({ type }) => type === 'tool-call-start') + 1);
  const events = resumeRun({
    model: playing([say('Done.'), stop]),
    prompt,
    session: replay(cut, { slices: [notes, diary, opened] }),
  });
  await collect(events);
  expect((await events.result).outcomes).toMatchObject([{ kind: 'in-doubt', code: 'visibility.expansion_required' }]);
  expect(attempt).toBe(2);
});

function expansion(data: HoldfastError['data']): HoldfastError {
  return new HoldfastError('visibility.expansion_required', 'Open it first.', { data });
}
