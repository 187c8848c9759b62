import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../program.ts';
import { createFolder, type TestFolder, toUserFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { toConfig } from '../../testing/test-plugins.ts';
import { type Ended, runHere, script, toTool } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

const files = {
  'holdfast.config.mjs': `import './lib/part.mjs';\n${toConfig({ denyTools: ['delete_file'] })}`,
  'lib/part.mjs': '',
  'plugins/act.mjs': toTool('act', 'return 1;'),
  'script.json': script('act'),
};
const run = ['run', 'Do it.', '--model', 'script:script.json', '--isolation', 'in-process'];

function type({ path }: Pick<TestFolder, 'path'>, ...argv: readonly string[]): Promise<Ended> {
  return runHere(argv, { directory: path, trusted: false });
}

test('trust lists the files and stores them privately, and the next command runs them', async () => {
  await using folder = await createFolder(files);
  expect(await type(folder, ...run)).toMatchObject({ exitCode: 4 });
  const trusted = await type(folder, 'trust');
  expect(trusted).toEqual({
    exitCode: 0,
    stderr: '',
    stdout:
      '  holdfast.config.mjs\n  lib/part.mjs\n  plugins/act.mjs\nTrusted: holdfast.config.mjs, ./plugins (3 files), until it changes.\n',
  });
  const kept = join(toUserFolder(folder.path), 'trust.json');
  expect((await stat(kept)).mode & 0o777).toBe(0o600);
  expect(await type(folder, ...run)).toMatchObject({ exitCode: 0 });
  expect(await type(folder, 'trust', '--remove')).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(await readFile(kept, 'utf8'))).toEqual({ version: 1, folders: [] });
  expect(await type(folder, ...run)).toMatchObject({ exitCode: 4 });
});

test('files that tsx loads by `paths`, and tsx itself, are trusted with the rest, and asked about again after changes', async () => {
  await using folder = await createFolder({
    'holdfast.config.ts': "import { denyTools } from '@/denied';\nexport default { denyTools };\n",
    'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./lib/*"] } } }',
    'lib/denied.ts': "export const denyTools = ['delete_file'];\n",
    'node_modules/tsx/package.json': '{ "name": "tsx", "version": "4.0.0" }',
  });
  const { stdout } = await type(folder, 'trust');
  expect(stdout).toContain('  holdfast.config.ts\n  lib/denied.ts\n  package tsx 4.0.0\n  tsconfig.json\n');
  await folder.write('lib/denied.ts', 'export const denyTools = [];\n');
  await folder.write('node_modules/tsx/package.json', '{ "name": "tsx", "version": "4.0.1" }');
  const { exitCode, stderr } = await type(folder, ...run);
  expect(exitCode).toBe(4);
  expect(stderr).toContain('  changed  lib/denied.ts\n  changed  package tsx 4.0.1\n');
});

test('another folder is trusted by its real path, even through a link; its parents are not', async () => {
  await using folder = await createFolder(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`inner/${path}`, text])),
  );
  await folder.link('link', 'inner');
  const environment = { HOLDFAST_HOME: toUserFolder(folder.path) };
  const at = (place: string, ...argv: readonly string[]): Promise<Ended> =>
    runHere(argv, { directory: join(folder.path, place), environment, trusted: false });
  expect(await at('.', 'trust', 'link')).toMatchObject({ exitCode: 0 });
  expect(await at('inner', ...run)).toMatchObject({ exitCode: 0 });
  expect(await at('link', ...run)).toMatchObject({ exitCode: 0 });
  expect(await at('.', 'trust', 'none')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('`none`') });
});

test('changed, new and deleted files are listed, and those outside the folder marked', async () => {
  await using folder = await createFolder({ ...files, 'plugins/old.mjs': toTool('old', 'return 1;') });
  await type(folder, 'trust');
  await folder.write('lib/part.mjs', "import '../../outside.mjs';");
  await folder.write('plugins/new.mjs', toTool('new', 'return 1;'));
  await rm(join(folder.path, 'plugins/old.mjs'));
  const outside = join(folder.path, '..', 'outside.mjs');
  await writeFile(outside, '');
  try {
    const { exitCode, stderr } = await type(folder, ...run);
    expect(exitCode).toBe(4);
    expect(stderr).toContain(
      '  new      ../outside.mjs  (outside this folder)\n  changed  lib/part.mjs\n  new      plugins/new.mjs\n  gone     plugins/old.mjs\n',
    );
    const { stdout } = await type(folder, 'trust', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      changes: expect.arrayContaining([{ state: 'gone', name: 'plugins/old.mjs' }]),
    });
    expect(findIssues(await readSchema('trust'), JSON.parse(stdout))).toEqual([]);
  } finally {
    await rm(outside);
  }
});

test.each([
  { answer: 'yes', keys: '\u001b[B\r', exitCode: 0, later: 0 },
  { answer: 'Enter alone', keys: '\r', exitCode: 4, later: 4 },
  { answer: 'Escape', keys: '\u001b', exitCode: 4, later: 4 },
  { answer: 'Ctrl-C', keys: '\u0003', exitCode: 4, later: 4 },
])('at the terminal, $answer', async ({ keys, exitCode, later }) => {
  await using folder = await createFolder(files);
  const { host, stdin, stdout, stderr } = createTestHost({
    directory: folder.path,
    environment: { NO_COLOR: '1' },
    terminals: ['stdin', 'stdout'],
  });
  stdin.write(keys);
  expect(await runProgram(run, host, '0')).toBe(exitCode);
  expect(stdout()).toMatch(/not trusted[\s\S]*holdfast\.config\.mjs\n[\s\S]*Trust this code\?/);
  if (exitCode === 4)
    expect(stderr()).toMatch(/Nothing has run\. \(trust\.required: refused\)\n {2}hint: .*`holdfast trust`/);
  expect(await type(folder, ...run)).toMatchObject({ exitCode: later });
});

