import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import {
  createProject,
  listSessions,
  runScript,
  toConfig,
  toPack,
  toPlugin,
  toScript,
  type,
} from '../../testing/test-plugins.ts';
import { runMain, toTool } from '../../testing/test-program.ts';

test('tools, guards, state and resources of a plugin and its pack are in force', async () => {
  const config = { plugins: ['./git.mjs'], packs: ['git/git-safety'] };
  const script = toScript([
    ['push', { branch: 'dev' }],
    ['push', { branch: 'main' }],
    ['push', { branch: 'fix' }],
    ['blame'],
  ]);
  await using folder = await createProject(config, { 'script.json': script });
  const { exitCode, stdout, stderr } = await runScript(folder, '--yes');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(
    /^script:script\.json · 7 file tools .+ · plugins: git 1\.2\.0 · guards: git-safety \(recommended\)/,
  );
  expect(stdout).toMatch(/ok {8}push .+"dev".+ allow: granted/);
  expect(stdout).toMatch(/denied {4}push .+"main".+ deny: git-not-to-main/);
  expect(stdout).toMatch(/ok {8}blame/);
  const shown = await type(folder, ['show', '--json']);
  expect(shown.stdout).toContain('{"branch":"fix","url":"https://git.example","pushed":["dev","fix"]}');
  const denied = await type(folder, ['run', 'Do it.', '--model', 'script:script.json', '--unattended']);
  expect(denied.stdout).toMatch(/denied {4}push .+"dev".+ ask: git-safety-ask-push/);
});

test("a prefix applies to a plugin's tool names, but its guards see the original ones", async () => {
  const config = { plugins: [{ plugin: './git.mjs', prefix: 'git', config: { token: 'secret' } }] };
  const script = toScript([['git_push', { branch: 'main' }], ['git_push', { branch: 'dev' }], ['git_blame'], ['push']]);
  await using folder = await createProject(config, { 'script.json': script });
  const { stdout } = await runScript(folder);
  expect(stdout).toMatch(/denied {4}git_push .+ deny: git-not-to-main/);
  expect(stdout).toMatch(/ok {8}git_push [\s\S]+ok {8}git_blame[\s\S]+unknown.+ push /);
});

