import { expect, test } from 'vitest';
import { runProgram } from '../program.ts';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { createProject, toPlugin, type } from '../testing/test-plugins.ts';
import { trustHere } from '../testing/test-program.ts';

test('a word that is no command of the program runs the command of a plugin, with everything behind it', async () => {
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
    says: 'error: The command `git-fail` of a plugin has failed: No server. (plugin.command.failed)',
  },
  { word: 'git-odd', exitCode: 1, says: 'answered `300`. (plugin.command.failed)' },
  { word: 'git-lgo', exitCode: 2, says: "unknown command 'git-lgo'" },
  { word: 'constructor', exitCode: 2, says: "unknown command 'constructor'" },
])('$word ends with $exitCode', async ({ word, exitCode, says }) => {
  await using folder = await createProject();
  const ended = await type(folder, [word]);
  expect(ended).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(says) });
});

test('Ctrl-C tells the command to stop, and is the exit code', async () => {
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

test('a command of the program is never taken by a plugin, and a configuration is read for unknown words only', async () => {
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
  expect(stderr).toContain('It was read. (config.failed)');
});

test('without a configuration an unknown word is what it was', async () => {
  await using folder = await createFolder();
  const { exitCode, stderr } = await type(folder, ['lst']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("unknown command 'lst'\n(Did you mean list?)");
});

test('why a command is not there is told where its plugin was left out', async () => {
  await using folder = await createProject({ plugins: ['./bad.mjs'] }, { 'bad.mjs': "throw new Error('No luck.');" });
  const { exitCode, stderr } = await type(folder, ['git-log']);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^left out: .*No luck\.[\s\S]+unknown command 'git-log'/);
});
