import { expect, test } from 'vitest';
import { measureOrchestrator } from './measure.ts';

// What the figures are is not tested: subjects fail by themselves when a plan is refused.
test('the benchmark of plans still works', async () => {
  const [report] = await measureOrchestrator({ largest: 1_000, rounds: 1 });
  if (report === undefined || !('rows' in report)) throw new Error('There should be rows.');
  expect(report.rows.map(({ name }) => name)).toEqual([
    'floor, 100 nodes',
    'checkPlan, 100 nodes',
    'floor, 1000 nodes',
    'checkPlan, 1000 nodes',
  ]);
  for (const { nsPerOperation } of report.rows) expect(nsPerOperation.median).toBeGreaterThan(0);
});
