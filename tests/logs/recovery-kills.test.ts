import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../setup/random.ts';
import { killAll, killAtOperations, makeCompileCache, noKills } from './recovery-kills.ts';

let cache: Awaited<ReturnType<typeof makeCompileCache>>;
beforeAll(async () => {
  cache = await makeCompileCache();
});
afterAll(() => cache[Symbol.dispose]());

// `npm run long` kills ten thousand processes, and ends one at every single operation.
test.each([
  { store: 'jsonl', bytes: 200, sync: 'disk', kills: 6 },
  { store: 'sqlite', bytes: 200, sync: 'disk', kills: 6 },
  { store: 'jsonl', bytes: 100_000, sync: 'process', kills: 5 },
  { store: 'sqlite', bytes: 100_000, sync: 'process', kills: 5 },
] as const)(
  '$kills kills of a session in $store, $bytes bytes a record, synced to the $sync, lose nothing that was acknowledged',
  async (options) => {
    const seen = noKills();
    await killAll({ ...options, random: createRandom(5), cache: cache.path }, seen);
    expect(seen.kills).toBe(options.kills);
    expect(seen.working).toBeGreaterThan(0);
    expect(Math.min(seen.records, seen.effects, seen.outcomes)).toBeGreaterThan(0);
  },
);

test.each([
  { store: 'jsonl', half: false },
  { store: 'jsonl', half: true },
  { store: 'sqlite', half: false },
] as const)(
  '$store: a process that ends at an operation on files loses nothing either (half written: $half)',
  async ({ store, half }) => {
    const seen = noKills();
    const options = { store, half, bytes: 200, sync: 'process', cache: cache.path, calls: 12, step: 60 } as const;
    const operations = await killAtOperations(options, seen);
    expect(operations).toBeGreaterThan(100);
    expect(seen.kills).toBeGreaterThan(1);
    expect(seen.records).toBeGreaterThan(0);
  },
);
