import { seed } from './seed.ts';

/** Numbers from 0 up to 1, the same ones for the same `HOLDFAST_SEED`: a linear congruential generator. */
export function createRandom(start: number = seed): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** One stream for a whole test file. */
export const random: () => number = createRandom();
