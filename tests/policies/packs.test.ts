import { expect, test } from 'vitest';
import { listPackChecks } from './pack-suites.ts';

const checks = await listPackChecks(1);

test.each(checks.filter(({ skipped }) => skipped === undefined))('$pack, $name', async ({ run }) => {
  await expect(run()).resolves.toBeUndefined();
});

test('little is skipped', () => {
  const skipped = checks.filter((check) => check.skipped !== undefined && !['shell', 'release'].includes(check.pack));
  expect(skipped.map(({ pack, skipped: why }) => `${pack}: ${why}`)).toEqual([
    'approvals: `missing` is declared as different',
    'budgets: `missing` is declared as different',
    'budgets: `missing` is declared as different',
    'network: `path` is declared as different',
    'network: `missing` is declared as different',
    ...Array.from({ length: 5 }, () => 'provenance: `missing` is declared as different'),
  ]);
});
