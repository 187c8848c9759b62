import { allow, definePolicy, deny, type Json, type Model, type ModelUsage, type Planner } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import type { PlannerAnswer, PlannerRequest } from '@holdfast/core/types';
import {
  type CompileEvent,
  type CompilePlanOptions,
  checkPlan,
  compilePlan,
  modelPlanner,
  planFrom,
  runPlan,
} from '@holdfast/orchestrator';
import { createSession } from '@holdfast/session';
import { manualClock, type ScriptStep, scriptedModel } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';
import {
  asked,
  bad,
  broken,
  type Compiling,
  compile,
  find,
  good,
  normalForm,
  request,
  rushingClock,
  texts,
  tools,
  tooMany,
  violationsIn,
} from './test-compile.ts';

describe('rounds', () => {
  test('EXT-1: a good plan takes one', async () => {
    const compiling = await compile(texts(good));
    expect(compiling).toMatchObject({ error: undefined, rounds: 1, plan: await normalForm(good) });
    expect(asked(compiling)).toEqual([1]);
  });

  test('a model needs two rounds of repair', async () => {
    const worse = bad(50).replace('find_news', 'find_new').replace('"final_output_node":"page"', '"last":1');
    const compiling = await compile(texts(worse, `Sorry. ${bad(21)}`, `Here: ${good}`));
    expect(compiling).toMatchObject({ error: undefined, rounds: 3, plan: await normalForm(good) });
    expect(asked(compiling)).toEqual([1, 2, 3]);
    const told = compiling.requests.map(({ messages }) => messages.map(({ role, text }) => ({ role, text })));
    // Nothing that a model was told before is told otherwise later.
    expect(told[1]?.slice(0, 2)).toEqual(told[0]);
    expect(told[2]?.slice(0, 4)).toEqual(told[1]);
    expect(told[1]?.slice(2)).toEqual([
      { role: 'assistant', text: worse },
      {
        role: 'user',
        text: expect.stringMatching(
          /1\. `last`: .*\(plan\.invalid: key\.unknown\)\n2\. `nodes\[0\]\.tool`: (?:.|\n)*\n3\. /,
        ),
      },
    ]);
    expect(told[2]?.slice(4)).toEqual([
      { role: 'assistant', text: bad(21) },
      { role: 'user', text: expect.stringMatching(/1\. `nodes\[0\]\.inputs\.top`: .*\(plan\.input\.type\)\n\n/) },
    ]);
    const answered = compiling.events.filter((event) => event.type === 'planner-answered');
    expect(answered.map(({ violations }) => violations.length)).toEqual([expect.any(Number), 1, 0]);
    expect(answered.map(({ text }) => text)).toEqual([worse, `Sorry. ${bad(21)}`, `Here: ${good}`]);
  });

  test('EXT-9: an answer that is not JSON does not use one up', async () => {
    const compiling = await compile(texts(broken(), bad(30), broken(bad(31)), bad(32), good));
    expect(compiling).toMatchObject({ error: undefined, rounds: 3, plan: await normalForm(good) });
    expect(asked(compiling)).toEqual([1, 1, 2, 2, 3]);
  });

  test('the third answer that is not JSON is the last', async () => {
    const compiling = await compile(
      texts(broken(), `${broken()} `.replace('tulips', 'roses'), good.slice(0, -9), good),
    );
    expect(compiling.error?.code).toBe('plan.invalid');
    expect(violationsIn(compiling)).toEqual(['plan.invalid: json.invalid']);
    expect(asked(compiling)).toEqual([1, 1, 1]);
  });

  test('EXT-11: three plans that are wrong are the end, with what is wrong with the last one, and none of its text', async () => {
    const compiling = await compile(texts(bad(30), bad(31), `My secret thoughts. ${bad(32)}`, good));
    expect(compiling.error).toMatchObject({
      code: 'plan.invalid',
      message: expect.stringMatching(
        /^The planner `scripted:model` returned no valid plan in 3 rounds\. `nodes\[0\]\.inputs\.top`: /,
      ),
      data: { planner: 'scripted:model', rounds: 3 },
    });
    expect(violationsIn(compiling)).toEqual([tooMany]);
    expect(JSON.stringify([compiling.error?.data, compiling.error?.message])).not.toMatch(/secret|tulips/);
    expect(compiling.events.at(-1)).toMatchObject({
      type: 'planner-answered',
      text: expect.stringContaining('secret'),
    });
    expect(asked(compiling)).toEqual([1, 2, 3]);
  });

  test.each([1, 5])('%i rounds when that many are allowed', async (maxRounds) => {
    const compiling = await compile(texts(...[30, 31, 32, 33, 34, 35].map(bad)), { maxRounds });
    expect(compiling.error?.code).toBe('plan.invalid');
    expect(asked(compiling)).toHaveLength(maxRounds);
  });

  test.each([0, 11, 1.5, Number.NaN])('%d is not a number of rounds', async (maxRounds) => {
    expect((await compile(texts(good), { maxRounds })).error?.code).toBe('options.invalid');
  });

  test.each([
    ['plan', [bad(30), bad(31), `Once more: ${bad(30)}`], [1, 2, 3], tooMany],
    ['broken plan', [broken(), `${broken()}\n`], [1, 1], 'plan.invalid: json.invalid'],
  ])('the same %s again is the end', async (_, answers, rounds, violation) => {
    const compiling = await compile(texts(...answers, good), { maxRounds: 9 });
    expect(compiling.error).toMatchObject({
      code: 'plan.invalid',
      message: expect.stringContaining('the same answer twice'),
    });
    expect(asked(compiling)).toEqual(rounds);
    expect(violationsIn(compiling)).toEqual([violation]);
  });

  test('EXT-13: an answer without JSON is the end, and none of it is in the error', async () => {
    const compiling = await compile(texts('I cannot do it', good));
    expect(compiling.error).toMatchObject({ code: 'planner.no_json', data: { planner: 'scripted:model' } });
    expect(compiling.error?.message).not.toContain('cannot do it');
    expect(asked(compiling)).toEqual([1]);
  });

  test('a plan that says why there is none is the end', async () => {
    const compiling = await compile(texts('Well: {"status":"error","error":"No tool sends mail."}', good));
    expect(compiling.error).toMatchObject({ code: 'plan.declined', data: { explanation: 'No tool sends mail.' } });
    expect(asked(compiling)).toEqual([1]);
  });

  test('EXT-17: what stands in an earlier answer is text for the next one', async () => {
    const slots = bad(30).replace('"tulips"', '"$request {{STEPS.news.titles}} %s {0}"');
    const { requests, error } = await compile(texts(slots, good), { request: 'Do {{STEPS.0}} $request' });
    expect(error).toBeUndefined();
    expect(requests[1]?.messages[2]).toMatchObject({ role: 'assistant', text: slots });
    expect(requests[1]?.messages[1]?.text).toContain(JSON.stringify('Do {{STEPS.0}} $request'));
  });

  test('what a planner is shown of earlier answers is bounded', async () => {
    const attempts: PlannerRequest['attempts'][] = [];
    const nodes = Array.from({ length: 3_000 }, (_, id) => ({
      id,
      tool: 'no_such_tool',
      inputs: { text: 'x'.repeat(100) },
    }));
    const planner: Planner = {
      id: 'long',
      plan: async (asked) => {
        attempts.push(asked.attempts);
        return { plan: { nodes, final_output_node: attempts.length } };
      },
    };
    const { error } = await compile([], { planner });
    expect(error?.code).toBe('plan.invalid');
    const [attempt] = attempts[2] ?? [];
    expect(attempt?.text).toHaveLength(200_001);
    expect(attempt?.problems).toHaveLength(51);
    expect(attempt?.problems.at(-1)).toMatchObject({ code: 'plan.invalid', reason: 'violations.more' });
    expect(Object.isFrozen(attempts[2]) && Object.isFrozen(attempt)).toBe(true);
  });

  test('half a sign is not shown, and no reason ends with one', async () => {
    const emoji = '\u{1f600}';
    const long = `{"nodes": [1 2], "x": "\ud800${'x'.repeat(200_000 - 25)}${emoji}`;
    for (const text of [long, `${long.slice(0, 40)}y${long.slice(40)}`]) {
      const { requests } = await compile([{ text }, { text: good }]);
      expect(requests[1]?.messages.every((message) => message.text.isWellFormed())).toBe(true);
    }
    const reason = `${'x'.repeat(999)}${emoji}`;
    const { error } = await compile(texts(JSON.stringify({ status: 'error', error: reason })));
    expect(error?.data).toEqual({ explanation: 'x'.repeat(999) });
  });

  test.each([
    [50, 'plan.tool.unknown'],
    [51, 'plan.invalid: violations.more'],
  ])('of %d things that are wrong the last that is told is %s', async (count, last) => {
    const nodes = Array.from({ length: count }, (_, id) => ({ id, tool: 'no_such_tool' }));
    const told: PlannerRequest['attempts'][] = [];
    const planner: Planner = {
      id: 'wrong',
      plan: async ({ attempts }) => {
        told.push(attempts);
        return { plan: { nodes, final_output_node: 0 } };
      },
    };
    await compile([], { planner });
    expect(describeCode(told[1]?.[0]?.problems.at(-1) ?? { code: '' })).toBe(last);
  });
});

