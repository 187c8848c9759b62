import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { findLoadProblems, formatLoads, measureLoads, parseLoads } from './loads.ts';
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

test('no import loads more than its budget', async () => {
  const loads = await measureLoads();
  console.log(formatLoads(loads).split('\n\n').at(-1));
  const budgets = parseLoads(await readFile(budgetsPath, 'utf8'));
  expect(findLoadProblems(loads, budgets), 'load less, or run `npm run sizes` and say why in the change').toEqual([]);
});

test('one more module or 5 % more bytes are over the budget of an import', () => {
  const load = (name: string, modules: number, bytes: number) => ({ entry: `import of ${name}`, modules, bytes });
  const budgets = parseLoads(formatLoads(['a', 'b', 'c', 'gone'].map((name) => load(name, 9, 1000))));
  const loads = [load('a', 9, 1050), load('b', 10, 900), load('c', 9, 1051), load('d', 1, 1)];
  expect(findLoadProblems(loads, budgets)).toEqual([
    'the import of b loads 10 modules, 900 bytes; its budget is 9, 1000',
    'the import of c loads 9 modules, 1051 bytes; its budget is 9, 1000',
    'the import of d has no budget',
    'the import of gone has a budget and is gone',
  ]);
});
