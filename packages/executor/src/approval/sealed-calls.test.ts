import { ask, definePolicy, defineTool, type Tool, type Vault } from '@holdfast/core';
import { createSession, memoryStore, replay, type Session } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { call, playing, say, stop, testClock, toolsPrompt } from '../fixtures.ts';
import { answerApproval, executeToolCall, recoverSession, resumeRun, resumeToolCall, runAgent } from '../index.ts';

const secret = 'open sesame, 4711';
const asking = definePolicy({
  name: 'asking',
  check: ({ tool }) => (tool.name === 'open' ? ask('May it?') : ask('And it?')),
});

/** As one of files, which outlives its process. */
function memoryVault(): { readonly vault: Vault; readonly kept: ReadonlyMap<string, readonly [string, string]> } {
  const kept = new Map<string, readonly [bound: string, text: string]>();
  const vault: Vault = {
    put: (name, bound, text) => void kept.set(name, [bound, text]),
    get: (name, bound) => (kept.get(name)?.[0] === bound ? kept.get(name)?.[1] : undefined),
    delete: (name) => void kept.delete(name),
    names: () => [...kept.keys()],
  };
  return { vault, kept };
}

function setUp() {
  const used: string[] = [];
  const clock = testClock();
  const store = memoryStore();
  const { vault, kept } = memoryVault();
  const key = 'a key known only to the user';
  const session = createSession({ id: 's', store, clock, redactor: createRedactor({ key }), vault });
  const tool = (name: string, extra: Partial<Tool> = {}, hang = false): Tool =>
    defineTool({
      name,
      description: 'Opens a door.',
      inputSchema: v.object({ phrase: v.pipe(v.string(), v.metadata({ writeOnly: true })) }),
      ...(extra as object),
      async execute({ phrase }) {
        used.push(`${name} ${phrase}`);
        if (hang) await new Promise<void>(() => undefined);
        return `It opened with ${phrase}.`;
      },
    }) as Tool;
  // Knows nothing that the first process has learned.
  const reopen = (): Session => replay(store.records, { store, clock, redactor: createRedactor({ key }), vault });
  const log = (): string => JSON.stringify(store.records);
  return { used, clock, session, kept, tool, reopen, log };
}

test('another process resumes a suspended direct call', async () => {
  const { used, clock, session, kept, tool, reopen, log } = setUp();
  const options = { tools: [tool('open')], policies: [asking], clock };
  await executeToolCall({ id: 'c', name: 'open', arguments: { phrase: secret } }, { ...options, session });
  expect([...kept.keys()]).toEqual(['/c']);
  const second = reopen();
  await answerApproval(second, 'c', { type: 'approve' }, { clock });
  expect(await resumeToolCall('c', { ...options, session: second })).toMatchObject({
    kind: 'ok',
    value: `It opened with ${secret}.`,
  });
  expect(used).toEqual([`open ${secret}`]);
  expect(log()).not.toContain(secret);
  expect(kept.size).toBe(0);
});

test('another process resumes all calls of a suspended run; each stays sealed until it has ended', async () => {
  const { used, clock, session, kept, tool, reopen, log } = setUp();
  const options = { prompt: toolsPrompt([tool('open'), tool('close')]), policies: [asking], clock };
  const text = JSON.stringify({ phrase: secret });
  const model = playing([call('open', text, 'a'), call('close', { phrase: secret }, 'b'), stop]);
  expect(await runAgent({ ...options, session, model, input: 'go' }).result).toMatchObject({ status: 'suspended' });
  expect(kept.size).toBe(2);
  const second = reopen();
  await answerApproval(second, 'a', { type: 'approve' }, { clock });
  const waiting = await resumeRun({ ...options, session: second, model: playing([say('done'), stop]) }).result;
  expect(waiting).toMatchObject({ status: 'suspended', outcomes: [{ kind: 'ok' }] });
  expect([...kept.keys()]).toEqual([expect.stringMatching(/\/b$/)]);
  const third = reopen();
  await answerApproval(third, 'b', { type: 'approve' }, { clock });
  const done = await resumeRun({ ...options, session: third, model: playing([say('done'), stop]) }).result;
  expect(done).toMatchObject({ status: 'completed', text: 'done' });
  expect(used).toEqual([`open ${secret}`, `close ${secret}`]);
  expect(log()).not.toContain(secret);
  expect(kept.size).toBe(0);
});

test.each(['keyed', 'safe'] as const)(
  'a begun call that may be repeated %s runs again with its arguments',
  async (repeat) => {
    const { used, clock, session, kept, tool, reopen, log } = setUp();
    const given = { id: 'c', name: 'open', arguments: { phrase: secret } };
    void executeToolCall(given, { tools: [tool('open', { repeat }, true)], clock, session });
    for (let tick = 0; tick < 1_000 && used.length === 0; tick += 1) await Promise.resolve();
    const second = reopen();
    const options = { tools: [tool('open', { repeat })], clock, session: second };
    expect(await recoverSession(options)).toMatchObject({ outcomes: [], repeatable: [{ callId: 'c' }] });
    expect(await resumeToolCall('c', options)).toMatchObject({ kind: 'ok' });
    expect(used).toEqual([`open ${secret}`, `open ${secret}`]);
    expect(log()).not.toContain(secret);
    expect(kept.size).toBe(0);
  },
);

test('a begun call that may not be repeated is probed with its arguments', async () => {
  const { used, clock, session, kept, tool, reopen } = setUp();
  void executeToolCall(
    { id: 'c', name: 'open', arguments: { phrase: secret } },
    { tools: [tool('open', {}, true)], clock, session },
  );
  for (let tick = 0; tick < 1_000 && used.length === 0; tick += 1) await Promise.resolve();
  const probed: unknown[] = [];
  const probing = tool('open', {
    probe: (input) => {
      probed.push(input);
      return { type: 'not-done' };
    },
  });
  const { outcomes } = await recoverSession({ tools: [probing], clock, session: reopen() });
  expect({ probed, outcomes }).toMatchObject({ probed: [{ phrase: secret }], outcomes: [{ code: 'call.not_done' }] });
  expect(kept.size).toBe(0);
});

test('what cannot be sealed is not begun', async () => {
  const { used, clock, tool } = setUp();
  const { vault } = memoryVault();
  const full: Vault = {
    ...vault,
    put: () => {
      throw new Error('the disk is full');
    },
  };
  const session = createSession({
    clock,
    redactor: createRedactor({ key: 'a key of the user, long enough' }),
    vault: full,
  });
  const given = { id: 'c', name: 'open', arguments: { phrase: secret } };
  expect(await executeToolCall(given, { tools: [tool('open')], clock, session })).toMatchObject({ kind: 'failed' });
  expect(used).toEqual([]);
});
