import { seed } from './seed.ts';

/** Random numbers from 0 to 1, determined by `HOLDFAST_SEED`: a linear congruential generator. */
export function createRandom(start: number = seed): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** One stream for a whole test file. */
export const random: () => number = createRandom();
