import { expect, test } from 'vitest';
import { findErrorCodeProblems } from './error-codes.ts';
import { fixture } from './fixture.ts';

const page = 'apps/docs/guide/errors.md';
const source = 'packages/core/src/index.ts';

test.each([
  "throw new HoldfastError('a.b', 'Why.');",
  "refuse('a.b');",
  "const problem = { code: 'a.b' };",
  "const problem = { code: known ?? 'a.b' };",
  "const code = bad ? 'a.b' : undefined;",
  `const problem = { code: \`a.\${kind}\` };`,
])('%s contains an error code', (text) => {
  const files = { [source]: `${text}\nexport {};\n` };
  expect(findErrorCodeProblems(fixture(files))).toEqual([
    expect.stringMatching(/^packages\/core\/src\/index\.ts: the code `a\.[b*]` is not on/),
  ]);
  expect(findErrorCodeProblems(fixture({ ...files, [page]: '| `a.b` | Why. |\n' }))).toEqual([]);
});

test.each([
  "if (error.code === 'a.b') leave();",
  "const brand = Symbol.for('a.b');",
  "if (permission.has('a.b')) write();",
  "import { a } from 'a.b';",
  "const path = { path: 'a.b' };",
  "read('a.txt');",
])('%s contains none', (text) => {
  expect(findErrorCodeProblems(fixture({ [source]: `${text}\nexport {};\n` }))).toEqual([]);
});

test('ignores a code in a test', () => {
  expect(findErrorCodeProblems(fixture({ 'packages/core/src/a.test.ts': "refuse('a.b');" }))).toEqual([]);
});

test('reports a documented code that no source throws', () => {
  expect(findErrorCodeProblems(fixture({ [page]: '| `a.b`, `a.c` | Why. |\n' }))).toEqual([
    `${page}: no source throws \`a.b\``,
    `${page}: no source throws \`a.c\``,
  ]);
});