describe('planners that cannot be asked', () => {
  const down = new TypeError('fetch failed');

  async function withClock(
    script: readonly ScriptStep[],
    options: Partial<CompilePlanOptions> = {},
  ): Promise<Compiling & { readonly waits: readonly number[] }> {
    const { clock, waits } = rushingClock();
    return { ...(await compile(script, { clock, ...options })), waits };
  }

  test('EXT-15: three times in a row are the end, with the cause', async () => {
    const compiling = await withClock([{ throw: down }, { throw: down }, { throw: down }, { text: good }]);
    expect(compiling.error).toMatchObject({ code: 'planner.failed', cause: down, data: { planner: 'scripted:model' } });
    expect(compiling.error?.message).toContain('fetch failed');
    expect(compiling.waits).toEqual([1_000, 2_000]);
    expect(compiling.events.map(({ type }) => type)).toEqual(['planner-asked', ...Array(3).fill('planner-failed')]);
  });

  test('no round is used up, and an answer begins the count anew', async () => {
    const script = [
      { throw: down },
      { throw: down },
      { text: bad(30) },
      { throw: down },
      { throw: down },
      { text: bad(31) },
    ];
    const compiling = await withClock([...script, { throw: null }, { text: good }]);
    expect(compiling).toMatchObject({ error: undefined, rounds: 3 });
    expect(asked(compiling)).toEqual([1, 2, 3]);
    expect(compiling.waits).toEqual([1_000, 2_000, 1_000, 2_000, 1_000]);
  });

  test.each([
    ['no finish', [{ type: 'text-delta', text: good }]],
    ['a text that is none', [{ type: 'text-delta', text: 5 }]],
    ['an unknown event', [{ type: 'thinking' }]],
  ])('a stream with %s is one that failed', async (_, stream) => {
    const model = {
      id: 'odd',
      async *stream() {
        yield* stream;
      },
    } as unknown as Model;
    const { error, waits } = await withClock([], { planner: modelPlanner(model) });
    expect([error?.code, waits]).toEqual(['planner.failed', [1_000, 2_000]]);
  });

  test.each([undefined, null, 'text', {}, { text: 5 }, { plan: undefined }])('%j is not an answer', async (answer) => {
    const planner: Planner = { id: 'odd', plan: async () => answer as unknown as PlannerAnswer };
    const { error, waits } = await withClock([], { planner });
    expect(error).toMatchObject({ code: 'planner.failed', message: expect.stringContaining('neither') });
    expect(waits).toEqual([]);
  });

  test('throwing before there is a promise counts as throwing', async () => {
    const planner: Planner = {
      id: 'odd',
      plan() {
        throw down;
      },
    };
    expect((await withClock([], { planner })).error).toMatchObject({ code: 'planner.failed', cause: down });
  });

  test('what it threw is told up to a length', async () => {
    const planner: Planner = { id: 'loud', plan: () => Promise.reject(new Error('x'.repeat(100_000))) };
    expect((await withClock([], { planner })).error?.message).toMatch(/in a row: x{500}$/);
  });

  test('each part of an answer is read once, and one that cannot be read is a planner that throws', async () => {
    const others = (...values: readonly unknown[]) => {
      const left = values.values();
      return () => left.next().value;
    };
    const lying = {};
    Object.defineProperty(lying, 'text', { get: others(good, undefined) });
    Object.defineProperty(lying, 'usage', { get: others({ inputTokens: 1, outputTokens: 2 }, 'none') });
    const planner: Planner = { id: 'lying', plan: async () => lying as PlannerAnswer };
    const compiling = await withClock([], { planner });
    expect(compiling).toMatchObject({ error: undefined, plan: await normalForm(good) });

    const kept = {};
    Object.defineProperty(kept, 'plan', { enumerable: true, get: others(JSON.parse(good), { nodes: [] }) });
    const shown = await withClock([], { planner: { id: 'lying', plan: async () => kept as PlannerAnswer } });
    expect(shown).toMatchObject({ error: undefined, plan: await normalForm(good) });

    const throwing: Planner = {
      id: 'throwing',
      plan: async () => ({
        text: good,
        get usage(): never {
          throw down;
        },
      }),
    };
    expect((await withClock([], { planner: throwing })).error).toMatchObject({ code: 'planner.failed', cause: down });
  });

  test('a value that changes is checked as it was when it was read', async () => {
    let reads = 0;
    const nodes = {
      get nodes() {
        reads += 1;
        return reads === 1 ? [{ id: 0, tool: 'find_news', inputs: { about: 'x' } }] : 'no nodes';
      },
      final_output_node: 0,
    };
    const { error } = await compile([], { planner: { id: 'lying', plan: async () => ({ plan: nodes as never }) } });
    expect([error, reads]).toEqual([undefined, 1]);
  });

  test.each([null, 'abc', {}, [null], [{ code: 'a', path: '' }], [{ code: 'a', path: '', message: 5 }]])(
    'warnings that are %j are not an answer',
    async (warnings) => {
      const answer = { text: good, warnings } as unknown as PlannerAnswer;
      const { error } = await withClock([], { planner: { id: 'odd', plan: async () => answer } });
      expect(error).toMatchObject({ code: 'planner.failed', message: expect.stringContaining('`warnings`') });
    },
  );

  test('what a content filter stopped is not asked for again', async () => {
    const { error, requests, waits } = await withClock([{ text: good, finish: 'content-filter' }, { text: good }]);
    expect(error).toMatchObject({ code: 'planner.failed', data: { reason: 'content-filter' } });
    expect([requests.length, waits]).toEqual([1, []]);
  });
});

