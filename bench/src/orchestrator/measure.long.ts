import { expect, test } from 'vitest';
import { measureOrchestrator } from './measure.ts';

// Figures are not tested: subjects fail if a plan is refused.
test('the benchmark of plans still works', async () => {
  const reports = await measureOrchestrator({ largest: 100, rounds: 1 });
  const names = reports.map((report) => ('rows' in report ? report.rows : 'figures' in report ? report.figures : []));
  expect(names.map((rows) => rows.map(({ name }) => name))).toEqual([
    ['floor, 100 nodes', 'checkPlan, 100 nodes'],
    [
      'in-degree, 100 nodes',
      'bare calls, 100 nodes',
      'runPlan, 100 nodes',
      'p-graph, 100 nodes',
      'async.auto, 100 nodes',
    ],
    ['100 nodes'],
    ['ideal', 'runPlan', 'p-graph', 'async.auto'],
  ]);
  for (const report of reports) {
    if ('rows' in report)
      for (const { nsPerOperation } of report.rows) expect(nsPerOperation.median).toBeGreaterThan(0);
  }
});
