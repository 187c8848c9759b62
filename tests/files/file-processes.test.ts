import { expect, test } from 'vitest';
import { checkFileKills, type FileKillsSeen, noFileKills } from './file-processes.ts';

test.each([
  { kills: 8, beside: false },
  { kills: 4, beside: true },
])(
  'files match the log through $kills kills (another session beside: $beside)',
  { timeout: 180_000 },
  async ({ kills, beside }) => {
    const seen: FileKillsSeen = { ...noFileKills };
    await checkFileKills({ kills, beside }, seen);
    expect(seen.kills).toBe(kills);
    expect(seen.calls).toBeGreaterThan(0);
    expect(seen.completed + seen.putBack).toBeGreaterThanOrEqual(0);
  },
);
