import { spawn } from 'node:child_process';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLog } from '@holdfast/session/jsonl';
import { describe, expect, inject, test } from 'vitest';
import { answerCalls } from '../commands/answer/answer-calls.ts';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';

const long = inject('long') > 0;
const hook = fileURLToPath(new URL('../guard-hook-main.ts', import.meta.url));

interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Started {
  readonly answer: Promise<Answer>;
  kill(): void;
}

/** Starts the hook's own process, as an agent does. */
function startHook(input: string, home: string, agent = 'claude-code', flags: readonly string[] = []): Started {
  const child = spawn(process.execPath, ['--conditions=holdfast-source', ...flags, hook, agent], {
    env: { ...process.env, HOME: home, HOLDFAST_HOME: join(home, 'own') },
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const answer = new Promise<Answer>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...written }));
  });
  return { answer, kill: () => void child.kill('SIGKILL') };
}

interface World {
  readonly folder: TestFolder;
  start(event: string, id: string, tool: { readonly name: string; readonly input: object }, more?: object): Started;
}

async function world(
  files: Readonly<Record<string, string>> = { '.env': 'KEY=CANARY-7431\n', 'a.txt': 'hi\n' },
): Promise<World> {
  const folder = await createFolder(files);
  return {
    folder,
    start: (event, id, { name, input }, more = {}) =>
      startHook(
        JSON.stringify({
          session_id: 's-1',
          cwd: folder.path,
          permission_mode: 'default',
          hook_event_name: event,
          tool_name: name,
          tool_input: input,
          tool_use_id: id,
          ...more,
        }),
        folder.path,
      ),
  };
}

const bash = (command: string) => ({ name: 'Bash', input: { command } });
const silent = { code: 0, stdout: '', stderr: '' };
const logFolder = (folder: TestFolder) => join(folder.path, 'own', 'guard', '.holdfast', 'sessions');
const denial = (reason: unknown) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
});

test('a call that reads a secret is denied, a harmless one is let through, and the log has both', async () => {
  const { folder, start } = await world();
  await using _ = folder;
  const denied = await start('PreToolUse', 't1', bash('cat .env')).answer;
  expect(JSON.parse(denied.stdout)).toEqual(denial(expect.stringContaining('`.env` holds secrets')));
  expect(await start('PreToolUse', 't2', bash('ls')).answer).toEqual(silent);
  expect(await start('PostToolUse', 't2', bash('ls'), { tool_response: { stdout: 'a.txt' } }).answer).toEqual(silent);
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

const hooks = long ? 8 : 4;

test(`${hooks} hooks at once, each told twice, take turns: none is denied, and the log is whole`, async () => {
  const { folder, start } = await world();
  await using _ = folder;
  const ids = Array.from({ length: hooks }, (_, index) => `t${index}`);
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
  const { folder, start } = await world();
  await using _ = folder;
  expect(await start('PreToolUse', 't0', bash('ls')).answer).toEqual(silent);
  for (let round = 1; round <= (long ? 4 : 2); round += 1) {
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
  const { folder, start } = await world();
  await using _ = folder;
  const install = bash('npm install left-pad');
  const asked = await start('PreToolUse', 't1', install, { permission_mode: 'bypassPermissions' }).answer;
  expect(JSON.parse(asked.stdout)).toEqual(denial(expect.stringContaining('A person has to approve this')));
  const { host } = createTestHost({
    directory: folder.path,
    environment: { HOME: folder.path, HOLDFAST_HOME: join(folder.path, 'own') },
  });
  const question = { id: 'claude-code-s-1', calls: ['t1'], answer: { type: 'approve' }, json: true } as const;
  const workspace = join(folder.path, 'own', 'guard');
  await expect(answerCalls({ ...question, workspace, by: undefined, digest: undefined }, host)).rejects.toMatchObject({
    code: 'guard.person_required',
  });
});

const rules = {
  'own/holdfast.policy.json': '{ "deny": [{ "runs": "git log" }], "allow": [{ "runs": "git push --force" }] }',
  'holdfast.policy.json': '{ "deny": [{ "runs": "git status" }] }',
  'a.txt': 'hi\n',
};

test.each([
  ['git log', /user\/holdfast\.policy\.json`: deny `runs: git log`/, 'deny'],
  ['git status', /deny `runs: git status`/, 'deny'],
  // An exception of the user lifts no question of the preset.
  ['git push --force', /push/, 'ask'],
])("the user's rules and those of the workspace hold: %s", async (command, reason, decision) => {
  const { folder, start } = await world(rules);
  await using _ = folder;
  const { stdout } = await start('PreToolUse', 't1', bash(command)).answer;
  expect(JSON.parse(stdout).hookSpecificOutput).toMatchObject({
    permissionDecision: decision,
    permissionDecisionReason: expect.stringMatching(reason),
  });
  expect(await start('PreToolUse', 't2', bash('ls')).answer).toEqual(silent);
});

test.each(['own/holdfast.policy.json', 'holdfast.policy.json'])('a broken %s denies every call', async (file) => {
  const { folder, start } = await world({ [file]: '{ "deny": [{ "read": "x" }] }' });
  await using _ = folder;
  const { stdout } = await start('PreToolUse', 't1', bash('ls')).answer;
  expect(JSON.parse(stdout)).toEqual(denial(expect.stringContaining('`deny[0].read`: unknown key')));
});

describe('fails closed', () => {
  test.each<[string, string, string]>([
    ['input that is not JSON', 'junk', 'claude-code'],
    ['no input', '', 'codex'],
    ['an unknown agent', '{}', 'nobody'],
    ['a name that every object has', '{}', 'constructor'],
  ])('with %s', async (_, input, agent) => {
    await using folder = await createFolder();
    const { code, stdout, stderr } = await startHook(input, folder.path, agent).answer;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/denied/);
  });

  test('with a file in place of the log folder', async () => {
    const { folder, start } = await world({ own: 'a file\n' });
    await using _ = folder;
    const { code, stdout, stderr } = await start('PreToolUse', 't1', bash('ls')).answer;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Holdfast could not decide this call, so it is denied: /);
  });

  test('with an end before there is an answer', async () => {
    await using folder = await createFolder();
    const early = "data:text/javascript,process.stdin.once('data', () => process.exit(0))";
    const { code, stdout, stderr } = await startHook('{}', folder.path, 'codex', ['--import', early]).answer;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('ended before it had an answer');
  });

  test('with a log that was changed', async () => {
    const { folder, start } = await world();
    await using _ = folder;
    await start('PreToolUse', 't1', bash('ls')).answer;
    const [name = ''] = (await readdir(logFolder(folder))).filter((file) => file.endsWith('.jsonl'));
    await writeFile(join(logFolder(folder), name), '{"seq":0}\n');
    expect(await start('PreToolUse', 't2', bash('ls')).answer).toMatchObject({ code: 2, stdout: '' });
  });
});
