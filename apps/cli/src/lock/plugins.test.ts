import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import {
  createProject,
  git,
  listSessions,
  runScript,
  toConfig,
  toPack,
  toPlugin,
  toScript,
  type,
} from '../testing/test-plugins.ts';
import { runMain, toTool } from '../testing/test-program.ts';
import { findIssues, readSchema } from '../testing/test-schemas.ts';

const whole = { plugins: ['./git.mjs'], packs: ['./guard.mjs'] };
const files = { 'guard.mjs': toPack('guard', '() => core.allow'), 'script.json': toScript([['status']]) };
const changed = git
  .replace('Says what was changed.', 'Says what was changed, and sends it.')
  .replace("name: 'status'", "name: 'status', dangerous: true");

/** A different configuration in a new file, because this process imports each file only once. */
async function change(
  folder: TestFolder,
  config: object,
  more: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  for (const [path, text] of Object.entries(more)) await folder.write(path, text);
  await folder.write('later.config.mjs', toConfig(config));
  return ['--config', 'later.config.mjs'];
}

const readLock = ({ path }: TestFolder): Promise<string> => readFile(join(path, 'holdfast.lock'), 'utf8');

test('plugins, packs and tools are locked and then match the lock', async () => {
  await using folder = await createProject(whole, { ...files, 'plugins/act.mjs': toTool('act', 'return 1;') });
  expect(await type(folder, ['lock'])).toEqual({
    exitCode: 0,
    stdout: `new      act  plugins/act.mjs
new      pack:guard
new      plugin:git
wrote holdfast.lock, 1 tool: 0 as before, 1 new, 2 plugins and packs: 0 as before, 2 new
`,
    stderr: '',
  });
  expect(await type(folder, ['lock', '--check'])).toMatchObject({
    exitCode: 0,
    stdout: 'holdfast.lock, 1 tool: 1 as locked, 2 plugins and packs: 2 as locked\n',
  });
  const text = await readLock(folder);
  expect(await type(folder, ['lock'])).toMatchObject({ exitCode: 0 });
  expect(await readLock(folder)).toBe(text);
  const { exitCode, stdout, stderr } = await runScript(folder, '--locked');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toContain('1 tool from ./plugins, locked · plugins: git 1.2.0');
});

test('a changed plugin is shown, and left out until it is accepted', async () => {
  await using folder = await createProject(whole, files);
  await type(folder, ['lock']);
  const later = await change(folder, { ...whole, plugins: ['./git2.mjs'] }, { 'git2.mjs': changed });
  const checked = await type(folder, ['lock', '--check', ...later]);
  expect(checked.exitCode).toBe(1);
  expect(checked.stdout).toMatch(/^changed {2}plugin:git {2}file, tool:status dangerous, tool:status description\n/);
  const run = await runScript(folder, ...later);
  expect(run.stderr).toMatch(
    /^left out: The plugin `\.\/git2\.mjs` does not match any locked file.+ \(lock\.changed\)\n$/,
  );
  expect(run.stdout).toMatch(/^script:\S+ · 7 file tools [^·]+ · guards: guard [\s\S]+unknown.+ status/);

  const shown = await type(folder, ['lock', '--check', '--accept', 'plugin:git', ...later]);
  expect(shown.stdout).toContain(`  tool:status description
    - Says what was changed.
    + Says what was changed, and sends it.`);
  expect(shown.stdout).toContain('1 named plugin or pack: 0 as locked, 1 changed');
  const text = await readLock(folder);
  expect(await type(folder, ['lock', '--accept', 'plugin:git', ...later])).toMatchObject({ exitCode: 0 });
  expect(await readLock(folder)).not.toBe(text);
  expect((await runScript(folder, ...later, '--yes')).stdout).toMatch(/ok {8}status/);
});

test('nothing runs if a pack differs from the lock or is not locked', async () => {
  await using folder = await createProject(whole, files);
  await type(folder, ['lock']);
  const differs = { 'guard2.mjs': toPack('guard', '() => core.allow', { version: '2.0.0' }) };
  const later = await change(folder, { ...whole, packs: ['./guard2.mjs'] }, differs);
  expect(await runScript(folder, ...later)).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('(lock.changed: pack)'),
  });
  await folder.write('more.mjs', toPack('more', '() => core.allow'));
  await folder.write('more.config.mjs', toConfig({ ...whole, packs: ['./guard.mjs', './more.mjs'] }));
  expect(await runScript(folder, '--config', 'more.config.mjs')).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('(lock.changed: pack)'),
  });
  expect(await listSessions(folder)).toEqual([]);
});

test('an invalid lock does not matter without plugins or packs', async () => {
  await using folder = await createFolder({ 'holdfast.lock': 'none', 'script.json': toScript([['list_files']]) });
  expect(await runScript(folder)).toMatchObject({ exitCode: 0, stderr: '' });
  await folder.write('holdfast.config.mjs', toConfig({ plugins: ['./git.mjs'] }));
  expect(await runScript(folder)).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('(lock.invalid)'),
  });
});

