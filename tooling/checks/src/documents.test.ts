import { expect, test } from 'vitest';
import { findChangesetProblems, findDocumentProblems, findExampleProblems } from './documents.ts';
import { fixture } from './fixture.ts';

const files = {
  'package.json': JSON.stringify({ name: 'root', scripts: { test: 't', holdfast: 'h' } }),
  'apps/cli/src/program.ts': "program.command('show <id>');\n",
  'examples/01-a.ts': 'said();\n',
};

test.each([
  ['npm start -- "x"', 'the script `start` does not exist'],
  ['npm run gone -- --json', 'the script `gone` does not exist'],
  ['npm run --silent gone', 'the script `gone` does not exist'],
  ['pnpm gone', 'the script `gone` does not exist'],
  ['npm run holdfast -- gone', 'the command `holdfast gone` does not exist'],
  ['[a](./gone.md)', 'the link to `gone.md` leads nowhere'],
  ['goes to `apps/cli/src/gone`', '`apps/cli/src/gone` does not exist'],
  ['```ts\n// examples/01-a.ts\nother();\n```', 'the fence of `examples/01-a.ts` differs from the file'],
])('%j is found', (text, problem) => {
  expect(findDocumentProblems(fixture({ ...files, 'README.md': text }))).toEqual([`README.md: ${problem}`]);
});

test.each([
  'npm run holdfast -- show, npm run --silent holdfast -- show --json',
  'npm test, npm run test, pnpm test, pnpm install, npx pnpm@1 install',
  '[a](https://example.com) [b](#part) [c](packages/core/) [d](package.json#x)',
  '`apps/cli/src/program.ts`, `apps/cli/src/`, `apps/cli/src/GROUP/NAME.ts`, `packages/pack-NAME`, `examples/NN-name.ts`',
  '```ts\n// examples/01-a.ts\nsaid();\n```',
])('accepts %j', (text) => {
  expect(findDocumentProblems(fixture({ ...files, 'README.md': text }))).toEqual([]);
});

test.each([
  ['CONTRIBUTING.md', 1],
  ['apps/cli/README.md', 1],
  ['README.md', 0],
  ['packages/core/README.md', 0],
  ['apps/docs/guide/tools.md', 0],
])('untested programs in %s: %d', (path, count) => {
  const text = '```sh\nls\n```\n\n```ts\nsaid();\n```\n\n```ts\n// examples/01-a.ts\nsaid();\n```\n';
  expect(findDocumentProblems(fixture({ ...files, [path]: text }))).toEqual(
    Array.from({ length: count }, () => expect.stringContaining('the program that starts with `said();`')),
  );
});

test('reports a missing number, a long example, and one without a check', () => {
  const files = { 'examples/01-a.ts': "import 'node:assert';\n", 'examples/03-b.ts': '\n'.repeat(81) };
  expect(findExampleProblems(fixture(files))).toEqual([
    'examples/03-b.ts: expected the number 02',
    'examples/03-b.ts: has 81 lines, over 80',
    'examples/03-b.ts: does not check itself',
  ]);
});

test.each([
  ['---\n\n## "@holdfast/core": minor\n\nText.\n', 'needs a head'],
  ['---\n"@holdfast/core": huge\n---\n\nText.\n', 'needs a head'],
  ['---\n"@holdfast/core": minor\n---\n', 'needs a head'],
  ['---\n"@holdfast/core": minor\n"gone": patch\n---\n\nText.\n', 'unknown package `gone`'],
])('the changeset %j is found', (text, problem) => {
  expect(findChangesetProblems(fixture({ '.changeset/a.md': text }))).toEqual([expect.stringContaining(problem)]);
});

test('a valid changeset passes', () => {
  const text = '---\n"@holdfast/core": minor\n---\n\nText.\n';
  expect(findChangesetProblems(fixture({ '.changeset/a.md': text }))).toEqual([]);
});
