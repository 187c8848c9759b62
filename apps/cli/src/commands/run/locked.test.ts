import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { type Ended, runHere } from '../../testing/test-program.ts';
import { listSessionIds } from '../../workspace/session-logs.ts';

const toTool = (name: string, dangerous: boolean): string => `export const METADATA = {
  name: '${name}', function: 'act', description: 'Acts.', dangerous: ${dangerous},
  parameters: { type: 'object', properties: {} },
};
export const act = () => '${name} acted';
`;
const script = JSON.stringify({ turns: [{ calls: [{ name: 'act_now', arguments: {} }] }, { text: 'Done.' }] });
const files = { 'plugins/act.mjs': toTool('act_now', true), 'script.json': script };
const run = ['run', 'Act.', '--model', 'script:script.json', '--isolation', 'in-process'];

const type = ({ path }: TestFolder, ...argv: readonly string[]): Promise<Ended> => runHere(argv, { directory: path });

test.each([
  {
    what: 'without a lock',
    files,
    argv: [],
    says: 'no `holdfast.lock` beside the tools folder `./plugins`. Review its tools, then lock them with `holdfast lock`.',
  },
  {
    what: 'without a lock beside a named folder',
    files: { ...files, 'own/deep/act.mjs': toTool('act_deep', false) },
    argv: ['--tools', 'own', '--subfolders'],
    says: 'lock them with `holdfast lock --tools own --subfolders`.',
  },
  {
    what: 'without a tools folder',
    files: { 'script.json': script },
    argv: [],
    says: 'the tools folder `./plugins` does not exist',
  },
])('--locked runs nothing $what', async ({ files, argv, says }) => {
  await using folder = await createFolder(files);
  const { exitCode, stdout, stderr } = await type(folder, ...run, '--locked', ...argv);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(says);
  expect(stderr).toContain('usage.invalid: lock_missing');
  expect(await listSessionIds(folder.path)).toEqual([]);
});

test('--locked runs locked tools', async () => {
  await using folder = await createFolder(files);
  await type(folder, 'lock');
  const { exitCode, stdout } = await type(folder, ...run, '--locked', '--allow', 'act_now');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('1 tool from ./plugins, locked');
  expect(stdout).toMatch(/ok {8}act_now /);
});

test('--allow of a tool refused by the lock reports the reason', async () => {
  await using folder = await createFolder(files);
  await type(folder, 'lock');
  await folder.write('plugins/later.mjs', toTool('act_later', true));
  const { exitCode, stderr } = await type(folder, ...run, '--allow', 'act_later');
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/lock\.changed: unpinned[\s\S]+Unknown tool `act_later` for `--allow`/);
});

test.each([{ flags: ['--locked'] }, { flags: [] }])(
  'a run with a lock ($flags) resumes only with one',
  async ({ flags }) => {
    await using folder = await createFolder(files);
    await type(folder, 'lock');
    expect(await type(folder, ...run, '--suspend', ...flags)).toMatchObject({ exitCode: 3 });
    const [id = ''] = await listSessionIds(folder.path);
    await type(folder, 'approve', id, 'call_1_0');

    await rm(join(folder.path, 'holdfast.lock'));
    const refused = await type(folder, 'resume', id);
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('usage.invalid: lock_missing') });
    await type(folder, 'lock');
    const { exitCode, stdout } = await type(folder, 'resume', id);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/ok {8}act_now /);
  },
);

test('a run without a lock resumes after a lock was added, and asks again about changed tools', async () => {
  await using folder = await createFolder(files);
  await type(folder, ...run, '--suspend');
  const [id = ''] = await listSessionIds(folder.path);
  await type(folder, 'approve', id, 'call_1_0');
  await type(folder, 'lock');
  expect(await type(folder, 'resume', id)).toMatchObject({
    exitCode: 3,
    stdout: expect.stringContaining('1 tool from ./plugins, locked'),
  });
  await type(folder, 'approve', id, 'call_1_0');
  expect(await type(folder, 'resume', id)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/ok {8}act_now /),
  });
});

test('--subfolders applies to check, list, lock, run and resume', async () => {
  await using folder = await createFolder({
    'plugins/deep/er/act.mjs': toTool('act_now', true),
    'script.json': script,
  });
  const check = await type(folder, 'check', 'plugins', '--subfolders');
  expect(check.stdout).toBe('1 valid tool, 0 errors, 0 warnings\n');
  expect((await type(folder, 'check', 'plugins')).stdout).toContain('No tool files in plugins');
  expect((await type(folder, 'list', '--subfolders')).stdout).toContain('plugins/deep/er/act.mjs');
  expect((await type(folder, 'list')).stdout).not.toContain('act_now');
  const lock = await type(folder, 'lock', '--subfolders');
  expect(lock.stdout).toContain('new      act_now  plugins/deep/er/act.mjs');
  expect(await type(folder, 'lock', '--subfolders', '--check')).toMatchObject({ exitCode: 0 });

  expect(await type(folder, ...run, '--subfolders', '--suspend')).toMatchObject({ exitCode: 3 });
  const [id = ''] = await listSessionIds(folder.path);
  await type(folder, 'approve', id, 'call_1_0');
  const { exitCode, stdout } = await type(folder, 'resume', id);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/ok {8}act_now /);
});