test("a plugin's model is used as `<plugin>/<model>`; others are unknown", async () => {
  await using folder = await createProject({ plugins: ['./git.mjs'], model: 'git/echo' });
  const { stdout } = await type(folder, ['run', 'Say this.']);
  expect(stdout).toMatch(/^echo · /);
  expect(stdout).toContain('\n| Say this.\n');
  expect(await type(folder, ['run', 'x', '--model', 'git/echoes'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Models of plugins: `git/echo`. (usage.invalid: model_unknown)'),
  });
});

test('an unknown model is reported with its configuration file', async () => {
  await using folder = await createProject({ model: 'gpt-5' });
  const { exitCode, stderr } = await type(folder, ['run', 'x']);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(
    /\(usage\.invalid: model_unknown\)\n {2}hint: it is set as `model` in holdfast\.config\.mjs\.\n$/,
  );
  expect((await type(folder, ['run', 'x', '--model', 'gpt-6'])).stderr).not.toContain('hint');
});

test('a model that cannot be created ends the run before it starts', async () => {
  const source = toPlugin(`{
    name: 'sad', version: '1.0.0', description: 'Has no model.', holdfast: '*',
    models: [{ name: 'none', description: 'Throws.', create() { throw new Error('No ' + this.name); } }],
  }`);
  await using folder = await createFolder({
    'sad.mjs': source,
    'holdfast.config.mjs': toConfig({ plugins: ['./sad.mjs'] }),
  });
  const { exitCode, stderr } = await type(folder, ['run', 'x', '--model', 'sad/none']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Cannot create model `sad/none`: No none (plugin.failed: model)');
  expect(await listSessions(folder)).toEqual([]);
});

test('tool lists and limits are in force', async () => {
  const config = { plugins: ['./git.mjs'], denyTools: ['write_file'], limits: { maxCalls: 2 } };
  const script = toScript([['write_file', { path: 'a', content: '' }], ['status'], ['status'], ['status']]);
  await using folder = await createProject(config, { 'script.json': script });
  const { exitCode, stdout, stderr } = await runScript(folder);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
  expect(stdout).toMatch(/denied {4}write_file .+ deny: config-host-deny-tools/);
  expect(stdout).toContain('used 2 of 2 calls');
  // The command line has the host's rights.
  expect((await runScript(folder, '--max-calls', '9')).stdout).toContain('used 3 of 9 calls');
});

test('an unknown tool is an error in a list of the host, and a warning in a list of a workspace', async () => {
  const run = async (config: object, policy: object = {}) => {
    const files = { 'script.json': toScript([['list_files']]), 'bad.mjs': "throw new Error('no');" };
    await using folder = await createProject(config, { ...files, 'holdfast.policy.json': JSON.stringify(policy) });
    return { ...(await runScript(folder)), sessions: (await listSessions(folder)).length };
  };
  for (const list of ['denyTools', 'allowTools']) {
    const { exitCode, stdout, stderr, sessions } = await run({ [list]: ['read_file', 'delete_fil'] });
    expect({ exitCode, stdout, sessions }).toEqual({ exitCode: 2, stdout: '', sessions: 0 });
    expect(stderr).toContain(`Unknown tool \`delete_fil\` in \`${list}\` of holdfast.config.mjs.`);
    expect(stderr).toContain('Did you mean `delete_file`?');
  }
  // The names of a plugin that was left out are unknown.
  const unsure = await run({ plugins: ['./bad.mjs'], denyTools: ['push'] });
  expect(unsure).toMatchObject({ exitCode: 0, sessions: 1 });
  expect(unsure.stderr).toContain('warning: unknown tool `push` in `denyTools` of holdfast.config.mjs');
  const told = await run({}, { denyTools: ['push'] });
  expect(told).toMatchObject({ exitCode: 0, sessions: 1 });
  expect(told.stderr).toBe('warning: unknown tool `push` in `denyTools` of holdfast.policy.json\n');
});

test('a workspace can only tighten', async () => {
  const config = { plugins: ['./git.mjs'], denyTools: ['status'], limits: { maxCalls: 5 } };
  const policy = { denyTools: ['read_file'], packs: ['git/git-safety'], limits: { maxCalls: 50 } };
  const calls: readonly [string, object?][] = [
    ['status'],
    ['read_file', { path: 'a.txt' }],
    ['push', { branch: 'dev' }],
  ];
  await using folder = await createProject(config, {
    'work/holdfast.policy.json': JSON.stringify(policy),
    'work/a.txt': 'a',
    'script.json': toScript(calls),
  });
  const { stdout } = await runScript(folder, '--workspace', 'work', '--unattended');
  expect(stdout).toMatch(/denied {4}status .+ deny: config-host-deny-tools/);
  expect(stdout).toMatch(/denied {4}read_file .+ deny: config-workspace-deny-tools/);
  expect(stdout).toMatch(/denied {4}push .+ ask: \S*git-safety-ask-push/);
  expect(stdout).toContain('of 5 calls');
});

const failing = {
  'throws when imported': "throw new Error('No luck.');",
  'throws in setup': toPlugin(`{
    name: 'bad', version: '1.0.0', description: 'Bad.', holdfast: '*', setup() { throw new Error('No luck.'); },
  }`),
  'requires another Holdfast': toPlugin(`{ name: 'bad', version: '1.0.0', description: 'Bad.', holdfast: '^99.0.0' }`),
  'has an invalid section': `import { markdownSection } from '${import.meta.resolve('@holdfast/prompt')}';
${toPlugin(`{
    name: 'bad', version: '1.0.0', description: 'Bad.', holdfast: '*',
    sections: [markdownSection({ title: 'Odd', template: 'About $nothing.' })],
  }`)}`,
  'has an invalid tool': toPlugin(
    `{ name: 'bad', version: '1.0.0', description: 'Bad.', holdfast: '*', tools: [{ name: 'x' }] }`,
  ),
};

test.each(Object.entries(failing))('a plugin that %s is left out, and the run continues', async (_why, source) => {
  const config = { plugins: ['./bad.mjs', './git.mjs'] };
  await using folder = await createProject(config, { 'bad.mjs': source, 'script.json': toScript([['status']]) });
  const { exitCode, stdout, stderr } = await runScript(folder);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/ · plugins: git 1\.2\.0 · in [\s\S]+ok {8}status/);
  expect(stderr).toMatch(/^left out: .+ \((?:plugin|prompt|tool)\.[a-z._: ]+\)\n$/);
});

const unguarded: Readonly<
  Record<string, { readonly config: object; readonly pack?: string; readonly reason?: string; readonly code: string }>
> = {
  'is missing': { config: { packs: ['./guard.mjs'] }, code: 'plugin.package.failed', reason: 'missing' },
  'throws when imported': { config: { packs: ['./guard.mjs'] }, pack: "throw new Error('no');", code: 'plugin.' },
  'has an unknown preset': {
    config: { packs: [{ pack: './guard.mjs', preset: 'lax' }] },
    pack: toPack('guard', '() => core.allow'),
    code: 'pack.invalid',
    reason: 'preset.unknown',
  },
  'has unknown options': {
    config: { packs: [{ pack: './guard.mjs', config: { more: 1 } }] },
    pack: toPack('guard', '() => core.allow'),
    code: 'pack.invalid',
    reason: 'config',
  },
  'is offered by a plugin that failed': {
    config: { plugins: ['./bad.mjs'], packs: ['bad/guard'] },
    code: 'config.invalid',
    reason: 'pack.unknown',
  },
  'is in a configuration with a misspelled key': { config: { pakcs: ['./guard.mjs'] }, code: 'config.invalid' },
};

test.each(Object.entries(unguarded))('nothing runs when a pack %s', async (_why, { config, pack, code, reason }) => {
  await using folder = await createProject(config, {
    ...(pack === undefined ? {} : { 'guard.mjs': pack }),
    'bad.mjs': "throw new Error('no');",
    'script.json': toScript([['write_file', { path: 'a', content: '' }]]),
  });
  const { exitCode, stdout, stderr } = await runScript(folder);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(`(${code}${reason === undefined ? '' : `: ${reason}`}`);
  expect(await listSessions(folder)).toEqual([]);
});

test('nothing runs when the workspace policy is not valid JSON', async () => {
  await using folder = await createProject({}, { 'holdfast.policy.json': '{ denyTools: }', 'script.json': toScript() });
  expect(await runScript(folder)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('config.invalid'),
  });
});

