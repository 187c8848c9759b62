import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { commandFile, createCommandProject } from '../test-commands.ts';
import { codesOf, createProject, scanFolder, toolFile } from '../test-project.ts';
import { readCommandMetadata } from './metadata.ts';

async function read(source: string): Promise<readonly string[]> {
  const { reading } = await readCommandMetadata({ file: 'count.tool.json', source: source }, { strict: false });
  return reading.diagnostics.map(
    ({ code, reason, line, column }) => `${line}:${column} ${describeCode({ code, reason })}`,
  );
}

test('a command has the metadata of a tool file, with a command instead of a function', async () => {
  const source = commandFile(['python3', '-I', './count.py', './words.txt'], {
    files: ['./words.txt', './lists/more.txt'],
    dangerous: true,
    timeoutMs: 500,
    version: '1.0.0',
    isolation: 'sandbox',
    returns: { type: 'number' },
    resources: ['$input.text'],
    maxResultBytes: 100,
    examples: [{ description: 'One', input: { text: 'a' }, output: 1 }],
  });
  const { reading } = await readCommandMetadata({ file: 'count.tool.json', source: source }, { strict: false });
  expect(reading).toMatchObject({
    type: 'read',
    diagnostics: [],
    metadata: {
      form: 'command',
      name: 'count',
      function: '',
      command: {
        words: ['python3', '-I', './count.py', './words.txt'],
        files: ['./count.py', './lists/more.txt', './words.txt'],
      },
      dangerous: true,
      effects: 'external',
      repeat: 'never',
      timeoutMs: 500,
    },
  });
});

test('its text may start with a byte order mark', async () => {
  await using project = await createProject({ 'plugins/count.tool.json': `\ufeff${commandFile(['sh'])}` });
  expect((await scanFolder(project.plugins)).diagnostics).toEqual([]);
});

