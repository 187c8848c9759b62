import { ask, definePolicy, defineTool, type Outcome, type Tool } from '@holdfast/core';
import { createSession, memoryStore, replay, type Session } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { call, playing, say, stop, testClock, toolsPrompt } from '../fixtures.ts';
import {
  answerApproval,
  type CallOptions,
  executeToolCall,
  pendingApprovals,
  resumeRun,
  resumeToolCall,
  runAgent,
  type Suspended,
} from '../index.ts';

const secret = 'open sesame, 4711';
const asking = definePolicy({ name: 'asking', check: () => ask('May it?') });

interface World {
  readonly used: string[];
  probed: number;
}

function opening(world: World, extra: Partial<Tool> = {}, hang = false): Tool {
  return defineTool({
    name: 'open',
    description: 'Opens a door.',
    inputSchema: v.object({ phrase: v.pipe(v.string(), v.metadata({ writeOnly: true })) }),
    ...(extra as object),
    async execute({ phrase }) {
      world.used.push(phrase);
      if (hang) await new Promise<void>(() => undefined);
      return null;
    },
    probe() {
      world.probed += 1;
      return { type: 'not-done' };
    },
  }) as Tool;
}

function setUp() {
  const key = 'a key known only to the host';
  const world: World = { used: [], probed: 0 };
  const clock = testClock();
  const store = memoryStore();
  const redactor = createRedactor({ key });
  const session = createSession({ id: 's', store, clock, redactor });
  return { world, clock, store, session, reopen: (): Session => replay(store.records, { store, clock, redactor }) };
}

async function suspend(session: Session, options: Omit<CallOptions, 'session'>): Promise<Suspended> {
  const ended = await executeToolCall(
    { id: 'c', name: 'open', arguments: { phrase: secret } },
    { ...options, session },
  );
  if (ended.kind !== 'suspended') throw new Error(ended.message);
  return ended;
}

const models = () =>
  [playing([call('open', JSON.stringify({ phrase: secret }), 'c'), stop]), playing([say('done'), stop])] as const;

test('a suspended direct call is resumed in the same process', async () => {
  const { world, clock, session } = setUp();
  const options = { tools: [opening(world)], policies: [asking], clock };
  const { pending } = await suspend(session, options);
  expect(pending[0]?.input).toEqual({ phrase: secret });
  expect(JSON.stringify(pendingApprovals(session))).not.toContain(secret);
  await answerApproval(session, 'c', { type: 'approve' }, { clock });
  expect(await resumeToolCall('c', { ...options, session })).toMatchObject({ kind: 'ok' });
  expect(world.used).toEqual([secret]);
});

test('after a restart it has nothing but masks, and ends', async () => {
  const { world, clock, session, store, reopen } = setUp();
  const options = { tools: [opening(world)], policies: [asking], clock };
  await suspend(session, options);
  const second = reopen();
  await answerApproval(second, 'c', { type: 'approve' }, { clock });
  // A host that forgets the redactor does not make masks into arguments.
  const third = replay(store.records, { store, clock });
  expect(await resumeToolCall('c', { ...options, session: third })).toMatchObject({
    kind: 'cancelled',
    code: 'call.redacted',
  });
  expect(world.used).toEqual([]);
});

test('a run goes on in the same process with what its model asked for', async () => {
  const { world, clock, session } = setUp();
  const [first, second] = models();
  const options = { prompt: toolsPrompt([opening(world)]), policies: [asking], clock, session };
  const { status, pending } = await runAgent({ ...options, model: first, input: 'go' }).result;
  expect({ status, input: pending[0]?.input }).toEqual({ status: 'suspended', input: { phrase: secret } });
  for (const question of pending) await answerApproval(session, question, { type: 'approve' }, { clock });
  expect(await resumeRun({ ...options, model: second }).result).toMatchObject({ status: 'completed', text: 'done' });
  expect(world.used).toEqual([secret]);
});

test('after a restart its call ends, and the model goes on', async () => {
  const { world, clock, session, reopen } = setUp();
  const [first, second] = models();
  const options = { prompt: toolsPrompt([opening(world)]), policies: [asking], clock };
  await runAgent({ ...options, session, model: first, input: 'go' }).result;
  const again = reopen();
  await answerApproval(again, 'c', { type: 'approve' }, { clock });
  const { status, outcomes } = await resumeRun({ ...options, session: again, model: second }).result;
  expect({ status, ends: outcomes.map(({ kind, code }) => [kind, code]) }).toEqual({
    status: 'completed',
    ends: [['cancelled', 'call.redacted']],
  });
  expect(second.requests[0]?.messages.at(-1)).toMatchObject({ role: 'tool', text: expect.stringContaining('secret') });
  expect(world.used).toEqual([]);
});