test('a plugin tool with the name of a file tool is refused until the host names the winner', async () => {
  const source = toPlugin(`{
    name: 'own', version: '1.0.0', description: 'Reads.', holdfast: '*',
    tools: [core.defineTool({ name: 'read-file', description: 'Reads.', effects: 'none', execute: () => 'own' })],
  }`);
  const files = { 'own.mjs': source, 'script.json': toScript([['read-file'], ['read_file', { path: 'git.mjs' }]]) };
  const run = async (config: object) => {
    await using folder = await createProject(config, files);
    return await runScript(folder);
  };
  const refused = await run({ plugins: ['./own.mjs'] });
  expect(refused).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('(registry.invalid: name.conflict)'),
  });
  for (const owner of ['`files`', '`own`', 'prefix', 'winners']) expect(refused.stderr.toLowerCase()).toContain(owner);
  const won = await run({ plugins: ['./own.mjs'], winners: { read_file: 'own' } });
  expect(won.stdout).toMatch(/ok {8}read-file [\s\S]+unknown.+ read_file/);
  const kept = await run({ plugins: ['./own.mjs'], winners: { 'read-file': 'files' } });
  expect(kept.stdout).toMatch(/unknown.+ read-file [\s\S]+ok {8}read_file/);
});

test('tool files with confusable names are left out, others are used', async () => {
  const files = {
    'plugins/a.mjs': toTool('read-fi1e', 'return 1;'),
    'plugins/b.mjs': toTool('model_one', 'return 1;'),
    'plugins/c.mjs': toTool('mode1_one', 'return 1;'),
    'script.json': toScript([['model_one']]),
  };
  await using folder = await createProject({ plugins: ['./git.mjs'] }, files);
  const { exitCode, stdout, stderr } = await runScript(folder);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/1 tool from \.\/plugins · plugins: git[\s\S]+ok {8}model_one/);
  expect(stderr).toContain('`read-fi1e` is too similar to the built-in file tool `read_file`; this tool is left out.');
  expect(stderr).toContain('`mode1_one` is too similar to `model_one` in b.mjs; this tool is left out.');
});

