import { expect, test } from 'vitest';
import { checkBrokenInput, checkHostileText, checkHostileValues, HostileCalls } from '../calls/hostile-calls.ts';
import { amount, inBatches } from './amount.ts';

const total = amount(100_000);

test(`${total} calls with hostile arguments: no host exception, no change of a prototype, no handler with unchecked input`, async () => {
  const kinds = new Map<string, number>();
  await inBatches('hostile calls', total, async () => {
    // A session for each batch: its log is dropped, and damage by one batch must not hide damage by the next.
    const calls = new HostileCalls();
    await checkHostileText(calls, { numRuns: 5_000 });
    await checkHostileValues(calls, { numRuns: 5_000 });
    await checkBrokenInput(calls, { numRuns: 10_000 });
    for (const [kind, count] of calls.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
    return [...calls.kinds.values()].reduce((sum, count) => sum + count, 0);
  });
  console.log(Object.fromEntries([...kinds].sort()));
  expect([...kinds.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(total);
});
