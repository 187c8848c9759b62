import { expect, test } from 'vitest';
import { measurePolicies } from './measure.ts';

// Figures are not tested: subjects fail if a call is refused or a guard is skipped.
test('the benchmark of policies still works', async () => {
  const reports = await measurePolicies({ largest: 2, rounds: 1 });
  expect(reports.map(({ name }) => name)).toEqual([
    'policies: calls with 1 to 50 policies in force',
    'policies: what one of them adds to a call',
    'policies: calls with a pack in force',
  ]);
  for (const report of reports) {
    if ('rows' in report) for (const row of report.rows) expect(row.nsPerOperation.median).toBeGreaterThan(0);
    if ('figures' in report) expect(report.figures).toHaveLength(6);
  }
});
