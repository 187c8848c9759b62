import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { scanFolder } from '../scan/folder.ts';
import { createProject, toolFile } from '../test-project.ts';
import { followImports } from './folder.ts';

async function follow(
  code: string,
  { strict = false, files = {} }: { readonly strict?: boolean; readonly files?: Readonly<Record<string, string>> } = {},
) {
  await using project = await createProject({
    'plugins/tool.mjs': toolFile('tool', { code }),
    'plugins/other.mjs': toolFile('other'),
    'plugins/_bad.mjs': 'export const x = ;',
    'plugins/_uses.mjs': "export * from './_gone.mjs';",
    'plugins/node_modules/below/package.json': '{"version":"1.0.0"}',
    ...files,
  });
  const scan = await scanFolder(project.plugins, { strict });
  const { files: followed, diagnostics } = await followImports(project.plugins, scan, { strict });
  return {
    good: followed.flatMap(({ type, file }) => (type === 'tool' ? [file] : [])),
    found: diagnostics.map(
      ({ severity, code, reason, file, line }) => `${severity} ${describeCode({ code, reason })} ${file}:${line}`,
    ),
  };
}

const both = ['other.mjs', 'tool.mjs'];

test.each([
  ['nothing', '', both, []],
  ['an existing file', "import './other.mjs';", both, []],
  ['built-in modules of Node', "import 'node:fs';", both, []],
  ['a missing file', "\nimport './_gone.mjs';", ['other.mjs'], ['error tool.import.invalid: missing tool.mjs:2']],
  [
    'a file that asks for one',
    "import './_uses.mjs';",
    ['other.mjs'],
    ['error tool.import.invalid: missing _uses.mjs:1'],
  ],
  ['a file that does not parse', "import './_bad.mjs';", ['other.mjs'], ['error tool.file.invalid: syntax _bad.mjs:1']],
  ['a package that is not installed', "import 'gone';", both, ['warning tool.import.invalid: package tool.mjs:1']],
  // Only refused with a lock.
  ['a package in the folder', "import 'below';", both, []],
  ['a computed import()', 'const load = (name) => import(name);', both, []],
  ['CommonJS', "import '../src/x.cjs';", both, []],
  ['above the folder of a lock', "import '../../x.mjs';", both, []],
])('a tool that imports %s', async (_, code, good, found) => {
  expect(await follow(code)).toEqual({ good, found });
});

test('a missing package is an error under strict', async () => {
  expect(await follow("import 'gone';", { strict: true })).toEqual({
    good: ['other.mjs'],
    found: ['error tool.import.invalid: package tool.mjs:1'],
  });
});

test('findings of the scan are kept, in file order', async () => {
  const files = { 'plugins/a.mjs': 'export const METADATA = make();', 'plugins/z.mjs': 'export const METADATA = {' };
  const { good, found } = await follow("import './_gone.mjs';", { files });
  expect(good).toEqual(['other.mjs']);
  expect(found).toEqual([
    'error tool.metadata.invalid: not_literal a.mjs:1',
    'error tool.import.invalid: missing tool.mjs:1',
    'error tool.file.invalid: syntax z.mjs:1',
  ]);
});

test('a removed folder', async () => {
  await using project = await createProject({ 'plugins/tool.mjs': toolFile('tool') });
  const scan = await scanFolder(project.plugins);
  await expect(followImports(`${project.plugins}-gone`, scan)).rejects.toMatchObject({
    code: 'tools.folder.unreadable',
    reason: 'missing',
  });
});
