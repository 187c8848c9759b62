import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asked, bad, broken, compile, good, rushingClock } from './test-compile.ts';

type Answer =
  /** `number`: which of them; the same number is the same answer. */
  | { readonly type: 'bad' | 'broken'; readonly number: number }
  | { readonly type: 'good' | 'declined' | 'none' | 'throw' | 'cut' };

const answer: fc.Arbitrary<Answer> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constantFrom('bad', 'broken'), number: fc.nat({ max: 9 }) }) },
  { weight: 4, arbitrary: fc.constant<Answer>({ type: 'throw' }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('good', 'declined', 'none', 'cut') }) },
);

const around = ['', 'Sure: ', '<think>{</think>', '```json\n'];

function toStep(
  answered: Answer,
  index: number,
): { readonly text: string; readonly finish?: 'length' } | { readonly throw: Error } {
  const prose = around[index % around.length] ?? '';
  switch (answered.type) {
    case 'bad':
      return { text: prose + bad(30 + answered.number) };
    case 'broken':
      return { text: broken(bad(30 + answered.number)) };
    case 'good':
      return { text: prose + good };
    case 'declined':
      return { text: `${prose}{"status":"error","error":"No."}` };
    case 'none':
      return { text: 'No.' };
    case 'cut':
      return { text: good, finish: 'length' };
    case 'throw':
      return { throw: new Error(`down ${index}`) };
    default:
      return answered satisfies never;
  }
}

interface Expected {
  readonly code: string | undefined;
  /** The rounds in which an answer came. */
  readonly rounds: readonly number[];
  readonly waits: readonly number[];
}

/** How a compilation has to go, told as slowly and plainly as can be. */
function expectedOf(script: readonly Answer[], maxRounds: number): Expected {
  const rounds: number[] = [];
  const waits: number[] = [];
  const seen = new Set<string>();
  let [round, forgiven, failures] = [1, 0, 0];
  for (const answered of script) {
    if (answered.type === 'throw') {
      failures += 1;
      if (failures === 3) return { code: 'planner.failed', rounds, waits };
      waits.push(failures === 1 ? 1_000 : 2_000);
      continue;
    }
    failures = 0;
    rounds.push(round);
    if (answered.type === 'good') return { code: undefined, rounds, waits };
    if (answered.type === 'declined') return { code: 'plan.declined', rounds, waits };
    if (answered.type === 'none') return { code: 'planner.no_json', rounds, waits };
    const key = JSON.stringify(answered);
    const isPlan = answered.type === 'bad';
    if (seen.has(key) || (isPlan ? round === maxRounds : forgiven === 2))
      return { code: 'plan.invalid', rounds, waits };
    seen.add(key);
    if (isPlan) round += 1;
    else forgiven += 1;
  }
  // The script says so, three times.
  return { code: 'planner.failed', rounds, waits: [...waits, ...[1_000, 2_000].slice(failures)] };
}

test('a planner is asked as often as the rules say, whatever it answers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { maxLength: 14 }), fc.integer({ min: 1, max: 5 }), async (script, maxRounds) => {
      const { clock, waits } = rushingClock();
      const compiling = await compile(script.map(toStep), { maxRounds, clock });
      const expected = expectedOf(script, maxRounds);
      const answeredIn = compiling.events.flatMap((event) => (event.type === 'planner-answered' ? [event.round] : []));
      expect({ code: compiling.error?.code, rounds: answeredIn, waits }).toEqual(expected);
      // It is asked once for each answer, and once more when it could not be.
      expect(asked(compiling).slice(0, answeredIn.length)).toEqual(answeredIn);
      expect(compiling.rounds).toBe(expected.code === undefined ? answeredIn.at(-1) : undefined);
      // Every time it is told all that it answered before, and nothing else.
      const answers = compiling.requests.map(
        ({ messages }) => messages.filter(({ role }) => role === 'assistant').length,
      );
      expect(answers).toEqual(answers.toSorted((left, right) => left - right));
      expect(answers.at(-1) ?? 0).toBeLessThanOrEqual(maxRounds + 1);
    }),
    { numRuns: 75 },
  );
});
