import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isHoldfastError, type Json, type JsonObject, type Outcome, type Tool } from '@holdfast/core';
import { answerApproval, pendingApprovals, resumeToolCall } from '@holdfast/executor';
import { createToolCatalog, type ToolLoopResult, wrapTools } from '@holdfast/modules';
import { requireApproval } from '@holdfast/policy';
import { createSession, memoryStore, replay, type Session } from '@holdfast/session';
import { createJsonlLog, openJsonlLog } from '@holdfast/session/jsonl';
import { manualClock } from '@holdfast/testing';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type Answer, calls, linesOf, noting, playing, summary, suspended } from './test-loop.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Tools `a`, `c` and `pay`, of which only the last needs a yes; all of them touch the world. */
function world() {
  const external = { effects: 'external', repeat: 'never' } as const;
  const [a, pay, c] = ['a', 'pay', 'c'].map((name) => noting(name, () => `${name} done`, external));
  const all = [a, pay, c].flatMap((one) => (one === undefined ? [] : [one]));
  return {
    tools: all.map(({ tool }) => tool),
    runs: () => all.map(({ keys }) => keys.length),
    keys: () => all.flatMap(({ keys }) => keys),
  };
}

const asking = { policies: [requireApproval({ tools: ['pay'] })] };
const approve = { type: 'approve' } as const;
/** As it is kept: JSON. */
const kept = (result: ToolLoopResult): JsonObject => JSON.parse(JSON.stringify(suspended(result).state)) as JsonObject;

interface Run {
  readonly tools: readonly Tool[];
  readonly session: Session;
  readonly answers?: readonly Answer[];
}

function loopOf({ tools, session, answers = [] }: Run) {
  const predict = playing(...answers);
  return { predict, loop: wrapTools(predict, { tools, session, ...asking }) };
}

/** A loop that waits for `pay`, between `a` and `c`. */
async function waiting() {
  const { tools, runs, keys } = world();
  const store = memoryStore();
  const session = createSession({ id: 's', store });
  const { loop, predict } = loopOf({
    tools,
    session,
    answers: [{ ...calls('a', 'pay', 'c'), response: 'One moment.' }],
  });
  const result = await loop.invoke({ question: 'May I?', context: 'Late.' });
  return { tools, runs, keys, store, session, result, predict, state: kept(result) };
}

test('an unanswered call ends the loop as suspended, with its partial result', async () => {
  const { result, runs } = await waiting();
  expect(result).toMatchObject({
    reason: 'suspended',
    iterations: 1,
    output: { response: 'One moment.' },
    error: { code: 'modules.stopped', reason: 'suspended', recoverable: true },
    pending: [{ name: 'pay', callId: expect.stringMatching(/^loop_\d+_0_1$/) }],
  });
  expect(summary(result)).toEqual([
    'call_0_0 a ok: "a done"',
    'call_0_1 pay not run: Waiting for approval.',
    'call_0_2 c not run: Waiting for an earlier call.',
  ]);
  expect(runs()).toEqual([1, 0, 0]);
});

test('another process goes on from the state and the log, and runs nothing twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-loop-'));
  folders.push(folder);
  const path = join(folder, 's.jsonl');
  const { tools, runs, keys } = world();
  const first = createSession({ id: 's', store: createJsonlLog(path) });
  const result = await loopOf({ tools, session: first, answers: [calls('a', 'pay', 'c')] }).loop.invoke({
    context: 'Late.',
  });
  const state = kept(result);
  await answerApproval(first, suspended(result).pending[0] ?? '', approve);
  await first.close();

  const { records, store } = openJsonlLog(path);
  const second = replay(records, { store });
  const { loop, predict } = loopOf({ tools, session: second, answers: [calls('a'), { response: 'Paid.' }] });
  const ended = await loop.resume(state);
  await second.close();
  expect(linesOf(predict, 0)).toEqual([
    'Late.',
    `Tool 'a' returned: "a done"`,
    `Tool 'pay' returned: "pay done"`,
    `Tool 'c' returned: "c done"`,
  ]);
  expect(linesOf(predict, 1)).toHaveLength(5);
  expect(ended).toMatchObject({ reason: 'completed', output: { response: 'Paid.' }, iterations: 3 });
  expect(summary(ended)).toEqual([
    'call_0_0 a ok: "a done"',
    'call_0_1 pay ok: "pay done"',
    'call_0_2 c ok: "c done"',
    'call_1_0 a ok: "a done"',
  ]);
  expect(runs()).toEqual([2, 1, 1]);
  expect(new Set(keys()).size).toBe(4);
});

