import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defineTool, type Outcome, type Policy, runsByItself, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { fileTools, memoryFilesystem, selfRunningFiles } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { requireApproval } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { afterAll, expect, test } from 'vitest';

const places = [
  ...['package.json', 'packages/app/package.json', '.npmrc', '.yarnrc.yml', '.yarn/releases/yarn.cjs', '.pnpmfile.cjs'],
  ...['pnpm-workspace.yaml', 'composer.json', 'setup.py', 'pyproject.toml', 'Gemfile', 'sitecustomize.py', 'lib/x.pth'],
  ...['.gitattributes', '.gitmodules', '.gitconfig', '.husky/pre-commit', '.githooks/pre-push', 'lefthook.yml'],
  ...['.pre-commit-config.yaml', '.lintstagedrc.json', '.envrc', 'sub/.envrc', 'mise.toml', '.mise.local.toml'],
  ...['.tool-versions', '.vscode/tasks.json', '.vscode/settings.json', 'x.code-workspace', '.idea/workspace.xml'],
  ...[
    '.devcontainer/devcontainer.json',
    '.exrc',
    '.nvim.lua',
    '.dir-locals.el',
    '.zed/tasks.json',
    '.helix/config.toml',
  ],
  ...['.mcp.json', '.claude/settings.json', '.claude/hooks/x.sh', '.cursor/mcp.json', '.codex/config.toml'],
  ...['.gemini/settings.json', '.windsurf/hooks.json', '.continue/config.yaml', '.aider.conf.yml', 'opencode.json'],
  ...['.github/workflows/ci.yml', '.gitlab-ci.yml', '.circleci/config.yml', 'Jenkinsfile', 'azure-pipelines.yml'],
  ...['.travis.yml', '.buildkite/pipeline.yml', '.mvn/extensions.xml', 'gradlew', '.cargo/config.toml', '.Rprofile'],
  ...['.bashrc', '.zshenv', '.config/fish/config.fish', '.ssh/config', '.config/autostart/x.desktop'],
  ...['.config/systemd/user/x.service', 'Library/LaunchAgents/x.plist'],
];

const free = [
  ...['README.md', 'src/main.ts', 'package.json.md', 'my-package.json', 'package-lock.json', 'Makefile', 'conftest.py'],
  ...['AGENTS.md', 'CLAUDE.md', '.gitignore', '.env', '.github/ISSUE_TEMPLATE/bug.md', 'docs/vscode/tasks.json'],
  ...['envrc', 'husky/x', 'idea/x', 'src/mise/plan.ts', 'x.pth.txt', 'ssh/config', 'build.gradle', '.editorconfig'],
];

test('the list has every place of the table, in any spelling, and no file that a person runs', () => {
  expect(places.length).toBeGreaterThanOrEqual(40);
  for (const path of places) {
    const spellings = [
      path,
      path.toUpperCase(),
      `a/b/${path}`,
      path.normalize('NFD'),
      `${path}::$DATA`,
      `\u200c${path}`,
    ];
    for (const spelled of spellings) expect(runsByItself(spelled), spelled).toEqual(expect.any(String));
  }
  for (const path of free) expect(runsByItself(path), path).toBeUndefined();
});

const paths = v.object({ from: v.string(), to: v.string() });

const moveFile: Tool = defineTool({
  name: 'move_file',
  description: 'Move a file.',
  inputSchema: paths,
  effects: 'state',
  async execute({ from, to }, { filesystem }) {
    const content = await filesystem?.read(from);
    if (filesystem === undefined || content === undefined) throw new Error('no files');
    await filesystem.write(to, content);
    await filesystem.remove(from);
    return null;
  },
});
const sneakyMove: Tool = defineTool({ ...moveFile, name: 'sneaky_move', inputSchema: paths } as never);

const root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-self-running-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** One file in its own workspace, and a link `way` to its folder. */
function openHost(path: string, index: number): ReturnType<typeof hostFilesystem> {
  const folder = join(root, String(index));
  for (const [name, text] of [
    [path, 'old'],
    ['plain.txt', 'plain'],
  ] as const) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  symlinkSync(join(folder, dirname(path)), join(folder, 'way'));
  symlinkSync(join(folder, path), join(folder, 'direct'));
  return hostFilesystem(folder);
}

type Call = readonly [tool: string, input: Readonly<Record<string, string>>];

function callsFor(path: string): readonly Call[] {
  const upper = path.toUpperCase();
  return [
    ['write_file', { path, content: 'x' }],
    ['write_file', { path: upper, content: 'x' }],
    ['write_file', { path: `./sub/..//${path}`, content: 'x' }],
    ['edit_file', { path, oldText: 'old', newText: 'new' }],
    ['delete_file', { path }],
    ['move_file', { from: path, to: 'elsewhere.txt' }],
    ['move_file', { from: 'plain.txt', to: `new/${path}` }],
    ['move_file', { from: 'plain.txt', to: `new/${upper}` }],
  ];
}

function callsByLink(path: string): readonly Call[] {
  const way = `way/${path.slice(path.lastIndexOf('/') + 1)}`;
  return [
    ['write_file', { path: way, content: 'x' }],
    ['write_file', { path: 'direct', content: 'x' }],
    ['edit_file', { path: 'direct', oldText: 'old', newText: 'new' }],
    ['delete_file', { path: way }],
    ['move_file', { from: way, to: 'elsewhere.txt' }],
  ];
}

const tools = [...fileTools(), moveFile, sneakyMove];
const rule = selfRunningFiles({ writers: { move_file: ['from', 'to'] } });

interface Place {
  readonly filesystem: ReturnType<typeof memoryFilesystem>;
  readonly policies?: readonly Policy[];
  readonly session?: ReturnType<typeof createSession>;
  readonly approve?: boolean;
}

