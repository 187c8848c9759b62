import { join } from 'node:path';
import { answerApproval } from '@holdfast/executor';
import { expect, test } from 'vitest';
import { answerHook } from '../../guard/hook.ts';
import { openSession } from '../../logs/open-session.ts';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { guardFolder } from '../../user/guard-folder.ts';
import { findLog } from '../../workspace/session-logs.ts';
import { type LearnFlags, showLearned } from './guard-learn.ts';

const rules = { ask: [{ reaches: '*' }, { runs: 'git branch' }], allow: [{ reaches: 'known.test' }] };

const createWorld = (): Promise<TestFolder> =>
  createFolder({ 'work/.git/HEAD': '', 'own/holdfast.policy.json': JSON.stringify(rules) });

const environmentOf = ({ path }: TestFolder) => ({ HOME: path, HOLDFAST_HOME: join(path, 'own'), COLUMNS: '200' });
const realClock = { now: () => Date.now(), after: () => () => undefined };

let count = 0;

/** A command of Codex, and what a person answers to its question, if anything. */
async function ask(folder: TestFolder, command: string, type?: 'approve' | 'deny', by = 'person'): Promise<void> {
  const directory = join(folder.path, 'work');
  const environment = environmentOf(folder);
  count += 1;
  const id = `call-${count}`;
  const fields = { session_id: 's1', cwd: directory, turn_id: 't', permission_mode: 'default' };
  const told = { ...fields, tool_name: 'Bash', tool_input: { command }, tool_use_id: id };
  const hook = { environment, directory, untilMs: Number.POSITIVE_INFINITY, pause: () => Promise.resolve() };
  const tell = (more: object) => answerHook({ agent: 'codex', text: JSON.stringify({ ...told, ...more }) }, hook);
  const { stdout } = await tell({ hook_event_name: 'PreToolUse' });
  // A call that was let through ends.
  if (stdout === '') await tell({ hook_event_name: 'PostToolUse', tool_response: '' });
  if (type === undefined) return;
  const { host } = createTestHost({ directory: folder.path, environment, clock: realClock });
  const workspace = guardFolder(host);
  const session = await openSession(await findLog(workspace, 'codex-s1'), workspace, host);
  await answerApproval(session, id, type === 'approve' ? { type } : { type, reason: 'No.' }, { by, clock: realClock });
  await session.close();
}

/** Asks three times, and each time makes the approved call. */
async function approveThrice(folder: TestFolder, command: string): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    await ask(folder, command, 'approve');
    await ask(folder, command);
  }
}

async function learn(folder: TestFolder, flags: LearnFlags = {}, now = Date.now()): Promise<string> {
  const clock = { ...realClock, now: () => now };
  const { host, stdout } = createTestHost({ directory: folder.path, environment: environmentOf(folder), clock });
  expect(await showLearned(flags, host)).toBe(0);
  return stdout();
}

test('a host that a person approved three times becomes an exception, with the calls that it lets through', async () => {
  await using folder = await createWorld();
  for (const path of ['a', 'b', 'c']) await ask(folder, `curl https://api.test/${path}`, 'approve');
  // Still waiting: it would have been let through too.
  await ask(folder, 'curl https://api.test/d');
  await ask(folder, 'curl https://other.test/', 'approve');
  const text = await learn(folder);
  expect(text).toContain('Nothing was changed.');
  expect(text).toContain('{"reaches":"api.test"}');
  expect(text).toContain('you said yes 3 times, never no; of the last 30 days it lets 4 calls through:');
  expect(text).toContain('curl https://api.test/d');
  expect(text).not.toContain('other.test');
  expect(await learn(folder, { times: 1 })).toContain('{"reaches":"other.test"}');
  // By the clock of the host.
  expect(await learn(folder, {}, Date.now() + 31 * 86_400_000)).toMatch(/^Nothing to propose: of the last 30 days/);
});

test('one no, and an answer that an agent took from its own person, propose nothing', async () => {
  await using folder = await createWorld();
  for (const path of ['a', 'b', 'c']) await ask(folder, `curl https://api.test/${path}`, 'approve');
  await ask(folder, 'curl https://api.test/d', 'deny');
  for (const path of ['a', 'b', 'c']) await ask(folder, `curl https://third.test/${path}`, 'approve', 'agent');
  expect(await learn(folder)).toMatch(/^Nothing to propose/);
});

test('the narrowest command that answers the same questions is proposed, and only a sufficient one', async () => {
  await using folder = await createWorld();
  await approveThrice(folder, 'git branch next');
  // Each needs two exceptions.
  for (const path of ['a', 'b', 'c']) await ask(folder, `git branch x && curl https://api.test/${path}`, 'approve');
  const text = await learn(folder);
  expect(text).toContain('{"runs":"git branch next"}');
  expect(text).not.toContain('{"runs":"git branch"}');
  expect(text).not.toContain('api.test"}');
});

test('questions of the preset are told, and no rule is proposed for them', async () => {
  await using folder = await createWorld();
  await folder.write('own/holdfast.policy.json', '{}');
  await approveThrice(folder, 'npm install left-pad');
  const text = await learn(folder);
  expect(text).toMatch(/^Nothing to propose/);
  expect(text).toMatch(/You said yes to:\n {2}host\/\S+: 3, such as npm install left-pad\n$/);
});
