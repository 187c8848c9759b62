import { expect, test } from 'vitest';
import { measureRender } from './measure.ts';

// Figures are not tested: subjects fail on a wrong prompt.
test.each([
  [10, 10],
  [1, 10],
  [100, 100],
])('%j at most: the benchmark of rendering still works, with %j sections', async (largest, count) => {
  const { name, rows } = await measureRender({ largest, rounds: 1 });
  expect(name).toBe(`render: ${count} sections and tools`);
  expect(rows.map((row) => row.name)).toEqual([
    'floor',
    'first',
    'again',
    'opened',
    'bound anew',
    'made',
    'made again',
  ]);
  expect(rows.flatMap(({ ratios }) => ratios).filter(({ goal }) => goal !== undefined)).toEqual([
    expect.objectContaining({ against: 'first', goal: 0.1 }),
  ]);
  for (const { rounds, nsPerOperation } of rows) {
    expect(rounds).toBe(1);
    expect(nsPerOperation.median).toBeGreaterThan(0);
  }
});
