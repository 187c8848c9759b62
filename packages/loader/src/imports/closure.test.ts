import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { createProject, type TestProject } from '../test-project.ts';
import { type ClosureReading, createClosureReader } from './closure.ts';
import { digestClosure } from './digest.ts';

const entry = 'plugins/tool.mts';

async function read(project: TestProject, path: string = entry): Promise<ClosureReading> {
  return createClosureReader({ root: project.root, folder: project.plugins }).read(join(project.root, path));
}

async function readFiles(files: Readonly<Record<string, string | Uint8Array>>): Promise<ClosureReading> {
  await using project = await createProject({
    'src/other.mjs': '',
    'node_modules/pack/package.json': '{"version":"1.2.3"}',
    'plugins/node_modules/below/package.json': '{"version":"1.0.0"}',
    'plugins/node_modules/both/index.js': '',
    'node_modules/both/index.js': '',
    ...files,
  });
  return await read(project);
}

/** The paths and packages in the closure of a file with that code, or its error code and position. */
async function follow(code: string, files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<unknown> {
  const reading = await readFiles({ [entry]: code, ...files });
  if (reading.type === 'refused') {
    const { file, line, column } = reading.diagnostic;
    const found = describeCode(reading.diagnostic);
    return `${found} ${file}:${line}:${column}`;
  }
  const { closure } = reading;
  return [
    ...closure.files.map(({ path }) => path).filter((path) => path !== entry),
    ...[...closure.packages].map(([name, version]) => `${name}@${version}`),
  ];
}

const other = ['src/other.mjs'];

test.each([
  ['nothing', 'export const x = 1;', []],
  ['an import', "import { x } from '../src/other.mjs';", other],
  ['an import for its effect', "import '../src/other.mjs';", other],
  ['an export', "export { x } from '../src/other.mjs';", other],
  ['an export of everything', "export * from '../src/other.mjs';", other],
  ['an import()', "const x = async () => (await import('../src/other.mjs')).x;", other],
  ['an import() in a class, in a template', 'class A { m() { return import(`../src/other.mjs`); } }', other],
  ['an import() with attributes', "import('./_a.json', { with: { type: 'json' } });", ['plugins/_a.json']],
  ['types alone', "import type { X } from './gone.ts'; export type { Y } from './gone.ts';", []],
  ['types among values', "import { type X } from '../src/other.mjs';", other],
  ['the type of a module', "let x: typeof import('./gone.ts');", []],
  ['built-in modules of Node', "import 'node:fs'; import 'path'; import 'node:test';", []],
  ['a package', "import 'pack'; import 'pack/part.js'; await import('pack');", ['pack@1.2.3']],
  ['a query and a hash', "import '../src/other.mjs?a#b';", other],
  ['other spellings of a path', "import './../plugins/../src/%6fther.mjs';", other],
  ['an escape in a text', "import '../src/\\x6fther.mjs';", other],
  ['an import in a text or a comment', "const x = \"import './gone.mjs'\"; // import('./gone.mjs')", []],
  ['itself', "import './tool.mts';", []],
])('%s', async (_, code, found) => {
  expect(await follow(code, { 'plugins/_a.json': '{}' })).toEqual(found);
});

test.each([
  ['a computed import()', 'import(name);', 'tool.import.invalid: dynamic tool.mts:1:8'],
  [
    'a template with an expression',
    ['import(`./', '{x}.mjs`);'].join('$'),
    'tool.import.invalid: dynamic tool.mts:1:8',
  ],
  ['an escape in import()', String.raw`import('./\x61.mjs');`, 'tool.import.invalid: dynamic tool.mts:1:8'],
  ['a sum', "import('./a' + '.mjs');", 'tool.import.invalid: dynamic tool.mts:1:8'],
  ['a missing file', "\nimport './gone.mjs';", 'tool.import.invalid: missing tool.mts:2:8'],
  ['a path without its extension', "import '../src/other';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['a folder', "import '../src';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['a path that is invalid', "import './%2e%2e%2fx.mjs';", 'tool.import.invalid: missing tool.mts:1:8'],
  ['an absolute path', "import '/etc/x.mjs';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['a file URL', "import 'file:///etc/x.mjs';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['a data URL', "import 'data:text/javascript,';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['a remote one', "import 'https://example.com/x.mjs';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['a name of the package itself', "import '#lib/x';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['a hidden package', "import '.x';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['a name with percent signs', "import 'pa%63k';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['nothing', "import '';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['two dots', "import '..';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['above the lock', "import '../../x.mjs';", 'tool.import.invalid: outside tool.mts:1:8'],
  ['CommonJS by its name', "import '../src/x.cjs';", 'tool.import.invalid: commonjs tool.mts:1:8'],
  ['CommonJS by its text', "import '../src/x.js';", 'tool.import.invalid: commonjs ../src/x.js:1:1'],
  ['a file of a package', "import '../node_modules/pack/index.js';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['a missing package', "import 'gone';", 'tool.import.invalid: package tool.mts:1:8'],
  ['a package below the lock', "import 'below';", 'tool.import.invalid: misplaced tool.mts:1:8'],
  ['a package below the lock and beside it', "import 'both';", 'tool.import.invalid: misplaced tool.mts:1:8'],
  ['a native module', "import './x.node';", 'tool.import.invalid: unsupported tool.mts:1:8'],
  ['a syntax error', "import '../src/bad.mjs';", 'tool.file.invalid: syntax ../src/bad.mjs:2:1'],
  ['a binary file', "import '../src/bytes.mjs';", 'tool.import.invalid: unreadable tool.mts:1:8'],
  ['a folder with the name of a file', "import '../src/folder.mjs';", 'tool.import.invalid: unreadable tool.mts:1:8'],
  ['too much', "import '../src/large.json' with { type: 'json' };", 'tool.import.invalid: unreadable tool.mts:1:8'],
  [
    'a dynamic import of an imported file',
    "import '../src/asks.mjs';",
    'tool.import.invalid: dynamic ../src/asks.mjs:1:8',
  ],
])('refused: %s', async (_, code, found) => {
  const more = {
    'src/x.js': "const x = require('./gone');",
    'src/bad.mjs': '\n)',
    'src/bytes.mjs': new Uint8Array([0xff]),
    'src/folder.mjs/x': '',
    'src/large.json': new Uint8Array(8 * 1024 * 1024 + 1),
    'src/asks.mjs': 'import(x)',
  };
  expect(await follow(code, more)).toBe(found);
});

test('links to any target, and files that block', async () => {
  await using project = await createProject({ [entry]: "import './_x.mjs';", 'src/real.mjs': '' });
  for (const target of ['../src/real.mjs', '_x.mjs']) {
    await project.link('plugins/_x.mjs', target);
    expect(await read(project)).toMatchObject({
      diagnostic: {
        code: 'tool.import.invalid',
        reason: target === '_x.mjs' ? 'missing' : 'symlink',
        file: 'tool.mts',
      },
    });
  }
  await project.remove('plugins/_x.mjs');
  execFileSync('mkfifo', [join(project.plugins, '_x.mjs')]);
  expect(await read(project)).toMatchObject({ diagnostic: { code: 'tool.import.invalid', reason: 'unreadable' } });
});

test('a file whose path URL decoding would change', async () => {
  await using project = await createProject({
    [entry]: "import './_a b%20.mjs'; import './_a%20b%2520.mjs';",
    'plugins/_a b%20.mjs': '',
  });
  // Node decodes the first one to a missing name.
  expect(await read(project)).toMatchObject({ diagnostic: { code: 'tool.import.invalid', reason: 'missing' } });
});

test.each(['plugins/a\\b.mjs', 'plugins/a:b.mjs', 'plugins/a\nb.mjs', 'plugins/a\u001b[2J.mjs'])(
  'a tool file %j, whose name a lock does not allow',
  async (path) => {
    await using project = await createProject({ [path]: '' });
    const reading = await read(project, path);
    expect(reading).toMatchObject({ diagnostic: { code: 'tool.import.invalid', reason: 'unsupported' } });
  },
);

test.each(['"1.0.0\\u001b[2J"', `"${'1'.repeat(300)}"`, '1', 'null', '"'])(
  'a package whose version is %s counts as unversioned',
  async (version) => {
    const reading = await readFiles({
      [entry]: "import 'odd';",
      'node_modules/odd/package.json': `{"version":${version}}`,
    });
    expect(reading.type === 'read' && [...reading.closure.packages]).toEqual([['odd', '']]);
  },
);

test('more files than a tool may import', async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`src/n${index}.mjs`, '']));
  const code = Object.keys(files).map((path) => `import '../${path}';`);
  expect(await follow(code.join('\n'), files)).toBe('tool.import.invalid: too_large tool.mts:1:1');
  expect(await follow(code.slice(1).join('\n'), files)).toHaveLength(299);
});

test('a long import chain, and a cycle', async () => {
  const count = 250;
  const chain = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`src/n${index}.mjs`, `import './n${(index + 1) % count}.mjs';`]),
  );
  expect(await follow("import '../src/n0.mjs';", chain)).toHaveLength(count);
});

test('import.meta is reported once per file', async () => {
  const reading = await readFiles({ [entry]: '\nconst x = import.meta.url + import.meta.dirname;' });
  expect(reading).toMatchObject({
    warnings: [{ severity: 'warning', code: 'tool.import.invalid', reason: 'meta', line: 2, column: 11 }],
  });
});

test('a large file, parsed in another process, is followed into its functions too', async () => {
  const code = `const x = [${'1 + 1, '.repeat(3000)}]; function f() { return import('../src/other.mjs'); }`;
  expect(await follow(code)).toEqual(other);
});

test('the digest depends on every path and byte, but not on order', () => {
  const digest = digestClosure(
    'a',
    new Map([
      ['a', '1'],
      ['b', '2'],
    ]),
  );
  expect(
    digestClosure(
      'a',
      new Map([
        ['b', '2'],
        ['a', '1'],
      ]),
    ),
  ).toBe(digest);
  const others = [
    digestClosure(
      'b',
      new Map([
        ['a', '1'],
        ['b', '2'],
      ]),
    ),
    digestClosure(
      'a',
      new Map([
        ['a', '1'],
        ['b', '3'],
      ]),
    ),
    digestClosure(
      'a',
      new Map([
        ['a', '1'],
        ['c', '2'],
      ]),
    ),
    digestClosure('a', new Map([['a', '1']])),
  ];
  expect(new Set([digest, ...others]).size).toBe(5);
});
