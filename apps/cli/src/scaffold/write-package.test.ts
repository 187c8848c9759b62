import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { type Ended, runHere } from '../testing/test-program.ts';
import { findIssues, readSchema } from '../testing/test-schemas.ts';

// The packages are tested after installation in tests/packed/new-packages.test.ts.
const run = (folder: TestFolder, ...argv: readonly string[]): Promise<Ended> =>
  runHere(['new', ...argv], { directory: folder.path });

test.each(['pack', 'plugin'])('a new %s gets its own folder', async (kind) => {
  await using folder = await createFolder();
  const { exitCode, stdout, stderr } = await run(folder, kind, '@acme/git-safety');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toContain('files to git-safety; edit them, then run\n  cd git-safety\n  npm install\n  npm test\n');
  expect(stdout.includes('npm run check')).toBe(kind === 'pack');
  const manifest = JSON.parse(await readFile(join(folder.path, 'git-safety/package.json'), 'utf8'));
  expect(manifest).toMatchObject({
    name: '@acme/git-safety',
    version: '0.1.0',
    holdfast: kind,
    peerDependencies: { '@holdfast/core': '>=0 <1' },
    scripts: { dev: `tsx watch test/${kind}.test.ts` },
    devDependencies: { tsx: expect.stringMatching(/^\^4\./) },
  });
  expect(await readFile(join(folder.path, 'git-safety/README.md'), 'utf8')).toContain('npm run dev ');
  expect(await readdir(join(folder.path, 'git-safety/test'))).toContain(`${kind}.test.ts`);
  expect(await readFile(join(folder.path, 'git-safety/src/index.ts'), 'utf8')).toContain('export const gitSafety: ');
});

test('a new pack passes its own check', async () => {
  await using folder = await createFolder();
  await run(folder, 'pack', 'git-safety');
  const source = join(folder.path, 'git-safety/src/index.ts');
  const installed = (await readFile(source, 'utf8')).replace(/(?<= from ')[^.'][^']*/g, (name) =>
    import.meta.resolve(name),
  );
  await writeFile(source, installed);
  const { exitCode, stdout } = await runHere(['pack', 'check', 'git-safety'], { directory: folder.path });
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/ passed, 0 failed, 0 skipped\n$/),
  });
});

test('JSON lists the written files', async () => {
  await using folder = await createFolder();
  const { stdout } = await run(folder, 'plugin', 'text-tools', '--json');
  const written = JSON.parse(stdout);
  expect(findIssues(await readSchema('new'), written)).toEqual([]);
  expect(written).toMatchObject({ kind: 'plugin', name: 'text-tools', package: 'text-tools', folder: 'text-tools' });
  const found = await readdir(join(folder.path, 'text-tools'), { recursive: true, withFileTypes: true });
  expect(found.filter((entry) => entry.isFile())).toHaveLength(written.files.length);
});

test.each([
  ['3d-print', 'the3dPrint'],
  ['delete', 'theDelete'],
  ['deny', 'theDeny'],
  ['a--b-', 'aB'],
])('%s is exported as %s', async (name, constant) => {
  await using folder = await createFolder();
  expect(await run(folder, 'pack', name)).toMatchObject({ exitCode: 0 });
  expect(await readFile(join(folder.path, name, 'src/index.ts'), 'utf8')).toContain(`export const ${constant}: `);
});

test.each([
  '',
  '.',
  '..',
  '../up',
  'Git',
  'git_safety',
  '@acme',
  '@acme/',
  '@Acme/git',
  'acme/git',
  '@acme/git/x',
  '-git',
  'x'.repeat(33),
  'git\n',
])('%j is not a valid package name', async (name) => {
  await using folder = await createFolder();
  expect(await run(folder, 'pack', '--', name)).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('(usage.invalid: name_invalid)'),
  });
  expect(await readdir(folder.path)).toEqual([]);
});

test('existing files are not overwritten', async () => {
  await using folder = await createFolder({ 'git/kept.txt': 'kept', file: 'kept' });
  await folder.link('linked', join(folder.path, 'elsewhere'));
  for (const name of ['git', 'file', 'linked']) {
    expect(await run(folder, 'pack', name)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('(usage.invalid: file_exists)'),
    });
  }
  expect((await readdir(folder.path)).sort()).toEqual(['file', 'git', 'linked']);
  expect(await readdir(join(folder.path, 'git'))).toEqual(['kept.txt']);
});

test('an unwritable folder is reported, and nothing is left behind', async () => {
  expect(
    await runHere(['new', 'pack', 'git'], { directory: join(import.meta.dirname, 'write-package.test.ts') }),
  ).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(output.unwritable: package)') });
});

test('`--tools` only applies to tools', async () => {
  await using folder = await createFolder();
  expect(await run(folder, 'pack', 'git', '--tools', 'tools')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('`--tools` only applies to `new tool`'),
  });
  expect(await readdir(folder.path)).toEqual([]);
});