test('no code of a plugin or pack that differs from the lock runs', async () => {
  await using folder = await createProject(whole, files);
  await type(folder, ['lock']);
  await folder.write('git.mjs', `console.error('THE PLUGIN RAN');\n${git}`);
  const changedPlugin = await runMain(['run', 'x', '--model', 'script:script.json'], { folder: folder.path });
  expect(changedPlugin.exitCode).toBe(0);
  expect(changedPlugin.stderr).toMatch(/^left out: .+its code was not run.+\(lock\.changed\)\n$/);
  await folder.write('guard.mjs', `console.error('THE PACK RAN');\n${files['guard.mjs']}`);
  const changedPack = await runMain(['run', 'x', '--model', 'script:script.json'], { folder: folder.path });
  expect(changedPack).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('(lock.changed: pack)'),
  });
  expect(changedPack.stderr).not.toContain('RAN');
});

test.each(['plugin', 'pack'])(
  'with `locked`, an unlocked %s that the configuration imported itself is not used',
  async (kind) => {
    const [file, list] = kind === 'plugin' ? ['git.mjs', 'plugins'] : ['guard.mjs', 'packs'];
    const config = `import thing from './${file}';\nexport default { locked: true, ${list}: [thing] };\n`;
    const lock = '{"tools":{},"version":1}';
    await using folder = await createFolder({
      ...files,
      'git.mjs': git,
      'holdfast.config.mjs': config,
      'holdfast.lock': lock,
    });
    const { exitCode, stdout, stderr } = await runScript(folder);
    expect(exitCode).toBe(kind === 'plugin' ? 0 : 2);
    expect(stdout).not.toMatch(/ok {8}status/);
    expect(stderr).toContain(kind === 'plugin' ? '(lock.changed: new)' : '(lock.changed: pack_new)');
    await type(folder, ['lock']);
    expect(await runScript(folder)).toMatchObject({ exitCode: 0, stderr: '' });
  },
);

test('a removed plugin leaves the lock; one that fails to load stays locked', async () => {
  const own = toPlugin(`{ name: 'own', version: '1.0.0', description: 'Own.', holdfast: '*' }`);
  await using folder = await createProject({ plugins: ['./git.mjs', './own.mjs'] }, { ...files, 'own.mjs': own });
  await type(folder, ['lock']);
  const text = await readLock(folder);
  const broken = await change(
    folder,
    { plugins: ['./own2.mjs', './git.mjs'] },
    { 'own2.mjs': "throw new Error('No luck.');" },
  );
  const refused = await type(folder, ['lock', ...broken]);
  expect(refused.exitCode).toBe(1);
  expect(refused.stdout).toMatch(/^refused {2}plugin:own\n/);
  expect(refused.stderr).toContain('No luck.');
  expect(await readLock(folder)).toBe(text);
  await folder.write('less.config.mjs', toConfig({ plugins: ['./git.mjs'] }));
  const gone = await type(folder, ['lock', '--config', 'less.config.mjs']);
  expect(gone).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^gone {5}plugin:own\n/) });
  expect(await readLock(folder)).not.toContain('plugin:own');
});

test('a plugin with invalid sections is not locked', async () => {
  const odd = `import { markdownSection } from '${import.meta.resolve('@holdfast/prompt')}';
${toPlugin(`{
    name: 'odd', version: '1.0.0', description: 'Odd.', holdfast: '*',
    sections: [markdownSection({ title: 'Odd', template: 'About $nothing.' })],
  }`)}`;
  await using folder = await createProject({ plugins: ['./odd.mjs'] }, { 'odd.mjs': odd });
  const { exitCode, stdout, stderr } = await type(folder, ['lock']);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('0 tools') });
  expect(stderr).toMatch(/^The plugin `odd` is left out: .*\$nothing.* \(prompt\.invalid: placeholder\.unknown\)\n$/);
});

test('--locked refuses plugins without a lock, and a lock of tools alone stays unchanged', async () => {
  await using folder = await createFolder({ ...files, 'git.mjs': git, 'plugins/act.mjs': toTool('act', 'return 1;') });
  await type(folder, ['lock']);
  const text = await readLock(folder);
  expect(text).not.toContain('"plugins"');
  await folder.write('holdfast.config.mjs', toConfig({ plugins: ['./git.mjs'] }));
  // Until the lock covers plugins, they are used without it.
  expect((await runScript(folder)).stdout).toMatch(/ok {8}status/);
  const { stdout, stderr } = await runScript(folder, '--locked');
  expect(stderr).toMatch(/^left out: The plugin `\.\/git\.mjs` is not locked.+ \(lock\.changed: new\)\n$/);
  expect(stdout).toMatch(/unknown.+ status/);
  expect(await type(folder, ['lock', '--no-config', '--check'])).toMatchObject({ exitCode: 0 });
  await type(folder, ['lock']);
  expect(JSON.parse(await readLock(folder)).tools).toEqual(JSON.parse(text).tools);
  expect((await runScript(folder, '--locked')).stdout).toMatch(/ok {8}status/);
});

