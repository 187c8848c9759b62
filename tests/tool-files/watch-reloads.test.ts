import { expect, test } from 'vitest';
import { checkReloads, expectNoMore } from './watch-reloads.ts';

test.each(['worker', 'subprocess'] as const)('reloads with tools in a %s leave nothing behind', async (isolation) => {
  const { early, late, copies, calls } = await checkReloads({ isolation, reloads: 120, callEvery: 15 });
  expect({ copies, calls }).toEqual({ copies: 1, calls: 8 });
  expectNoMore(early, late);
  // Less than 10 kB a reload: what has been compiled, and Node's own.
  expect(late.heapBytes).toBeLessThan(early.heapBytes + 2_000_000);
});
