import { expect, test } from 'vitest';
import { fixture, soundPackage } from './fixture.ts';
import { findCallRoomProblems, findFullRooms, findRoomCircles } from './rooms.ts';

function withFiles(files: Readonly<Record<string, string>>) {
  const sources = Object.entries(files).map(([path, text]) => [`packages/core/src/${path}`, text]);
  return fixture({ ...soundPackage('core'), ...Object.fromEntries(sources) });
}

test.each([
  [{ 'a/one.ts': "import type { X } from '../b/two.ts';\n", 'b/two.ts': "import '../a/one.ts';\n" }, 'a -> b -> a'],
  [
    {
      'a/one.ts': "import '../b/two.ts';\n",
      'b/two.ts': "import '../c/d/three.ts';\n",
      'c/d/three.ts': "export const x: Promise<unknown> = import('../../a/one.ts');\n",
    },
    'a -> b -> c/d -> a',
  ],
  [{ 'shared.ts': "import './a/one.ts';\n", 'a/one.ts': "import '../shared.ts';\n" }, '. -> a -> .'],
])('reports rooms that import each other: %j', (files, circle) => {
  expect(findRoomCircles(withFiles(files))).toEqual([`packages/core/src: its rooms import each other: ${circle}`]);
});

test('accepts one-way imports, and ignores imports of tests', () => {
  const files = {
    'shared.ts': "import './a/one.ts';\nimport './b/two.ts';\n",
    'a/one.ts': "import '../b/two.ts';\n",
    'b/two.ts': "import './three.ts';\n",
    'b/three.ts': "import '../../package.json';\n",
    'b/two.test.ts': "import '../a/one.ts';\n",
  };
  expect(findRoomCircles(withFiles(files))).toEqual([]);
});

test('reports a folder with more than 25 sources, not counting tests', () => {
  const files = (count: number, end: string): Readonly<Record<string, string>> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`a/f${index}${end}`, 'export const x = 1;\n']));
  expect(findFullRooms(withFiles({ ...files(25, '.ts'), ...files(30, '.test.ts') }))).toEqual([]);
  expect(findFullRooms(withFiles(files(26, '.ts')))).toEqual([
    'packages/core/src/a: has 26 files, split it by topic into folders of at most 25',
  ]);
});

test('the room of the call path has at most ten files and imports no other room', () => {
  const path = 'packages/executor/src/call';
  const file = (count: number): string => `${path}/f${count}.ts`;
  const one = "import './f2.ts';\nimport type { A } from '../approval/ask.ts';\n";
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [file(index), 'export const x = 1;\n']));
  const repository = fixture({ ...soundPackage('executor'), ...many, [file(1)]: one });
  expect(findCallRoomProblems(repository)).toEqual([
    `${file(1)}: imports \`../approval/ask.ts\`; pass rare features through \`CallFeatures\``,
  ]);
  expect(findFullRooms(repository)).toEqual([`${path}: has 11 files, split it by topic into folders of at most 10`]);
});
