import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { type Ended, runHere, toTool } from '../testing/test-program.ts';
import { findIssues, readSchema } from '../testing/test-schemas.ts';

const run = (folder: TestFolder, ...argv: readonly string[]): Promise<Ended> =>
  runHere(argv, { directory: folder.path });

test.each(
  // Reserved words, a leading digit, and a name without letters.
  ['make_slug', 'delete', '3d-print', 'await', '_', '_kept', '-', 'x'.repeat(64)].flatMap((name) => [
    { name, options: [], ending: '.mjs' },
    { name, options: ['--typescript'], ending: '.mts' },
  ]),
)('$name $options is valid unchanged', async ({ name, options, ending }) => {
  await using folder = await createFolder();
  expect(await run(folder, 'new', 'tool', ...options, '--', name)).toMatchObject({ exitCode: 0, stderr: '' });
  const [file = ''] = await readdir(join(folder.path, 'plugins'));
  expect(file).toBe(`${name === '_' ? 'tool' : name.replace(/^_/, '')}${ending}`);
  expect(await run(folder, 'check', 'plugins', '--strict')).toMatchObject({
    exitCode: 0,
    stdout: '1 valid tool, 0 errors, 0 warnings\n',
  });
  expect(await run(folder, 'try', '--', join('plugins', file))).toMatchObject({ exitCode: 0 });
});

test('prints what was written and the next commands, also as JSON', async () => {
  await using folder = await createFolder();
  expect(await run(folder, 'new', 'tool', 'make_slug', '--tools', 'my tools')).toEqual({
    exitCode: 0,
    stdout: `wrote my tools/make_slug.mjs; edit it, then run
  holdfast try 'my tools/make_slug.mjs'
  holdfast check 'my tools' --strict
`,
    stderr: '',
  });
  const { stdout } = await run(folder, 'new', 'tool', 'other', '--typescript', '--json');
  expect(findIssues(await readSchema('new'), JSON.parse(stdout))).toEqual([]);
  expect(JSON.parse(stdout)).toEqual({ name: 'other', file: 'plugins/other.mts', language: 'typescript' });
});

test.each([
  { tools: [], name: 'make_slug', says: '  holdfast lock --accept make_slug\n' },
  { tools: ['--tools', 'my tools'], name: '-', says: "  holdfast lock --tools 'my tools' --accept -\n" },
])('with a lock ($tools), the new tool must be locked, too', async ({ tools, name, says }) => {
  await using folder = await createFolder({
    'plugins/old.mjs': toTool('old', ''),
    'my tools/old.mjs': toTool('old', ''),
  });
  await run(folder, 'lock', ...tools);
  const { stdout } = await run(folder, 'new', 'tool', ...tools, '--', name);
  expect(stdout.endsWith(`--strict\n${says}`)).toBe(true);
  expect(await run(folder, 'lock', ...tools, '--accept', name)).toMatchObject({ exitCode: 0 });
});

test.each([
  { argv: ['tool', 'Make Slug'], code: 'usage.invalid: name_invalid' },
  { argv: ['tool', 'constructor'], code: 'usage.invalid: name_invalid' },
  { argv: ['tool', '../up'], code: 'usage.invalid: name_invalid' },
  { argv: ['tool', 'read-file'], code: 'usage.invalid: name_taken' },
  { argv: ['tool', 'shout-it'], code: 'usage.invalid: name_taken' },
  { argv: ['tool', 'sh0ut_lt'], code: 'usage.invalid: name_taken' },
  { argv: ['tool', 'broken'], code: 'usage.invalid: file_exists' },
  { argv: ['tool', 'shout_it'], code: 'usage.invalid: file_exists' },
  { argv: ['tool', 'linked'], code: 'usage.invalid: file_exists' },
])('$argv is refused with $code, and nothing is written', async ({ argv, code }) => {
  const files = {
    'plugins/shout_it.mjs': toTool('shout_it', 'return 1;'),
    'plugins/broken.mjs': 'export const METADATA = make();',
  };
  await using folder = await createFolder(files);
  await folder.link('plugins/linked.mjs', join(folder.path, 'outside.mjs'));
  expect(await run(folder, 'new', ...argv)).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining(`(${code})`),
  });
  expect((await readdir(folder.path)).sort()).toEqual(['plugins']);
  expect((await readdir(join(folder.path, 'plugins'))).sort()).toEqual(['broken.mjs', 'linked.mjs', 'shout_it.mjs']);
  for (const [path, text] of Object.entries(files)) expect(await readFile(join(folder.path, path), 'utf8')).toBe(text);
});

test('a folder that cannot be created is an error with a reason', async () => {
  await using folder = await createFolder({ plugins: 'a file' });
  expect(await run(folder, 'new', 'tool', 'make_slug')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('(output.unwritable: tool_file)'),
  });
  expect(await readFile(join(folder.path, 'plugins'), 'utf8')).toBe('a file');
});

test('only known kinds can be written', async () => {
  await using folder = await createFolder();
  await mkdir(join(folder.path, 'plugins'));
  expect(await run(folder, 'new', 'policy', 'careful')).toMatchObject({ exitCode: 2 });
  expect(await readdir(join(folder.path, 'plugins'))).toEqual([]);
});
