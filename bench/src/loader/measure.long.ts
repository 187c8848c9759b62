import { expect, test } from 'vitest';
import { measureCalls } from './calls.ts';
import { measureScan } from './scan.ts';
import { measureWarmStart } from './warm-start.ts';

// Figures are not tested: subjects fail if they do not do their work.
test('the benchmark of the loader still works', async () => {
  const extent = { largest: 100, rounds: 1 };
  const reports = [
    ...(await measureCalls({ largest: 2, rounds: 1 })),
    ...(await measureWarmStart(extent)),
    ...(await measureScan(extent)),
  ];
  expect(reports.map(({ name }) => name)).toEqual([
    'loader: a warm call',
    'loader: a first call',
    'loader: 100 files, warm',
    'loader: 100 files, cold',
  ]);
  for (const { nsPerOperation } of reports.flatMap(({ rows }) => rows))
    expect(nsPerOperation.median).toBeGreaterThan(0);
  const goals = reports.flatMap(({ rows }) =>
    rows.flatMap(({ ratios }) => ratios.filter(({ goal }) => goal !== undefined)),
  );
  expect(goals.map(({ against, goal }) => [against, goal])).toEqual([
    ['bare process', 3],
    ['stat and read', 1.5],
    ['parse', 1.2],
    ['import', 1],
  ]);
});
