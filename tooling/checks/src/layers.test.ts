import { expect, test } from 'vitest';
import { fixture, soundPackage } from './fixture.ts';
import { findDeepImports, findLayerProblems, toPackageName } from './layers.ts';

test.each([
  ['core', '@holdfast/schema', 'up'],
  ['policy', '@holdfast/session', 'sideways'],
  ['session', '@holdfast/executor', 'up'],
  ['executor', '@holdfast/policy', 'to a forbidden package'],
  ['executor', '@holdfast/adapter-offline', 'to a forbidden package'],
  ['adapter-offline', '@holdfast/adapter-other', 'sideways'],
  ['filesystem', '@holdfast/testing', 'to the test doubles'],
])('an arrow from %s to %s points %s', (from, to) => {
  const repository = fixture(soundPackage(from, {}, `export { x } from '${to}';\n`));
  expect(findLayerProblems(repository)).toEqual([
    `packages/${from}/src/index.ts: \`${from}\` must not import \`${to}\``,
  ]);
});

test.each([
  "import type { X } from '@holdfast/schema';\nexport type Y = X;\n",
  "export const x: Promise<unknown> = import('@holdfast/schema');\n",
  "export const x = 1;\nimport '@holdfast/schema/json';\n",
])('every form of import counts: %j', (source) => {
  expect(findLayerProblems(fixture(soundPackage('core', {}, source)))).toHaveLength(1);
});

test('accepts imports from lower layers', () => {
  const repository = fixture({
    ...soundPackage('schema', {}, "export { x } from '@holdfast/core';\n"),
    ...soundPackage('executor', {}, "export { x } from '@holdfast/session';\nexport { y } from '@holdfast/core';\n"),
  });
  expect(findLayerProblems(repository)).toEqual([]);
});

test('reports a package without a layer', () => {
  expect(findLayerProblems(fixture(soundPackage('novelty')))).toEqual([
    'packages/novelty: give `novelty` a layer in tooling/checks/src/layers.ts',
  ]);
});

test('reports deep imports and imports outside the package', () => {
  const source = "import '@holdfast/core/src/tool.ts';\nimport '../../core/src/tool.ts';\nimport '@holdfast/core';\n";
  expect(findDeepImports(fixture(soundPackage('schema', {}, source)))).toEqual([
    'packages/schema/src/index.ts: `@holdfast/core/src/tool.ts` is not exported',
    'packages/schema/src/index.ts: `../../core/src/tool.ts` leaves the package',
  ]);
});

test.each([
  ['@holdfast/schema/json', '@holdfast/schema'],
  ['valibot', 'valibot'],
  ['vitest/config', 'vitest'],
  ['node:fs/promises', 'node:fs/promises'],
  ['./x.ts', undefined],
])('%s names the package %s', (specifier, name) => {
  expect(toPackageName(specifier)).toBe(name);
});