test('a run cannot change imported code or the workspace policy', async () => {
  const paths = ['git.mjs', 'holdfast.config.mjs', 'holdfast.policy.json'];
  const script = toScript(
    paths.map((path) => ['read_file', { path }]),
    paths.map((path) => ['write_file', { path, content: '{}' }]),
    paths.map((path) => ['delete_file', { path }]),
  );
  const policy = JSON.stringify({ denyTools: ['grep_files'] });
  await using folder = await createProject(undefined, { 'script.json': script, 'holdfast.policy.json': policy });
  const { stdout } = await runScript(folder, '--allow', 'delete_file');
  for (const path of paths) expect(stdout.split(`\`${path}\` is protected`)).toHaveLength(3);
  expect(await readFile(join(folder.path, 'holdfast.policy.json'), 'utf8')).toBe(policy);
});

test('relative imports of a configuration are protected, including files that do not exist yet', async () => {
  const files = {
    'holdfast.config.mjs': `import { rule } from './own/rule.mjs';\n${toConfig({ plugins: ['./git.mjs', './later.mjs'] })}`,
    'own/rule.mjs': "export * from './deep/rule.mjs';",
    'own/deep/rule.mjs': 'export const rule = 1;',
    'own/other.mjs': '',
    'node_modules/some/index.mjs': 'export default 1;',
    'git.mjs': toPlugin(`{ name: 'git', version: '1.0.0', description: 'Git.', holdfast: '*' }`).concat(
      "import './node_modules/some/index.mjs';",
    ),
  };
  const paths = ['own/rule.mjs', 'own/deep/rule.mjs', 'git.mjs', 'node_modules/some/index.mjs'];
  const script = toScript(
    paths.map((path) => ['read_file', { path }]),
    [...paths, 'later.mjs', 'node_modules/more/index.mjs', 'own/made.mjs'].map((path) => [
      'write_file',
      { path, content: '' },
    ]),
  );
  await using folder = await createFolder({ ...files, 'script.json': script });
  // In a separate process, because this one does not import a module twice.
  const { exitCode, stdout } = await runMain(['run', 'x', '--model', 'script:script.json'], { folder: folder.path });
  expect(exitCode).toBe(0);
  for (const path of [...paths, 'later.mjs', 'node_modules/more/index.mjs'])
    expect(stdout).toContain(`\`${path}\` is protected`);
  expect(stdout).toContain('+ created own/made.mjs\n\ncompleted');
});

test('output during imports does not mix with --json', async () => {
  const files = {
    'holdfast.config.mjs': `console.log('CONFIG');\n${toConfig({ plugins: ['./loud.mjs'] })}`,
    'loud.mjs': `console.log('PLUGIN');\n${toPlugin(`{
      name: 'loud', version: '1.0.0', description: 'Loud.', holdfast: '*', setup() { process.stdout.write('SETUP\\n'); return {}; },
    }`)}`,
    'script.json': toScript(),
  };
  await using folder = await createFolder(files);
  for (const argv of [['run', 'x', '--model', 'script:script.json'], ['list'], ['config']]) {
    const { exitCode, stdout, stderr } = await runMain([...argv, '--json'], { folder: folder.path });
    expect({ argv, exitCode }).toEqual({ argv, exitCode: 0 });
    expect(stderr).toBe(argv[0] === 'config' ? 'CONFIG\n' : 'CONFIG\nPLUGIN\nSETUP\n');
    expect(stdout).toMatch(/^[[{]/);
    expect(stdout).not.toMatch(/CONFIG\n|PLUGIN|SETUP/);
  }
});

test.each(['config', 'plugin'])('a %s that ends the process is a failure', async (what) => {
  const exits = 'process.exit(0);\n';
  const config = toConfig({ plugins: ['./quits.mjs'] });
  await using folder = await createFolder({
    'holdfast.config.mjs': what === 'config' ? exits + config : config,
    'quits.mjs': exits,
    'script.json': toScript(),
  });
  const { exitCode, stdout, stderr } = await runMain(['run', 'x', '--model', 'script:script.json'], {
    folder: folder.path,
  });
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain('ended this process. Nothing has run. (plugin.failed: exited)');
});

test('CommonJS plugins and their imports', async () => {
  const files = {
    'node_modules/old-plugin/package.json': JSON.stringify({
      name: 'old-plugin',
      version: '1.0.0',
      main: './main.cjs',
    }),
    'node_modules/old-plugin/main.cjs': `const { word } = require('./word.cjs');
exports.load = () => word;
exports.old = {
  type: 'plugin', name: 'old', version: '1.0.0', description: 'Old.', holdfast: '*', configSchema: undefined,
  commands: [{ name: 'old-word', description: 'Prints a word.', run(_, { print }) { print(word + '\\n'); return 0; } }],
};`,
    'node_modules/old-plugin/word.cjs': "exports.word = 'found';",
    'holdfast.config.mjs': toConfig({ plugins: ['old-plugin'] }),
  };
  await using folder = await createFolder(files);
  const { exitCode, stdout, stderr } = await runMain(['old-word'], { folder: folder.path });
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: 'found\n', stderr: '' });
});

