import { ask, definePolicy, type JsonObject, type Message, type ToolCall } from '@holdfast/core';
import { answerApproval } from '@holdfast/executor';
import { type ReactOptions, type ReactResult, react } from '@holdfast/modules';
import { createSession } from '@holdfast/session';
import { type ScriptStep, scriptedModel } from '@holdfast/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boom, call, extracted, goldTool, input, overflow, question, right, step, submit } from './test-react.ts';

type Kind = 'gold' | 'wrong' | 'garbled' | 'boom' | 'unknown' | 'submit' | 'incomplete';

/** A model's answer, after it has found the prompt too long so many times. */
interface Turn {
  readonly overflows: number;
  readonly calls: readonly Kind[];
}

// Few answers: where they come early, little else is seen.
const kinds: fc.Arbitrary<Kind> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom<Kind>('gold', 'wrong', 'garbled', 'boom', 'unknown', 'incomplete') },
  { weight: 1, arbitrary: fc.constant<Kind>('submit') },
);
const overflows = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) });
const turns = (most: number): fc.Arbitrary<readonly Turn[]> =>
  fc.array(fc.record({ overflows, calls: fc.array(kinds, { maxLength: most, size: 'max' }) }), {
    minLength: 8,
    maxLength: 8,
  });
const limits = fc.integer({ min: 1, max: 7 });

/** The expected result. */
interface Expected {
  readonly reason: ReactResult['reason'];
  readonly code?: string;
  readonly requests: number;
  readonly iterations: number;
  /** Players that `gold` was run for. */
  readonly players: readonly number[];
  /** True for each call that succeeded, in the model's order. */
  readonly told: readonly boolean[];
}

/** The player of a call names its place, so that the order of the runs shows. */
const playerOf = (turn: number, index: number): number => turn * 100 + index + 1;
const maxCalls = 16;

function expectNative(script: readonly Turn[], maxIterations: number): Expected {
  const told: boolean[] = [];
  const players: number[] = [];
  let requests = 0;
  let leftOut = 0;
  for (const [at, { overflows, calls }] of script.entries()) {
    const forced = at === maxIterations;
    for (let left = 1; left <= overflows; left += 1) {
      requests += 1;
      // The newest of the `at` rounds stays.
      if (left > 3 || leftOut >= at - 1) {
        const iterations = forced ? at : at + 1;
        return { reason: 'failed', code: 'modules.failed', requests, iterations, players, told };
      }
      leftOut += 1;
    }
    requests += 1;
    const submitted = calls.indexOf('submit');
    for (const [index, kind] of calls.entries()) {
      const isOver = submitted !== -1 && index > submitted;
      const runs = kind === 'gold' && !forced && !isOver && index < maxCalls;
      if (runs) players.push(playerOf(at, index));
      told.push(runs || (kind === 'submit' && index === submitted));
    }
    if (submitted !== -1) {
      return { reason: forced ? 'forced-submit' : 'submit', requests, iterations: forced ? at : at + 1, players, told };
    }
    if (forced) break;
  }
  return {
    reason: 'max-iterations',
    code: 'modules.stopped',
    requests,
    iterations: maxIterations,
    players,
    told,
  };
}

function toCall(kind: Kind, player: number): ToolCall {
  switch (kind) {
    case 'gold':
      return call('gold', { player });
    case 'wrong':
      return call('gold', { player: -player });
    case 'garbled':
      return call('gold', '{"player":');
    case 'boom':
      return call('boom');
    case 'unknown':
      return call('Gold', { player });
    case 'submit':
      return submit();
    case 'incomplete':
      return submit({ answer: right.answer });
    default:
      return kind satisfies never;
  }
}

function toNative(script: readonly Turn[]): readonly ScriptStep[] {
  return script.flatMap(({ overflows, calls }, at) => [
    ...Array.from({ length: overflows }, overflow),
    { calls: calls.map((kind, index) => toCall(kind, playerOf(at, index))) },
  ]);
}

/** Every call has its answer, in order, behind the message that asked for it. */
function checkAnswered(messages: readonly Message[]): void {
  const open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') expect(message.callId).toBe(open.shift());
    else expect(open).toEqual([]);
    if (message.role === 'assistant') open.push(...message.calls.map(({ id }) => id));
  }
  expect(open).toEqual([]);
}

