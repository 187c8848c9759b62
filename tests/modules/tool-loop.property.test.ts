import { definePolicy, deny, type Json, type JsonObject, type Policy, type Tool, toolError } from '@holdfast/core';
import { answerApproval } from '@holdfast/executor';
import { type ToolLoopResult, wrapTools } from '@holdfast/modules';
import { requireApproval } from '@holdfast/policy';
import { createSession, memoryStore, replay, type Session } from '@holdfast/session';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linesOf, noting, playing, summary, suspended } from './test-loop.ts';

/** The result of a call of each name: the line behind `Tool '…' `. */
const ends = new Map([
  ['good', 'returned: "good done"'],
  ['bad', 'failed: Execution failed: It is shut.'],
  ['forbidden', 'failed: Execution failed: Denied: Never.'],
  ['nothing', 'failed: Tool not found: nothing'],
  ['asked', 'returned: "asked done"'],
]);
const names = [...ends.keys()];

/** The calls that one answer of a predictor asks for. */
type Round = { readonly calls: readonly string[]; readonly rubbish: boolean } | 'end' | 'throw';

const rounds: fc.Arbitrary<readonly Round[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        calls: fc.array(fc.constantFrom(...names), { maxLength: 20, size: 'max' }),
        rubbish: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom<Round>('end', 'throw') },
  ),
  { maxLength: 7 },
);

/** One of the shapes in which calls may be asked for. */
function toAnswer(round: Exclude<Round, 'throw'>, shape: number): JsonObject {
  if (round === 'end') return { answer: 'Yes.', tool_call: [null, '', {}, 'None'][shape % 4] as Json };
  const list: Json[] = round.calls.map((name, at) =>
    (at + shape) % 2 === 0 ? { name } : { function: { name, arguments: '{}' } },
  );
  if (round.rubbish) list.splice(shape % (list.length + 1), 0, 5);
  const value = shape % 3 === 0 ? list : shape % 3 === 1 ? JSON.stringify(list) : { tool_calls: list };
  return { part: list.length, tool_call: value };
}

function world() {
  const all = [
    noting('good'),
    noting('bad', () => toolError('It is shut.')),
    noting('forbidden'),
    noting('asked', undefined, { effects: 'external', repeat: 'never' }),
  ];
  const never = definePolicy({
    name: 'never',
    check: ({ tool }) => (tool.name === 'forbidden' ? deny('Never.') : { type: 'allow' }),
  });
  return {
    tools: all.map(({ tool }): Tool => tool),
    policies: [never, requireApproval({ tools: ['asked'] })] as readonly Policy[],
    runs: () => all.map(({ keys }) => keys.length),
    keys: () => all.flatMap(({ keys }) => keys),
  };
}

interface Course {
  readonly asked: number;
  readonly reason: ToolLoopResult['reason'];
  /** Lines that the predictor is told, all rounds together; `undefined` for one about what cannot be read. */
  readonly lines: readonly (string | undefined)[];
  readonly runs: readonly number[];
  readonly made: number;
  readonly requested: number;
}

/** The expected result of a script. */
function foresee(script: readonly Round[], limit: number): Course {
  const lines: (string | undefined)[] = [];
  const run: string[] = [];
  let made = 0;
  let requested = 0;
  const course = (asked: number, reason: Course['reason']): Course => ({
    asked,
    reason,
    lines,
    runs: ['good', 'bad', 'forbidden', 'asked'].map((name) =>
      name === 'forbidden' ? 0 : run.filter((one) => one === name).length,
    ),
    made,
    requested,
  });
  for (const [at, round] of script.entries()) {
    if (round === 'throw') return course(at + 1, 'failed');
    if (round === 'end' || (round.calls.length === 0 && !round.rubbish)) return course(at + 1, 'completed');
    requested += round.calls.length;
    if (at + 1 === limit) return course(limit, 'max-iterations');
    if (round.rubbish) lines.push(undefined);
    const first = round.calls.slice(0, 16);
    for (const name of first) lines.push(`Tool '${name}' ${ends.get(name)}`);
    const more = round.calls.length - first.length;
    if (more > 0) lines.push(`${more} more calls were not run: at most 16 calls run per round.`);
    run.push(...first);
    made += first.length;
  }
  // The script has no more answers, which is what throws.
  return course(script.length + 1, 'failed');
}

