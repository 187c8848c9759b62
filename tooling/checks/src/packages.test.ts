import { expect, test } from 'vitest';
import { fixture, soundPackage } from './fixture.ts';
import { findPackageProblems } from './packages.ts';

test('accepts a valid package', () => {
  expect(findPackageProblems(fixture())).toEqual([]);
});

test.each([
  [{ name: '@holdfast/other' }, '`name` must be `@holdfast/core`'],
  [{ description: '' }, '`description` is missing'],
  [{ license: 'ISC' }, '`license` must be `MIT`'],
  [{ type: 'commonjs' }, '`type` must be `module`'],
  [{ engines: { node: '>=20' } }, '`engines.node` must be `>=22.18`'],
  [{ files: ['src'] }, '`files` must be `["dist"]`'],
  [{ scripts: {} }, 'the script `build` is missing'],
  [{ sideEffects: true }, '`sideEffects` must be false'],
  [{ exports: {} }, '`exports` needs `.`'],
  [{ exports: { '.': './dist/index.js' } }, '`exports["."]` needs `holdfast-source`, a ./src/NAME.ts'],
  [
    {
      exports: { '.': { default: './dist/index.js', 'holdfast-source': './src/index.ts', types: './dist/index.d.ts' } },
    },
    '`exports["."]` must be {"holdfast-source":"./src/index.ts","types":"./dist/index.d.ts","default":"./dist/index.js"}',
  ],
])('%j is found', (manifest, problem) => {
  expect(findPackageProblems(fixture(soundPackage('core', manifest)))).toEqual([`packages/core: ${problem}`]);
});

test('an export without a file, `export *` and a default export are reported', () => {
  const exports = { '.': { 'holdfast-source': './src/gone.ts', types: './dist/gone.d.ts', default: './dist/gone.js' } };
  const repository = fixture(soundPackage('core', { exports }, "export * from './a.ts';\nexport default 1;\n"));
  expect(findPackageProblems(repository)).toEqual([
    'packages/core: `./src/gone.ts` of `exports` does not exist',
    'packages/core: packages/core/src/index.ts has `export *`; list the names',
    'packages/core: packages/core/src/index.ts has a default export',
  ]);
});

test('a folder of JSON Schemas is published too', () => {
  const schema = { 'packages/core/schemas/event.json': '{}' };
  const files = { ...soundPackage('core', { files: ['dist', 'schemas'] }), ...schema };
  expect(findPackageProblems(fixture(files))).toEqual([]);
  expect(findPackageProblems(fixture({ ...soundPackage('core'), ...schema }))).toEqual([
    'packages/core: `files` must be `["dist","schemas"]`',
  ]);
});

test('the weights of a model are published', () => {
  const files = ['dist', 'model.gguf'];
  expect(findPackageProblems(fixture(soundPackage('model-small', { files })))).toEqual([]);
  expect(findPackageProblems(fixture(soundPackage('model-small')))).toEqual([
    'packages/model-small: `files` must be `["dist","model.gguf"]`',
  ]);
});

test('reports a missing README', () => {
  const files = new Map(Object.entries(soundPackage('policy')).filter(([path]) => !path.endsWith('README.md')));
  expect(findPackageProblems(fixture(Object.fromEntries(files)))).toEqual(['packages/policy: README.md is missing']);
});
