import { hash } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCodeFiles } from './code-files.ts';

let root = '';
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-code-')));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function list(specifiers: readonly string[], folder = 'project'): Promise<readonly string[]> {
  const { files } = await readCodeFiles(specifiers, join(root, folder));
  return [...files.keys()].map((path) => relative(root, path));
}

const metadata = (name: string): string => `export const METADATA = { name: '${name}' };\n`;

test.each([
  { how: 'a static import', text: "import './part.mjs';" },
  { how: 'an export', text: "export * from './part.mjs';" },
  { how: 'a dynamic import of a plain text', text: "await import('./part.mjs');" },
  { how: 'an import with a comment in it', text: "import /* here */ './part.mjs';" },
  { how: 'an import with an escape', text: "import './p\\u0061\\x72\\u{74}.mjs';" },
  { how: 'an import behind a line comment', text: "import // here\n'./part.mjs';" },
  { how: 'an import in a template', text: 'await import(`./part.mjs`);' },
  { how: 'a query behind the path', text: "import './part.mjs?v=2';" },
  { how: 'a require', text: "const part = require('./part.mjs');" },
  { how: 'a require without an extension', text: "require('./lib');", other: 'lib.js' },
  { how: 'a require of a folder', text: "require('./lib');", other: 'lib/index.js' },
  { how: 'a file that only Node.js can parse', text: "with ({}) { require('./part.mjs') }" },
  { how: 'a subpath import', text: "import '#part';" },
  { how: 'JSON', text: "import data from './data.json' with { type: 'json' };", other: 'data.json' },
])('$how is followed', async ({ text, other = 'part.mjs' }) => {
  await write({
    'project/entry.js': text,
    [`project/${other}`]: '',
    'project/package.json': '{"imports":{"#part":"./part.mjs"}}',
  });
  expect(await list(['./entry.js'])).toEqual([`project/${other}`, 'project/entry.js'].sort());
});

test('an absolute file URL, a file outside the folder and one behind a link are listed by real path', async () => {
  await write({
    'other/absolute.mjs': '',
    'other/up.mjs': "import './deeper.mjs';",
    'other/deeper.mjs': '',
    'project/entry.mjs': `import 'file://${root}/other/absolute.mjs';\nimport '../other/up.mjs';\nimport './link.mjs';`,
    'linked/file.mjs': "import './beside.mjs';",
    'linked/beside.mjs': '',
  });
  await symlink(join(root, 'linked', 'file.mjs'), join(root, 'project', 'link.mjs'));
  expect(await list(['./entry.mjs'])).toEqual([
    'linked/beside.mjs',
    'linked/file.mjs',
    'other/absolute.mjs',
    'other/deeper.mjs',
    'other/up.mjs',
    'project/entry.mjs',
  ]);
});

test('computed paths and missing files are left out', async () => {
  await write({
    'project/entry.ts': "await import(['./a', 'mjs'].join('.'));\nimport './missing.mjs';",
    'project/a.mjs': '',
  });
  expect(await list(['./entry.ts', './gone.ts'])).toEqual(['project/entry.ts']);
});

const tsconfig = `{
  // As editors write it.
  "extends": "./base",
  "compilerOptions": { "paths": { "@/*": ["./lib/*"], "one": ["./lib/one.ts"], "end/*.js": ["./lib/*.ts"], "far": ["deep/two"] }, },
}`;

test.each<readonly [string, string, readonly string[]]>([
  ['a path without an ending', "import './lib/one';", ['lib/one.ts']],
  ['a folder', "import './lib';", ['lib/index.tsx']],
  ['the name of the compiled file', "import './lib/one.js';", ['lib/one.ts']],
  ['that name, where both are there', "import './lib/both.js';", ['lib/both.js', 'lib/both.ts']],
  ['`paths`', "import '@/one';", ['lib/one.ts', 'tsconfig.json', 'base.json']],
  ['`paths` with an ending', "import 'end/one.js';", ['lib/one.ts', 'tsconfig.json', 'base.json']],
  ['`paths` over a package', "import 'one';", ['lib/one.ts', 'tsconfig.json', 'base.json']],
  ['`baseUrl` of a file that is extended', "import 'deep/two';", ['src/deep/two.ts', 'tsconfig.json', 'base.json']],
  ['`paths` from the `baseUrl` of another file', "import 'far';", ['src/deep/two.ts', 'tsconfig.json', 'base.json']],
  ['a package that nothing else is called like', "import 'other';", []],
])('files that tsx would load by %s are listed', async (_, text, files) => {
  await write({
    'project/entry.ts': text,
    'project/tsconfig.json': tsconfig,
    'project/base.json': '{ "compilerOptions": { "baseUrl": "./src" } }',
    'project/lib/one.ts': '',
    'project/lib/index.tsx': '',
    'project/lib/both.ts': '',
    'project/lib/both.js': '',
    'project/src/deep/two.ts': '',
    'project/node_modules/one/package.json': '{}',
    'project/node_modules/other/package.json': '{}',
  });
  expect(await list(['./entry.ts'])).toEqual(['entry.ts', ...files].map((file) => `project/${file}`).sort());
});

