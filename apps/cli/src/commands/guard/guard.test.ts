import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOff } from '../../guard/off.ts';
import { runProgram } from '../../program.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { stopDaemon, untilAnnounced } from '../../testing/test-hook.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { runMain } from '../../testing/test-program.ts';
import { guardFolder } from '../../user/guard-folder.ts';
import { letThrough } from './guard-off.ts';

async function run(words: readonly string[], directory: string) {
  const { host, stdout, stderr } = createTestHost({ directory, environment: { HOME: directory } });
  const exitCode = await runProgram(words, host, '0');
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

test.each<[readonly string[], string]>([
  [
    ['install', 'claude'],
    'Unknown agent `claude`. Known agents: claude-code, codex, gemini, cursor, copilot, opencode, pi. (usage.invalid: agent_unknown)',
  ],
  [
    ['install', 'codex', '--project', 'nowhere'],
    '`nowhere` is not a folder: give the folder of a project, or leave out --project for your own settings.',
  ],
  [['install', 'codex', '--http'], 'codex has no hooks by HTTP: leave out --http. (usage.invalid: option_unused)'],
  [['install', 'claude-code', '--http', '--project', '.'], 'leave out --project, whose files others read. (usage'],
  [['install', 'codex', '--wait', 'long'], 'Expected a positive integer.'],
  [
    ['install', 'pi', '--wait', '60'],
    'pi cannot hold a question open: leave out --wait. (usage.invalid: option_unused)',
  ],
  [['install', 'claude-code'], 'Cannot edit `.claude/settings.json` of claude-code: '],
  [['uninstall', 'codex'], 'Only a person at a terminal can take a guard away'],
  [['off'], 'Only a person at a terminal can switch a guard off'],
  [['off', '--minutes', '0'], 'Expected a positive integer.'],
  [['run'], 'missing required argument'],
])('guard %j is refused and changes nothing', async (words, message) => {
  await using folder = await createFolder({ '.claude/settings.json': '{ "hooks": [' });
  const { exitCode, stdout, stderr } = await run(['guard', ...words], folder.path);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(await readdir(folder.path)).toEqual(['.claude']);
  expect(await readFile(join(folder.path, '.claude/settings.json'), 'utf8')).toBe('{ "hooks": [');
});

test('guard status tells what is installed', async () => {
  await using folder = await createFolder();
  expect((await run(['guard', 'status'], folder.path)).stdout).toBe(
    ['claude-code', 'codex', 'gemini', 'cursor', 'copilot', 'opencode', 'pi']
      .map((agent) => `${agent}: not guarded\n`)
      .join(''),
  );
  const { stdout } = await run(['guard', 'install', 'codex', '--json'], folder.path);
  expect(JSON.parse(stdout)).toMatchObject({ agent: 'codex', changed: true, otherHooks: [] });
  const { agents } = JSON.parse((await run(['guard', 'status', '--json'], folder.path)).stdout);
  expect(agents).toMatchObject([
    { guarded: false },
    { agent: 'codex', guarded: true, missing: [] },
    {},
    {},
    {},
    {},
    {},
  ]);
});

test('while the guard is off, status and doctor say so; it ends by itself, or with `guard on`', async () => {
  await using folder = await createFolder();
  const environment = { HOME: folder.path };
  const clock = { now: () => Date.now(), after: () => () => undefined };
  const { host, stdout } = createTestHost({ directory: folder.path, environment, clock });
  await letThrough(30, host);
  expect(stdout()).toMatch(/^The guard is off until .+ \(30 min\): calls are recorded, none is denied\./);
  expect(readOff(host, Date.now() + 29 * 60_000)).toBeDefined();
  expect(readOff(host, Date.now() + 31 * 60_000)).toBeUndefined();
  expect((await run(['guard', 'status'], folder.path)).stdout).toMatch(/^The guard is off until/);
  await run(['guard', 'install', 'codex'], folder.path);
  const doctor = await run(['guard', 'doctor', '--json'], folder.path);
  expect(doctor.exitCode).toBe(1);
  expect(JSON.parse(doctor.stdout).agents[1].problems).toEqual([expect.stringContaining('The guard is off until')]);
  expect((await run(['guard', 'on'], folder.path)).stdout).toBe('The guard is on.\n');
  expect((await run(['guard', 'on'], folder.path)).stdout).toBe('The guard was on already.\n');
  expect((await run(['guard', 'status'], folder.path)).stdout).not.toContain('off');
});

test('a guard is off for a day at most, and is on if its file cannot be read', async () => {
  await using folder = await createFolder();
  const { host } = createTestHost({ directory: folder.path, environment: { HOME: folder.path } });
  await letThrough(100_000, host);
  expect(readOff(host, Date.now() + 25 * 3_600_000)).toBeUndefined();
  expect(readOff(host, Date.now())).toBeDefined();
  const path = join(guardFolder(host), 'off.json');
  for (const text of ['{', '[]', '{"untilMs":"never"}']) {
    await writeFile(path, text);
    expect(readOff(host, Date.now())).toBeUndefined();
  }
});

test.each(['codex', 'gemini', 'cursor', 'copilot', 'opencode', 'pi'])(
  'guard doctor finds the guard of %s in order, and leaves no session behind',
  async (agent) => {
    await using folder = await createFolder();
    await run(['guard', 'install', agent], folder.path);
    const { exitCode, stdout } = await run(['guard', 'doctor'], folder.path);
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`ok ${agent}`) });
    const { host } = createTestHost({ directory: folder.path, environment: { HOME: folder.path } });
    expect(await readdir(join(guardFolder(host), '.holdfast', 'sessions'))).toEqual([]);
  },
  30_000,
);

