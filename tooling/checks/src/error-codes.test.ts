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

const reasons = "/** Reasons of `a.b`. */\nexport type Reason = 'c' | 'd.e';\nrefuse('a.b');\n";
const listed = '| `a.b` | Why. |\n| – `c`, `d.e` | Why. |\n';
const tests = "const one = { code: 'a.b', reason: 'c' };\nconst other = /a\\.b: d\\.e/;\n";

test('a reason is on the page below its code, and in a test', () => {
  const files = { [source]: `${reasons}refuseFor('d.e');\n`, [page]: listed, 'packages/core/src/a.test.ts': tests };
  expect(findErrorCodeProblems(fixture(files))).toEqual([]);
  expect(findErrorCodeProblems(fixture({ ...files, [page]: '| `a.b` | Why. |\n| – `c`, `f` | Why. |\n' }))).toEqual([
    `${source}: the reason \`d.e\` of \`a.b\` is not on ${page}`,
    `${page}: nothing gives \`a.b\` the reason \`f\``,
  ]);
  expect(findErrorCodeProblems(fixture({ ...files, 'packages/core/src/a.test.ts': '' }))).toEqual([
    `${source}: the reason \`c\` of \`a.b\` has no test`,
    `${source}: the reason \`d.e\` of \`a.b\` has no test`,
  ]);
});

test('a reason may be in the data of a thrown error', () => {
  const thrown = "throw new HoldfastError('a.b', why, {\n  data: { reason: 'c', n: 1 },\n  cause,\n});\n";
  const files = { [source]: thrown, 'packages/core/src/a.test.ts': "const one = { code: 'a.b', reason: 'c' };\n" };
  expect(findErrorCodeProblems(fixture({ ...files, [page]: '| `a.b` | Why. |\n| – `c` | Why. |\n' }))).toEqual([]);
  expect(findErrorCodeProblems(fixture({ ...files, [page]: '| `a.b` | Why. |\n' }))).toEqual([
    `${source}: the reason \`c\` of \`a.b\` is not on ${page}`,
  ]);
});

test('a reason belongs to one code, and may stand beside it', () => {
  const files = {
    [source]: "refuse('a.b');\nconst one = { code: 'a.c', reason: 'd' };\nexport {};\n",
    'packages/core/src/a.test.ts': "const one = { code: 'a.c', reason: 'd' };\n",
  };
  expect(
    findErrorCodeProblems(fixture({ ...files, [page]: '| `a.c` | Why. |\n| – `d` | Why. |\n| `a.b` | Why. |\n' })),
  ).toEqual([]);
  expect(
    findErrorCodeProblems(fixture({ ...files, [page]: '| `a.c` | Why. |\n| `a.b` | Why. |\n| – `d` | Why. |\n' })),
  ).toEqual([
    `${source}: the reason \`d\` of \`a.c\` is not on ${page}`,
    `${page}: nothing gives \`a.b\` the reason \`d\``,
  ]);
  const other = { 'packages/core/src/a.test.ts': "const one = { code: 'a.b', reason: 'd' };\n" };
  expect(
    findErrorCodeProblems(
      fixture({ ...files, ...other, [page]: '| `a.c` | Why. |\n| – `d` | Why. |\n| `a.b` | Why. |\n' }),
    ),
  ).toEqual([`${source}: the reason \`d\` of \`a.c\` has no test`]);
});
