import { expect, test } from 'vitest';
import { loadWhileSwapped, noEnds } from './tool-swaps.ts';

test('nothing runs that was not pinned while another process swaps the files', async () => {
  const ends = noEnds();
  await loadWhileSwapped(30, ends);
  expect(ends.ran + ends.refused + ends.failed).toBe(30);
  expect(ends.swaps).toBeGreaterThan(0);
});
