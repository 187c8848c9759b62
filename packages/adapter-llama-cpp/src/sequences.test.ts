import fc from 'fast-check';
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { expect, test } from 'vitest';
import { Sequences } from './sequences.ts';

/** A fake sequence that holds these tokens. */
function played(has: readonly number[]): LlamaContextSequence {
  const compareContextTokens = (tokens: readonly Token[]) => {
    const index = tokens.findIndex((token, at) => token !== has[at]);
    return { firstDifferentIndex: index < 0 ? tokens.length : index };
  };
  return { compareContextTokens } as unknown as LlamaContextSequence;
}

const { signal: never } = new AbortController();
const tokens = (...list: readonly number[]): readonly Token[] => list as readonly Token[];

test('picks the free sequence with the longest shared prefix', async () => {
  const all = [played([9, 9]), played([1, 2]), played([1])];
  const sequences = new Sequences(all);
  const taken: unknown[] = [];
  await sequences.use(tokens(1, 2, 3), never, async (sequence) => {
    taken.push(sequence);
    await sequences.use(tokens(1, 2, 3), never, async (other) => void taken.push(other));
  });
  expect(taken).toEqual([all[1], all[2]]);
  expect(taken[0]).toBe(all[1]);
});

test('sequences are limited, granted in order, always returned, and not taken by requests that left', async () => {
  const plan = fc.array(fc.constantFrom('ends', 'throws', 'leaves'), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), plan, async (count, steps) => {
      const sequences = new Sequences(Array.from({ length: count }, () => played([])));
      const begun: number[] = [];
      let running = 0;
      const works = steps.map((step, index) => {
        const controller = new AbortController();
        const work = sequences.use([], controller.signal, async () => {
          begun.push(index);
          running += 1;
          expect(running).toBeLessThanOrEqual(count);
          await Promise.resolve();
          running -= 1;
          if (step === 'throws') throw new Error('thrown');
        });
        const settled = work.then(
          () => 'ended',
          (thrown: unknown) => (thrown instanceof Error ? thrown.message : 'left'),
        );
        if (step === 'leaves' && index >= count) controller.abort('left');
        return settled;
      });
      const outcomes = await Promise.all(works);
      steps.forEach((step, index) => {
        if (step === 'throws') expect(outcomes[index]).toBe('thrown');
        else if (step === 'leaves' && index >= count) expect(outcomes[index]).toBe('left');
        else expect(outcomes[index]).toBe('ended');
      });
      expect(begun).toEqual(begun.toSorted((one, other) => one - other));
      await sequences.idle();
    }),
  );
});
