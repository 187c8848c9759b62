import { expect, test } from 'vitest';
import { checkKills, checkRaces, type KillsSeen } from '../logs/log-processes.ts';
import { amount, inBatches } from './amount.ts';

test.each([{ bytes: 20 }, { bytes: 100_000 }, { bytes: 1_000_000 }])(
  'a log keeps every acknowledged record of $bytes bytes through many kills',
  async ({ bytes }) => {
    const kills = amount(60);
    const seen: KillsSeen = { kills: 0, acknowledged: 0, torn: 0, snapshots: 0 };
    await inBatches(`kills while records of ${bytes} bytes are written`, kills, async () => {
      const some = Math.min(bytes < 1_000_000 ? 25 : 5, kills - seen.kills);
      await checkKills({ kills: some, bytes }, seen);
      return some;
    });
    console.log(seen);
    expect(seen.acknowledged).toBeGreaterThan(kills);
  },
);

test('if many processes open the log of a killed one, exactly one gets it, every time', async () => {
  let opened = 0;
  const races = amount(500);
  await inBatches('races for a lock', races, async () => {
    const before = opened;
    opened += await checkRaces({ rounds: 250, writers: 12 });
    return opened - before;
  });
  expect(opened).toBeGreaterThanOrEqual(races);
});
