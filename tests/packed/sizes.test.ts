import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { budgetsPath, findSizeProblems, formatSizes, measureSizes, parseBudgets } from './sizes.ts';

test('no entry is over its budget', async () => {
  const sizes = await measureSizes();
  const problems = findSizeProblems(sizes, parseBudgets(await readFile(budgetsPath, 'utf8')));
  console.log(formatSizes(sizes).split('\n\n').at(-1));
  expect(problems, 'make it smaller, or run `npm run sizes` and say why in the change').toEqual([]);
});

test('5 % more passes, a byte over that does not, and every entry has a budget', () => {
  const sizes = ['a', 'b', 'c'].map((entry, index) => ({ entry, minifiedBytes: 9, gzipBytes: 1050 + index }));
  const budgets = parseBudgets(
    '| Entry | x | y |\n| --- | ---: | ---: |\n| a | 9 | 1000 |\n| b | 9 | 1000 |\n| d | 1 | 2 |\n',
  );
  expect(findSizeProblems(sizes, budgets)).toEqual([
    '`b` takes 1051 bytes, its budget is 1000',
    '`c` has no budget',
    '`d` has a budget and is gone',
  ]);
});

test('what is written is what is read', () => {
  const text = formatSizes([{ entry: '@holdfast/core', minifiedBytes: 20, gzipBytes: 10 }]);
  expect([...parseBudgets(text)]).toEqual([['@holdfast/core', 10]]);
});
