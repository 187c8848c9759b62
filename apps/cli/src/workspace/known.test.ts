import { readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pendingApproval } from '../testing/test-events.ts';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { writeLog } from '../testing/test-log.ts';
import { type Ended, runHere } from '../testing/test-program.ts';
import { findSession, rememberWorkspace } from './known.ts';

const script = JSON.stringify({
  turns: [{ calls: [{ name: 'write_file', arguments: { path: '.envrc', content: '' } }] }, { text: 'Done.' }],
});

/** Runs the program in one of several folders of one user. */
function inFolder({ path }: TestFolder, name: string) {
  const options = { directory: join(path, name), environment: { NO_COLOR: '1', HOLDFAST_HOME: join(path, 'home') } };
  return (...argv: readonly string[]): Promise<Ended> => runHere(argv, options);
}

test('a session is found by id from another folder, and resumes in its own', async () => {
  await using folder = await createFolder({ 'a/script.json': script, 'b/notes.txt': '' });
  const workspace = await realpath(join(folder.path, 'a'));
  const begun = await inFolder(folder, 'a')('run', 'Do it.', '--model', 'script:script.json', '--suspend');
  const [, id = ''] = /holdfast resume (\S+)/.exec(begun.stdout) ?? [];
  const elsewhere = inFolder(folder, 'b');
  const told = { exitCode: 0, stderr: `session ${id} is in ${workspace}\n` };
  expect(await elsewhere('approve', id, 'call_1_0')).toMatchObject({
    ...told,
    stdout: expect.stringContaining(`holdfast resume ${id} --workspace ../a\n`),
  });
  expect(await elsewhere('resume', id)).toMatchObject({ ...told, stdout: expect.stringContaining('+ created .envrc') });
  expect(await stat(join(workspace, '.envrc'))).toMatchObject({ size: 0 });
  for (const argv of [
    ['show', id],
    ['why', id, 'call_1_0'],
    ['replay', id],
    ['verify', id],
    ['pending', id],
    ['grants', id],
    ['policy', 'observed', id],
  ])
    expect({ argv, ...(await elsewhere(...argv)) }).toMatchObject({ argv, ...told });
  // A session without calls, in a folder without sessions.
  expect(await elsewhere('why', id)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(`\`${id}\` is a session: use \`holdfast why ${id} CALL\``),
  });
  // Without an id: the newest session of the current folder. A named folder is searched alone.
  expect((await elsewhere('show')).stderr).toContain('usage.invalid: session_unknown');
  expect((await elsewhere('show', id, '--workspace', '../home')).stderr).toContain('usage.invalid: session_unknown');
});

test('a session id in several workspaces is ambiguous', async () => {
  await using folder = await createFolder({ 'b/notes.txt': '' });
  const { host } = createTestHost({ directory: join(folder.path, 'b') });
  const workspaces = ['one', 'two'].map((name) => join(folder.path, name));
  for (const workspace of workspaces) {
    await writeLog(workspace, 'same', [{ type: 'note' }]);
    await rememberWorkspace(workspace, host);
  }
  await expect(findSession({ id: 'same', workspace: '.' }, host)).rejects.toMatchObject({
    code: 'usage.invalid',
    reason: 'session_ambiguous',
    message: expect.stringContaining('Session `same` exists in several workspaces'),
    data: { reason: 'session_ambiguous', workspaces: workspaces.toReversed() },
  });
  await rm(join(folder.path, 'two'), { recursive: true });
  expect(await findSession({ id: 'same', workspace: '.' }, host)).toMatchObject({ workspace: workspaces[0] });
  for (const id of ['gone', '../same', '../../.holdfast/sessions/same'])
    await expect(findSession({ id, workspace: '.' }, host)).rejects.toMatchObject({
      code: 'usage.invalid',
      reason: 'session_unknown',
    });
});

test('a session of a guarded agent is found from any folder, and only a person answers it, also through a link', async () => {
  await using folder = await createFolder({ 'b/notes.txt': '' });
  const workspace = await realpath(folder.path).then((path) => join(path, 'home', 'guard'));
  const asks = [{ policy: 'host/coding', type: 'ask' as const, reason: 'It pushes.' }];
  const question = { type: 'approval-request', pending: pendingApproval({ callId: 't1', name: 'Bash', asks }) };
  await writeLog(workspace, 'claude-code-s-1', [question]);
  await symlink(workspace, join(folder.path, 'linked'));
  await writeFile(
    join(folder.path, 'home', 'workspaces.json'),
    JSON.stringify({ version: 1, workspaces: [join(folder.path, 'linked')] }),
  );
  const elsewhere = inFolder(folder, 'b');
  expect(await elsewhere('pending', '--guard')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('It pushes.'),
  });
  expect(await elsewhere('approve', 'claude-code-s-1', 't1')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^session claude-code-s-1 is in .*\/home\/guard\n.*guard\.person/s),
  });
});

test('workspaces are stored newest first, without duplicates, at most a hundred, readable only by the user', async () => {
  await using folder = await createFolder();
  const home = join(folder.path, 'home');
  const { host } = createTestHost({ directory: folder.path, environment: { HOLDFAST_HOME: home } });
  const read = async () => JSON.parse(await readFile(join(home, 'workspaces.json'), 'utf8')).workspaces;
  for (const path of ['/a', '/b', '/a']) await rememberWorkspace(path, host);
  expect(await read()).toEqual(['/a', '/b']);
  expect((await stat(join(home, 'workspaces.json'))).mode & 0o777).toBe(0o600);
  const many = Array.from({ length: 100 }, (_, index) => `/many/${index}`);
  await writeFile(join(home, 'workspaces.json'), JSON.stringify({ version: 1, workspaces: ['relative', 7, ...many] }));
  await rememberWorkspace('/new', host);
  expect(await read()).toEqual(['/new', ...many.slice(0, 99)]);
});

test('a malformed or unwritable list does not stop a run', async () => {
  await using folder = await createFolder({ 'home/workspaces.json': '{"workspaces":', file: '' });
  for (const home of ['home', 'file']) {
    const environment = { HOLDFAST_HOME: join(folder.path, home) };
    const { host } = createTestHost({ directory: folder.path, environment });
    await rememberWorkspace('/a', host);
    await expect(findSession({ id: 'gone', workspace: '.' }, host)).rejects.toMatchObject({
      code: 'usage.invalid',
      reason: 'session_unknown',
    });
  }
  expect(await readFile(join(folder.path, 'home', 'workspaces.json'), 'utf8')).toContain('"/a"');
});
