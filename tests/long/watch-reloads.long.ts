import { expect, test } from 'vitest';
import { checkReloads, expectNoMore } from '../tool-files/watch-reloads.ts';
import { amount } from './amount.ts';

const reloads = amount(1_000);

test.each(['worker', 'subprocess'] as const)(`${reloads} reloads with tools in a %s do not leak`, async (isolation) => {
  const startedAtMs = Date.now();
  const { early, late, copies, calls } = await checkReloads({
    isolation,
    reloads,
    callEvery: 4,
    onReload(done) {
      if (done % 500 === 0)
        console.log(`${isolation}: ${done} of ${reloads} after ${Math.round((Date.now() - startedAtMs) / 1000)} s`);
    },
  });
  console.log(isolation, { early, late });
  expect({ copies, calls }).toEqual({ copies: expect.any(Number), calls: Math.floor(reloads / 4) });
  expect(copies).toBeLessThanOrEqual(2);
  expectNoMore(early, late);
  // Less than 1 kB a reload.
  expect(late.heapBytes).toBeLessThan(early.heapBytes + 3_000_000 + reloads * 800);
});