test('files that Node.js loads from JavaScript are listed as before', async () => {
  await write({
    'project/entry.mjs': "import './lib/both.js';",
    'project/tsconfig.json': '{ "compilerOptions": ',
    'project/lib/both.ts': '',
    'project/lib/both.js': "import 'one';",
  });
  expect(await list(['./entry.mjs'])).toEqual(['project/entry.mjs', 'project/lib/both.js']);
});

test('a package is listed by name and version for any importer', async () => {
  await write({
    'project/entry.mjs':
      "import 'one';\nimport '@scope/two/part';\nimport './sub/file.mjs';\nimport 'node:fs';\nimport 'none';",
    'project/sub/file.mjs': "import 'one';",
    'project/node_modules/one/package.json': '{"version":"1.0.0"}',
    'project/sub/node_modules/one/package.json': '{"version":"2.0.0"}',
    'node_modules/@scope/two/package.json': '{"version":"3.1.4"}',
  });
  const { packages } = await readCodeFiles(['./entry.mjs', 'one'], join(root, 'project'));
  expect([...packages]).toEqual([
    ['@scope/two', '3.1.4'],
    ['one', '1.0.0, 2.0.0'],
  ]);
});

test('a package that imports itself by name is listed by its files, even if one of that name is installed', async () => {
  await write({
    'project/entry.js': "import '@acme/own'; import '@acme/own/part'; import 'other';",
    'project/package.json': JSON.stringify({
      name: '@acme/own',
      version: '1.0.0',
      exports: { '.': { import: './main.mjs', require: ['./main.cjs'] }, './part': './part.mjs', './all/*': './*.mjs' },
    }),
    'project/main.mjs': "import './more.mjs';",
    'project/main.cjs': '',
    'project/more.mjs': '',
    'project/part.mjs': '',
    'project/node_modules/@acme/own/package.json': '{"name":"@acme/own","version":"1.0.0","exports":"./x.js"}',
    'project/node_modules/other/package.json': '{"name":"other","version":"2.0.0","exports":"./x.js"}',
  });
  const files = ['entry.js', 'main.cjs', 'main.mjs', 'more.mjs', 'package.json', 'part.mjs'];
  expect(await list(['./entry.js'])).toEqual(files.map((file) => `project/${file}`));
  expect(await list(['@acme/own'])).toEqual(files.slice(1).map((file) => `project/${file}`));
  await write({ 'project/package.json': '{"name":"@acme/own","exports":{}' });
  expect(await list(['other'])).toEqual([]);
});

test('a folder stands for its tool files with their imports; files in other languages are not followed', async () => {
  await write({
    'project/plugins/a.mjs': `import '../lib/part.mjs';\n${metadata('a')}`,
    'project/plugins/deep/b.ts': metadata('b'),
    'project/plugins/_notes.mjs': '',
    'project/plugins/c.tool.json': JSON.stringify({ command: ['node', './run.cjs'], description: 'Runs.' }),
    'project/plugins/run.cjs': '',
    'project/lib/part.mjs': '',
  });
  expect(await list(['./plugins'])).toEqual([
    'project/lib/part.mjs',
    'project/plugins/a.mjs',
    'project/plugins/c.tool.json',
    'project/plugins/deep/b.ts',
  ]);
});

test('digests are of the bytes, and empty for unreadable files', async () => {
  await write({ 'project/a.mjs': 'one' });
  await symlink('/dev/null', join(root, 'project', 'device.mjs'));
  const { files } = await readCodeFiles(['./a.mjs', './device.mjs'], join(root, 'project'));
  expect([...files]).toEqual([
    ['/dev/null', ''],
    [join(root, 'project', 'a.mjs'), hash('sha256', 'one')],
  ]);
});
