import { expect, test } from 'vitest';
import { measureAppends } from './append.ts';
import { callEntry, smallEntry } from './entries.ts';
import { measureReopening } from './reopen.ts';

// Figures are not tested: subjects fail if a store does not do its work.
test('the benchmark of stores still works', async () => {
  const reports = [
    ...(await measureAppends({ largest: 64, rounds: 1 })),
    await measureReopening({ largest: 10, rounds: 1 }),
  ];
  expect(reports).toHaveLength(9);
  for (const { name, rows } of reports) {
    expect(name).toMatch(/^stores: /);
    expect(rows.length).toBeGreaterThan(3);
    for (const { rounds, nsPerOperation } of rows) {
      expect(rounds).toBe(1);
      expect(nsPerOperation.median).toBeGreaterThan(0);
    }
  }
});

test('records have the sizes that are reported', () => {
  const line = { seq: 12_345, prev: '0'.repeat(64), atMs: 1_795_323_214_208 };
  expect(JSON.stringify({ ...line, ...smallEntry(12_345) }).length / 300).toBeCloseTo(1, 1);
  expect(JSON.stringify({ ...line, ...callEntry(12_345) }).length / 1_500).toBeCloseTo(1, 1);
});
