import { existsSync } from 'node:fs';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answerApproval } from '@holdfast/executor';
import { readLog } from '@holdfast/session/jsonl';
import { describe, expect, test } from 'vitest';
import { answerCalls } from '../commands/answer/answer-calls.ts';
import { openSession } from '../logs/open-session.ts';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { bash, createHookWorld, startHook, toEvent, untilRecorded } from '../testing/test-hook.ts';
import { createTestHost } from '../testing/test-host.ts';
import { findSession } from '../workspace/known.ts';
import { daemonFolder } from './daemon/place.ts';
import { startingPath } from './daemon/start.ts';
import { installations } from './install.ts';

const silent = { code: 0, stdout: '', stderr: '' };
const logFolder = (folder: TestFolder) => join(folder.path, 'own', 'guard', '.holdfast', 'sessions');
const denial = (reason: unknown) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
});

const rules = {
  'own/holdfast.policy.json': '{ "deny": [{ "runs": "git log" }], "allow": [{ "runs": "npm install" }] }',
  'holdfast.policy.yaml': 'deny:\n  - runs: git status\n',
  'a.txt': 'hi\n',
};

describe.each(['here', 'none'] as const)('with a daemon: %s', (mode) => {
  test('a call that reads a secret is denied, a harmless one is let through, and the log has both', async () => {
    await using world = await createHookWorld(mode);
    const { folder, start } = world;
    const denied = await start('PreToolUse', 't1', bash('cat .env')).answer;
    expect(JSON.parse(denied.stdout)).toEqual(denial(expect.stringContaining('`.env` holds secrets')));
    expect(await start('PreToolUse', 't2', bash('ls')).answer).toEqual(silent);
    expect(await start('PostToolUse', 't2', bash('ls'), { tool_response: { stdout: 'a.txt' } }).answer).toEqual(silent);
    // A hook that decides by itself makes this file.
    expect(existsSync(startingPath(daemonFolder(world.host)))).toBe(mode === 'none');
    const path = join(logFolder(folder), 'claude-code-s-1.jsonl');
    const { records, problem } = readLog(path);
    expect(problem).toBeUndefined();
    expect(records.filter(({ type }) => type === 'tool-call-end')).toMatchObject([
      { callId: 't1', outcome: { kind: 'denied' } },
      { callId: 't2', outcome: { kind: 'ok' } },
    ]);
    expect(JSON.stringify(records)).not.toContain('CANARY');
    expect((await stat(path)).mode & 0o077).toBe(0);
    expect((await stat(logFolder(folder))).mode & 0o077).toBe(0);
  });

  test('hooks at once, each told twice, take turns: none is denied, and the log is whole', async () => {
    await using world = await createHookWorld(mode);
    const { folder, start } = world;
    // Without a daemon every hook loads the whole guard, which takes seconds on a busy machine.
    const ids = Array.from({ length: mode === 'here' ? 8 : 3 }, (_, index) => `t${index}`);
    const told = ids.flatMap((id) => [start('PreToolUse', id, bash('ls')), start('PreToolUse', id, bash('ls'))]);
    expect(await Promise.all(told.map(({ answer }) => answer))).toEqual(told.map(() => silent));
    const reported = ids.map((id) => start('PostToolUse', id, bash('ls'), { tool_response: 'a' }));
    await Promise.all(reported.map(({ answer }) => answer));
    const { records, problem } = readLog(join(logFolder(folder), 'claude-code-s-1.jsonl'));
    expect(problem).toBeUndefined();
    const ended = records.filter(({ type }) => type === 'tool-call-end');
    expect(ended.map(({ callId }) => callId).toSorted()).toEqual(ids);
    expect(ended.every(({ outcome }) => (outcome as { kind: string }).kind === 'ok')).toBe(true);
  }, 60_000);

  test('a hook that is killed leaves a log with which the next one decides', async () => {
    await using world = await createHookWorld(mode);
    const { folder, start } = world;
    expect(await start('PreToolUse', 't0', bash('ls')).answer).toEqual(silent);
    for (let round = 1; round <= 4; round += 1) {
      const killed = start('PreToolUse', `k${round}`, bash('ls'));
      // Ended before, in or after its work, as it happens.
      await Promise.race([killed.answer, start('PreToolUse', `n${round}`, bash('ls')).answer]);
      killed.kill();
      await killed.answer;
      const denied = await start('PreToolUse', `d${round}`, bash('cat .env')).answer;
      expect(JSON.parse(denied.stdout)).toEqual(denial(expect.stringContaining('holds secrets')));
    }
    expect(readLog(join(logFolder(folder), 'claude-code-s-1.jsonl')).problem).toBeUndefined();
  }, 60_000);

  test('a question waits for a person: answering it needs a terminal', async () => {
    await using world = await createHookWorld(mode);
    const { folder, start } = world;
    const install = bash('npm install left-pad');
    const asked = await start('PreToolUse', 't1', install, { permission_mode: 'bypassPermissions' }).answer;
    expect(JSON.parse(asked.stdout)).toEqual(denial(expect.stringContaining('A person has to approve this')));
    const { host } = createTestHost({
      directory: folder.path,
      environment: { HOME: folder.path, HOLDFAST_HOME: join(folder.path, 'own') },
    });
    const question = { id: 'claude-code-s-1', calls: ['t1'], answer: { type: 'approve' }, json: true } as const;
    const workspace = join(folder.path, 'own', 'guard');
    await expect(answerCalls({ ...question, workspace, by: undefined, digest: undefined }, host)).rejects.toMatchObject(
      {
        code: 'guard.person_required',
      },
    );
  });

  test.each(['approve', 'deny'] as const)(
    'a question that is held open takes an answer: %s',
    async (type) => {
      await using world = await createHookWorld(mode);
      const { folder, host, start } = world;
      const install = bash('npm install left-pad');
      const event = toEvent(folder.path, 'PreToolUse', 't1', install, { permission_mode: 'bypassPermissions' });
      const held = startHook(event, folder.path, 'claude-code', [], ['--wait=100']);
      await untilRecorded(host, 'approval-request');
      // The log is free meanwhile.
      expect(await start('PreToolUse', 't2', bash('ls')).answer).toEqual(silent);
      const { host: own } = createTestHost({ directory: folder.path, environment: host.environment });
      const workspace = join(folder.path, 'own', 'guard');
      const session = await openSession(await findSession({ id: 'claude-code-s-1', workspace }, own), workspace, own);
      await answerApproval(session, 't1', { type });
      await session.close();
      const { stdout, ...ended } = await held.answer;
      expect(ended).toEqual({ code: 0, stderr: '' });
      if (type === 'approve') expect(stdout).toBe('');
      else expect(JSON.parse(stdout)).toEqual(denial(expect.any(String)));
    },
    60_000,
  );

  test.each([
    ['git log', /user\/holdfast\.policy\.json:1`: deny `runs: git log`/, 'deny'],
    ['git status', /workspace\/holdfast\.policy\.yaml:2`: deny `runs: git status`/, 'deny'],
    // An exception of the user lifts no question of the preset.
    ['npm install left-pad', /left-pad/, 'ask'],
  ])("the user's rules and those of the workspace hold: %s", async (command, reason, decision) => {
    await using world = await createHookWorld(mode, rules);
    const { start } = world;
    const { stdout } = await start('PreToolUse', 't1', bash(command)).answer;
    expect(JSON.parse(stdout).hookSpecificOutput).toMatchObject({
      permissionDecision: decision,
      permissionDecisionReason: expect.stringMatching(reason),
    });
    expect(await start('PreToolUse', 't2', bash('ls')).answer).toEqual(silent);
  });

  const files = ['own/holdfast.policy.json', 'holdfast.policy.json', 'own/holdfast.policy.yaml', 'holdfast.policy.yml'];
  test.each(files)('a broken %s denies every call', async (file) => {
    await using world = await createHookWorld(mode, { [file]: '{ "deny": [{ "read": "x" }] }' });
    const { start } = world;
    const { stdout } = await start('PreToolUse', 't1', bash('ls')).answer;
    expect(JSON.parse(stdout)).toEqual(denial(expect.stringContaining('`deny[0].read`: unknown key')));
  });
});