test.each([
  ['a comment', '// no\n{}', ['1:1 tool.file.invalid: syntax']],
  ['a comma too many', '{\n  "a": 1,\n}', ['3:1 tool.file.invalid: syntax']],
  ['single quotes', "{\n 'a': 1 }", ['2:2 tool.file.invalid: syntax']],
  ['a name without quotes', '{ name: 1 }', ['1:3 tool.file.invalid: syntax']],
  [
    'a word that is invalid',
    `{\n  "description": "what is long",\n  "dangerous": tru }`,
    ['3:19 tool.file.invalid: syntax'],
  ],
  ['nothing', '', ['1:1 tool.file.invalid: syntax']],
  ['half of it', '{\n "name": "x",', ['2:14 tool.file.invalid: syntax']],
  ['two values', '{}\n{}', ['2:1 tool.file.invalid: syntax']],
  ['a list', '[]', ['1:1 tool.metadata.invalid: not_literal']],
  ['a text', '"x"', ['1:1 tool.metadata.invalid: not_literal']],
  ['null', 'null', ['1:1 tool.metadata.invalid: not_literal']],
  ['a key twice', '{\n "name": "x",\n "name": "y" }', ['3:2 tool.metadata.invalid: not_literal']],
  ['the key __proto__', '{\n "__proto__": {} }', ['2:2 tool.metadata.invalid: not_literal']],
  ['a number without an end', '{\n "name": 1e999 }', ['2:10 tool.metadata.invalid: not_literal']],
  ['nested deeply', `${'['.repeat(500)}${']'.repeat(500)}`, [expect.stringMatching(/not_literal$/)]],
  [
    'nested beyond every parser',
    `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
    [expect.stringMatching(/tool\.file\./)],
  ],
])('%s is refused with its position', async (_, source, codes) => {
  expect(await read(source)).toEqual(codes);
});

test.each([
  ['absent', undefined],
  ['a text', './count.sh'],
  ['empty', []],
  ['with a word that is not a string', ['sh', 1]],
  ['of too many words', Array.from({ length: 101 }, () => 'x')],
  ['with a path that leaves the folder', ['./../count.sh']],
  ['with a path that leaves it later', ['sh', './a/../../b.sh']],
  ['with an absolute program', ['/bin/sh']],
  ['with a program of another folder', ['bin/sh']],
  ['with a program above', ['../sh']],
  ['with a program of Windows', ['C:\\sh.exe']],
  ['with a program without a name', ['']],
  ['with an option for a program', ['-c']],
  ['with a file that has no name', ['./']],
  ['with a NUL', ['sh', 'a\0b']],
])('a command that is %s is refused', async (_, command) => {
  const source = JSON.stringify({ name: 'count', description: 'Count.', dangerous: false, command });
  const { reading } = await readCommandMetadata({ file: 'count.tool.json', source: source }, { strict: false });
  expect(reading.type).toBe('refused');
  expect(reading.diagnostics.map(describeCode)).toContain('tool.command.invalid');
});

test.each([['./x'], [{}], [['words.txt']], [['./../words.txt']], [['./a\\b']], [[1]], [['./a//b']]])(
  '%j as `files` is refused',
  async (files) => {
    expect(await read(commandFile(['sh'], { files: files as never }))).toEqual([
      expect.stringMatching(/tool\.command\.invalid$/),
    ]);
  },
);

test('keys of a module are not allowed in a command, nor the reverse', async () => {
  expect(await read(commandFile(['sh'], { function: 'run' }))).toEqual([
    expect.stringMatching(/tool\.metadata\.invalid: unknown_key$/),
  ]);
  await using project = await createProject({ 'plugins/a.mjs': toolFile('a', { more: "command: ['sh']," }) });
  expect(codesOf(await scanFolder(project.plugins))).toEqual(['a.mjs tool.metadata.invalid: unknown_key']);
});

test('a missing description is derived from the name, with a warning', async () => {
  const source = JSON.stringify({ name: 'count_words', dangerous: false, command: ['sh'] });
  const { reading } = await readCommandMetadata({ file: 'count.tool.json', source: source }, { strict: false });
  expect(reading).toMatchObject({
    type: 'read',
    metadata: { description: 'Count words.', parameters: undefined },
    diagnostics: [{ code: 'tool.metadata.invalid', reason: 'description.missing', severity: 'warning' }],
  });
});

test('files of a command must exist, be regular and not links, and a program must be executable', async () => {
  await using project = await createCommandProject({
    'plugins/good.tool.json': commandFile(['./good.sh'], { name: 'good' }),
    'plugins/good.sh': '',
    'plugins/missing.tool.json': commandFile(['./missing.sh'], { name: 'missing' }),
    'plugins/folder.tool.json': commandFile(['sh', './folder'], { name: 'folder' }),
    'plugins/folder/x': '',
    'plugins/linked.tool.json': commandFile(['sh'], { name: 'linked', files: ['./link.txt'] }),
    'plugins/behind.tool.json': commandFile(['sh'], { name: 'behind', files: ['./linked/x'] }),
    'plugins/fifo.tool.json': commandFile(['sh', './fifo'], { name: 'fifo' }),
    'plugins/plain.tool.json': commandFile(['./plain.txt'], { name: 'plain' }),
    'plugins/plain.txt': '',
    'plugins/unread.tool.json': commandFile(['sh', './plain.txt'], { name: 'unread' }),
  });
  await project.link('plugins/link.txt', '/etc/passwd');
  await project.link('plugins/linked', 'folder');
  execFileSync('mkfifo', [join(project.plugins, 'fifo')]);
  const scan = await scanFolder(project.plugins);
  expect(codesOf(scan)).toEqual([
    'behind.tool.json tool.command.invalid: file_unreadable',
    'fifo.tool.json tool.command.invalid: file_unreadable',
    'folder.tool.json tool.command.invalid: file_unreadable',
    'linked.tool.json tool.command.invalid: file_unreadable',
    'missing.tool.json tool.command.invalid: file_missing',
    'plain.tool.json tool.command.invalid: not_executable',
  ]);
  expect(scan.files.flatMap((file) => (file.type === 'tool' ? [file.metadata.name] : []))).toEqual(['good', 'unread']);
  expect(scan.diagnostics.find(({ file }) => file === 'fifo.tool.json')).toMatchObject({ line: 15, column: 5 });
});

test("the size of a command's files is limited", async () => {
  await using project = await createCommandProject({
    'plugins/count.tool.json': commandFile(['sh', './a.bin'], { files: ['./b.bin'] }),
    'plugins/huge.tool.json': commandFile(['sh', './c.bin'], { name: 'huge' }),
  });
  for (const [name, mib] of [
    ['a', 33],
    ['b', 33],
    ['c', 65],
  ] as const) {
    await writeFile(join(project.plugins, `${name}.bin`), '');
    await truncate(join(project.plugins, `${name}.bin`), mib * 1024 * 1024);
  }
  expect(codesOf(await scanFolder(project.plugins))).toEqual([
    'count.tool.json tool.command.invalid: too_large',
    'huge.tool.json tool.command.invalid: file_unreadable',
  ]);
});

test('a file of a valid command is not a tool file', async () => {
  await using project = await createProject({
    'plugins/count.tool.json': commandFile(['node', './count.mjs', './tool.mjs'], {
      files: ['./data.ts', './b.tool.json'],
    }),
    'plugins/count.mjs': 'console.log(1);',
    'plugins/tool.mjs': toolFile('hidden'),
    'plugins/data.ts': new Uint8Array([0xff, 0]),
    'plugins/b.tool.json': 'no JSON',
    'plugins/other.mjs': 'console.log(1);',
  });
  const { files, diagnostics } = await scanFolder(project.plugins);
  expect(files.map(({ file }) => file)).toEqual(['count.tool.json', 'other.mjs']);
  expect(codesOf({ diagnostics })).toEqual([
    'count.tool.json tool.command.invalid: hides',
    'other.mjs tool.metadata.missing',
  ]);
  expect(diagnostics[0]).toMatchObject({ severity: 'warning', message: expect.stringContaining('`tool.mjs`') });
});

test('under strict, a command that names a valid tool is refused, and the tool stays', async () => {
  await using project = await createProject({
    'plugins/count.tool.json': commandFile(['node', './script.mjs', './tool.mjs']),
    'plugins/script.mjs': 'console.log(1);',
    'plugins/tool.mjs': toolFile('hidden'),
  });
  const { files, diagnostics } = await scanFolder(project.plugins, { strict: true });
  expect(files.map(({ type, file }) => `${type} ${file}`)).toEqual(['refused count.tool.json', 'tool tool.mjs']);
  expect(codesOf({ diagnostics })).toEqual(['count.tool.json tool.command.invalid: hides']);
});

test('the number of diagnostics per file is limited', async () => {
  const keys = (prefix: string, count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, {}]));
  const bad = JSON.parse(commandFile(['sh'], keys('key', 9_000) as never));
  const { reading } = await readCommandMetadata(
    { file: 'count.tool.json', source: JSON.stringify(bad) },
    { strict: false },
  );
  expect(reading.type).toBe('refused');
  expect(reading.diagnostics).toHaveLength(101);
  expect(reading.diagnostics.at(-1)).toMatchObject({
    code: 'tool.metadata.invalid',
    reason: 'more',
    severity: 'error',
  });
  expect(reading.diagnostics.at(-1)?.message).toContain('8900');

  // Any number of warnings refuses nothing.
  const odd = { type: 'object', properties: { a: { type: 'string', ...keys('colour', 300) } } };
  const warned = await readCommandMetadata(
    { file: 'count.tool.json', source: commandFile(['sh'], { parameters: odd as never }) },
    { strict: false },
  );
  expect(warned.reading.type).toBe('read');
  expect(warned.reading.diagnostics.at(-1)).toMatchObject({
    code: 'tool.metadata.invalid',
    reason: 'more',
    severity: 'warning',
  });
});

test('a bad command does not affect a valid tool that it names, nor report its other files', async () => {
  await using project = await createProject({
    'plugins/bad.tool.json': commandFile(['node', './good.mjs', './script.mjs'], { dangerous: 'no' }),
    'plugins/good.mjs': toolFile('good'),
    'plugins/script.mjs': 'console.log(1);',
  });
  const { files, diagnostics } = await scanFolder(project.plugins);
  expect(files.map(({ type, file }) => `${type} ${file}`)).toEqual(['refused bad.tool.json', 'tool good.mjs']);
  expect(codesOf({ diagnostics })).toEqual(['bad.tool.json tool.metadata.invalid: dangerous.invalid']);
});

test('twins across languages are reported like any others', async () => {
  await using project = await createProject({
    'plugins/a.tool.json': commandFile(['sh'], { name: 'fetch_page' }),
    'plugins/b.mjs': toolFile('fetch_page'),
    'plugins/c.tool.json': commandFile(['sh'], { name: 'save-page' }),
    'plugins/d.mjs': toolFile('save_page'),
  });
  expect(codesOf(await scanFolder(project.plugins))).toEqual([
    'a.tool.json tool.invalid: name.duplicate',
    'b.mjs tool.invalid: name.duplicate',
    'c.tool.json tool.metadata.invalid: name.twin',
    'd.mjs tool.metadata.invalid: name.twin',
  ]);
});

test('files in subfolders name files beside them', async () => {
  await using project = await createCommandProject({
    'plugins/deep/count.tool.json': commandFile(['./count.sh']),
    'plugins/deep/count.sh': '',
  });
  await chmod(join(project.plugins, 'deep/count.sh'), 0o700);
  const { files, diagnostics } = await scanFolder(project.plugins, { subfolders: true });
  expect(diagnostics).toEqual([]);
  expect(files).toMatchObject([{ type: 'tool', file: 'deep/count.tool.json' }]);
});

test('no program runs on scan, compare, lock or load', async () => {
  await using project = await createCommandProject({
    'plugins/count.tool.json': commandFile(['./count.sh']),
    'plugins/count.sh': '#!/bin/sh\ntouch "$(dirname "$0")/../ran"\n',
    'plugins/other.tool.json': commandFile(['touch', './ran'], { name: 'other' }),
    'plugins/ran': '',
  });
  const before = await stat(join(project.plugins, 'ran'));
  await scanFolder(project.plugins, { strict: true });
  await (await project.compare()).accept();
  const { tools, close } = await project.load();
  await close();
  expect(tools).toHaveLength(2);
  expect(existsSync(join(project.root, 'ran'))).toBe(false);
  expect((await stat(join(project.plugins, 'ran'))).mtimeMs).toBe(before.mtimeMs);
});