test('a tool file and a plugin tool with the same name are refused until the host names the winner', async () => {
  const files = {
    'plugins/push.mjs': toTool('push', 'return 1;'),
    'script.json': toScript([['push', { branch: 'dev' }]]),
  };
  const run = async (config: object) => {
    await using folder = await createProject({ plugins: ['./git.mjs'], ...config }, files);
    return await runScript(folder);
  };
  const refused = await run({});
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
  expect(refused.stderr).toMatch(/`folder`.+`git`.+`push`.+\(registry\.invalid: name\.conflict\)/);
  expect((await run({ winners: { push: 'git' } })).stdout).toMatch(/ok {8}push/);
  expect((await run({ winners: { push: 'folder' } })).stdout).toMatch(/invalid {3}push/);
});

test('tool files of a plugin run with the same isolation, and an invalid one is left out', async () => {
  const source = toPlugin(`{
    name: 'filed', version: '1.0.0', description: 'Has files.', holdfast: '*',
    toolFolders: [new URL('./filed/', import.meta.url)],
  }`);
  const files = {
    'filed.mjs': source,
    'filed/where.mjs': toTool('where', 'return { pid: process.pid };'),
    'filed/bad.mjs': 'export const METADATA = make();',
    'script.json': toScript([['where']]),
  };
  await using folder = await createProject({ plugins: ['./filed.mjs'] }, files);
  const { exitCode, stdout, stderr } = await runScript(folder);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/plugins: filed 1\.0\.0[\s\S]+ok {8}where/);
  expect(stderr).toMatch(/filed\/bad\.mjs:1:\d+/);
  expect((await type(folder, ['show', '--json'])).stdout).not.toContain(`"pid":${process.pid}}`);
  const trusting = await runScript(folder, '--isolation', 'in-process');
  expect(trusting.exitCode).toBe(0);
  expect((await type(folder, ['show', '--json'])).stdout).toContain(`"pid":${process.pid}}`);
});

test.each([
  { title: 'none exists', files: {}, argv: [], isRefused: true },
  {
    title: 'another one is named',
    files: { 'own/act.mjs': toTool('act', 'return 1;') },
    argv: ['--tools', 'own'],
    isRefused: true,
  },
  {
    title: 'the configuration names another one',
    files: { 'own/act.mjs': toTool('act', 'return 1;'), 'holdfast.config.mjs': toConfig({ tools: './own' }) },
    argv: [],
    isRefused: false,
  },
])('a tools folder that a later run would use cannot be created: $title', async ({ files, argv, isRefused }) => {
  const script = toScript(
    ['plugins', 'plugins/new.mjs'].map((path) => ['write_file', { path: `${path}/a.mjs`, content: '' }]),
  );
  await using folder = await createFolder({ ...files, 'script.json': script });
  const { exitCode, stdout } = await runScript(folder, ...argv);
  expect(exitCode).toBe(0);
  expect(stdout.includes('`plugins/a.mjs` is protected')).toBe(isRefused);
  expect(stdout.includes('+ created plugins/a.mjs')).toBe(!isRefused);
});