describe('fails closed', () => {
  test.each<[string, string, string]>([
    ['input that is not JSON', 'junk', 'claude-code'],
    ['no input', '', 'codex'],
    ['an unknown agent', '{}', 'nobody'],
    ['a name that every object has', '{}', 'constructor'],
  ])('with %s', async (_, input, agent) => {
    await using world = await createHookWorld('none');
    const { folder } = world;
    const { code, stdout, stderr } = await startHook(input, folder.path, agent).answer;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/denied/);
  });

  test('with a file in place of the log folder', async () => {
    await using folder = await createFolder({ own: 'a file\n' });
    const event = toEvent(folder.path, 'PreToolUse', 't1', bash('ls'));
    const { code, stdout, stderr } = await startHook(event, folder.path).answer;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Holdfast could not decide this call, so it is denied: /);
  });

  test('with an end before there is an answer', async () => {
    await using world = await createHookWorld('none');
    const { folder } = world;
    const early = "data:text/javascript,process.stdin.once('data', () => process.exit(0))";
    const { code, stdout, stderr } = await startHook('{}', folder.path, 'codex', ['--import', early]).answer;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('ended before it had an answer');
  });

  test('with an older Node.js than it was installed with', async () => {
    await using world = await createHookWorld('none');
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })";
    const flags = ['--import', `data:text/javascript,${encodeURIComponent(older)}`];
    const event = toEvent(world.folder.path, 'PreToolUse', 't1', bash('ls'));
    const { code, stdout, stderr } = await startHook(event, world.folder.path, 'claude-code', flags).answer;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('it requires Node.js 22.18 or later; this is 20.20.2. Run `holdfast guard install` again');
  });

  test('without an answer after 8 seconds, of the 10 that an agent gives it', async () => {
    await using world = await createHookWorld('none');
    // Its timer of 8 seconds runs at once, and reading its input never ends.
    const patch = `
      const real = setTimeout;
      globalThis.setTimeout = (run, ms, ...more) => real(run, ms === 8000 ? 0 : ms, ...more);
      process.stdin[Symbol.asyncIterator] = () => ({ next: () => new Promise(() => real(() => {}, 60000)) });`;
    const flags = ['--import', `data:text/javascript,${encodeURIComponent(patch)}`];
    const { code, stdout, stderr } = await startHook('{}', world.folder.path, 'codex', flags).answer;
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: "Holdfast's hook failed, so the call is denied: it could not decide in time\n",
    });
    const given = Object.entries(installations).map(([agent, { fields }]) => [
      agent,
      fields['timeout'] ?? fields['timeoutSec'],
    ]);
    // In seconds, for Gemini CLI in milliseconds; the modules of the others have their own timers.
    expect(given).toEqual([
      ['claude-code', 10],
      ['codex', 10],
      ['gemini', 10_000],
      ['cursor', 10],
      ['copilot', 10],
      ['opencode', undefined],
      ['pi', undefined],
    ]);
  });

  test('with a log that was changed', async () => {
    await using world = await createHookWorld('none');
    const { folder, start } = world;
    await start('PreToolUse', 't1', bash('ls')).answer;
    const [name = ''] = (await readdir(logFolder(folder))).filter((file) => file.endsWith('.jsonl'));
    await writeFile(join(logFolder(folder), name), '{"seq":0}\n');
    expect(await start('PreToolUse', 't2', bash('ls')).answer).toMatchObject({ code: 2, stdout: '' });
  });
});