test('guard doctor posts to the daemon, which the hook at the start of a session starts', async () => {
  await using folder = await createFolder();
  const { host } = createTestHost({ directory: folder.path, environment: { HOME: folder.path } });
  await run(['guard', 'install', 'claude-code', '--http'], folder.path);
  const { exitCode, stdout } = await run(['guard', 'doctor'], folder.path);
  await stopDaemon(await untilAnnounced(host), 'SIGTERM');
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('ok claude-code') });
  expect(stdout).toContain('no hook sees: a call while its daemon is not running, by a version before 2.1.295');
}, 60_000);

test('guard install --wait gives the hook of a call more time, and no other', async () => {
  await using folder = await createFolder();
  await run(['guard', 'install', 'codex', '--wait', '60'], folder.path);
  const { hooks } = JSON.parse(await readFile(join(folder.path, '.codex/hooks.json'), 'utf8'));
  expect(hooks.PreToolUse[0].hooks[0]).toMatchObject({ timeout: 85, command: expect.stringContaining("'--wait=60'") });
  expect(hooks.PostToolUse[0].hooks[0]).toEqual(expect.objectContaining({ timeout: 10 }));
  expect(hooks.PostToolUse[0].hooks[0].command).not.toContain('--wait');
  await run(['guard', 'install', 'codex', '--wait', '9999'], folder.path);
  const { hooks: most } = JSON.parse(await readFile(join(folder.path, '.codex/hooks.json'), 'utf8'));
  expect(most.PreToolUse[0].hooks[0].command).toContain("'--wait=600'");
});

test.each([
  [['node', '-e', 'process.exit(0)'], 0],
  [['node', '-e', 'process.exit(7)'], 7],
  [['sh', '-c', 'kill -9 $$'], 137],
] as const)('guard run -- %j ends as the command does, and leaves a report', async (words, code) => {
  await using folder = await createFolder();
  const environment = { HOLDFAST_HOME: join(folder.path, 'own') };
  const ended = await runMain(['guard', 'run', '--', ...words], { folder: folder.path, environment, trusted: false });
  expect(ended).toEqual({ exitCode: code, stdout: '', stderr: '' });
  const runs = join(folder.path, 'own', 'guard', 'runs');
  const [name = ''] = await readdir(runs);
  expect(JSON.parse(await readFile(join(runs, name), 'utf8'))).toMatchObject({ words, exitCode: code });
});

test('guard run of a program that is not there leaves no report', async () => {
  await using folder = await createFolder();
  const { exitCode, stderr } = await run(['guard', 'run', '--', 'no-such-program-here'], folder.path);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('guard.failed: run') });
  expect(await readdir(folder.path)).toEqual([]);
});