test('native: whatever a model does, the requests, the runs, the results and the reason are those of the reference', async () => {
  await fc.assert(
    fc.asyncProperty(turns(18), limits, async (script, maxIterations) => {
      const gold = goldTool();
      const model = scriptedModel(toNative(script));
      const result = await react(question, { model, tools: [gold.tool, boom], maxIterations }).run(input);
      const expected = expectNative(script, maxIterations);
      const told = result.history.flatMap((message) => (message.role === 'tool' ? [message.success] : []));
      expect({
        reason: result.reason,
        ...(result.error === undefined ? {} : { code: result.error.code }),
        requests: result.requests,
        iterations: result.iterations,
        players: gold.runs.map(({ player }) => player),
        told,
      }).toEqual(expected);
      expect(model.requests).toHaveLength(expected.requests);
      expect(expected.requests).toBeLessThanOrEqual((maxIterations + 1) * 4);
      if (result.error === undefined) expect(result.output).toEqual(right);
      for (const { messages } of model.requests) checkAnswered(messages);
      expect(model.requests.every(({ messages }) => messages[0]?.role === 'system')).toBe(true);
      checkAnswered(result.history);
      const ids = result.history.flatMap((message) => (message.role === 'tool' ? [message.callId] : []));
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: 300 },
  );
});

type Move = 'gold' | 'wrong' | 'garbled' | 'boom' | 'unknown' | 'finish' | 'prose';

interface Steps {
  readonly moves: readonly Move[];
  /** The first answer of the extraction, and the correction. */
  readonly answers: readonly [boolean, boolean];
}

const steps: fc.Arbitrary<Steps> = fc.record({
  moves: fc.array(fc.constantFrom<Move>('gold', 'wrong', 'garbled', 'boom', 'unknown', 'finish', 'prose'), {
    minLength: 7,
    maxLength: 7,
  }),
  answers: fc.tuple(fc.boolean(), fc.boolean()),
});

function expectText({ moves, answers }: Steps, maxIterations: number): Omit<Expected, 'told'> {
  const made = moves.slice(0, maxIterations);
  const finished = made.indexOf('finish');
  const run = finished === -1 ? made : made.slice(0, finished + 1);
  const players = run.flatMap((move, at) => (move === 'gold' ? [playerOf(at, 0)] : []));
  const common = { iterations: run.length, requests: run.length + (answers[0] ? 1 : 2), players };
  if (answers[0] || answers[1]) return { ...common, reason: finished === -1 ? 'forced-submit' : 'submit' };
  if (finished === -1) return { ...common, reason: 'max-iterations', code: 'modules.stopped' };
  return { ...common, reason: 'failed', code: 'modules.output_unparsable' };
}

function toStep(move: Move, player: number): ScriptStep {
  switch (move) {
    case 'finish':
      return step('finish');
    case 'prose':
      return { text: 'I should look.' };
    default: {
      const { name, arguments: args } = toCall(move, player);
      return step(name, args);
    }
  }
}

function toText({ moves, answers }: Steps, maxIterations: number): readonly ScriptStep[] {
  const made = moves.slice(0, maxIterations);
  const finished = made.indexOf('finish');
  const run = finished === -1 ? made : made.slice(0, finished + 1);
  return [
    ...run.map((move, at) => toStep(move, playerOf(at, 0))),
    ...answers.map((good) => (good ? extracted() : { text: 'I cannot say.' })),
  ];
}

test('text: whatever a model does, the requests, the runs, the trajectory and the reason are those of the reference', async () => {
  await fc.assert(
    fc.asyncProperty(steps, limits, async (script, maxIterations) => {
      const gold = goldTool();
      const model = scriptedModel(toText(script, maxIterations));
      const options: ReactOptions = { model, tools: [gold.tool, boom], maxIterations, protocol: 'text' };
      const result = await react(question, options).run(input);
      const expected = expectText(script, maxIterations);
      expect({
        reason: result.reason,
        ...(result.error === undefined ? {} : { code: result.error.code }),
        requests: result.requests,
        iterations: result.iterations,
        players: gold.runs.map(({ player }) => player),
      }).toEqual(expected);
      if (result.error === undefined) expect(result.output).toEqual(right);
      const last = model.requests.at(expected.iterations)?.messages.at(-1)?.text ?? '';
      expect([...last.matchAll(/## observation_(\d+) ##/g)].map(([, at]) => Number(at))).toEqual(
        Array.from({ length: expected.iterations }, (_, at) => at),
      );
    }),
  );
});

test.each(['native', 'text'] as const)(
  '%s: a run that waits at every call comes to what one that never waits comes to',
  async (protocol) => {
    const waiting = definePolicy({ name: 'waiting', check: () => ask('A person must look.') });
    await fc.assert(
      fc.asyncProperty(turns(4), steps, limits, async (native, text, maxIterations) => {
        const script = protocol === 'native' ? toNative(native) : toText(text, maxIterations);
        const build = (options: Partial<ReactOptions>) => {
          const gold = goldTool();
          const model = scriptedModel(script);
          const predictor = react(question, { model, tools: [gold.tool, boom], maxIterations, protocol, ...options });
          return { gold, model, predictor };
        };
        const plain = build({});
        const wanted = await plain.predictor.run(input);
        const session = createSession();
        const slow = build({ session, policies: [waiting] });
        let result = await slow.predictor.run(input);
        while (result.reason === 'suspended') {
          const state: JsonObject = JSON.parse(JSON.stringify(result.state));
          for (const { callId } of result.pending) await answerApproval(session, callId, { type: 'approve' });
          result = await slow.predictor.resume(state);
        }
        expect(comparable(result)).toEqual(comparable(wanted));
        expect(slow.gold.runs).toEqual(plain.gold.runs);
        expect(slow.model.requests.map(({ messages }) => messages)).toEqual(
          plain.model.requests.map(({ messages }) => messages),
        );
      }),
      { numRuns: 50 },
    );
  },
);

/** Without the names that a session gives its calls. */
function comparable({ calls, ...rest }: ReactResult): object {
  return { ...rest, calls: calls.map(({ outcome, ...made }) => ({ ...made, kind: outcome?.kind })) };
}
