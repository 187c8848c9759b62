import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { allow, definePolicy, deny, upsert } from '@holdfast/core';
import { createFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { createGuard, decisions } from '@holdfast/guard';
import { claudeCode } from '@holdfast/guard/agents';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { bash, toEvent, toHost } from '../testing/test-hook.ts';
import { answerHook } from './hook.ts';

// Two worktrees of one repository: the main one, and a linked one, whose `.git` is a file.
const files = {
  'main/.git/HEAD': '',
  'main/a.txt': '',
  'linked/.git': 'gitdir: ../main/.git/worktrees/linked\n',
  'linked/a.txt': '',
};

/** Sends events of one session, each from its own worktree. */
function open({ path }: TestFolder, sessionId = 's-1') {
  const host = { ...toHost(path), untilMs: Date.now() + 60_000, pause: () => Promise.resolve() };
  const ids: string[] = [];
  const newId = (): string => {
    ids.push(`call-${ids.length}`);
    return ids.at(-1) ?? '';
  };
  const send = async (event: string, worktree: string, id: string, command: string) => {
    const more = { session_id: sessionId, tool_response: 'x' };
    const text = toEvent(join(path, worktree), event, id, bash(command), more);
    const { stdout, exitCode } = await answerHook({ agent: 'claude-code', text }, host);
    expect(exitCode).toBe(0);
    return stdout.includes('"deny"') ? 'denied' : stdout.includes('"ask"') ? 'asked' : 'allowed';
  };
  return {
    decide: (worktree: string, command: string) => send('PreToolUse', worktree, newId(), command),
    async tell(hook_event_name: string, more: object) {
      const event = { session_id: sessionId, cwd: join(path, 'main'), hook_event_name, ...more };
      expect(await answerHook({ agent: 'claude-code', text: JSON.stringify(event) }, host)).toMatchObject({
        exitCode: 0,
      });
    },
    /** `endsIn`: where the shell is after the call, which is what the agent reports as its folder. */
    async run(worktree: string, command: string, endsIn = worktree) {
      const id = newId();
      expect(await send('PreToolUse', worktree, id, command)).toBe('allowed');
      await send('PostToolUse', endsIn, id, command);
    },
  };
}

test('a check in one worktree does not count for a push from the other', async () => {
  await using folder = await createFolder(files);
  const { decide, run } = open(folder);
  await run('linked', 'npm test');
  expect(await decide('main', 'git push')).toBe('denied');
  expect(await decide('linked', 'git push')).toBe('allowed');
  await run('main', 'npm test');
  expect(await decide('main', 'git push')).toBe('allowed');
});

test('what was read in one worktree does not count in the other, in any spelling', async () => {
  // A rule of the user in TypeScript: an existing file may be written only where it was read, by the facts of both.
  const readFirst = definePolicy<true>({
    name: 'read-first',
    stateKind: 'keyed',
    check: ({ facts }, { state }) =>
      facts?.writes.every(({ path }) => state.has(path)) === true ? allow : deny('Read it first.'),
    onResult: ({ facts }) => facts?.reads.map(({ path }) => upsert(path, true as const)) ?? [],
  });
  await using folder = await createFolder(files);
  const session = createSession({ slices: [decisions] });
  const view = { folder: folder.path, workspace: folder.path, disk: nodeDisk() };
  const facts = createFacts({ describers: claudeCode.describers, view });
  const guard = createGuard({ session, policies: [readFirst], facts });
  const at = (worktree: string, id: string, command: string) => ({
    ...{ id, name: 'Bash', input: { command }, cwd: join(folder.path, worktree) },
    workspace: join(folder.path, worktree),
  });
  await guard.before(at('main', 'r1', 'cat a.txt'));
  await guard.after(at('main', 'r1', 'cat a.txt'), { ok: true });
  expect(await guard.before(at('linked', 'w1', 'echo x > a.txt'))).toMatchObject({ type: 'deny' });
  expect(await guard.before(at('main', 'w2', 'echo x > ../linked/a.txt'))).toMatchObject({ type: 'deny' });
  expect(await guard.before(at('main', 'w3', 'echo x > ./a.txt'))).toEqual({ type: 'allow' });
  expect(await guard.before(at('linked', 'w4', 'echo x > ../main/a.txt'))).toEqual({ type: 'allow' });
});

test('a change counts in the worktree in which its call began, wherever it ends', async () => {
  await using folder = await createFolder(files);
  const { decide, run } = open(folder);
  await run('main', 'npm test');
  await run('main', 'touch b.txt && cd ../linked', 'linked');
  expect(await decide('main', 'git push')).toBe('denied');
});

test('a workspace that is reached by a link is the same one', async () => {
  await using folder = await createFolder(files);
  const { decide, run } = open(folder);
  await symlink(join(folder.path, 'main'), join(folder.path, 'alias'), 'junction');
  await run('alias', 'npm test');
  expect(await decide('main', 'git push')).toBe('allowed');
  expect(await decide('alias', 'cat .env')).toBe('denied');
});

test('a folder that is renamed meanwhile: its calls are settled, its checks do not count under the new name', async () => {
  await using folder = await createFolder(files);
  const { decide, run } = open(folder);
  await run('main', 'npm test');
  await rename(join(folder.path, 'main'), join(folder.path, 'moved'));
  // Its shell still stands in the folder that has the old name for the agent.
  await run('main', 'ls', 'moved');
  expect(await decide('moved', 'git push')).toBe('denied');
  expect(await decide('main', 'cat .env')).toBe('denied');
  await run('moved', 'npm test');
  expect(await decide('moved', 'git push')).toBe('allowed');
});

test('a session that is compacted, or ended and resumed, keeps what it did; another one starts anew', async () => {
  await using folder = await createFolder(files);
  const { decide, run, tell } = open(folder);
  await run('main', 'npm test');
  await tell('PreCompact', { trigger: 'auto', custom_instructions: '' });
  await tell('SessionStart', { source: 'compact' });
  expect(await decide('main', 'git push')).toBe('allowed');
  await tell('SessionEnd', { reason: 'prompt_input_exit' });
  await tell('SessionStart', { source: 'resume' });
  expect(await decide('main', 'git push --follow-tags')).toBe('allowed');
  expect(await open(folder, 's-2').decide('main', 'git push')).toBe('denied');
});
