import { answerApproval } from '@holdfast/executor';
import type { GuardedCall } from '@holdfast/guard';
import { claudeCode } from '@holdfast/guard/agents';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { bash, toEvent, toHost } from '../testing/test-hook.ts';
import { openHolding } from './hold.ts';
import { openGuard } from './session.ts';

const call = ({ path }: TestFolder, more: Partial<GuardedCall> = {}): GuardedCall => ({
  id: 't1',
  name: 'Bash',
  input: { command: 'npm install left-pad' },
  cwd: path,
  ...more,
});

interface Meanwhile {
  /** The number of the pause in which it happens. */
  readonly at: number;
  act(open: ReturnType<typeof opener>): Promise<void>;
}

const opener = ({ path }: TestFolder) => {
  const input = claudeCode.readHook(toEvent(path, 'PreToolUse', 't1', bash('ls')));
  const pause = () => Promise.resolve();
  return () => openGuard(claudeCode, input, toHost(path), { untilMs: Date.now() + 60_000, pause });
};

/** The verdict about a call that is held for ten seconds, and how many pauses that took. */
async function hold(folder: TestFolder, meanwhile: Meanwhile, held = call(folder)) {
  const open = opener(folder);
  let nowMs = 0;
  let pauses = 0;
  let opens = 0;
  let ends = 0;
  const count = async () => {
    opens += 1;
    const opened = await open();
    const end = async () => {
      ends += 1;
      await opened.end();
    };
    return { ...opened, end };
  };
  const opened = await openHolding(count, {
    waitMs: 10_000,
    now: () => nowMs,
    goesOn: () => pauses < 1000,
    async pause(ms) {
      nowMs += ms;
      pauses += 1;
      if (pauses === meanwhile.at) await meanwhile.act(open);
    },
  });
  const { type } = await opened.guard.before(held);
  await opened.end();
  expect(ends).toBe(opens);
  return { type, pauses, opens };
}

const nothing: Meanwhile = { at: 0, act: () => Promise.resolve() };
const answering = (type: 'approve' | 'deny', id = 't1'): Meanwhile => ({
  at: 3,
  async act(open) {
    // Only possible while nobody else has the log.
    const { session, end } = await open();
    await answerApproval(session, id, { type });
    await end();
  },
});

test.each([
  ['approve', 'allow'],
  ['deny', 'deny'],
] as const)('an answer given meanwhile counts at once: %s', async (answer, type) => {
  await using folder = await createFolder();
  expect(await hold(folder, answering(answer))).toEqual({ type, pauses: 3, opens: 2 });
});

test('without an answer the question stays, and the log is not read again', async () => {
  await using folder = await createFolder();
  expect(await hold(folder, nothing)).toEqual({ type: 'ask', pauses: 50, opens: 1 });
  const { guard, session, end } = await opener(folder)();
  expect(session.openCall({ callId: 't1' })?.approvals).toHaveLength(1);
  await answerApproval(session, 't1', { type: 'approve' });
  expect(await guard.before(call(folder, { id: 't2' }))).toEqual({ type: 'allow' });
  await end();
});

test('an answer to another call does not count', async () => {
  await using folder = await createFolder();
  const { guard, end } = await opener(folder)();
  await guard.before(call(folder, { id: 't0', input: { command: 'npm install other' } }));
  await end();
  expect(await hold(folder, answering('approve', 't0'))).toEqual({ type: 'ask', pauses: 50, opens: 2 });
});

test('a call that is allowed or denied, or that the agent asks about, is not held', async () => {
  await using folder = await createFolder({ '.env': 'A=1' });
  const ask = call(folder, { agentAsks: true });
  expect(await hold(folder, nothing, ask)).toMatchObject({ type: 'ask', pauses: 0 });
  const denied = call(folder, { id: 't2', input: { command: 'cat .env' } });
  expect(await hold(folder, nothing, denied)).toMatchObject({ type: 'deny', pauses: 0 });
  const allowed = call(folder, { id: 't3', input: { command: 'ls' } });
  expect(await hold(folder, nothing, allowed)).toMatchObject({ type: 'allow', pauses: 0 });
});
