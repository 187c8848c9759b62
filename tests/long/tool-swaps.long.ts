import { expect, test } from 'vitest';
import { loadWhileSwapped, noEnds } from '../tool-files/tool-swaps.ts';
import { amount, inBatches } from './amount.ts';

test('loads while another process swaps the files: only pinned code runs', async () => {
  const ends = noEnds();
  let swaps = 0;
  await inBatches('loads', amount(1_000), async () => {
    await loadWhileSwapped(250, ends);
    swaps += ends.swaps;
    return 250;
  });
  console.log({ ...ends, swaps });
  // Each ending occurs, otherwise the loop would prove nothing.
  expect(ends.ran).toBeGreaterThan(0);
  expect(ends.refused).toBeGreaterThan(0);
  expect(swaps).toBeGreaterThan(amount(1_000));
});
