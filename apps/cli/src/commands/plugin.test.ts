import { expect, test } from 'vitest';
import { runProgram } from '../program.ts';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { createProject, toPlugin, type } from '../testing/test-plugins.ts';
import { trustHere } from '../testing/test-program.ts';

test('a word that is not a command runs the plugin command with all its arguments', async () => {
  await using folder = await createProject();
  expect(await type(folder, ['git-log', 'one', '--help', '-x', '--config', ''])).toEqual({
    exitCode: 5,
    stdout: 'one|--help|-x|--config|\n',
    stderr: `${folder.path}\n`,
  });
});

test.each([
  {
    word: 'git-fail',
    exitCode: 1,
    says: 'error: The plugin command `git-fail` failed: No server. (plugin.failed: command)',
  },
  { word: 'git-odd', exitCode: 1, says: 'got `300`. (plugin.failed: command)' },
  { word: 'git-lgo', exitCode: 2, says: "unknown command 'git-lgo'" },
  { word: 'constructor', exitCode: 2, says: "unknown command 'constructor'" },
])('$word ends with $exitCode', async ({ word, exitCode, says }) => {
  await using folder = await createProject();
  const ended = await type(folder, [word]);
  expect(ended).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(says) });
});

test('Ctrl-C aborts the command and determines the exit code', async () => {
  await using folder = await createProject();
  await trustHere(folder.path);
  const { host, interrupt } = createTestHost({ directory: folder.path });
  let listening: () => void = () => undefined;
  const heard = new Promise<void>((resolve) => {
    listening = resolve;
  });
  const ended = runProgram(
    ['git-wait'],
    {
      ...host,
      onInterrupt(listener) {
        listening();
        return host.onInterrupt(listener);
      },
    },
    '0',
  );
  await heard;
  interrupt('ctrl-c');
  expect(await ended).toBe(130);
});

test('a plugin cannot replace a command of the program, and the configuration is read only for unknown words', async () => {
  const own = toPlugin(`{
    name: 'own', version: '1.0.0', description: 'Lists.', holdfast: '*',
    commands: [{ name: 'check', description: 'Takes over.', run: () => 9 }],
  }`);
  await using folder = await createProject({ plugins: ['./own.mjs'] }, { 'own.mjs': own });
  expect(await type(folder, ['check', '--help'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('holdfast check plugins'),
  });
  await using broken = await createFolder({ 'holdfast.config.mjs': "throw new Error('It was read.');" });
  expect((await type(broken, ['check', '--help'])).exitCode).toBe(0);
  expect((await type(broken, ['--help'])).exitCode).toBe(0);
  expect(await type(broken, ['help'])).toMatchObject({ exitCode: 0 });
  const { exitCode, stderr } = await type(broken, ['git-log']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('It was read. (config.invalid: failed)');
});

test('without a configuration an unknown word is an unknown command', async () => {
  await using folder = await createFolder();
  const { exitCode, stderr } = await type(folder, ['lst']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("unknown command 'lst'\n(Did you mean list?)");
});

test('an unknown command is explained if a plugin was left out', async () => {
  await using folder = await createProject({ plugins: ['./bad.mjs'] }, { 'bad.mjs': "throw new Error('No luck.');" });
  const { exitCode, stderr } = await type(folder, ['git-log']);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^left out: .*No luck\.[\s\S]+unknown command 'git-log'/);
});
