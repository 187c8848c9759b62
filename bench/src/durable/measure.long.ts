import { expect, test } from 'vitest';
import { measureDurable } from './measure.ts';

// Figures are not tested: subjects fail if a session does not end, or a record is not there.
test('the benchmark of durable sessions still works', async () => {
  const reports = await measureDurable({ largest: 10, rounds: 1 });
  expect(reports.map(({ name }) => name)).toEqual([
    ...['300 B, one caller', '300 B, 32 callers', '1.5 kB, one caller', '1.5 kB, 32 callers'].map(
      (size) => `durable: a record of ${size}`,
    ),
    'durable: an append to a session that has so many records',
    'durable: opening a session that has so many records',
    'durable: a turn against a step of DBOS',
    'durable: sessions, 1 at once',
    'durable: sessions, 10 at once',
    'durable: sessions a second',
  ]);
  for (const report of reports) if ('rows' in report) expect(report.rows.length).toBeGreaterThan(0);
});
