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
import { replay } from '@holdfast/session';
import { expect, test } from 'vitest';
import {
  call,
  diary,
  notes,
  playing,
  say,
  stop,
  testSession,
  toolsPrompt,
  wordsResource,
  writer,
} from '../fixtures.ts';
import { runAgent } from '../index.ts';

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
    expand(keys, session) {
      if (!keys.includes('g')) throw new HoldfastError('section.unknown', `There is no section \`${keys.join()}\`.`);
      session.dispatch({ type: 'opened', payload: 'g' });
      return 'The section `g` is open now.';
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

test('D10: what the tool wrote is dropped, its section opens, and the run goes on with its tools and policies', async () => {
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
  // What is published is kept, whatever becomes of the call.
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

test('what an earlier call of the turn has opened, a later one need not open: it is told to call again', async () => {
  const { session } = testSession();
  const prompt = foldedPrompt([needy()]);
  const expandOnce: Prompt = {
    ...prompt,
    expand(keys, staged) {
      if (staged.read(opened).has('g')) throw new HoldfastError('section.open', 'Open already: `g`.');
      return prompt.expand?.(keys, staged) ?? '';
    },
  };
  const model = playing(
    [call('write', {}, 'a'), call('write', {}, 'b'), stop],
    [call('write', {}, 'c'), stop],
    [say('.'), stop],
  );
  const result = await runAgent({ model, prompt: expandOnce, session, input: 'Go.' }).result;
  expect(result.outcomes).toMatchObject([
    { kind: 'ok', text: 'The section `g` is open now.' },
    { kind: 'ok', text: 'What `write` needs has been opened in the meantime: call it again.' },
    // It saw the section open, and has no reason to ask; that the prompt makes a new object of it each time says nothing.
    { kind: 'failed', code: 'section.open' },
  ]);
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
  expect(await run.result).toMatchObject({ outcomes: [{ kind: 'failed', code: 'resource.discard_failed' }] });
  expect(session.read(opened).size).toBe(0);
});

test('a section that cannot be opened is a failure of the call', async () => {
  const { session } = testSession();
  const words = wordsResource();
  const tool = needy(() => visibilityExpansionRequired(['h']));
  const model = playing([call('write', {}, 'a'), stop], [say('.'), stop]);
  const run = runAgent({ model, prompt: foldedPrompt([tool]), session, input: 'Go.', resources: { words } });
  expect(await run.result).toMatchObject({ outcomes: [{ kind: 'failed', code: 'section.unknown' }] });
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
    expect.objectContaining({ code: 'policy.tool.unknown' }),
  );
});

test('a tool of a closed section is not offered, and the model is told why', async () => {
  const { session } = testSession();
  const model = playing([call('extra', {}, 'a'), call('extar', {}, 'b'), stop], [say('.'), stop]);
  const result = await runAgent({ model, prompt: foldedPrompt([needy()]), session, input: 'Go.' }).result;
  expect(result.outcomes).toMatchObject([
    { kind: 'unknown-tool', message: expect.stringContaining('summarised or disabled') },
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

test('the model is told of a tool what the prompt says; calls are checked by what the tool says', async () => {
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