test('--trust also applies to later commands', async () => {
  await using folder = await createFolder(files);
  expect(await type(folder, ...run, '--trust')).toMatchObject({ exitCode: 0 });
  expect(await type(folder, ...run)).toMatchObject({ exitCode: 0 });
});

test('--no-config does not use untrusted tools of ./plugins', async () => {
  await using folder = await createFolder(files);
  const { exitCode, stdout, stderr } = await type(folder, ...run, '--no-config');
  expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
  expect(stderr).toContain('`./plugins` is not trusted');
  expect(stderr).not.toContain('holdfast.config');
});

test('a plugin and a tools folder with computed paths are asked about after loading the configuration', async () => {
  const computed = `export default { plugins: ['./lib' + '/part.mjs'], tools: ['own', 'tools'].join('-') };\n`;
  await using folder = await createFolder({ ...files, 'holdfast.config.mjs': computed, 'own-tools/act.mjs': '' });
  await type(folder, 'trust');
  const { exitCode, stderr } = await type(folder, ...run);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('new      lib/part.mjs') });
  expect((await type(folder, 'list')).stderr).toContain('not trusted and left out: ./lib/part.mjs');
});

test('a named configuration runs with everything it names; ./plugins is still found code', async () => {
  await using folder = await createFolder({
    ...files,
    'ci/own.mjs': toConfig({}),
    'ci/all.mjs': toConfig({ tools: '../plugins' }),
  });
  expect(await type(folder, ...run, '--config', 'ci/all.mjs')).toMatchObject({ exitCode: 0 });
  expect(await type(folder, ...run, '--config', 'ci/own.mjs')).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('`./plugins` is not trusted'),
  });
});

test('a trusted lock covers the files that it pins', async () => {
  await using folder = await createFolder({
    'plugins/act.mjs': toTool('act', 'return 1;'),
    'script.json': script('act'),
  });
  expect(await type(folder, 'lock')).toMatchObject({ exitCode: 0 });
  expect(await type(folder, ...run)).toMatchObject({ exitCode: 4 });
  await type(folder, 'trust');
  await folder.write('plugins/act.mjs', toTool('act', 'return 2;'));
  // The loader refuses files that differ from the lock.
  expect(await type(folder, ...run)).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('lock.changed'),
  });
  expect(await type(folder, 'lock')).toMatchObject({ exitCode: 0 });
  expect(await type(folder, ...run)).toMatchObject({ exitCode: 4 });
});

test('holdfast.policy.json applies without the configuration, and ends the run if it is unreadable', async () => {
  await using folder = await createFolder({
    ...files,
    'holdfast.policy.json': '{"denyTools":["write_file"],"packs":["guard"]}',
  });
  const { exitCode, stdout } = await type(folder, 'config');
  expect({ exitCode, stdout }).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/denyTools +holdfast\.policy\.json +write_file/),
  });
  expect(await type(folder, 'list')).toMatchObject({ exitCode: 0 });
  await folder.write('holdfast.policy.json', '{');
  await type(folder, 'trust');
  for (const argv of [run, ['list']])
    expect(await type(folder, ...argv)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('config.invalid'),
    });
});

test.each(['{', '[]', '{"version":1,"folders":[{}]}', '{"version":2,"folders":[]}'])(
  '%s is not a list of trusted folders',
  async (text) => {
    await using folder = await createFolder(files);
    await mkdir(toUserFolder(folder.path), { recursive: true });
    await writeFile(join(toUserFolder(folder.path), 'trust.json'), text);
    for (const argv of [run, ['trust']])
      expect(await type(folder, ...argv)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('user_config.invalid: trust'),
      });
  },
);

test('a run starts even if it cannot remember named code, with a warning', async () => {
  await using folder = await createFolder({ ...files, 'home/trust.json/a': '' });
  const environment = { NO_COLOR: '1', HOLDFAST_HOME: join(folder.path, 'home') };
  const argv = [...run, '--no-config', '--tools', 'plugins', '--no-redact'];
  const { exitCode, stderr } = await runHere(argv, { directory: folder.path, environment, trusted: false });
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/^warning: Cannot read .* Resuming this run will ask for trust\.$/m),
  });
});

test('names in a log give no trust: a folder and a configuration that this user never named are asked about', async () => {
  await using folder = await createFolder({
    ...files,
    'plugins/act.mjs': toTool('act', 'return 1;').replace('dangerous: false', 'dangerous: true'),
  });
  const named = ['--config', 'holdfast.config.mjs', '--tools', 'plugins', '--suspend'];
  expect(await type(folder, ...run, ...named)).toMatchObject({ exitCode: 3 });
  const resume = (home: string): Promise<Ended> =>
    runHere(['resume', '--yes'], {
      directory: folder.path,
      environment: { NO_COLOR: '1', HOLDFAST_HOME: home },
      trusted: false,
    });
  // The author of the log has a different home.
  expect(await resume(join(toUserFolder(folder.path), 'other'))).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('`holdfast.config.mjs` and `./plugins` are not trusted'),
  });
  expect(await resume(toUserFolder(folder.path))).toMatchObject({ exitCode: 0 });
});

test('trust stores nothing if nothing is found', async () => {
  await using folder = await createFolder();
  expect(await type(folder, 'trust')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Nothing to trust'),
  });
  await expect(stat(toUserFolder(folder.path))).rejects.toThrow('ENOENT');
});