describe('what a model does besides', () => {
  test('a message that was cut is not a plan, even with one in it', async () => {
    const compiling = await compile([{ text: good, finish: 'length' }, { text: '', finish: 'length' }, { text: good }]);
    expect(compiling).toMatchObject({ error: undefined, rounds: 1 });
    expect(asked(compiling)).toEqual([1, 1, 1]);
    expect(compiling.requests[1]?.messages.at(-1)?.text).toContain('cut off');
    // Providers refuse a message without text.
    expect(compiling.requests[2]?.messages.every(({ text }) => text !== '')).toBe(true);
  });

  test('calls of tools are not made, and told', async () => {
    const calls = [{ name: 'find_news', arguments: {} }];
    const model = scriptedModel([{ text: good, calls }]);
    const { warnings } = await compilePlan({ request, tools, planner: modelPlanner(model) });
    expect(warnings.map(describeCode)).toEqual(['plan.invalid: calls_ignored']);
    expect(model.requests[0]).toMatchObject({ tools: [], output: undefined });
  });

  test('EXT-7: what was repaired stands before what is worth knowing of the plan', async () => {
    const text = good
      .replace('"final', '"version":1,"final')
      .replace('}]', ',"retry":1},{"id":9,"tool":"find_news","inputs":{"about":"x",}}]');
    const model = scriptedModel([{ text }]);
    const { warnings, rounds } = await compilePlan({ request, tools, planner: modelPlanner(model) });
    expect(warnings.map(describeCode)).toEqual([
      'plan.invalid: json.repaired',
      'plan.invalid: retry.ignored',
      'plan.invalid: node.unused',
    ]);
    expect(rounds).toBe(1);
  });

  test('tokens are summed', async () => {
    const usage = { inputTokens: 10, outputTokens: 3 };
    const script = [{ text: broken(), usage }, { text: bad(30) }, { text: good, usage }];
    const model = scriptedModel(script);
    expect((await compilePlan({ request, tools, planner: modelPlanner(model) })).usage).toEqual({
      inputTokens: 20,
      outputTokens: 6,
    });
    const failing = await compile([{ text: bad(30), usage }], { maxRounds: 1 });
    expect(failing.error?.data).toMatchObject({ usage });
    expect((await compilePlan({ request, tools, planner: planFrom(good) })).usage).toBeUndefined();
  });

  test('tokens that are none do not count, so no planner lowers what was spent', async () => {
    const told = [{ inputTokens: 5, outputTokens: 5 }, null, 'many', { inputTokens: -1_000, outputTokens: Number.NaN }];
    const planner: Planner = {
      id: 'odd',
      plan: async ({ attempts }) => ({ text: bad(30 + attempts.length), usage: told[attempts.length] as ModelUsage }),
    };
    const { error } = await compile([], { planner, maxRounds: told.length });
    expect(error).toMatchObject({ code: 'plan.invalid', data: { usage: { inputTokens: 5, outputTokens: 5 } } });
  });
});

