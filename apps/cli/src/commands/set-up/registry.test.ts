import { expect, test } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { createProject, git, toConfig, toPack, toPlugin, type } from '../../testing/test-plugins.ts';
import { toTool } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

const manifest = (name: string, kind: string, more: object = {}): string =>
  JSON.stringify({ name, version: '3.1.0', type: 'module', exports: './index.mjs', holdfast: kind, ...more });

/** A project with installed packages: one in use, one that fails, and two that are not configured. */
const installed = {
  'node_modules/@acme/holdfast-git/package.json': manifest('@acme/holdfast-git', 'plugin', { description: 'Git.' }),
  'node_modules/@acme/holdfast-git/index.mjs': git,
  'node_modules/broken-plugin/package.json': manifest('broken-plugin', 'plugin'),
  'node_modules/broken-plugin/index.mjs': "throw new Error('No luck.');",
  'node_modules/other-pack/package.json': manifest('other-pack', 'pack', { description: 'Guards \u001b[2Jothers.' }),
  'node_modules/other-pack/index.mjs': "throw new Error('It was imported.');",
  'node_modules/evil/package.json': manifest('evil', 'other'),
  'plugins/act.mjs': toTool('act', 'return 1;'),
};
const whole = {
  plugins: [{ plugin: '@acme/holdfast-git', prefix: 'vcs', config: { token: 'secret-token' } }],
  packs: [{ pack: 'git/git-safety', preset: 'strict' }, './guard.mjs'],
  denyTools: ['vcs_push'],
};
const guard = toPack('guard', '() => core.allow');
const create = (config: object = whole) => createProject(config, { ...installed, 'guard.mjs': guard });

