import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { closeLater, testContext, testFolder, useTestFolder, verifyFile, writeTool } from '../test-tools.ts';
import { findProject, findSandbox, sandboxCommand } from './bubblewrap.ts';
import { createSandboxRunner } from './subprocess.ts';
import { describeIsolation } from './tiers.ts';
import type { ToolRunner } from './types.ts';

useTestFolder();

const onLinux = process.platform === 'linux';

/** A folder with a `bwrap` of this text; executable unless `mode` says otherwise. */
function fakePath(script: string, mode = 0o755): string {
  const folder = join(testFolder(), 'bin');
  mkdirSync(folder);
  writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'bwrap'), mode);
  return folder;
}

function runner(path: string): ToolRunner {
  return closeLater(createSandboxRunner({ verify: verifyFile, path }));
}

test.skipIf(process.platform !== 'linux')('with `bwrap`, a tool runs with its arguments', async () => {
  const notes = join(testFolder(), 'notes');
  const path = fakePath(`echo "$@" >> '${notes}'\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"`);
  const sandbox = runner(path);
  const tool = writeTool('export function run({ a }, { callId }) { return [a, callId]; }');
  expect(await sandbox.run(tool, { a: 1 }, testContext())).toEqual([1, 'call-1']);
  expect(await sandbox.run(tool, { a: 2 }, testContext())).toEqual([2, 'call-1']);
  // Once as a check, once for the run.
  const commands = readFileSync(notes, 'utf8').trim().split('\n');
  expect(commands).toHaveLength(2);
  for (const command of commands)
    expect(command).toMatch(/^--unshare-all --die-with-parent --new-session --cap-drop ALL --ro-bind-try \/bin \/bin /);
  expect(commands[1]).toContain(`--ro-bind ${dirname(tool.entry)} ${dirname(tool.entry)} `);
  expect(commands[1]).toContain('--permission');
});

test('without `bwrap`, no tool runs, and the message says what to do', async () => {
  const tool = writeTool('export function run(input, { progress }) { progress("in"); }');
  const context = testContext();
  await expect(runner(testFolder()).run(tool, {}, context)).rejects.toMatchObject({
    code: 'tool.process.not_started',
    reason: 'isolation',
    message: expect.stringContaining(onLinux ? 'install the package `bubblewrap`' : 'only for Linux'),
  });
  expect(context.told).toEqual([]);
});

test.skipIf(process.platform !== 'linux')(
  'if `bwrap` cannot create a sandbox, no tool runs, and the message says why',
  async () => {
    const path = fakePath('echo "bwrap: No permissions to create new namespace" >&2\nexit 1');
    await expect(runner(path).run(writeTool(''), {}, testContext())).rejects.toMatchObject({
      code: 'tool.process.not_started',
      reason: 'isolation',
      message: expect.stringContaining('No permissions to create new namespace'),
    });
  },
);

test.skipIf(process.platform !== 'linux').each([
  ['no program', 'exit 0', 0o644],
  ['one that fails without a word', 'exit 3', 0o755],
])('%s is not a sandbox', async (_name, script, mode) => {
  expect(await findSandbox(fakePath(script, mode))).toMatchObject({ available: false });
});

test('relative folders of the PATH are not searched', async () => {
  expect(await findSandbox('bin:.:')).toMatchObject({ available: false });
});

test('a sandbox shows the given folders, but no whole system folder', () => {
  const command = sandboxCommand('/usr/bin/bwrap', ['/bin/true'], ['/tmp/project', '/usr', '/usr/local', '/']);
  expect(command.slice(-2)).toEqual(['--', '/bin/true']);
  const shown = command.flatMap((word, index) => (word.startsWith('--ro-bind') ? [command[index + 1]] : []));
  expect(shown).toEqual(expect.arrayContaining(['/usr/bin', '/usr/local/lib', '/etc', '/tmp/project']));
  for (const wide of ['/', '/usr', '/usr/local', '/var', '/run', '/home', '/opt']) expect(shown).not.toContain(wide);
  // Parent folders created for it are read-only afterwards.
  expect(command.lastIndexOf('--remount-ro')).toBeGreaterThan(command.lastIndexOf('/tmp/project'));
});

test('a home folder is never a project, wherever it is', async () => {
  const home = testFolder();
  writeFileSync(join(home, 'package.json'), '{}');
  mkdirSync(join(home, 'tools'));
  vi.stubEnv('HOME', home);
  try {
    expect(findProject(join(home, 'tools', 'a.mjs'))).toBe(join(home, 'tools'));
    const { available } = await findSandbox();
    vi.stubEnv('HOME', '/');
    expect((await findSandbox()).available).toBe(available);
  } finally {
    vi.unstubAllEnvs();
  }
});

test('the project of a file is the topmost folder with packages that is narrower than a home', () => {
  const project = join(testFolder(), 'project');
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  mkdirSync(join(project, 'packages', 'one', 'plugins'), { recursive: true });
  writeFileSync(join(project, 'packages', 'one', 'package.json'), '{}');
  expect(findProject(join(project, 'packages', 'one', 'plugins', 'a.mjs'))).toBe(project);
  expect(findProject(join(testFolder(), 'a.mjs'))).toBe(testFolder());
  expect(findProject('/tmp/a.mjs')).toBe('/tmp');
});

test('the protection of each tier can be queried', async () => {
  const tiers = await describeIsolation(testFolder());
  expect(tiers.map(({ tier, available }) => [tier, available])).toEqual([
    ['in-process', true],
    ['worker', true],
    ['subprocess', true],
    ['sandbox', false],
  ]);
  expect(tiers[0]?.stops).toEqual([]);
  expect(tiers[2]?.stops).toContain('blocks outside JavaScript');
  // Root has no process limit, nor do other systems.
  const isLimited = onLinux && process.getuid?.() !== 0;
  expect(tiers[2]?.[isLimited ? 'stops' : 'notHere']).toContain('starts an endless number of programs');
  expect(tiers[3]?.reason).not.toBe('');
});
