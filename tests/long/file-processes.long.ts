import { expect, test } from 'vitest';
import { checkFileKills, type FileKillsSeen, noFileKills } from '../files/file-processes.ts';
import { amount, inBatches } from './amount.ts';

test.each([{ beside: false }, { beside: true }])(
  'files match the log through many kills (another session beside: $beside)',
  async ({ beside }) => {
    const kills = amount(beside ? 100 : 200);
    const seen: FileKillsSeen = { ...noFileKills };
    await inBatches(`kills while files are changed (another session beside: ${beside})`, kills, async () => {
      const some = Math.min(100, kills - seen.kills);
      await checkFileKills({ kills: some, beside }, seen);
      return some;
    });
    console.log(seen);
    expect(seen.kills).toBe(kills);
    expect(seen.completed).toBeGreaterThan(kills / 20);
  },
);