test.each([
  { name: 'list', argv: ['list'] },
  { name: 'list-tree', argv: ['list', '--tree'] },
  { name: 'explain', argv: ['explain', 'git'] },
  { name: 'explain', argv: ['explain', 'git-safety'] },
  { name: 'config', argv: ['config'] },
  { name: 'plugins', argv: ['plugins'] },
  { name: 'doctor', argv: ['doctor'] },
  { name: 'lock', argv: ['lock'] },
])('$argv --json matches the schema', async ({ name, argv }) => {
  await using folder = await create();
  const { exitCode, stdout, stderr } = await type(folder, [...argv, '--json']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(findIssues(await readSchema(name), JSON.parse(stdout))).toEqual([]);
  expect(stdout).not.toContain('secret-token');
});

test('list names the owner and the package of each tool', async () => {
  await using folder = await create();
  const { stdout } = await type(folder, ['list'], { terminals: ['stdout'], columns: 140 });
  expect(stdout).toMatch(/^vcs_push +git +@acme\/holdfast-git 3\.1\.0 +state +Sends commits/m);
  expect(stdout).toMatch(/^act +folder +plugins\/act\.mjs +none +Acts\./m);
  expect(stdout).toMatch(/^read_file +files +built in +none +Read the text/m);
  const [row] = JSON.parse((await type(folder, ['list', '--json'])).stdout).filter(
    (tool: { readonly name: string }) => tool.name === 'vcs_push',
  );
  expect(row).toMatchObject({
    plugin: 'git',
    provenance: {
      plugin: 'git',
      version: '1.2.0',
      package: '@acme/holdfast-git',
      digest: expect.stringMatching(/^[\da-f]{64}$/),
    },
  });
});

test('list --tree groups everything by owner', async () => {
  await using folder = await create();
  const { exitCode, stdout, stderr } = await type(folder, ['list', '--tree']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const [files, own, plugin, pack, guarding] = stdout.trimEnd().split('\n\n');
  expect(files).toMatch(/^files \d\S+\n {2}tools {5}.*read_file/);
  expect(files).toContain('\n  policies  files/read-before-write');
  expect(own).toMatch(/^folder \d\S+\n {2}tools {5}act\n {2}sections {2}tools$/);
  expect(plugin).toBe(`git 1.2.0  @acme/holdfast-git 3.1.0  (prefixed with \`vcs\`)
  tools     vcs_blame, vcs_push, vcs_status
  sections  vcs_history
  policies  git-not-to-main
  packs     git-safety
  slices    git/pushed
  models    git/echo
  resources git-client
  commands  vcs-git-fail, vcs-git-log, vcs-git-odd, vcs-git-wait`);
  expect(pack).toMatch(
    /^guard git-safety 1\.2\.0 .*\(preset `strict`; offered by .*\)\n {2}policies {2}git-safety-ask-push$/,
  );
  expect(guarding).toMatch(/^guard guard 1\.0\.0 {2}guard\.mjs {2}\(preset `recommended`\)/);
});

test.each([24, 40, 60])('in %i columns lines are broken where possible', async (columns) => {
  await using folder = await create();
  for (const argv of [['list'], ['list', '--tree'], ['explain', 'vcs_push'], ['config'], ['plugins']]) {
    const { stdout } = await type(folder, argv, { terminals: ['stdout'], columns });
    for (const line of stdout.split('\n').filter((text) => text.length > columns)) {
      expect(
        line
          .trim()
          .split(/\s+/)
          .some((word) => word.length > columns - 16),
      ).toBe(true);
    }
  }
});

test.each([
  {
    name: 'vcs_push',
    says: ['vcs_push  tool, in force', 'qualified git/push', 'from      git 1.2.0', 'prefixed with `vcs`'],
  },
  { name: 'git/push', says: ['vcs_push  tool, in force'] },
  { name: 'push', says: ['vcs_push  tool, in force', '@acme/holdfast-git'] },
  { name: 'read_file', says: ['read_file  tool, in force', 'from      files'] },
  { name: 'guard-guard', says: ['guard-guard  policy, in force', 'from      guard 1.0.0', 'guard.mjs'] },
  { name: 'act', says: ['act  tool, in force', 'from      folder', 'file      plugins/act.mjs', 'SHA-256   '] },
  { name: 'files/read-before-write', says: ['files/read-before-write  policy, in force', 'from      files'] },
  { name: 'git/echo', says: ['git/echo  model, in force'] },
])('explain $name', async ({ name, says }) => {
  await using folder = await create();
  const { exitCode, stdout, stderr } = await type(folder, ['explain', name]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  for (const text of says) expect(stdout).toContain(text);
});

const policy = `deny:
  - reads: secrets
  - runs: git push --force
ask:
  - reaches: '*'
`;

test.each(['holdfast.policy.yaml', 'config-workspace-rules', 'host/config-workspace-rules'])(
  'explain %s has a row a rule, with its line',
  async (name) => {
    await using folder = await createProject({ ask: [{ sends: 'a.example.org' }] }, { 'holdfast.policy.yaml': policy });
    const { exitCode, stdout, stderr } = await type(folder, ['explain', name]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.replaceAll(/ +/g, ' ')).toContain(
      [
        'config-workspace-rules policy, in force',
        ' qualified host/config-workspace-rules',
        ' from configuration 0.0.0',
        ' file holdfast.policy.yaml',
        ' note In force in runs of this folder.',
        ' line 2 denies calls that read secrets',
        ' line 3 denies calls that run `git push --force`',
        ' line 5 asks about calls that reach any host',
      ].join('\n'),
    );
    const json = JSON.parse((await type(folder, ['explain', name, '--json'])).stdout);
    expect(findIssues(await readSchema('explain'), json)).toEqual([]);
    expect(json[0].rules[1]).toEqual({
      file: 'holdfast.policy.yaml',
      line: 3,
      key: 'deny.runs',
      value: 'git push --force',
      says: 'denies calls that run `git push --force`',
    });
    expect((await type(folder, ['config'])).stdout).toMatch(/deny\.runs +holdfast\.policy\.yaml:3 +git push --force/);
    expect((await type(folder, ['explain', 'config-host-rules'])).stdout).toMatch(
      /rule +asks about calls that send data to `a\.example\.org`/,
    );
  },
);

test('explain user-rules has the rules of the guard that are your own', async () => {
  await using folder = await createProject(
    {},
    { 'own/holdfast.policy.json': '{ "allow": [\n{ "writes": "outside" }] }' },
  );
  const { stdout } = await type(folder, ['explain', 'user-rules'], { environment: { HOLDFAST_HOME: 'own' } });
  expect(stdout).toMatch(/line 2 +does not ask about calls that write files outside the workspace/);
  expect((await type(folder, ['explain', 'user-rules'])).exitCode).toBe(2);
});

test.each(['nothing', '__proto__', 'constructor', '', 'x'.repeat(10_000), '\u001b[2J'])(
  'explain %j reports an unknown name',
  async (name) => {
    await using folder = await create();
    const { exitCode, stdout, stderr } = await type(folder, ['explain', '--', name]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('(usage.invalid: name_unknown)');
    expect(stderr).not.toContain('\u001b[2J');
    expect(stderr.length).toBeLessThan(1000);
  },
);

test('a mistyped name gets a suggestion', async () => {
  await using folder = await create();
  expect((await type(folder, ['explain', 'vcs_psuh'])).stderr).toContain('Did you mean `vcs_push`?');
});

test('the tree and its JSON contain plugins that were left out, with the reason', async () => {
  const old = toPlugin(`{ name: 'old', version: '1.0.0', description: 'Old.', holdfast: '^99.0.0' }`);
  const config = { plugins: ['./old.mjs', './gone.mjs', './git.mjs'] };
  await using folder = await createProject(config, { 'old.mjs': old });
  const { exitCode, stdout, stderr } = await type(folder, ['list', '--tree']);
  expect(exitCode).toBe(0);
  expect(stderr.match(/^left out: /gm)).toHaveLength(2);
  expect(stdout).toMatch(/^old 1\.0\.0 {2}old\.mjs {2}\(left out: .+\^99/m);
  expect(stdout).toMatch(/^\.\/gone\.mjs {2}\(left out: .+does not exist/m);
  const json = JSON.parse((await type(folder, ['list', '--tree', '--json'])).stdout);
  expect(findIssues(await readSchema('list-tree'), json)).toEqual([]);
});

test('explains a name assigned to another plugin, and its owner', async () => {
  const own = toPlugin(`{
    name: 'own', version: '1.0.0', description: 'Pushes.', holdfast: '*',
    tools: [core.defineTool({ name: 'push', description: 'Pushes.', execute: () => 'own' })],
  }`);
  const config = { plugins: ['./git.mjs', './own.mjs'], winners: { push: 'own' } };
  await using folder = await createProject(config, { 'own.mjs': own });
  const { stdout } = await type(folder, ['explain', 'push']);
  expect(stdout).toMatch(/push {2}tool, not in force\n {2}qualified git\/push[\s\S]+`winners` gives the name to `own`/);
  expect(stdout).toMatch(/push {2}tool, in force\n {2}qualified own\/push/);
  expect((await type(folder, ['list', '--tree'])).stdout).toContain('push (not in force)');
});

test('config prints each value with its origin, and ignored values', async () => {
  const config = {
    ...whole,
    limits: { maxCalls: 5 },
    isolation: 'sandbox',
    winners: { x: 'git' },
    allowTools: ['a', 'b'],
  };
  const policy = { limits: { maxCalls: 50, maxRounds: 3 }, isolation: 'worker', allowTools: ['b', 'c'], locked: true };
  await using folder = await createProject(config, { 'holdfast.policy.json': JSON.stringify(policy) });
  const { exitCode, stdout, stderr } = await type(folder, ['config']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  for (const row of [
    /^plugins +holdfast\.config\.mjs +@acme\/holdfast-git, prefix: vcs, options: \["token"\]$/m,
    /^packs +holdfast\.config\.mjs +git\/git-safety, preset: strict$/m,
    /^winners\.x +holdfast\.config\.mjs +git$/m,
    /^isolation +holdfast\.config\.mjs +sandbox$/m,
    /^locked +holdfast\.policy\.json +true$/m,
    /^model +default +offline$/m,
    /^allowTools +holdfast\.config\.mjs, holdfast\.policy\.json +b$/m,
    /^limits\.maxCalls +holdfast\.config\.mjs +5$/m,
    /^limits\.maxRounds +holdfast\.policy\.json +3$/m,
    /^ignored: limits\.maxCalls 50 of holdfast\.policy\.json, because a workspace may only tighten/m,
    /^ignored: isolation worker of holdfast\.policy\.json/m,
  ]) {
    expect(stdout).toMatch(row);
  }
  const json = JSON.parse((await type(folder, ['config', '--json'])).stdout);
  expect(findIssues(await readSchema('config'), json)).toEqual([]);
  expect(json).toMatchObject({ file: 'holdfast.config.mjs', passedOver: expect.arrayContaining([expect.anything()]) });
});

test('config without a configuration, and with an invalid one', async () => {
  await using folder = await createFolder();
  expect((await type(folder, ['config'])).stdout).toMatch(/^No holdfast\.config\.ts in this folder\.\n/);
  await folder.write('holdfast.config.mjs', toConfig({ plugin: [], limits: { maxCals: 1 }, locked: 'yes' }));
  const { exitCode, stdout, stderr } = await type(folder, ['config']);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  for (const text of ['plugin', 'plugins', 'maxCals', 'maxCalls', 'locked', '(config.invalid)'])
    expect(stderr).toContain(text);
});

test('plugins lists installed packages and their state, and imports only configured ones', async () => {
  await using folder = await create({ ...whole, plugins: [...whole.plugins, 'broken-plugin', 'gone-plugin'] });
  const { exitCode, stdout, stderr } = await type(folder, ['plugins']);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('No luck.');
  expect(stderr).toContain('npm install gone-plugin');
  expect(stdout).toMatch(/^@acme\/holdfast-git +3\.1\.0 +plugin +in force +git, git-safety +Git\.$/m);
  expect(stdout).toMatch(/^broken-plugin +3\.1\.0 +plugin +left out +.*broken-plugin/m);
  expect(stdout).toMatch(/^other-pack +3\.1\.0 +pack +not named$/m);
  expect(stdout).toMatch(/^\.\/guard\.mjs +1\.0\.0 +pack +in force +guard +Guards\.$/m);
  expect(stdout).toMatch(/^gone-plugin +plugin +left out/m);
  expect(stdout).not.toContain('evil');
  const json = JSON.parse((await type(folder, ['plugins', '--json'])).stdout);
  expect(findIssues(await readSchema('plugins'), json)).toEqual([]);
  expect(json).toContainEqual(
    expect.objectContaining({ package: 'broken-plugin', problem: expect.stringContaining('No luck') }),
  );
  expect(stdout).not.toContain('\u001b');
});

test('a winner without effect is only a warning', async () => {
  await using folder = await create({ ...whole, winners: { nothing: 'git' } });
  for (const argv of [['plugins'], ['doctor'], ['lock'], ['lock', '--check'], ['list']])
    expect({ argv, exitCode: (await type(folder, argv)).exitCode }).toEqual({ argv, exitCode: 0 });
  const { stdout, stderr } = await type(folder, ['plugins']);
  expect(stderr).toMatch(/^warning: `winners` gives `nothing` .+ \(registry\.invalid: winner\.unused\)\n$/);
  expect(stdout).not.toContain('left out');
});

test('plugins without any', async () => {
  await using folder = await createFolder();
  expect(await type(folder, ['plugins'])).toEqual({
    exitCode: 0,
    stdout: 'No plugins or packs are installed or configured.\n',
    stderr: '',
  });
});

test('doctor reports the effective configuration and its problems', async () => {
  await using folder = await create();
  const { exitCode, stdout } = await type(folder, ['doctor']);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /^config +holdfast\.config\.mjs: 1 plugin and 2 packs in force\nplugins +git 1\.2\.0\npacks +git-safety \(strict\), guard \(recommended\)\ntools +\.\/plugins: 1 valid tool/m,
  );
  await using tried = await create({ packs: [{ pack: './guard.mjs', observe: true }] });
  expect((await type(tried, ['doctor'])).stdout).toMatch(/^packs +guard \(recommended, observe only\)$/m);
  await using broken = await create({ ...whole, packs: ['gone-pack'] });
  const told = await type(broken, ['doctor']);
  expect(told.exitCode).toBe(1);
  expect(told.stdout).toMatch(/problem: .*npm install gone-pack/);
  expect(told.stdout).toMatch(/^config +holdfast\.config\.mjs is invalid; runs will fail$/m);
  await using misspelt = await create({ pakcs: [] });
  expect((await type(misspelt, ['doctor'])).stdout).toMatch(/^config +configuration is invalid; runs will fail/m);
});
