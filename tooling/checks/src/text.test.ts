import { expect, test } from 'vitest';
import { fixture } from './fixture.ts';
import { findMachinePaths, findSourceProblems } from './text.ts';

const path = 'packages/core/src/a.ts';

// Concatenated, so that the checks do not find their own fixtures.
test.each([
  [`// @ts-${'ignore'}\n`, 'silences a checker; fix the cause'],
  [`/* oxlint-${'disable'} no-console */\n`, 'silences a checker; fix the cause'],
  [`// ${'TODO'} later\n`, 'has a postponed task; do it or open an issue'],
  [`/**\n * ${'FIXME'}: later\n */\n`, 'has a postponed task; do it or open an issue'],
  [`test${'.skip'}('x', () => {});\n`, 'skips a test'],
  [`describe${'.only'}('x', () => {});\n`, 'skips a test'],
  [`test${'.concurrent.todo'}('x');\n`, 'skips a test'],
  [
    `test${'.skipIf'}(true)('x', () => {});\n`,
    'may skip only tests over shared data, of another platform or of missing programs',
  ],
  ['\n'.repeat(301), 'has 301 lines, over 300: two ideas?'],
])('reports %j', (source, problem) => {
  expect(findSourceProblems(fixture({ [path]: source }))).toEqual([`${path}: ${problem}`]);
});

test.each([
  '// Lists the TODO comments of a folder.\n',
  "const words = ['TODO', '@ts-ignore'];\n",
  '\n'.repeat(300),
  `test${'.skipIf'}(process.platform === 'win32')('x', () => {});\n`,
  `import data from '../shared/data';\ntest${'.skipIf'}(data)('x', () => {});\n`,
])('accepts %j', (source) => {
  expect(findSourceProblems(fixture({ [path]: source }))).toEqual([]);
});

test.each(['work/main', 'root/x', 'home/someone/x', 'Users/someone/x'])('reports the machine path /%s', (name) => {
  expect(findMachinePaths(fixture({ 'README.md': `one\nsee /${name}\n` }))).toHaveLength(1);
});

test.each(['https://example.com/work/x', 'the .ci/root/x', '/home', '/etc/hosts'])(
  '%s is not a machine path',
  (text) => {
    expect(findMachinePaths(fixture({ 'README.md': text }))).toEqual([]);
  },
);
