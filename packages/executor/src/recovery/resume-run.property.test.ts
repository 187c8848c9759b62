import {
  type ApprovalAnswer,
  ask,
  definePolicy,
  defineTool,
  type ModelEvent,
  type Tool,
  toolError,
} from '@holdfast/core';
import { createSession, type MemoryStore, memoryStore, replay, type Session } from '@holdfast/session';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { call, notes, playing, say, stop, testClock, toolsPrompt } from '../fixtures.ts';
import {
  type Approve,
  answerApproval,
  pendingApprovals,
  type ResumeRunOptions,
  type RunResult,
  resumeRun,
  runAgent,
} from '../index.ts';

const slices = [notes];
const input = v.object({ text: v.string() });

type Kind = 'read' | 'note' | 'fail' | 'send' | 'other';

function toTools(effects: string[]): readonly Tool[] {
  const send = (name: string): Tool =>
    defineTool({
      name,
      description: 'Sends.',
      inputSchema: input,
      execute({ text }, { session, idempotencyKey }) {
        effects.push(`${name} ${text} ${idempotencyKey}`);
        session.dispatch({ type: 'noted', payload: `${name} ${text}` });
        return { sent: text };
      },
    }) as Tool;
  return [
    defineTool({
      name: 'read',
      description: 'Reads.',
      effects: 'none',
      inputSchema: input,
      execute: (_input, { session }) => [...session.read(notes)],
    }) as Tool,
    defineTool({
      name: 'note',
      description: 'Notes.',
      effects: 'state',
      inputSchema: input,
      execute({ text }, { session }) {
        session.dispatch({ type: 'noted', payload: text });
        return text;
      },
    }) as Tool,
    defineTool({
      name: 'fail',
      description: 'Fails.',
      effects: 'state',
      inputSchema: input,
      execute: () => toolError('It failed.'),
    }) as Tool,
    send('send'),
    send('other'),
  ];
}

// Decides by what has been done: an order of calls that is not theirs shows.
const counting = definePolicy<number>({
  name: 'counting',
  initialState: 0,
  check: ({ tool }, { state }) =>
    tool.name === 'send' || tool.name === 'other'
      ? ask(`After ${state} successes.`)
      : state > 6
        ? { type: 'deny', reason: 'Enough.' }
        : { type: 'allow' },
  onResult: (_call, _result, { state }) => state + 1,
});

const answerArbitrary: fc.Arbitrary<ApprovalAnswer> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<ApprovalAnswer>({ type: 'approve' }) },
  { weight: 2, arbitrary: fc.constant<ApprovalAnswer>({ type: 'deny', reason: 'No.' }) },
);
const kindArbitrary = fc.constantFrom<Kind>('read', 'note', 'fail', 'send', 'send', 'other');
const turnArbitrary = fc.array(fc.record({ kind: kindArbitrary, answer: answerArbitrary }), {
  minLength: 1,
  maxLength: 5,
});
type Plan = readonly (readonly { readonly kind: Kind; readonly answer: ApprovalAnswer }[])[];

interface Step {
  /** Of the questions that wait, which ones are answered, by numbers that are taken modulo their count. */
  readonly picks: readonly number[];
  readonly reopen: boolean;
  readonly resume: boolean;
}
const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  picks: fc.array(fc.nat(5), { maxLength: 3 }),
  reopen: fc.boolean(),
  resume: fc.boolean(),
});

const toTurns = (plan: Plan): readonly (readonly ModelEvent[])[] => [
  ...plan.map((calls, turn) => [
    ...calls.map(({ kind }, at) => call(kind, { text: `${turn}.${at}` }, `c${turn}_${at}`)),
    stop,
  ]),
  [say('End.'), stop],
];

function toAnswers(plan: Plan): ReadonlyMap<string, ApprovalAnswer> {
  return new Map(plan.flatMap((calls, turn) => calls.map(({ answer }, at) => [`c${turn}_${at}`, answer] as const)));
}

class Life {
  readonly effects: string[] = [];
  readonly store: MemoryStore = memoryStore();
  readonly #clock = testClock();
  readonly #plan: Plan;
  session: Session;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.session = createSession({ id: 's', nonce: '', slices, store: this.store, clock: this.#clock });
  }

  options(): ResumeRunOptions {
    const asked = this.store.records.filter(({ type }) => type === 'model-message').length;
    return {
      model: playing(...toTurns(this.#plan).slice(asked)),
      prompt: toolsPrompt(toTools(this.effects)),
      session: this.session,
      policies: [counting],
      clock: this.#clock,
    };
  }

  begin(approve?: Approve): Promise<RunResult> {
    return runAgent({ ...this.options(), input: 'Go.', ...(approve === undefined ? {} : { approve }) }).result;
  }

  reopen(): void {
    this.session = replay(this.store.records, { slices, store: this.store, clock: this.#clock });
  }

  async answer(callId: string, answer: ApprovalAnswer): Promise<void> {
    await answerApproval(this.session, callId, answer, { clock: this.#clock });
  }

  /** The parts that do not depend on how the answers came. */
  summary(result: RunResult) {
    const ends = this.store.records.filter(({ type }) => type === 'tool-call-end');
    return {
      status: result.status,
      text: result.text,
      turns: result.turns,
      outcomes: result.outcomes,
      effects: this.effects,
      notes: [...this.session.read(notes)],
      ends: ends.map(({ callId, turn, outcome, events, changes }) => ({ callId, turn, outcome, events, changes })),
      asked: this.store.records.filter(({ type }) => type === 'approval-answer').length,
    };
  }
}

test('however the answers are split over processes, and in whatever order, the end is that of answering at once', async () => {
  const split = fc.record({
    plan: fc.array(turnArbitrary, { minLength: 1, maxLength: 3 }),
    steps: fc.array(stepArbitrary, { maxLength: 12 }),
  });
  let suspended = 0;
  await fc.assert(
    fc.asyncProperty(split, async ({ plan, steps }) => {
      const answers = toAnswers(plan);
      const answerOf = (callId: string): ApprovalAnswer => answers.get(callId) ?? { type: 'deny' };
      const atOnce = new Life(plan);
      const expected = await atOnce.begin(({ callId }) => answerOf(callId));

      const parts = new Life(plan);
      let result = await parts.begin();
      if (result.status === 'suspended') suspended += 1;
      const answerSome = async (picks: readonly number[]): Promise<void> => {
        for (const pick of picks) {
          const waiting = pendingApprovals(parts.session);
          const question = waiting[pick % Math.max(1, waiting.length)];
          if (question !== undefined) await parts.answer(question.callId, answerOf(question.callId));
        }
      };
      for (const { picks, reopen, resume } of steps) {
        if (reopen) parts.reopen();
        await answerSome(picks);
        if (resume && result.status === 'suspended') result = await resumeRun(parts.options()).result;
      }
      // At the end all that still waits is answered.
      while (result.status === 'suspended') {
        await answerSome(pendingApprovals(parts.session).map(() => 0));
        result = await resumeRun(parts.options()).result;
      }
      expect(parts.summary(result)).toEqual(atOnce.summary(expected));
      parts.reopen();
      expect(parts.session.openWork()).toEqual({ runs: [], plans: [], calls: [] });
      const seen = parts.effects.map((effect) => effect.split(' ').at(-1));
      expect(new Set(seen).size).toBe(seen.length);
    }),
    { numRuns: 50 },
  );
  expect(suspended).toBeGreaterThan(4);
});
