import { expect, test } from 'vitest';
import { killAll, killAtOperations, makeCompileCache, noKills } from '../logs/recovery-kills.ts';
import { random } from '../setup/random.ts';
import { amount, inBatches } from './amount.ts';

test('kills of processes that make governed calls', async () => {
  using cache = await makeCompileCache();
  const seen = noKills();
  const cases = (['process', 'disk'] as const).flatMap((sync) =>
    (['jsonl', 'sqlite'] as const).flatMap((store) => [
      { sync, store, bytes: 200, kills: 20 },
      { sync, store, bytes: 100_000, kills: 12 },
    ]),
  );
  const kills = amount(1_000);
  let next = 0;
  // Each in its own folder; two at a time.
  const killSome = async (): Promise<void> => {
    const options = cases[next % cases.length];
    next += 1;
    if (options !== undefined) await killAll({ ...options, random, cache: cache.path }, seen);
  };
  await inBatches('kills', kills, async () => {
    const before = seen.kills;
    await Promise.all([killSome(), killSome()]);
    return seen.kills - before;
  });
  console.log(seen);
  expect(seen.kills).toBeGreaterThanOrEqual(kills);
  expect(seen.inDoubt).toBeGreaterThan(0);
});

test.each([
  { store: 'jsonl', half: false },
  { store: 'jsonl', half: true },
  { store: 'sqlite', half: false },
  { store: 'sqlite', half: true },
] as const)('$store: a process that ends at any operation on files, half written: $half', async (options) => {
  using cache = await makeCompileCache();
  const seen = noKills();
  const step = Math.max(1, Math.round(10_000_000 / amount(1_000_000)));
  const operations = await killAtOperations(
    { ...options, step, calls: 50, bytes: 200, sync: 'process', cache: cache.path },
    seen,
  );
  console.log(`${operations} operations, every ${step}.`, seen);
  expect(seen.kills).toBeGreaterThanOrEqual(Math.floor(operations / step));
});