function play(script: readonly Round[], shape: number) {
  return playing(
    ...script.map((round, at) => () => {
      if (round === 'throw') throw new Error('The model is down.');
      return toAnswer(round, shape + at);
    }),
  );
}

test('property: whatever a predictor asks for, it is called, told and obeyed exactly as the rules say', async () => {
  await fc.assert(
    fc.asyncProperty(rounds, fc.integer({ min: 1, max: 6 }), fc.nat(11), async (script, maxIterations, shape) => {
      const { tools, policies, runs, keys } = world();
      const predict = play(script, shape);
      const approve = () => ({ type: 'approve' }) as const;
      const loop = wrapTools(predict, { tools, policies, approve, maxIterations });
      const result = await loop.invoke({});
      const foreseen = foresee(script, maxIterations);
      expect(result.reason).toBe(foreseen.reason);
      expect([result.iterations, predict.inputs.length]).toEqual([foreseen.asked, foreseen.asked]);
      expect(runs()).toEqual(foreseen.runs);
      expect(new Set(keys()).size).toBe(keys().length);
      expect(result.calls).toHaveLength(foreseen.requested);
      expect(result.calls.filter(({ outcome }) => outcome !== undefined)).toHaveLength(foreseen.made);
      expect(new Set(result.calls.map(({ id }) => id)).size).toBe(foreseen.requested);
      expect(result.error === undefined).toBe(result.reason === 'completed');
      const told = linesOf(predict, foreseen.asked - 1);
      const expected = foreseen.lines.map((line) => line ?? expect.stringMatching(/^Cannot read the tool call: /));
      expect(told).toEqual(expected);
      // Earlier messages stay, in front.
      for (const [at] of predict.inputs.entries()) {
        const before = linesOf(predict, at);
        expect(told.slice(0, before.length)).toEqual(before);
      }
    }),
    { numRuns: 300 },
  );
});

test('property: a loop that waits for people, and goes on in other processes, comes to what one comes to that has its answers at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      rounds,
      fc.integer({ min: 1, max: 6 }),
      fc.nat(11),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
      async (script, maxIterations, shape, yes) => {
        const answerOf = (at: number) =>
          yes[at % yes.length] === true ? ({ type: 'approve' } as const) : ({ type: 'deny', reason: 'No.' } as const);
        const atOnce = world();
        const straight = play(script, shape);
        let asked = 0;
        const whole = await wrapTools(straight, {
          ...atOnce,
          session: createSession({ id: 's' }),
          approve: () => answerOf(asked++),
          maxIterations,
        }).invoke({});

        const inParts = world();
        const halting = play(script, shape);
        let store = memoryStore();
        let session: Session = createSession({ id: 's', store });
        const options = { tools: inParts.tools, policies: inParts.policies, maxIterations };
        let result = await wrapTools(halting, { ...options, session }).invoke({});
        let answers = 0;
        while (result.reason === 'suspended') {
          const { state, pending } = suspended(result);
          const [question] = pending;
          if (question === undefined) throw new Error('It waits for nothing.');
          await answerApproval(session, question, answerOf(answers));
          answers += 1;
          store = memoryStore(store.records);
          session = replay(store.records, { store });
          result = await wrapTools(halting, { ...options, session }).resume(
            JSON.parse(JSON.stringify(state)) as JsonObject,
          );
        }
        expect(answers).toBe(asked);
        expect(inParts.runs()).toEqual(atOnce.runs());
        expect(halting.inputs).toEqual(straight.inputs);
        expect(result.reason).toBe(whole.reason);
        expect([result.output, result.error, result.iterations]).toEqual([whole.output, whole.error, whole.iterations]);
        expect(summary(result)).toEqual(summary(whole));
      },
    ),
    { numRuns: 100 },
  );
});
