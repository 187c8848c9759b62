import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAll, killAtOperations, makeCompileCache, noKills } from './recovery-kills.ts';

let cache: Awaited<ReturnType<typeof makeCompileCache>>;
beforeAll(async () => {
  cache = await makeCompileCache();
});
afterAll(() => cache[Symbol.dispose]());

test.each([
  { store: 'jsonl', bytes: 200, sessions: 6, kills: 9 },
  { store: 'sqlite', bytes: 200, sessions: 6, kills: 9 },
  { store: 'jsonl', bytes: 100_000, sessions: 6, kills: 6 },
  { store: 'sqlite', bytes: 100_000, sessions: 6, kills: 6 },
] as const)(
  '$kills kills of each of $sessions sessions in $store, $bytes bytes a record, cost nothing that was told',
  async ({ sessions, ...options }) => {
    const seen = noKills();
    // Two processes at a time, and a third of the sessions waits for the disk.
    const killSome = async (syncs: readonly ('process' | 'disk')[]): Promise<void> => {
      for (const sync of syncs) await killAll({ ...options, sync, cache: cache.path }, seen);
    };
    await Promise.all([killSome(['process', 'disk', 'process']), killSome(['process', 'process', 'disk'])]);
    expect(seen.kills).toBe(sessions * options.kills);
    expect(seen.working).toBeGreaterThan(seen.kills / 4);
    expect(Math.min(seen.records, seen.effects, seen.outcomes, seen.snapshots)).toBeGreaterThan(0);
  },
);

test.each([
  { store: 'jsonl', half: false },
  { store: 'jsonl', half: true },
  { store: 'sqlite', half: false },
] as const)(
  '$store: a process that ends at any operation on files costs nothing either (half written: $half)',
  async ({ store, half }) => {
    const seen = noKills();
    // A few of about a thousand, others each time; the long suite takes every one.
    const options = { store, half, bytes: 200, sync: 'process', cache: cache.path, step: 80 } as const;
    const operations = await killAtOperations(options, seen);
    expect(operations).toBeGreaterThan(500);
    expect(seen.kills).toBeGreaterThan(5);
  },
);
