import { expect, test } from 'vitest';
import { measureLocal } from './measure.ts';

// Figures are not tested: subjects fail if an answer has no end.
test('the benchmark of local models still works', async () => {
  const reports = await measureLocal({ largest: 1, rounds: 1 });
  const rows = reports.map((report) => ('rows' in report ? report.rows : []));
  expect(rows.map((own) => own.map(({ name }) => name))).toEqual([
    ['file', 'binding', 'loadLlamaModel'],
    ['binding', 'first event'],
    ['binding', 'without a grammar', 'with a grammar', 'four at once'],
    [],
  ]);
  for (const { nsPerOperation } of rows.flat()) expect(nsPerOperation.median).toBeGreaterThan(0);
  const figures = reports.flatMap((report) => ('figures' in report ? report.figures : []));
  expect(figures.map(({ unit }) => unit)).toEqual(['MB', 'MiB', 'MiB', 'MiB']);
});
