import { expect, test } from 'vitest';
import { checkOrder } from '../policies/rule-sets.ts';
import { amount, inBatches } from './amount.ts';

const total = amount(10_000);

test(`${total} random sets of policies: decisions and reasons do not depend on their order`, async () => {
  const kinds = new Map<string, number>();
  await inBatches('sets of policies', total, async () => {
    const runs = Math.min(total, 5_000);
    for (const [kind, count] of await checkOrder(runs)) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
    return runs;
  });
  console.log(Object.fromEntries([...kinds].sort()));
  expect([...kinds.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(total);
});