test('a no is told like any other failure', async () => {
  const { tools, session, state, runs } = await waiting();
  await answerApproval(session, 'loop_1_0_1', { type: 'deny', reason: 'Too expensive.' });
  const { loop, predict } = loopOf({ tools, session, answers: [{ response: 'Pity.' }] });
  expect((await loop.resume(state)).reason).toBe('completed');
  expect(linesOf(predict, 0)[2]).toMatch(/^Tool 'pay' failed: Execution failed: .*Too expensive\./);
  expect(runs()).toEqual([1, 0, 1]);
});

test('without an answer it is still suspended, as often as one tries', async () => {
  const { tools, session, state, runs, result } = await waiting();
  for (let times = 0; times < 3; times += 1) {
    const again = await loopOf({ tools, session }).loop.resume(state);
    expect(suspended(again).pending).toEqual(suspended(result).pending);
    expect(kept(again)).toEqual(state);
    expect(summary(again)).toEqual(summary(result));
  }
  expect(runs()).toEqual([1, 0, 0]);
});

test('each of two questions of a round is waited for, and the first state is still one to go on from', async () => {
  const { tools, runs } = world();
  const session = createSession({ id: 's' });
  const first = kept(await loopOf({ tools, session, answers: [calls('pay', 'a', 'pay')] }).loop.invoke({}));
  await answerApproval(session, 'loop_1_0_0', approve);
  const second = await loopOf({ tools, session }).loop.resume(first);
  expect(suspended(second).pending.map(({ callId }) => callId)).toEqual(['loop_1_0_2']);
  expect(runs()).toEqual([1, 1, 0]);
  await answerApproval(session, 'loop_1_0_2', approve);
  const { loop, predict } = loopOf({ tools, session, answers: [{}] });
  expect(await loop.resume(first)).toMatchObject({ reason: 'completed' });
  expect(linesOf(predict, 0).map((line) => line.slice(0, 10))).toEqual(["Tool 'pay'", "Tool 'a' r", "Tool 'pay'"]);
  expect(runs()).toEqual([1, 2, 0]);
  await expect(loopOf({ tools, session }).loop.resume(kept(second))).rejects.toMatchObject({
    code: 'modules.invalid',
    reason: 'state_used',
  });
});

test('a state is gone on from once, one after another', async () => {
  const { tools, session, state, runs } = await waiting();
  await answerApproval(session, 'loop_1_0_1', approve);
  await loopOf({ tools, session, answers: [{}] }).loop.resume(state);
  const { loop, predict } = loopOf({ tools, session, answers: [{}] });
  await expect(loop.resume(state)).rejects.toMatchObject({ code: 'modules.invalid', reason: 'state_used' });
  expect(predict.inputs).toEqual([]);
  expect(runs()).toEqual([1, 1, 1]);
});

test('a state is gone on from once, at the same time', async () => {
  const { tools, session, state, runs } = await waiting();
  await answerApproval(session, 'loop_1_0_1', approve);
  const both = await Promise.allSettled(
    [1, 2, 3].map(() => loopOf({ tools, session, answers: [{}] }).loop.resume(state)),
  );
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  for (const one of both)
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'work.under_way', reason: 'call' });
  expect(runs()).toEqual([1, 1, 1]);
});

test('a call that another process resumed counts as it ended', async () => {
  const { tools, session, state, runs } = await waiting();
  await answerApproval(session, 'loop_1_0_1', approve);
  const outcome = (await resumeToolCall('loop_1_0_1', { tools, session, ...asking })) as Outcome;
  const { loop, predict } = loopOf({ tools, session, answers: [{}] });
  const result = await loop.resume(state);
  expect(result.calls[1]).toEqual({ id: 'call_0_1', name: 'pay', args: {}, text: '"pay done"', outcome });
  expect(linesOf(predict, 0)).toHaveLength(4);
  expect(runs()).toEqual([1, 1, 1]);
});