test('a configured package that is not installed cannot be created', async () => {
  const path = 'node_modules/gone-plugin/index.mjs';
  const script = toScript([
    ['write_file', { path, content: '{}' }],
    ['write_file', { path: `ci/${path}`, content: '{}' }],
  ]);
  const files = { 'script.json': script, 'ci/my.mjs': toConfig({ plugins: ['gone-plugin'] }) };
  await using folder = await createFolder(files);
  const { exitCode, stdout } = await runScript(folder, '--config', 'ci/my.mjs');
  expect(exitCode).toBe(0);
  for (const written of [path, `ci/${path}`]) expect(stdout).toContain(`\`${written}\` is protected`);
});

test('tool folders of plugins cannot be written, even of a plugin that was left out', async () => {
  const toFiled = (name: string, more: string): string =>
    toPlugin(`{ name: '${name}', version: '1.0.0', description: 'Has files.', holdfast: '*', ${more} }`);
  const paths = ['one/new.mjs', 'two/new.mjs', 'three/new.mjs'];
  const files = {
    'a.mjs': toFiled('first', "toolFolders: [new URL('./one/', import.meta.url)],"),
    'b.mjs': toFiled('second', "setup: () => ({ toolFolders: [new URL('./two/', import.meta.url)] }),"),
    'c.mjs': toFiled(
      'third',
      "toolFolders: [new URL('./three/', import.meta.url)], setup() { throw new Error('no'); },",
    ),
    'one/act.mjs': toTool('act', 'return 1;'),
    'two/play.mjs': toTool('play', 'return 1;'),
    'script.json': toScript(paths.map((path) => ['write_file', { path, content: '' }])),
  };
  await using folder = await createProject({ plugins: ['./a.mjs', './b.mjs', './c.mjs'] }, files);
  const { exitCode, stdout } = await runScript(folder);
  expect(exitCode).toBe(0);
  for (const path of paths) expect(stdout).toContain(`\`${path}\` is protected`);
  // Nor can such a folder be the workspace.
  expect(await runScript(folder, '--workspace', 'one')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('(usage.invalid: tools_around_workspace)'),
  });
});

test("a plugin's section can be opened even if only some tools are allowed", async () => {
  const source = `import { markdownSection } from '${import.meta.resolve('@holdfast/prompt')}';
${toPlugin(`{
    name: 'long', version: '1.0.0', description: 'Has much to say.', holdfast: '*',
    sections: [markdownSection({
      title: 'Rules', template: 'All of them.', summary: 'Rules.', visibility: 'summary',
      tools: [core.defineTool({ name: 'rule', description: 'Gives one.', effects: 'none', execute: () => 'one' })],
    })],
  }`)}`;
  const files = {
    'long.mjs': source,
    'script.json': toScript([['open_sections', { section_keys: ['rules'], reason: 'To know.' }], ['list_files']]),
  };
  const run = async (allowTools: readonly string[]) => {
    await using folder = await createProject({ plugins: ['./long.mjs'], allowTools }, files);
    return await runScript(folder);
  };
  const opened = await run(['open_sections']);
  expect(opened.stderr).toBe('');
  expect(opened.stdout).toMatch(/ok {8}open_sections [\s\S]+denied {4}list_files .+ deny: config-allow-tools/);
  expect((await run(['list_files'])).stdout).toMatch(/denied {4}open_sections [\s\S]+ok {8}list_files/);
  const none = await run([]);
  expect(none.stdout).toMatch(/denied {4}open_sections [\s\S]+denied {4}list_files/);
});

test('--no-config and --config select the configuration', async () => {
  const files = {
    'other/holdfast.config.mjs': toConfig({ plugins: ['../git.mjs'], tools: './own', model: 'script:script.json' }),
    'other/own/act.mjs': toTool('act', 'return 1;'),
    'other/script.json': toScript([['act'], ['status']]),
    'script.json': toScript([['status']]),
  };
  await using folder = await createProject(undefined, files);
  expect((await runScript(folder, '--no-config')).stdout).toMatch(/unknown.+ status/);
  const { stdout, stderr } = await type(folder, ['run', 'x', '--config', 'other/holdfast.config.mjs']);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^script:\S*other\/script\.json · 7 file tools, 1 tool from \.\/other\/own · plugins: git/);
  expect(stdout).toMatch(/ok {8}act [\s\S]+ok {8}status/);
  expect(await type(folder, ['run', 'x', '--config', 'gone.mjs'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('(config.invalid: missing)'),
  });
});