describe('before and after', () => {
  test.each(['', ' \n', 5, undefined])('SUB-1: %j is not a request', async (empty) => {
    const { error, requests } = await compile(texts(good), { request: empty as string });
    expect([error?.code, requests.length]).toEqual(['options.invalid', 0]);
  });

  test("the host's mistakes are thrown before anybody is asked", async () => {
    for (const options of [{ tools: [find, find] }, { limits: { maxNodes: 0 } }]) {
      const { error, requests } = await compile(texts(good), options);
      expect(['tool.invalid', 'options.invalid']).toContain(error?.code);
      expect(requests).toHaveLength(0);
    }
  });

  test('nobody waits for a planner when nobody waits for the plan', async () => {
    const reason = new Error('enough');
    const stop = new AbortController();
    const hanging: Planner = {
      id: 'slow',
      plan: ({ signal }) => {
        expect(signal).toBe(stop.signal);
        queueMicrotask(() => stop.abort(reason));
        return new Promise(() => undefined);
      },
    };
    expect((await compile([], { planner: hanging, signal: stop.signal })).error).toMatchObject({
      code: 'plan.aborted',
      reason: 'planner',
      cause: reason,
    });
    const late = await compile(texts(good), { signal: stop.signal });
    expect([late.error?.code, late.requests.length]).toEqual(['plan.aborted', 0]);
  });

  test('the wait after a failure ends with the signal, and leaves no timer', async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const onEvent = ({ type }: CompileEvent) => {
      if (type === 'planner-failed') setImmediate(() => stop.abort());
    };
    const { error } = await compile([{ throw: new Error('down') }], { clock, signal: stop.signal, onEvent });
    expect([error?.code, clock.pending]).toEqual(['plan.aborted', 0]);
  });

  test('who hears of a failure can end it at once, and leaves no timer', async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const onEvent = ({ type }: CompileEvent) => {
      if (type === 'planner-failed') stop.abort();
    };
    const { error } = await compile([{ throw: new Error('down') }], { clock, signal: stop.signal, onEvent });
    expect([error?.code, clock.pending]).toEqual(['plan.aborted', 0]);
  });

  test('no planner is asked for a plan whose caller has left', async () => {
    let asked = 0;
    const stop = new AbortController();
    const planner: Planner = {
      id: 'counting',
      plan: async () => {
        asked += 1;
        return { text: bad(30) };
      },
    };
    const onEvent = ({ type }: CompileEvent) => {
      if (type === 'planner-answered') stop.abort();
    };
    const during = await compile([], { planner, signal: stop.signal, onEvent });
    const after = await compile([], { planner, signal: stop.signal });
    expect([during.error?.code, after.error?.code, asked]).toEqual(['plan.aborted', 'plan.aborted', 1]);
  });

  test('a signal that many compilations share is not listened to for longer than they last', async () => {
    const { signal } = new AbortController();
    let listening = 0;
    const { addEventListener: add, removeEventListener: remove } = signal;
    signal.addEventListener = (...parameters: Parameters<typeof add>) => {
      listening += 1;
      add.apply(signal, parameters);
    };
    signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
      listening -= 1;
      remove.apply(signal, parameters);
    };
    const { clock } = rushingClock();
    const { error } = await compile([{ throw: new Error('down') }, { text: good }], { clock, signal });
    expect([error, listening]).toEqual([undefined, 0]);
  });

  test('what policies surely deny is wrong with the plan', async () => {
    const readOnly = definePolicy({
      name: 'read-only',
      check: ({ tool }) => (tool.effects === 'none' ? allow : deny('No.')),
    });
    const reading = good.replace(/,\{"id":"page".*\]/, ']').replace('"page"', '"news"');
    const compiling = await compile(texts(good, reading), { policies: [readOnly] });
    expect(compiling).toMatchObject({ error: undefined, rounds: 2, plan: await normalForm(reading) });
    expect(compiling.requests[1]?.messages.at(-1)?.text).toContain('(plan.policy.denied)');
  });

  test('the plan is frozen, with its request and what it will ask for', async () => {
    const compiled = await compilePlan({ request, tools, planner: planFrom(good) });
    const check = await checkPlan(good, { tools });
    expect(compiled).toMatchObject({
      request,
      planner: 'plan',
      rounds: 1,
      warnings: [],
      asks: [{ node: 'page', tool: 'write_page', dangerous: true }],
      ...(check.type === 'valid' ? { digest: check.checked.digest, inputs: check.checked.inputs } : {}),
    });
    expect(
      Object.isFrozen(compiled) && Object.isFrozen(compiled.warnings) && Object.isFrozen(compiled.plan.nodes),
    ).toBe(true);
  });

  test('the plan can be run as it is, and no copy of it', async () => {
    const compiled = await compilePlan({ request, tools, planner: planFrom(good) });
    const trace = await runPlan(compiled, { tools, session: createSession(), approve: () => ({ type: 'approve' }) });
    expect(trace).toMatchObject({ status: 'succeeded', digest: compiled.digest });
    expect(() => runPlan({ ...compiled }, { tools, session: createSession() })).toThrow(
      expect.objectContaining({ code: 'plan.invalid', reason: 'unchecked' }),
    );
  });

  test('what a listener throws ends the compilation', async () => {
    const broke = new Error('broke');
    const onEvent = () => {
      throw broke;
    };
    await expect(compilePlan({ request, tools, planner: planFrom(good), onEvent })).rejects.toBe(broke);
  });
});

describe('planFrom', () => {
  test.each([
    ['a value', JSON.parse(good) as Json],
    ['text', good],
    ['text with something around it', `# A plan\n\n${good}\n`],
  ])('%s is compiled as any other plan is', async (_, source) => {
    expect((await compilePlan({ request, tools, planner: planFrom(source) })).plan).toEqual(await normalForm(good));
  });

  test.each([
    ['a wrong plan', JSON.parse(bad(30)) as unknown, [tooMany]],
    ['the text of one', bad(30), [tooMany]],
    ['a broken text', broken(), ['plan.invalid: json.invalid']],
    ['a value that is not JSON', { nodes: [() => 1] }, ['plan.invalid: json.invalid']],
    ['no object', 5, ['plan.not_object']],
  ])('%s is refused, once', async (_, source, violations) => {
    const compiling = await compile([], { planner: planFrom(source) });
    expect(compiling.error?.code).toBe('plan.invalid');
    expect(violationsIn(compiling)).toEqual(violations);
    expect(asked(compiling).length).toBeLessThanOrEqual(2);
  });
});
