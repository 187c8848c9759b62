import { expect, test } from 'vitest';
import { checkRandomCalls, type Seen } from '../calls/random-calls.ts';
import { amount, inBatches } from './amount.ts';

test.each([
  { place: 'memory', failing: amount(2_000) },
  { place: 'host', failing: amount(2_000) },
] as const)('$failing failing calls on $place leave state and files unchanged', async ({ place, failing }) => {
  const seen: Seen = { kinds: new Map(), nested: 0, failing: 0, retried: 0 };
  await inBatches(`failing calls on ${place}`, failing, async () => {
    const before = seen.failing;
    await checkRandomCalls({ runs: 250, place }, seen);
    return seen.failing - before;
  });
  console.log({ ...Object.fromEntries([...seen.kinds].sort()), nested: seen.nested });
  expect(seen.failing).toBeGreaterThanOrEqual(failing);
  expect(seen.kinds.get('ok')).toBeGreaterThan(failing / 10);
});