test('a process that ends while the call runs costs no second run: the predictor is told that it is in doubt', async () => {
  const { session, state, store, tools } = await waiting();
  await answerApproval(session, 'loop_1_0_1', approve);
  let runs = 0;
  const started = Promise.withResolvers<void>();
  const broken = noting(
    'pay',
    async () => {
      runs += 1;
      started.resolve();
      return await new Promise(() => undefined);
    },
    {
      effects: 'external',
      repeat: 'never',
    },
  ).tool;
  const others = tools.filter(({ name }) => name !== 'pay');
  void loopOf({ tools: [...others, broken], session }).loop.resume(state);
  await started.promise;
  const again = replay(store.records, { store: memoryStore(store.records) });
  const { loop, predict } = loopOf({ tools: [...others, broken], session: again, answers: [{}] });
  expect(await loop.resume(state)).toMatchObject({ reason: 'completed' });
  expect(linesOf(predict, 0)[2]).toMatch(
    /^Tool 'pay' failed: Execution failed: It is not known whether `pay` took effect/,
  );
  expect(runs).toBe(1);
});

test('a call that was sent twice takes the outcome of the first, also of one that waited', async () => {
  const { tools, runs } = world();
  const session = createSession({ id: 's' });
  const twice = [
    { id: 'x', name: 'a' },
    { id: 'y', name: 'pay' },
    { id: 'x', name: 'a' },
    { id: 'y', name: 'pay' },
    { id: 'x', name: 'c' },
  ];
  const state = kept(await loopOf({ tools, session, answers: [{ tool_call: twice }] }).loop.invoke({}));
  await answerApproval(session, 'loop_1_0_1', approve);
  const again = { tool_call: { id: 'y', name: 'a' } };
  const result = await loopOf({ tools, session, answers: [again, {}] }).loop.resume(state);
  expect(summary(result)).toEqual([
    'x a ok: "a done"',
    'y pay ok: "pay done"',
    'x a ok: "a done"',
    'y pay ok: "pay done"',
    'x c not run: Invalid arguments: another call already used this id.',
    'call_1_0 a ok: "a done"',
  ]);
  expect(runs()).toEqual([2, 1, 0]);
});

test('the limit counts the rounds before', async () => {
  const { tools, session, state } = await waiting();
  await answerApproval(session, 'loop_1_0_1', approve);
  const predict = playing(calls('a'), calls('a'));
  const loop = wrapTools(predict, { tools, session, ...asking, maxIterations: 3 });
  expect(await loop.resume(state)).toMatchObject({ reason: 'max-iterations', iterations: 3 });
  expect(predict.inputs).toHaveLength(2);
});

test('a limit that is lower by now is one', async () => {
  const { tools, session, state, runs } = await waiting();
  await answerApproval(session, 'loop_1_0_1', approve);
  const predict = playing();
  const result = await wrapTools(predict, { tools, session, ...asking, maxIterations: 1 }).resume(state);
  expect(result).toMatchObject({ reason: 'max-iterations', iterations: 1, output: { response: 'One moment.' } });
  expect(runs()).toEqual([1, 1, 1]);
});

test('without a session of its own the catalog has one that goes on', async () => {
  const { tools, runs } = world();
  const predict = playing(calls('pay'), { response: 'Paid.' });
  const catalog = createToolCatalog(tools, asking);
  const loop = wrapTools(predict, { tools: catalog });
  const first = await loop.invoke({});
  const session = catalog.callOptions().session as Session;
  expect(pendingApprovals(session)).toEqual(suspended(first).pending);
  await answerApproval(session, suspended(first).pending[0] ?? '', approve);
  expect(await loop.resume(kept(first))).toMatchObject({ reason: 'completed', output: { response: 'Paid.' } });
  expect(runs()).toEqual([0, 1, 0]);
});

test('a signal that has fired ends what waits', async () => {
  const { tools, session, state, runs } = await waiting();
  const { loop, predict } = loopOf({ tools, session });
  const result = await loop.resume(state, { signal: AbortSignal.abort() });
  expect(result).toMatchObject({ reason: 'aborted', output: { response: 'One moment.' } });
  expect(result.calls.map(({ outcome }) => outcome?.kind)).toEqual(['ok', 'cancelled', 'cancelled']);
  expect([predict.inputs.length, pendingApprovals(session).length, ...runs()]).toEqual([0, 0, 1, 0, 0]);
});

test('a question whose time is over is a no', async () => {
  const clock = manualClock();
  const { tools, runs } = world();
  const session = createSession({ clock });
  const predict = playing(calls('pay'), { response: 'Pity.' });
  const loop = wrapTools(predict, { tools, session, ...asking, clock, approvalTimeoutMs: 1_000 });
  const state = kept(await loop.invoke({}));
  clock.advance(1_000);
  const result = await loop.resume(state);
  expect(result).toMatchObject({ reason: 'completed', calls: [{ outcome: { kind: 'denied' } }] });
  expect(runs()).toEqual([0, 0, 0]);
});

