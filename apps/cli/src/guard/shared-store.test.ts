import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answerApproval } from '@holdfast/executor';
import { claudeCode } from '@holdfast/guard/agents';
import { expect, onTestFinished, test } from 'vitest';
import { openSession } from '../logs/open-session.ts';
import { SessionTurns } from '../mcp/turns.ts';
import { runProgram } from '../program.ts';
import { createFolder } from '../testing/test-folder.ts';
import { bash, toEvent, toHost } from '../testing/test-hook.ts';
import { createTestHost } from '../testing/test-host.ts';
import { findSession } from '../workspace/known.ts';
import { HeldSessions } from './daemon/sessions.ts';
import { answerHook } from './hook.ts';

/** A home whose guarded sessions are in the SQLite file `place`. */
async function createWorld(place = 'sessions.db') {
  const folder = await createFolder({ 'own/.keep': '' });
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const store = place.includes(':') ? place : join(folder.path, place);
  await writeFile(join(folder.path, 'own', 'holdfast.policy.json'), JSON.stringify({ store }));
  const { environment, directory } = toHost(folder.path);
  const pause = () => Promise.resolve();
  return {
    path: folder.path,
    store,
    environment,
    /** The decision of a hook, each in a process of its own for the store: it opens and closes the session. */
    async decide(id: string, command: string): Promise<string> {
      const text = toEvent(folder.path, 'PreToolUse', id, bash(command), { permission_mode: 'bypassPermissions' });
      const host = { environment, directory, untilMs: Date.now() + 5_000, pause };
      const { stdout, stderr } = await answerHook({ agent: 'claude-code', text }, host);
      return `${stdout}${stderr}`;
    },
    async run(...argv: readonly string[]) {
      const { host, stdout, stderr } = createTestHost({ directory: folder.path, environment });
      return { exitCode: await runProgram(argv, host, '0'), stdout: stdout(), stderr: stderr() };
    },
  };
}

test('a guarded session in a shared store: asked by one hook, found and answered elsewhere, allowed by the next', async () => {
  const world = await createWorld();
  expect((await world.run('pending', '--guard')).stdout).toContain('Nothing is pending');
  expect(await world.decide('t1', 'npm install left-pad')).toContain('A person has to approve this');
  const pending = await world.run('pending', '--guard', '--json');
  expect(JSON.parse(pending.stdout)).toMatchObject([
    { session: 'claude-code-s-1', calls: [{ callId: 't1', state: 'waiting' }] },
  ]);
  // Only a person answers it, found by its id alone.
  const refused = await world.run('approve', 'claude-code-s-1', 't1');
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('(guard.person_required)') });
  expect(refused.stderr).toContain(`session claude-code-s-1 is in ${world.store}`);
  const { host } = createTestHost({ directory: world.path, environment: world.environment });
  const found = await findSession({ id: 'claude-code-s-1', workspace: '.' }, host);
  const session = await openSession(found, found.workspace, host);
  await answerApproval(session, 't1', { type: 'approve' });
  await session.close();
  expect(await world.decide('t2', 'npm install left-pad')).toBe('');
  for (const argv of [['verify'], ['show'], ['why', 't1'], ['grants']]) {
    const [command = '', ...rest] = argv;
    const looked = await world.run(command, 'claude-code-s-1', ...rest);
    expect({ command, exitCode: looked.exitCode }).toEqual({ command, exitCode: 0 });
  }
});

test('a daemon lets go of a session after each event, so that another machine writes in between', async () => {
  const world = await createWorld();
  const held = new HeldSessions({ idleMs: 0, reportMs: 0 });
  const host = { environment: world.environment, directory: world.path, client: undefined };
  const turn = { untilMs: Date.now() + 5_000, pause: () => Promise.resolve() };
  const decide = async (id: string): Promise<string> => {
    const text = toEvent(world.path, 'PreToolUse', id, bash('ls'));
    const input = claudeCode.readHook(text);
    if (input.event.type !== 'before') throw new Error('another event');
    const { guard, end } = await held.take(claudeCode, input, host, turn);
    const { type } = await guard.before(input.event.call);
    await end();
    return type;
  };
  expect(await decide('t1')).toBe('allow');
  expect(await world.decide('t2', 'ls')).toBe('');
  expect(await decide('t3')).toBe('allow');
  await held.closeIdle(Date.now() + 1, turn);
  expect(held.size).toBe(0);
  const shown = await world.run('show', 'claude-code-s-1', '--json');
  for (const id of ['t1', 't2', 't3']) expect(shown.stdout).toContain(`"callId":"${id}"`);
  expect((await world.run('verify', 'claude-code-s-1')).exitCode).toBe(0);
});

test('the sessions of an MCP server are in the same store, one process after the other', async () => {
  const world = await createWorld();
  const { host } = createTestHost({ directory: world.path, environment: world.environment });
  const place = { workspace: world.path, id: 'mcp-1' };
  for (const count of [0, 1]) {
    const turns = new SessionTurns(place, host);
    const session = await turns.open();
    expect([...session.records()].filter(({ type }) => type === 'note')).toHaveLength(count);
    session.record({ type: 'note' });
    await turns.release('client', true);
  }
  expect((await world.run('verify', 'mcp-1')).exitCode).toBe(0);
  expect((await world.run('show', 'other')).stderr).toContain('(usage.invalid: session_unknown)');
});

test.each([
  { what: 'a file that cannot be made', place: 'own/.keep/sessions.db', says: /could not decide/ },
  { what: 'a database that is gone', place: 'postgres://user:SECRET@127.0.0.1:1/none', says: /cannot be reached/ },
  { what: 'a place of no kind', place: 'redis://127.0.0.1', says: /postgres:\/\// },
])('$what: the call is denied, and no file takes its place', async ({ place, says }) => {
  const world = await createWorld(place);
  const denied = await world.decide('t1', 'ls');
  expect(denied).toMatch(says);
  expect(denied).not.toContain('SECRET');
  const pending = await world.run('pending', '--guard');
  // A file comes with its first session.
  expect(pending.exitCode === 0).toBe(place.startsWith('own'));
  expect(`${pending.stdout}${pending.stderr}`).not.toContain('SECRET');
});
