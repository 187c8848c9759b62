import { type Clock, HoldfastError, type JsonObject, toolError } from '@holdfast/core';
import type { Deadline } from '@holdfast/core/types';
import { answerApproval, createBudget } from '@holdfast/executor';
import { predict as ask, createToolCatalog, defineSignature, wrapTools } from '@holdfast/modules';
import { requireApproval } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import { manualClock, type ScriptStep, scriptedModel } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { calls, linesOf, noting, playing, summary, suspended } from './test-loop.ts';

const asking = { policies: [requireApproval({ tools: ['pay'] })] };
const usage = { inputTokens: 8, outputTokens: 2 };
const question = defineSignature({
  name: 'question',
  inputSchema: jsonSchema<object>({ type: 'object', properties: {} }),
  outputSchema: jsonSchema<{ a: string; b: string }>({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    required: ['a', 'b'],
  }),
});
const asked = { text: '[[ ## tool_call ## ]]\n{"name":"act"}\n\n[[ ## completed ## ]]', usage };
const answered = { text: '[[ ## a ## ]]\n1\n\n[[ ## b ## ]]\n2\n\n[[ ## completed ## ]]', usage };

test('a resumed loop ends by its budget, and leaves no timer', async () => {
  const clock = manualClock();
  const session = createSession();
  const tools = [noting('pay').tool, noting('act').tool];
  const first = suspended(await wrapTools(playing(calls('pay', 'act')), { tools, session, ...asking }).invoke({}));
  await answerApproval(session, first.pending[0] ?? '', { type: 'approve' });
  const budget = createBudget({ maxCalls: 1 });
  const loop = wrapTools(playing(), { tools, session, ...asking, budget, clock, timeoutMs: 100 });
  const result = await loop.resume(first.state);
  expect(result).toMatchObject({ reason: 'budget', iterations: 1 });
  expect(result.calls.map(({ outcome }) => outcome?.kind)).toEqual(['ok', 'denied']);
  expect(clock.pending).toBe(0);
});

test('a failure of a tool that calls itself a budget is none', async () => {
  const act = noting('act', () => toolError('Broke.', { code: 'budget.used', reason: 'calls' })).tool;
  expect(await wrapTools(playing(calls('act'), {}), { tools: [act] }).invoke({})).toMatchObject({
    reason: 'completed',
    calls: [{ outcome: { kind: 'failed', code: 'budget.used', reason: 'calls' } }],
  });
});

/** Registers a tool each time it is run. */
function learning(options: Parameters<typeof createToolCatalog>[1]) {
  const catalog = createToolCatalog([], options);
  const learn = noting('learn', () => {
    catalog.register(noting(`more${catalog.tools.length}`).tool);
    return null;
  });
  catalog.register(learn.tool);
  return catalog;
}

test('the predictor hears that the time is over, also after tools were registered', async () => {
  const clock = manualClock();
  let heard: unknown;
  const predict = playing(
    calls('learn'),
    (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          heard = signal.reason;
          reject(signal.reason);
        });
        clock.advance(100);
      }),
  );
  const result = await wrapTools(predict, { tools: learning({ clock, timeoutMs: 100 }) }).invoke({});
  expect(result).toMatchObject({ reason: 'deadline', iterations: 2 });
  expect(heard).toMatchObject({ name: 'AbortError', message: expect.stringContaining('deadline') });
  expect(clock.pending).toBe(0);
});

test('what was opened before tools were registered leaves no timer', async () => {
  const clock = manualClock();
  const predict = playing(calls('learn'), calls('learn'), {});
  const result = await wrapTools(predict, { tools: learning({ clock, timeoutMs: 100 }) }).invoke({});
  expect([result.reason, clock.pending]).toEqual(['completed', 0]);
});

