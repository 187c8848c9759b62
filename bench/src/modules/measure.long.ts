import { expect, test } from 'vitest';
import { measureModules } from './measure.ts';

// Figures are not tested: subjects fail on a wrong answer.
test('the benchmark of modules still works', async () => {
  const reports = await measureModules({ largest: 100, rounds: 1 });
  const rows = reports.map((report) => ('rows' in report ? report.rows : []));
  expect(rows.map((own) => own.map(({ name }) => name))).toEqual([
    ['by hand', 'predict', 'chainOfThought', 'engine.invoke', 'ai'],
    ['by hand', 'by hand, governed', 'wrapTools', 'invokeWithTools', 'react', 'ai'],
    [
      'in memory, 100 modules: floor',
      'in memory, 100 modules',
      'in a folder, 100 modules: floor',
      'in a folder, 100 modules',
    ],
    ['floor', 'in memory', 'in a folder'],
    ['timer', 'in memory', 'in a folder'],
  ]);
  for (const { nsPerOperation } of rows.flat()) expect(nsPerOperation.median).toBeGreaterThan(0);
});
