import { expect, test } from 'vitest';
import { checkKills, checkRaces, type KillsSeen } from './log-processes.ts';

test.each([
  { kills: 5, bytes: 20 },
  { kills: 3, bytes: 100_000 },
  // A new file after every few records.
  { kills: 5, bytes: 20, snapshotAfterBytes: 1 },
])('a log keeps every acknowledged record of $bytes bytes through $kills kills: %o', async (options) => {
  const { kills } = options;
  const seen: KillsSeen = { kills: 0, acknowledged: 0, torn: 0, snapshots: 0 };
  await checkKills(options, seen);
  expect(seen.kills).toBe(kills);
  if (options.snapshotAfterBytes !== undefined) expect(seen.snapshots).toBeGreaterThan(kills);
  expect(seen.acknowledged).toBeGreaterThan(kills);
});

test('of many processes that open a log of a killed one, exactly one has it', async () => {
  expect(await checkRaces({ rounds: 10, writers: 4 })).toBe(10);
});