test('the model is told how long it has, which is never less than nothing', async () => {
  let nowMs = 0;
  // Its timers are late, as those of a busy machine.
  const clock: Clock = { now: () => nowMs, after: () => () => undefined };
  const remaining: (number | undefined)[] = [];
  const look = (deadline: Deadline | undefined): void => void remaining.push(deadline?.remainingMs());
  const script: ScriptStep[] = [
    ({ deadline }) => {
      look(deadline);
      nowMs = 60;
      look(deadline);
      return asked;
    },
    ({ deadline }) => {
      nowMs = 500;
      look(deadline);
      return answered;
    },
  ];
  const predictor = ask(question, { model: scriptedModel(script) });
  await wrapTools(predictor, { tools: [noting('act').tool], clock, timeoutMs: 100 }).invoke({});
  expect(remaining).toEqual([100, 40, 0]);
});

test('what the model answered in part is in the result of a loop that failed', async () => {
  const partly = { text: '[[ ## a ## ]]\n1\n\n[[ ## completed ## ]]', usage };
  const predictor = ask(question, { model: scriptedModel([asked, partly, partly]) });
  const result = await wrapTools(predictor, { tools: [noting('act').tool] }).invoke({});
  expect(result).toMatchObject({
    reason: 'failed',
    output: { a: '1' },
    error: { code: 'modules.output_unparsable' },
    usage: { inputTokens: 24, outputTokens: 6 },
  });
});

test.each<{ readonly reason: string; readonly answers: readonly JsonObject[] }>([
  { reason: 'completed', answers: [calls('act'), { response: 'Yes.' }] },
  { reason: 'max-iterations', answers: [calls('act'), calls('act')] },
  { reason: 'suspended', answers: [calls('act', 'pay')] },
])('a result is frozen: $reason', async ({ reason, answers }) => {
  const tools = [noting('act').tool, noting('pay').tool];
  const result = await wrapTools(playing(...answers), { tools, maxIterations: 2, ...asking }).invoke({});
  expect(result.reason).toBe(reason);
  for (const part of [result, result.calls, ...result.calls, result.usage]) expect(Object.isFrozen(part)).toBe(true);
});

test('of 17 calls one is not run, which is told', async () => {
  const predict = playing(calls(...Array.from({ length: 17 }, () => 'act')), {});
  const act = noting('act');
  const result = await wrapTools(predict, { tools: [act.tool] }).invoke({});
  expect(act.keys).toHaveLength(16);
  expect(linesOf(predict, 1).at(-1)).toMatch(/^1 more calls were not run/);
  expect(summary(result).at(-1)).toMatch(/^call_0_16 act not run/);
});

test('a context of null is none, and a predictor may answer at once', async () => {
  const inputs: JsonObject[] = [];
  const answers = [calls('act'), { response: 'Yes.' }];
  const predict = (given: JsonObject): JsonObject => {
    inputs.push(given);
    return answers[inputs.length - 1] ?? {};
  };
  const result = await wrapTools(predict, { tools: [noting('act').tool] }).invoke({ context: null });
  expect(result).toMatchObject({ reason: 'completed', output: { response: 'Yes.' } });
  expect(inputs.map(({ context }) => context)).toEqual([null, `Tool 'act' returned: "act done"`]);
});

test('a predictor that throws an error of its own keeps its code, and is not said to get over it', async () => {
  const predict = (): never => {
    throw new HoldfastError('mine.broken', 'It broke.');
  };
  const { error } = await wrapTools(predict, { tools: [] }).invoke({});
  expect(error).toEqual({ code: 'mine.broken', message: 'It broke.', recoverable: false });
  const long = (): never => {
    throw new Error('x'.repeat(1_000_000));
  };
  expect((await wrapTools(long, { tools: [] }).invoke({})).error?.message.length).toBeLessThan(2_200);
});

test('input that is nested as deep as it may be is kept in a state', async () => {
  const session = createSession();
  let deep: JsonObject = {};
  for (let depth = 1; depth < 62; depth += 1) deep = { deep };
  const tools = [noting('pay').tool];
  const first = suspended(await wrapTools(playing(calls('pay')), { tools, session, ...asking }).invoke({ deep }));
  await answerApproval(session, first.pending[0] ?? '', { type: 'approve' });
  const predict = playing({});
  expect(await wrapTools(predict, { tools, session, ...asking }).resume(first.state)).toMatchObject({
    reason: 'completed',
  });
  expect(predict.inputs[0]?.['deep']).toEqual(deep);
});