test('with `locked`, plugins without a lock are used nowhere', async () => {
  await using folder = await createProject({ ...whole, packs: [], locked: true }, files);
  for (const argv of [['git-log'], ['list'], ['explain', 'push'], ['run', 'x']]) {
    const { exitCode, stderr } = await type(folder, argv);
    expect({ argv, exitCode }).toEqual({ argv, exitCode: 2 });
    expect(stderr).toContain('(usage.invalid: lock_missing)');
  }
  expect((await type(folder, ['doctor'])).stdout).toMatch(/problem: .+no lock|problem: .+not locked/);
  expect(await type(folder, ['lock'])).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await type(folder, ['git-log', 'x'])).toMatchObject({ exitCode: 1, stdout: 'x\n' });
  expect((await type(folder, ['list'])).stdout).toContain('push');
  // A lock that does not cover plugins does not count for them.
  await folder.write('holdfast.lock', '{"tools":{},"version":1}');
  const { stdout, stderr } = await type(folder, ['list']);
  expect(stdout).not.toContain('push');
  expect(stderr).toMatch(/^left out: The plugin `\.\/git\.mjs` is not locked/);
});

test('the lock beside the configuration covers plugins, regardless of the tools folder', async () => {
  const elsewhere = { 'other/plugins/act.mjs': toTool('act', 'return 1;') };
  await using folder = await createProject(whole, { ...files, ...elsewhere });
  await type(folder, ['lock']);
  const differs = { 'guard2.mjs': toPack('guard', '() => core.allow', { version: '2.0.0' }) };
  const later = await change(folder, { ...whole, packs: ['./guard2.mjs'] }, differs);
  const named = ['--tools', 'other/plugins'];
  expect((await runScript(folder, ...named)).stdout).toMatch(/ok {8}status/);
  expect(await runScript(folder, ...later, ...named)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('(lock.changed: pack)'),
  });
  const both = await type(folder, ['lock', ...named]);
  expect(both.stdout).toContain(
    'wrote other/holdfast.lock, 1 tool: 0 as before, 1 new, 2 plugins and packs: 2 as before in holdfast.lock',
  );
  expect(await readFile(join(folder.path, 'other/holdfast.lock'), 'utf8')).not.toContain('"plugins"');
  await folder.write('other/holdfast.lock', await readLock(folder));
  expect(await runScript(folder, ...named)).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('(lock.invalid: ambiguous)'),
  });
});

test('a lock beside the tools folder covers plugins if the one beside the configuration does not', async () => {
  const elsewhere = { 'ci/my.config.mjs': toConfig({ packs: ['../guard.mjs'], tools: '../plugins' }) };
  await using folder = await createProject(whole, {
    ...files,
    ...elsewhere,
    'plugins/act.mjs': toTool('act', 'return 1;'),
  });
  await type(folder, ['lock']);
  const differs = { 'guard2.mjs': toPack('guard', '() => core.allow', { version: '2.0.0' }) };
  for (const [path, text] of Object.entries(differs)) await folder.write(path, text);
  await folder.write('ci/later.config.mjs', toConfig({ packs: ['../guard2.mjs'], tools: '../plugins' }));
  expect(await runScript(folder, '--config', 'ci/my.config.mjs')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await runScript(folder, '--config', 'ci/later.config.mjs')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('(lock.changed: pack)'),
  });
});

test('a suspended run whose lock is deleted does not resume with other code', async () => {
  const config = { plugins: ['./git.mjs'], packs: ['git/git-safety'] };
  await using folder = await createProject(config, { 'script.json': toScript([['push', { branch: 'dev' }]]) });
  await type(folder, ['lock']);
  expect(await runScript(folder, '--suspend')).toMatchObject({ exitCode: 3, stderr: '' });
  const text = await readLock(folder);
  await writeFile(join(folder.path, 'holdfast.lock'), '{"tools":{},"version":1}');
  expect(await type(folder, ['resume', '--yes'])).toMatchObject({
    exitCode: 2,
    stdout: expect.not.stringContaining('push'),
    stderr: expect.stringMatching(/\((?:lock\.changed: new|config\.invalid: pack\.unknown)\)/),
  });
  await writeFile(join(folder.path, 'holdfast.lock'), text);
  expect((await type(folder, ['resume', '--yes'])).stdout).toMatch(/ok {8}push/);
});

test('--json contains plugins and packs, and an unknown name is an error', async () => {
  await using folder = await createProject(whole, files);
  const { stdout } = await type(folder, ['lock', '--check', '--json']);
  const printed = JSON.parse(stdout);
  expect(findIssues(await readSchema('lock'), printed)).toEqual([]);
  expect(printed).toMatchObject({
    found: false,
    ok: false,
    plugins: [{ id: 'pack:guard', state: 'new' }, { id: 'plugin:git' }],
  });
  expect(await type(folder, ['lock', '--accept', 'plugin:gti'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      'Known tools, plugins and packs: pack:guard, plugin:git. (usage.invalid: tool_unknown)',
    ),
  });
});
