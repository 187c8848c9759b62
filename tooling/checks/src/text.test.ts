import { expect, test } from 'vitest';
import { fixture } from './fixture.ts';
import { findMachinePaths, findSourceProblems } from './text.ts';

const path = 'packages/core/src/a.ts';

// Put together, so that the checks do not find their own fixtures.
test.each([
  [`// @ts-${'ignore'}\n`, 'silences a checker; fix the cause'],
  [`/* oxlint-${'disable'} no-console */\n`, 'silences a checker; fix the cause'],
  [`// ${'TODO'} later\n`, 'has a note for later; do it or open an issue'],
  [`/**\n * ${'FIXME'}: later\n */\n`, 'has a note for later; do it or open an issue'],
  [`test${'.skip'}('x', () => {});\n`, 'leaves a test out'],
  [`describe${'.only'}('x', () => {});\n`, 'leaves a test out'],
  [`test${'.concurrent.todo'}('x');\n`, 'leaves a test out'],
  [
    `test${'.skipIf'}(true)('x', () => {});\n`,
    'may skip only tests over shared data, of another platform or of what the machine lacks',
  ],
  ['\n'.repeat(301), 'has 301 lines, over 300: two ideas?'],
])('%j is found', (source, problem) => {
  expect(findSourceProblems(fixture({ [path]: source }))).toEqual([`${path}: ${problem}`]);
});

test.each([
  '// Lists the TODO comments of a folder.\n',
  "const words = ['TODO', '@ts-ignore'];\n",
  '\n'.repeat(300),
  `test${'.skipIf'}(process.platform === 'win32')('x', () => {});\n`,
  `import data from '../shared/data';\ntest${'.skipIf'}(data)('x', () => {});\n`,
])('%j passes', (source) => {
  expect(findSourceProblems(fixture({ [path]: source }))).toEqual([]);
});

test.each(['work/main', 'root/x', 'home/somebody/x', 'Users/somebody/x'])('the machine path /%s is found', (name) => {
  expect(findMachinePaths(fixture({ 'README.md': `one\nsee /${name}\n` }))).toHaveLength(1);
});

test.each(['https://example.com/work/x', 'the .ci/root/x', '/home', '/etc/hosts'])('%s is no machine path', (text) => {
  expect(findMachinePaths(fixture({ 'README.md': text }))).toEqual([]);
});
