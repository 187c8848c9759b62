import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { planText } from '../testing/test-plans.ts';
import { type Ended, runHere } from '../testing/test-program.ts';

const places = [
  ...['package.json', '.npmrc', '.yarnrc.yml', '.pnpmfile.cjs', 'pnpm-workspace.yaml', '.gitattributes', '.gitmodules'],
  ...['.husky/pre-commit', '.githooks/pre-push', 'lefthook.yml', '.pre-commit-config.yaml', '.lintstagedrc'],
  ...['.envrc', 'mise.toml', '.tool-versions', '.vscode/tasks.json', '.vscode/settings.json', 'a.code-workspace'],
  ...[
    '.idea/workspace.xml',
    '.devcontainer/devcontainer.json',
    '.exrc',
    '.nvim.lua',
    '.dir-locals.el',
    '.zed/tasks.json',
  ],
  ...['.mcp.json', '.claude/settings.json', '.cursor/mcp.json', '.codex/config.toml', '.gemini/settings.json'],
  ...['.windsurf/hooks.json', '.continue/config.yaml', '.aider.conf.yml', 'opencode.json', '.github/workflows/ci.yml'],
  ...['.gitlab-ci.yml', '.circleci/config.yml', 'Jenkinsfile', 'azure-pipelines.yml', '.mvn/extensions.xml', 'gradlew'],
  ...['sitecustomize.py', '.Rprofile', '.bashrc', '.ssh/config'],
];

interface Call {
  readonly name: string;
  readonly arguments: object;
}
const write = (path: string): Call => ({ name: 'write_file', arguments: { path, content: 'x' } });
const remove = (path: string): Call => ({ name: 'delete_file', arguments: { path } });

function type({ path }: TestFolder, ...argv: readonly string[]): Promise<Ended> {
  return runHere(argv, { directory: path });
}

function run(folder: TestFolder, ...options: readonly string[]): Promise<Ended> {
  return type(folder, 'run', 'Do it.', '--model', 'script:script.json', '--json', ...options);
}

interface End {
  readonly name: string;
  readonly kind: string;
  readonly message?: string;
}

function endsOf({ stdout }: Ended): readonly End[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === 'tool-call-end')
    .map(({ name, outcome }) => ({ name, ...outcome }));
}

function script(...turns: readonly (readonly Call[])[]): string {
  return JSON.stringify({ turns: [...turns.map((calls) => ({ calls })), { text: 'Done.' }] });
}

test('a self-running file is never written unattended, even with grants; other files are', async () => {
  const calls = [...places.map(write), write('.git/config'), write('plain.txt')];
  await using folder = await createFolder({ 'script.json': script(calls) });
  const ends = endsOf(await run(folder, '--unattended', '--allow', 'write_file'));
  expect(ends).toHaveLength(places.length + 2);
  for (const { kind, message } of ends.slice(0, -2)) {
    expect({ kind, message }).toEqual({ kind: 'denied', message: expect.stringContaining('runs by itself') });
  }
  expect(ends.slice(-2)).toMatchObject([{ kind: 'failed', code: 'path.invalid', reason: 'protected' }, { kind: 'ok' }]);
});

test('approving such a file for the session covers only that one call', async () => {
  await using folder = await createFolder({
    'script.json': script([write('.envrc')], [write('.envrc'), write('a.txt')]),
  });
  expect(await run(folder, '--suspend')).toMatchObject({ exitCode: 3 });
  const pending = JSON.parse((await type(folder, 'pending', '--json')).stdout);
  const { session, calls } = pending[0];
  expect(calls[0].asks).toMatchObject([{ policy: 'host/self-running-files', grantable: false }]);
  const approved = await type(folder, 'approve', session, calls[0].callId, '--grant');
  expect(approved.stdout).toContain('cannot be granted for the session');
  const resumed = await type(folder, 'resume', session, '--suspend', '--json');
  expect(resumed.exitCode).toBe(3);
  expect(endsOf(resumed)).toMatchObject([{ name: 'write_file', kind: 'ok' }]);
  expect((await type(folder, 'grants', session)).stdout).toContain('No tools are granted');
});

test.each([
  { options: ['--unattended'], kind: 'denied' },
  { options: ['--unattended', '--allow', 'delete_file'], kind: 'ok' },
])('deleting is asked about, and a grant covers it: $options $kind', async ({ options, kind }) => {
  const read: Call = { name: 'read_file', arguments: { path: 'old.txt' } };
  await using folder = await createFolder({ 'old.txt': 'old', 'script.json': script([read], [remove('old.txt')]) });
  expect(endsOf(await run(folder, ...options))[1]).toMatchObject({ name: 'delete_file', kind });
});

test('the same applies to a plan, and its check says so', async () => {
  const tool = (id: string, name: string, inputs: object): { readonly id: string } & object => ({
    ...{ id, tool: name, function: name, inputs, depends_on: [] },
  });
  const nodes = [
    tool('gone', 'delete_file', { path: 'empty' }),
    { ...tool('hook', 'write_file', { path: '.envrc', content: 'x' }), depends_on: ['gone'] },
  ];
  await using folder = await createFolder({ 'plan.json': planText(...nodes) });
  await mkdir(join(folder.path, 'empty'));
  const allowed = ['--allow', 'write_file', '--allow', 'delete_file'];
  const checked = JSON.parse((await type(folder, 'plan', 'check', 'plan.json', '--json')).stdout);
  expect(checked.asks).toMatchObject([{ node: 'gone' }, { node: 'hook' }]);
  const ran = await type(folder, 'plan', 'run', 'plan.json', '--json', '--unattended', ...allowed);
  expect(endsOf(ran)).toMatchObject([
    { name: 'delete_file', kind: 'ok' },
    { name: 'write_file', kind: 'denied' },
  ]);
});