describe('values that are not a state', () => {
  const changed = (state: JsonObject, path: readonly (string | number)[], value: Json): JsonObject => {
    const copy: unknown = structuredClone(state);
    let place = copy as Record<string | number, unknown>;
    for (const step of path.slice(0, -1)) place = place[step] as Record<string | number, unknown>;
    place[path.at(-1) ?? ''] = value;
    return copy as JsonObject;
  };
  test.each<{ readonly path: readonly (string | number)[]; readonly value: Json }>([
    { path: ['type'], value: 'react' },
    { path: ['version'], value: 2 },
    { path: ['signature'], value: 'merchant' },
    { path: ['loop'], value: -1 },
    { path: ['loop'], value: 'x' },
    { path: ['loop'], value: 7 },
    { path: ['course', 'iterations'], value: 0.5 },
    { path: ['course', 'iterations'], value: 3 },
    { path: ['input'], value: null },
    { path: ['course', 'partial'], value: [] },
    { path: ['lines'], value: [1] },
    { path: ['course', 'calls'], value: {} },
    { path: ['course', 'calls', 0, 'id'], value: 5 },
    { path: ['course', 'calls', 0, 'outcome'], value: null },
    { path: ['course', 'calls', 0, 'outcome', 'text'], value: null },
    { path: ['course', 'calls', 0, 'outcome', 'code'], value: 5 },
    { path: ['turn', 'calls'], value: [] },
    { path: ['turn', 'calls', 0, 'callId'], value: 'direct_1' },
    { path: ['turn', 'calls', 0, 'sameAs'], value: 1 },
    { path: ['course', 'usage'], value: { inputTokens: 'a', outputTokens: 0 } },
  ])('$path of $value is refused', async ({ path, value }) => {
    const { tools, session, state, runs } = await waiting();
    await answerApproval(session, 'loop_1_0_1', approve);
    const { loop } = loopOf({ tools, session });
    await expect(loop.resume(changed(state, path, value))).rejects.toMatchObject({
      code: 'modules.invalid',
      reason: 'state',
    });
    expect(runs()).toEqual([1, 0, 0]);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'state'],
    ['an empty object', {}],
    ['a function', () => 1],
  ])('%s is refused', async (_what, state) => {
    const { loop } = loopOf({ tools: [], session: createSession() });
    await expect(loop.resume(state as JsonObject)).rejects.toMatchObject({ code: 'modules.invalid', reason: 'state' });
  });

  test('that of another session is refused', async () => {
    const { tools, state } = await waiting();
    const { loop } = loopOf({ tools, session: createSession() });
    await expect(loop.resume(state)).rejects.toMatchObject({ code: 'modules.invalid', reason: 'state' });
  });

  test('property: with any change in it, it is refused or resumed, and nothing runs twice', async () => {
    const junk = fc.oneof(fc.jsonValue(), fc.constantFrom('loop_1_0_1', 'loop_1_0_0', 'pay', 'a', 0, 1, '__proto__'));
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(), junk, async (which, value) => {
        const { tools, session, state, runs } = await waiting();
        await answerApproval(session, 'loop_1_0_1', approve);
        const places = placesIn(state);
        const place = places[which % places.length] ?? [];
        const { loop, predict } = loopOf({ tools, session, answers: [{ response: 'Well.' }] });
        const ended = await loop.resume(changed(state, place, value as Json)).catch((error: unknown) => error);
        if (isHoldfastError(ended)) {
          refused += 1;
          expect(ended.code).toBe('modules.invalid');
          expect(predict.inputs).toEqual([]);
        } else expect(ended).toMatchObject({ reason: expect.any(String) });
        const [a, pay, c] = runs();
        // `c` has not begun: that it is called by another name is what policies decide about.
        expect(a).toBeLessThanOrEqual(2);
        expect(pay).toBeLessThanOrEqual(1);
        expect(c).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
    expect(refused).toBeGreaterThan(50);
  });
});

/** Of everything in it. */
function placesIn(value: Json, place: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [place];
  const inner = Object.entries(value as JsonObject).flatMap(([key, item]) => placesIn(item, [...place, key]));
  return place.length === 0 ? inner : [place, ...inner];
}
