import { expect, test } from 'vitest';
import { findErrorCodeProblems } from './error-codes.ts';
import { writeErrorPage } from './error-page.ts';
import { fixture } from './fixture.ts';

const page = 'apps/docs/guide/errors.md';
const catalog = 'packages/core/errors.json';
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
    expect.stringMatching(/^packages\/core\/src\/index\.ts: no `errors\.json` explains the code `a\.[b*]`/),
  ]);
  expect(findErrorCodeProblems(fixture({ ...files, ...explain({ 'a.b': 'Why.' }) }))).toEqual([]);
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
  expect(findErrorCodeProblems(fixture(explain({ 'a.b, a.c': 'Why.' })))).toEqual([
    `${catalog}: no source throws \`a.b\``,
    `${catalog}: no source throws \`a.c\``,
  ]);
});

const reasons = "/** Reasons of `a.b`. */\nexport type Reason = 'c' | 'd.e';\nrefuse('a.b');\n";
const listed = { 'a.b': { meaning: 'Why.', 'c, d.e': 'Why.' } };
const tests = "const one = { code: 'a.b', reason: 'c' };\nconst other = /a\\.b: d\\.e/;\n";

test('a reason is explained with its code, and in a test', () => {
  const files = { [source]: `${reasons}refuseFor('d.e');\n`, ...explain(listed), 'packages/core/src/a.test.ts': tests };
  expect(findErrorCodeProblems(fixture(files))).toEqual([]);
  expect(findErrorCodeProblems(fixture({ ...files, ...explain({ 'a.b': { 'c, f': 'Why.' } }) }))).toEqual([
    `${source}: no \`errors.json\` explains the reason \`d.e\` of \`a.b\``,
    `${catalog}: nothing gives \`a.b\` the reason \`f\``,
  ]);
  expect(findErrorCodeProblems(fixture({ ...files, 'packages/core/src/a.test.ts': '' }))).toEqual([
    `${source}: the reason \`c\` of \`a.b\` has no test`,
    `${source}: the reason \`d.e\` of \`a.b\` has no test`,
  ]);
});

test('a reason may be in the data of a thrown error', () => {
  const thrown = "throw new HoldfastError('a.b', why, {\n  data: { reason: 'c', n: 1 },\n  cause,\n});\n";
  const files = { [source]: thrown, 'packages/core/src/a.test.ts': "const one = { code: 'a.b', reason: 'c' };\n" };
  expect(findErrorCodeProblems(fixture({ ...files, ...explain({ 'a.b': { c: 'Why.' } }) }))).toEqual([]);
  expect(findErrorCodeProblems(fixture({ ...files, ...explain({ 'a.b': 'Why.' }) }))).toEqual([
    `${source}: no \`errors.json\` explains the reason \`c\` of \`a.b\``,
  ]);
});

test('a reason belongs to one code, and may stand beside it', () => {
  const files = {
    [source]: "refuse('a.b');\nconst one = { code: 'a.c', reason: 'd' };\nexport {};\n",
    'packages/core/src/a.test.ts': "const one = { code: 'a.c', reason: 'd' };\n",
  };
  expect(findErrorCodeProblems(fixture({ ...files, ...explain({ 'a.c': { d: 'Why.' }, 'a.b': 'Why.' }) }))).toEqual([]);
  expect(findErrorCodeProblems(fixture({ ...files, ...explain({ 'a.c': 'Why.', 'a.b': { d: 'Why.' } }) }))).toEqual([
    `${source}: no \`errors.json\` explains the reason \`d\` of \`a.c\``,
    `${catalog}: nothing gives \`a.b\` the reason \`d\``,
  ]);
  const other = { 'packages/core/src/a.test.ts': "const one = { code: 'a.b', reason: 'd' };\n" };
  expect(
    findErrorCodeProblems(fixture({ ...files, ...other, ...explain({ 'a.c': { d: 'Why.' }, 'a.b': 'Why.' }) })),
  ).toEqual([`${source}: the reason \`d\` of \`a.c\` has no test`]);
});

test('the tables of the page are made from the errors.json of the packages', () => {
  const files = {
    [source]: "refuse('a.b');\nrefuse('a.c');\nexport {};\n",
    [catalog]: JSON.stringify({ Calls: { 'a.b': '`denied` | Why.', 'a.c': 'How.' } }),
    [page]:
      '# Errors\n\n## Calls\n\n| Code | Outcome | Meaning |\n| --- | --- | --- |\n| `a.gone` | | Why. |\n\nEnd.\n',
  };
  expect(findErrorCodeProblems(fixture(files))).toEqual([
    `${page}: differs from the \`errors.json\` of the packages; run \`npm run errors\``,
  ]);
  const written = writeErrorPage(fixture(files));
  expect(written).toContain('| --- | --- | --- |\n| `a.b` | `denied` | Why. |\n| `a.c` | | How. |\n\nEnd.');
  expect(findErrorCodeProblems(fixture({ ...files, [page]: written }))).toEqual([]);
  expect(findErrorCodeProblems(fixture({ ...files, [page]: '# Errors\n' }))).toEqual([
    `${catalog}: ${page} has no table below a heading \`Calls\``,
  ]);
});

/** The `errors.json` of `core` and the page that it makes. */
function explain(codes: object): Record<string, string> {
  const files = {
    [catalog]: JSON.stringify({ Calls: codes }),
    [page]: '## Calls\n\n| Code | Meaning |\n| --- | --- |\n',
  };
  return { ...files, [page]: writeErrorPage(fixture(files)) };
}
