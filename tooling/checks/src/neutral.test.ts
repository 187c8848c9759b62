import { expect, test } from 'vitest';
import { fixture, soundPackage } from './fixture.ts';
import { findNeutralProblems } from './neutral.ts';

test.each([
  ["import 'node:fs';\n", 'imports `node:fs`'],
  ['export const x: string = process.version;\n', 'uses the global `process`'],
  ['export const x: unknown = globalThis.process;\n', 'uses the global `process`'],
  ['export function x(y: Buffer): number {\n  return y.length;\n}\n', 'uses the global `Buffer`'],
])('%j is found', (source, problem) => {
  expect(findNeutralProblems(fixture(soundPackage('core', {}, source)))).toEqual([
    `packages/core/src/index.ts: ${problem}`,
  ]);
});

test('accepts a property with the name of a global', () => {
  const source = 'export const x = { process: 1, y: (z: { process: number }): number => z.process };\n';
  expect(findNeutralProblems(fixture(soundPackage('core', {}, source)))).toEqual([]);
});

test('files reached only from a Node subpath may use Node, files reached from the root may not', () => {
  const target = (name: string) => ({
    'holdfast-source': `./src/${name}.ts`,
    types: `./dist/${name}.d.ts`,
    default: `./dist/${name}.js`,
  });
  const exports = { '.': target('index'), './jsonl': target('jsonl') };
  const files = {
    ...soundPackage('session', { exports }),
    'packages/session/src/jsonl.ts': "import './disk.ts';\n",
    'packages/session/src/disk.ts': "import 'node:fs';\n",
  };
  expect(findNeutralProblems(fixture(files))).toEqual([]);
  expect(findNeutralProblems(fixture({ ...files, 'packages/session/src/index.ts': "import './disk.ts';\n" }))).toEqual([
    'packages/session/src/disk.ts: imports `node:fs`',
  ]);
});