test.each([
  { repeat: 'never', kind: 'in-doubt', code: 'call.interrupted' },
  { repeat: 'keyed', kind: 'in-doubt', code: 'call.redacted' },
  { repeat: 'safe', kind: 'cancelled', code: 'call.redacted' },
] as const)(
  'one that was begun and may be repeated $repeat ends $kind, and nobody is asked about masks',
  async ({ repeat, ...end }) => {
    const { world, clock, session, reopen } = setUp();
    const given = { id: 'c', name: 'open', arguments: { phrase: secret } };
    void executeToolCall(given, { tools: [opening(world, { repeat }, true)], clock, session });
    for (let tick = 0; tick < 1_000 && world.used.length === 0; tick += 1) await Promise.resolve();
    const outcome = await resumeToolCall('c', { tools: [opening(world, { repeat })], clock, session: reopen() });
    expect(outcome as Outcome).toMatchObject(end);
    expect(world).toEqual({ used: [secret], probed: 0 });
  },
);

test.each([
  { phrase: secret, content: 'full', differs: true },
  // The log has it in clear, and another user can answer and resume.
  { phrase: 'ada', content: 'full', differs: false },
  { phrase: 'ada', content: 'none', differs: true },
] as const)(
  'the digest of a question about $phrase tells the readers of a log with content $content nothing more',
  async ({ phrase, content, differs }) => {
    const plain = v.object({ phrase: v.string() });
    const digests = await Promise.all(
      ['a key of one host, long enough', 'a key of one host, long enough', 'a key of another, long enough'].map(
        async (key) => {
          const { world, clock } = setUp();
          const session = createSession({ id: 's', clock, redactor: createRedactor({ key }), content });
          const tool = opening(world, phrase === secret ? {} : { inputSchema: plain });
          const options = { tools: [tool], policies: [asking], clock, session };
          const ended = await executeToolCall({ id: 'c', name: 'open', arguments: { phrase } }, options);
          return ended.kind === 'suspended' ? ended.pending[0]?.digest : undefined;
        },
      ),
    );
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(digests[1]).toBe(digests[0]);
    expect(digests[2] !== digests[0]).toBe(differs);
  },
);

test('a log without content describes a whole run without its content, and cannot be resumed', async () => {
  const { world, clock } = setUp();
  const store = memoryStore();
  const session = createSession({ id: 's', store, clock, content: 'none' });
  const [first] = models();
  const tools = [opening(world)];
  const options = { policies: [asking], clock, session };
  const model = playing([say('Listen.'), call('open', { phrase: secret }, 'c'), stop], [say('The end.'), stop]);
  const approve = () => ({ type: 'approve', grant: true }) as const;
  const done = await runAgent({ ...options, prompt: toolsPrompt(tools), model, input: 'Please.', approve }).result;
  expect(done).toMatchObject({ status: 'completed', text: 'The end.' });
  expect(world.used).toEqual([secret]);
  const log = JSON.stringify(store.records);
  for (const word of [secret, 'Listen', 'The end', 'Please', 'May it']) expect(log).not.toContain(word);
  expect(store.records.map(({ type }) => type)).toEqual([
    'session-start',
    'run-start',
    'model-message',
    'slice',
    'approval-request',
    'approval-answer',
    'event',
    'tool-call-start',
    'tool-call-end',
    'model-message',
    'run-end',
  ]);
  expect(store.records.find(({ type }) => type === 'tool-call-end')).toMatchObject({
    callId: 'c',
    name: 'open',
    approval: { type: 'approve' },
    outcome: { kind: 'ok' },
  });

  const refused = expect.objectContaining({ code: 'replay.failed', reason: 'no_content' });
  const other = createSession({ id: 't', clock, content: 'none' });
  await runAgent({ ...options, session: other, prompt: toolsPrompt(tools), model: first, input: 'Please.' }).result;
  await expect(
    resumeRun({ ...options, session: other, prompt: toolsPrompt(tools), model: first }).result,
  ).rejects.toThrow(refused);
  await suspend(other, { tools, policies: [asking], clock });
  await expect(resumeToolCall('c', { ...options, tools, session: other })).rejects.toThrow(refused);
});
