import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createFolder, type TestFolder, toUserFolder } from '../testing/test-folder.ts';
import { planText } from '../testing/test-plans.ts';
import { runHere, runMain } from '../testing/test-program.ts';
import { createUserFile } from './folder.ts';
import { keyFile, openRedaction } from './redaction.ts';

// Starting Node.js may take seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const secret = `ghp_${'abcdefghij0123456789ABCDEFGHIJ012345'}`;
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

// Proves its input without revealing it.
const deploy = `import { createHash } from 'node:crypto';
export const METADATA = {
  name: 'deploy', function: 'deploy', description: 'Deploys a page.', dangerous: true, effects: 'state',
  parameters: { type: 'object', properties: { page: { type: 'string' }, token: { type: 'string' } }, required: ['token'] },
};
export async function deploy({ token }, { filesystem }) {
  await filesystem.write('seen.txt', createHash('sha256').update(token).digest('hex'));
  return 'deployed with ' + token;
}
`;

/** The script of the model contains the secret, and is not part of the workspace. */
async function setUp(): Promise<{ readonly workspace: TestFolder; readonly model: string } & AsyncDisposable> {
  const workspace = await createFolder({ 'plugins/deploy.mjs': deploy });
  const turns = [{ calls: [{ name: 'deploy', arguments: { page: 'one', token: secret } }] }, { text: 'Deployed.' }];
  const other = await createFolder({ 'script.json': JSON.stringify({ turns }) });
  return {
    workspace,
    model: `script:${join(other.path, 'script.json')}`,
    async [Symbol.asyncDispose]() {
      await workspace[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

async function filesWith(text: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(paths.map(async (path) => (await readFile(path, 'utf8')).includes(text)));
  return paths.filter((_path, index) => found[index]);
}

const listLogs = async ({ path }: TestFolder): Promise<readonly string[]> =>
  (await readdir(join(path, '.holdfast', 'sessions'))).map((name) => name.replace(/^.*\./, '.')).sort();

test('another process of the same user resumes a call with a secret argument; no file contains it in plain text', async () => {
  await using trial = await setUp();
  const { workspace, model } = trial;
  const holdfast = (...argv: readonly string[]) => runMain(argv, { folder: workspace.path });
  const started = await holdfast('run', `Deploy with ${secret}.`, '--model', model, '--suspend');
  expect(started).toMatchObject({ exitCode: 3, stderr: '' });
  expect(await listLogs(workspace)).toEqual(['.jsonl', '.sealed']);
  const [, id = ''] = /pending (\S+)/.exec(started.stdout) ?? [];
  expect((await holdfast('approve', id, 'call_1_0')).exitCode).toBe(0);
  expect(await filesWith(secret, workspace.path)).toEqual([]);
  const ended = await holdfast('resume', id);
  expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await readFile(join(workspace.path, 'seen.txt'), 'utf8')).toBe(digest(secret));
  expect(await filesWith(secret, workspace.path)).toEqual([]);
  expect(await listLogs(workspace)).toEqual(['.jsonl']);

  const key = join(toUserFolder(workspace.path), keyFile);
  expect((await stat(key)).mode & 0o777).toBe(0o600);
  // Reading the log needs no key, and works with masks.
  for (const words of [['show'], ['why', 'call_1_0'], ['replay'], ['verify']]) {
    const looked = await runHere([...words, ...(words.length > 1 ? [] : [id])], { directory: workspace.path });
    expect(looked, words.join(' ')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(looked.stdout, words.join(' ')).not.toContain(secret);
  }
});

test('another user, or one without the key, gets `call.redacted`', async () => {
  await using trial = await setUp();
  const { workspace, model } = trial;
  const directory = workspace.path;
  await runHere(['run', 'Deploy.', '--model', model, '--suspend'], { directory });
  await runHere(['approve', (await lastId(workspace)) ?? '', 'call_1_0'], { directory });
  const environment = { NO_COLOR: '1', HOLDFAST_HOME: `${toUserFolder(directory)}-other` };
  const ended = await runHere(['resume', '--json', '--trust'], { directory, environment });
  expect(ended.stdout).toContain('"code":"call.redacted"');
  expect(await readdir(directory)).not.toContain('seen.txt');
  expect(await listLogs(workspace)).toEqual(['.jsonl']);
});

async function lastId({ path }: TestFolder): Promise<string | undefined> {
  const names = await readdir(join(path, '.holdfast', 'sessions'));
  return names.find((name) => name.endsWith('.jsonl'))?.replace('.jsonl', '');
}

test('a plan with a secret in its inputs is suspended and resumed, and its log is masked', async () => {
  await using trial = await setUp();
  const { workspace } = trial;
  const directory = workspace.path;
  await using plans = await createFolder();
  await plans.write(
    'p.json',
    planText(
      { id: 0, tool: 'deploy', inputs: { token: secret } },
      { id: 1, tool: 'deploy', inputs: { token: `${secret}x` }, depends_on: [0] },
    ),
  );
  const begun = await runHere(['plan', 'run', join(plans.path, 'p.json'), '--suspend'], { directory });
  expect(begun).toMatchObject({ exitCode: 3, stderr: '' });
  const id = (await lastId(workspace)) ?? '';
  for (const node of [0, 1]) {
    expect(await runHere(['approve', id, `plan_2_${node}`], { directory })).toMatchObject({ exitCode: 0, stderr: '' });
    const resumed = await runHere(['resume', id], { directory });
    expect(resumed).toMatchObject({ exitCode: node === 0 ? 3 : 0, stderr: '' });
    expect(await readFile(join(directory, 'seen.txt'), 'utf8')).toBe(digest(node === 0 ? secret : `${secret}x`));
    expect(await filesWith(secret, directory)).toEqual([]);
  }
  expect(await listLogs(workspace)).toEqual(['.jsonl']);
});

test('with `--no-redact` the log is plain text, also after resuming', async () => {
  await using trial = await setUp();
  const { workspace, model } = trial;
  const directory = workspace.path;
  await runHere(['run', 'Deploy.', '--model', model, '--suspend', '--no-redact'], { directory });
  expect(await listLogs(workspace)).toEqual(['.jsonl']);
  const id = (await lastId(workspace)) ?? '';
  await runHere(['approve', id, 'call_1_0'], { directory });
  expect(await runHere(['resume', id], { directory })).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await readFile(join(directory, 'seen.txt'), 'utf8')).toBe(digest(secret));
  const [log = ''] = await filesWith(secret, directory);
  expect(await readFile(log, 'utf8')).not.toContain('[redacted:');
  expect(await readFile(log, 'utf8')).toContain(`deployed with ${secret}`);
  expect(await readdir(toUserFolder(directory))).not.toContain(keyFile);
});

test('`--no-redact` only applies to running a plan', async () => {
  await using workspace = await createFolder();
  const made = await runHere(['plan', 'Copy it.', '--no-redact'], { directory: workspace.path });
  expect(made).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('`--no-redact` only applies to running a plan'),
  });
});

test('processes that create the key concurrently share it, and a broken one is an error', async () => {
  await using folder = await createFolder();
  const host = { environment: { HOLDFAST_HOME: 'home' }, directory: folder.path };
  let made = 0;
  const texts = await Promise.all(
    Array.from({ length: 8 }, () =>
      createUserFile(
        keyFile,
        () => {
          made += 1;
          return `${made}`.repeat(64);
        },
        host,
      ),
    ),
  );
  expect(made).toBeGreaterThan(1);
  expect(new Set(texts).size).toBe(1);
  expect(await readdir(join(folder.path, 'home'))).toEqual([keyFile]);
  const log = join(folder.path, 's.jsonl');
  const masks = await Promise.all([1, 2].map(async () => (await openRedaction(log, host)).redactor?.redact(secret)));
  expect(masks[0]).toBe(masks[1]);
  await folder.write(`home/${keyFile}`, 'no key');
  await expect(openRedaction(log, host)).rejects.toMatchObject({
    code: 'user_config.invalid',
    reason: 'redaction.key',
  });
});

test('an unwritable user folder is an error that suggests --no-redact', async () => {
  await using folder = await createFolder();
  // Nothing exists there, and nothing can be created.
  await folder.link('home', 'gone/away');
  const environment = { NO_COLOR: '1', HOLDFAST_HOME: join(folder.path, 'home') };
  const begin = (...argv: readonly string[]) =>
    runHere(['run', 'What is here?', ...argv], { directory: folder.path, environment, trusted: false });
  expect((await begin()).stderr).toMatch(
    /`HOLDFAST_HOME`.* \(user_folder\.unusable: unwritable\)\n {2}hint: .*`--no-redact`/,
  );
  expect(await begin('--no-redact')).toMatchObject({ exitCode: 0 });
});