async function make([name, input]: Call, { filesystem, policies = [rule], session, approve }: Place): Promise<Outcome> {
  const outcome = await executeToolCall(
    { name, arguments: input },
    {
      tools,
      session: session ?? createSession(),
      policies,
      resources: { filesystem },
      // As `--allow` does it.
      grants: tools.map((tool) => tool.name),
      ...(approve === true ? { approve: () => ({ type: 'approve' }) } : { unattended: true }),
    },
  );
  if (outcome.kind === 'suspended') throw new Error('nobody is asked');
  return outcome;
}

test('in memory and on a host: no write, edit, delete or move without approval of the call, even if every tool is granted', async () => {
  for (const [index, path] of places.entries()) {
    const memory = memoryFilesystem({ [path]: 'old', 'plain.txt': 'plain' });
    const host = openHost(path, index);
    for (const filesystem of [memory, host]) {
      const calls = filesystem === host ? [...callsFor(path), ...callsByLink(path)] : callsFor(path);
      for (const call of calls) {
        expect(await make(call, { filesystem }), `${call[0]} ${JSON.stringify(call[1])}`).toMatchObject({
          kind: 'denied',
          code: 'approval.unattended',
          message: expect.stringContaining('runs by itself'),
        });
      }
      expect(await filesystem.readOnly.readText(path)).toBe('old');
      expect(await make(['read_file', { path }], { filesystem })).toMatchObject({ kind: 'ok' });
    }
  }
});

test('a tool that is not named as a writer fails before its commit, even if approved', async () => {
  for (const path of places) {
    const filesystem = memoryFilesystem({ [path]: 'old', 'plain.txt': 'plain' });
    const policies = [rule, requireApproval({ tools: ['sneaky_move'] })];
    for (const input of [
      { from: 'plain.txt', to: `new/${path}` },
      { from: path, to: 'elsewhere.txt' },
    ]) {
      const outcome = await make(['sneaky_move', input], { filesystem, policies, approve: true });
      expect(outcome).toMatchObject({ kind: 'failed', code: 'policy.refused', reason: 'self_running_files' });
    }
    expect(await filesystem.readOnly.readText(path)).toBe('old');
    expect(await filesystem.readOnly.stat('elsewhere.txt')).toBeUndefined();
  }
});

test('an approval allows one call, and an approval for the session no other', async () => {
  const filesystem = memoryFilesystem({ 'package.json': 'old' });
  const session = createSession();
  const write: Call = ['write_file', { path: 'package.json', content: 'new' }];
  let questions = 0;
  const answer = (): Promise<unknown> =>
    executeToolCall(
      { name: write[0], arguments: write[1] },
      {
        tools,
        session,
        policies: [rule, requireApproval({ tools: ['write_file'] })],
        resources: { filesystem },
        approve() {
          questions += 1;
          return { type: 'approve', grant: true };
        },
      },
    );
  expect(await answer()).toMatchObject({ kind: 'ok' });
  expect(await answer()).toMatchObject({ kind: 'ok' });
  expect(questions).toBe(2);
  expect(await make(write, { filesystem, session })).toMatchObject({ kind: 'denied' });
});

test('a nested call needs its own approval, not only that of its parent', async () => {
  const filesystem = memoryFilesystem({ 'plain.txt': 'plain' });
  const around: Tool = defineTool({
    name: 'around',
    description: 'Calls another tool.',
    effects: 'state',
    execute: async (_input, { call }) => (await call('write_file', { path: '.envrc', content: 'x' })).kind,
  });
  const run = (options: object): Promise<unknown> =>
    executeToolCall(
      { name: 'around', arguments: {} },
      {
        tools: [...tools, around],
        session: createSession(),
        policies: [rule],
        resources: { filesystem },
        grants: ['around', 'write_file'],
        ...options,
      },
    );
  expect(await run({})).toMatchObject({ kind: 'ok', value: 'denied' });
  expect(await filesystem.readOnly.stat('.envrc')).toBeUndefined();
  expect(await run({ approve: () => ({ type: 'approve' }) })).toMatchObject({ kind: 'ok', value: 'ok' });
  expect(await filesystem.readOnly.readText('.envrc')).toBe('x');
});

test('a link with the name of such a place needs approval, ordinary files do not', async () => {
  const folder = join(root, 'named');
  mkdirSync(folder);
  writeFileSync(join(folder, 'env.txt'), 'old');
  symlinkSync('env.txt', join(folder, '.envrc'));
  const filesystem = hostFilesystem(folder);
  expect(await make(['write_file', { path: '.envrc', content: 'x' }], { filesystem })).toMatchObject({
    kind: 'denied',
  });
  expect(await make(['write_file', { path: '.envrc', content: 'x' }], { filesystem, approve: true })).toMatchObject({
    kind: 'ok',
  });
  for (const path of free) {
    expect(await make(['write_file', { path, content: 'x' }], { filesystem }), path).toMatchObject({ kind: 'ok' });
  }
  expect(await make(['write_file', { path: '../x', content: 'x' }], { filesystem })).toMatchObject({
    code: 'path.invalid',
    reason: 'escape',
  });
  expect(
    await make(['write_file', { path: '.git/config', content: 'x' }], { filesystem, approve: true }),
  ).toMatchObject({
    kind: 'failed',
    code: 'path.invalid',
    reason: 'protected',
  });
});

test.each([{ move_file: '' }, { move_file: ['from', 1] }, { move_file: null }])('options.invalid: %j', (writers) => {
  expect(() => selfRunningFiles({ writers: writers as never })).toThrow(
    expect.objectContaining({ code: 'options.invalid' }),
  );
});
