import { seed } from './seed.ts';

/** Numbers from 0 up to 1, the same ones for the same `HOLDFAST_SEED` (mulberry32, Tommy Ettinger, public domain). */
export function createRandom(start: number = seed): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One stream for a whole test file. */
export const random: () => number = createRandom();
