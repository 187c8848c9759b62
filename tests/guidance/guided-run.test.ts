import type { ModelEvent, ModelRequest } from '@holdfast/core';
import type { Completion, RenderedPrompt } from '@holdfast/core/types';
import { createBudget, type RunAgentOptions, resumeRun, runAgent } from '@holdfast/executor';
import { createSession, type LogRecord, memoryStore, replay } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { call, collect, echo, notes, playing, say, stop, testClock, testSession } from './guidance-fixtures.ts';
import {
  checker,
  everyCalls,
  everySeconds,
  fileCreated,
  guidedPrompt,
  namedFiles,
  numberFormat,
  provider,
} from './test-guidance.ts';

const echoed = (id: string): ModelEvent => call('echo', { q: id }, id);
const toldIn = ({ messages }: ModelRequest): readonly string[] =>
  messages.filter(({ role }) => role === 'user').map((message) => message.text);

/** Runs a script with read-only tools. */
async function runGuided(
  guidance: Partial<RenderedPrompt>,
  turns: readonly (readonly ModelEvent[])[],
  options: Partial<RunAgentOptions> & { readonly name?: string } = {},
) {
  const { session = testSession().session, name, ...rest } = options;
  const model = playing(...turns);
  const prompt = guidedPrompt([echo], guidance, name);
  const run = runAgent({ model, prompt, session, input: 'Go.', ...rest });
  const events = await collect(run);
  const result = await run.result;
  return { model, result, events, told: model.requests.map(toldIn), session };
}

describe('feedback', () => {
  test('K06: all due providers speak in order in one message, and the log records them', async () => {
    const { session, records } = testSession();
    const { told, result } = await runGuided(
      { feedback: [provider('each', [everyCalls(1)]), provider('second', [everyCalls(2)])] },
      [
        [echoed('a'), stop],
        [echoed('b'), stop],
        [say('Done.'), stop],
      ],
      { session },
    );
    expect(result.status).toBe('completed');
    expect(told).toEqual([['Go.'], ['Go.', 'each at 1'], ['Go.', 'each at 1', 'each at 2\n\nsecond at 2']]);
    expect(records.filter(({ type }) => type === 'feedback')).toMatchObject([
      { run: 1, turn: 1, source: 'provider', prompt: 'test/guided', calls: 1, given: [{ name: 'each' }], failed: [] },
      {
        run: 1,
        turn: 2,
        calls: 2,
        given: [
          { name: 'each', text: 'each at 2' },
          { name: 'second', text: 'second at 2' },
        ],
      },
    ]);
  });

  test('every provider has its own cadence, which continues in the next run of the session', async () => {
    const { session } = testSession();
    const feedback = [provider('third', [everyCalls(3)])];
    const once = [
      [echoed('a'), echoed('b'), stop],
      [say('.'), stop],
    ];
    expect((await runGuided({ feedback }, once, { session })).told.at(-1)).toEqual(['Go.']);
    expect((await runGuided({ feedback }, once, { session })).told.at(-1)).toEqual(['Go.', 'third at 4']);
    expect((await runGuided({ feedback }, once, { session })).told.at(-1)).toEqual(['Go.']);
    expect((await runGuided({ feedback }, once, { session })).told.at(-1)).toEqual(['Go.', 'third at 8']);
  });

  test('K02: calls of another prompt are not counted', async () => {
    const { session } = testSession();
    const feedback = [provider('second', [everyCalls(2)])];
    const once = [
      [echoed('a'), stop],
      [say('.'), stop],
    ];
    await runGuided({ feedback }, once, { session, name: 'test/other' });
    expect((await runGuided({ feedback }, once, { session })).told.at(-1)).toEqual(['Go.']);
    expect((await runGuided({ feedback }, once, { session })).told.at(-1)).toEqual(['Go.', 'second at 2']);
  });

  test('time counts from the start of the run, then from the last request to the provider', async () => {
    const clock = testClock();
    clock.advance(1_000_000);
    const advance = (seconds: number) => ({
      ...echo,
      execute: () => {
        clock.advance(seconds * 1_000);
        return { a: '' };
      },
    });
    const model = playing(
      [call('five', { q: '' }, 'a'), stop],
      [call('five', { q: '' }, 'b'), stop],
      [call('five', { q: '' }, 'c'), stop],
      [say('.'), stop],
    );
    const prompt = guidedPrompt([{ ...advance(5), name: 'five' }], {
      feedback: [provider('clock', [everySeconds(10)])],
    });
    const { session } = testSession();
    await runAgent({ model, prompt, session, input: 'Go.', clock }).result;
    expect(model.requests.map(toldIn).at(-1)).toEqual(['Go.', 'clock at 2']);

    clock.advance(1_000_000);
    const next = playing([call('five', { q: '' }, 'a'), stop], [say('.'), stop]);
    await runAgent({ model: next, prompt, session, input: 'Go.', clock }).result;
    expect(next.requests.map(toldIn).at(-1)).toEqual(['Go.']);
  });

  test('prompts with one name are distinguished by their ids', async () => {
    const { session } = testSession();
    const feedback = [provider('second', [everyCalls(2)])];
    const turns = [
      [echoed('a'), stop],
      [say('.'), stop],
    ];
    for (const id of ['a/one', 'a/two']) {
      const model = playing(...turns);
      const prompt = { ...guidedPrompt([echo], { feedback }), id };
      await runAgent({ model, prompt, session, input: 'Go.' }).result;
      expect(model.requests.map(toldIn).at(-1)).toEqual(['Go.']);
    }
  });

  test('K04: a file counts once, and again after a reset of the session', async () => {
    const { session } = testSession();
    const files = new Set<string>();
    const resources = { filesystem: namedFiles(files) };
    const feedback = [provider('watch', [fileCreated('plan.md')])];
    const once = [
      [echoed('a'), stop],
      [say('.'), stop],
    ];
    const told = async () => (await runGuided({ feedback }, once, { session, resources })).told.at(-1)?.slice(1);
    files.add('plan.md/');
    expect(await told()).toEqual([]);
    files.add('plan.md');
    expect(await told()).toEqual(['watch at 2']);
    expect(await told()).toEqual([]);
    session.reset();
    expect(await told()).toEqual(['watch at 1']);
  });

  test('of several files, each counts once', async () => {
    const { session } = testSession();
    const files = new Set(['a']);
    const resources = { filesystem: namedFiles(files) };
    const feedback = [provider('watch', [fileCreated('a'), fileCreated('b')])];
    const once = [
      [echoed('a'), stop],
      [say('.'), stop],
    ];
    const told = async () => (await runGuided({ feedback }, once, { session, resources })).told.at(-1)?.slice(1);
    expect(await told()).toEqual(['watch at 1']);
    files.add('b');
    expect(await told()).toEqual(['watch at 2']);
    expect(await told()).toEqual([]);
  });

  test('without triggers, without a filesystem, or without text there is no feedback', async () => {
    const feedback = [
      provider('never', []),
      provider('file', [fileCreated('plan.md')]),
      provider('silent', [everyCalls(1)], () => undefined),
      provider('blank', [everyCalls(1)], () => ' \n'),
    ];
    const { told, events } = await runGuided({ feedback }, [
      [echoed('a'), stop],
      [say('.'), stop],
    ]);
    expect(told.at(-1)).toEqual(['Go.']);
    expect(events.some(({ type }) => type === 'feedback')).toBe(false);
  });

  test('K10: a failing provider is recorded and has no other effect', async () => {
    const { session, records } = testSession();
    const feedback = [
      provider('throws', [everyCalls(1)], () => {
        throw new Error('no ink');
      }),
      provider('rejects', [everyCalls(1)], () => Promise.reject(new Error('no paper'))),
      // Possible in hosts without types.
      provider('number', [everyCalls(1)], (() => 7) as unknown as () => string),
      provider('escapes', [fileCreated('../plan.md'), everyCalls(1)]),
      provider('sound', [everyCalls(1)]),
    ];
    const { told, result, events } = await runGuided(
      { feedback },
      [
        [echoed('a'), stop],
        [say('.'), stop],
      ],
      {
        session,
        resources: { filesystem: namedFiles(new Set()) },
      },
    );
    expect(result).toMatchObject({ status: 'completed', outcomes: [{ kind: 'ok' }] });
    expect(told.at(-1)).toEqual(['Go.', 'escapes at 1\n\nsound at 1']);
    const failed = [
      { name: 'throws', message: expect.stringContaining('no ink') },
      { name: 'rejects', message: expect.stringContaining('no paper') },
      { name: 'number', message: expect.stringContaining('not return a string') },
      { name: 'escapes', message: expect.stringContaining('leaves the root') },
    ];
    expect(records.find(({ type }) => type === 'feedback')).toMatchObject({ failed });
    expect(events.find(({ type }) => type === 'feedback')).toMatchObject({ failed });
  });

  test('a provider that does not answer has the time limit of a policy', async () => {
    const clock = testClock();
    const { session, records } = testSession();
    const hanging = provider('hangs', [everyCalls(1)], () => {
      queueMicrotask(() => clock.advance(50));
      return new Promise(() => undefined);
    });
    const options = { session, clock, policyTimeoutMs: 50 };
    const { told } = await runGuided(
      { feedback: [hanging] },
      [
        [echoed('a'), stop],
        [say('.'), stop],
      ],
      options,
    );
    expect(told.at(-1)).toEqual(['Go.']);
    expect(records.find(({ type }) => type === 'feedback')).toMatchObject({
      failed: [{ name: 'hangs', message: 'No answer within 50 ms.' }],
    });
  });

  test('the end of a run does not wait for a provider', async () => {
    const controller = new AbortController();
    const hanging = provider('hangs', [everyCalls(1)], () => {
      queueMicrotask(() => controller.abort());
      return new Promise(() => undefined);
    });
    const turns = [
      [echoed('a'), stop],
      [say('.'), stop],
    ];
    const { result } = await runGuided({ feedback: [hanging] }, turns, { signal: controller.signal });
    expect(result).toMatchObject({ status: 'aborted', outcomes: [{ kind: 'ok' }] });
  });

  test('its context is read-only and includes the remaining budget', async () => {
    const budget = createBudget({ maxCalls: 5 });
    const seen: unknown[] = [];
    const looking = provider('looks', [everyCalls(1)], (context) => {
      seen.push(Object.isFrozen(context), context.session.read(notes).size, context.budget === budget, context.calls);
      seen.push(context.deadline.remainingMs(), context.filesystem);
      return '';
    });
    await runGuided(
      { feedback: [looking] },
      [
        [echoed('a'), stop],
        [say('.'), stop],
      ],
      { budget },
    );
    expect(seen).toEqual([true, 0, true, 1, Number.POSITIVE_INFINITY, undefined]);
  });
});

describe('completion', () => {
  const incomplete = (feedback: string): Completion => ({ complete: false, feedback });

  test('K18: the model must continue until the work is done', async () => {
    const { session, records } = testSession();
    const completion = {
      checker: checker(({ text }) => (text === 'Now.' ? { complete: true } : incomplete('Not yet.'))),
      maxReturns: 3,
    };
    const turns = [
      [say('Done?'), stop],
      [echoed('a'), stop],
      [say('Now.'), stop],
    ];
    const { told, result, events } = await runGuided({ completion }, turns, { session });
    expect(result).toMatchObject({ status: 'completed', text: 'Now.', turns: 3 });
    expect(result).not.toHaveProperty('unfinished');
    expect(told).toEqual([['Go.'], ['Go.', 'Not yet.'], ['Go.', 'Not yet.']]);
    expect(records.filter(({ type, source }) => type === 'feedback' && source === 'completion')).toMatchObject([
      { turn: 1, given: [{ name: 'done', text: 'Not yet.' }] },
    ]);
    expect(events.filter(({ type }) => type === 'feedback')).toHaveLength(1);
  });

  test('up to the limit; then the run ends and reports what is missing', async () => {
    const completion = { checker: checker(() => incomplete('Not yet.')), maxReturns: 2 };
    const says = [say('Done.'), stop];
    const { session, records } = testSession();
    const { told, result } = await runGuided({ completion }, [says, says, says, says], { session });
    expect(told).toHaveLength(3);
    expect(result).toMatchObject({ status: 'completed', text: 'Done.', unfinished: 'Not yet.' });
    expect(records.at(-1)).toMatchObject({ type: 'run-end', unfinished: 'Not yet.' });
  });

  test.each<[string, Partial<RunAgentOptions>, string, string | undefined]>([
    ['rounds', { maxRounds: 1 }, 'max-rounds', 'Not yet.'],
    ['tokens', { budget: createBudget({ maxTokens: 5 }) }, 'budget', 'Not yet.'],
    ['more tokens than there are', { budget: createBudget({ maxTokens: 4 }) }, 'budget', undefined],
  ])('K20: not when the %s are spent', async (_title, options, status, unfinished) => {
    const completion = { checker: checker(() => incomplete('Not yet.')), maxReturns: 2 };
    const turns = [
      [say('Done.'), stop],
      [say('Again.'), stop],
    ];
    const { told, result, events } = await runGuided({ completion }, turns, options);
    expect(told).toHaveLength(1);
    expect(result).toMatchObject({ status, text: 'Done.' });
    expect(result.unfinished).toBe(unfinished);
    expect(events.some(({ type }) => type === 'feedback')).toBe(false);
  });

  test('K20: not after the deadline', async () => {
    const clock = testClock();
    const late = checker(() => {
      clock.advance(1_000);
      return incomplete('Not yet.');
    });
    const options = { clock, timeoutMs: 1_000 };
    const completion = { checker: late, maxReturns: 2 };
    const { told, result } = await runGuided(
      { completion },
      [
        [say('Done.'), stop],
        [say('Again.'), stop],
      ],
      options,
    );
    expect(told).toHaveLength(1);
    expect(result).toMatchObject({ status: 'deadline', text: 'Done.', unfinished: 'Not yet.' });
  });

  test('K20: not without calls left, unless there are no tools anyway', async () => {
    const completion = { checker: checker(() => incomplete('Not yet.')), maxReturns: 2 };
    const turns = [
      [echoed('a'), stop],
      [say('Done.'), stop],
      [say('Again.'), stop],
      [say('Again.'), stop],
    ];
    const { result } = await runGuided({ completion }, turns, { budget: createBudget({ maxCalls: 1 }) });
    expect(result).toMatchObject({ status: 'budget', turns: 2, unfinished: 'Not yet.' });
    const { result: plenty } = await runGuided({ completion }, turns, { budget: createBudget({ maxCalls: 2 }) });
    expect(plenty).toMatchObject({ status: 'completed', turns: 4 });

    const budget = createBudget({ maxCalls: 1 });
    const { session } = testSession();
    await runGuided(
      {},
      [
        [echoed('a'), stop],
        [say('.'), stop],
      ],
      { budget },
    );
    const prompt = guidedPrompt([], { completion });
    const model = playing(...turns.slice(1));
    const talked = await runAgent({ model, prompt, session, input: 'Go.', budget }).result;
    expect(talked).toMatchObject({ status: 'completed', turns: 3 });
  });

  test('finished work counts as completed even if the budget is exhausted', async () => {
    const completion = { checker: checker(() => ({ complete: true })), maxReturns: 2 };
    const options = { budget: createBudget({ maxTokens: 5 }), maxRounds: 1 };
    const { result } = await runGuided({ completion }, [[say('Done.'), stop]], options);
    expect(result).toMatchObject({ status: 'completed' });
  });

  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('at /home/ada/secret.ts');
      },
      '<path>',
    ],
    ['rejects', () => Promise.reject(new Error('no light')), 'no light'],
    ['answers nothing', () => undefined, 'no valid completion'],
    ['answers something else', () => ({ complete: 'yes' }), 'no valid completion'],
    ['says no without a reason that is text', () => ({ complete: false, feedback: 7 }), 'no valid completion'],
    ['answers yes in its own way', () => ({ complete: 'no', feedback: 'Fine.' }), 'no valid completion'],
    ['says no without a reason', () => ({ complete: false, feedback: ' ' }), 'not done'],
  ])('a checker that %s has not said yes', async (_title, check, says) => {
    // The cast simulates hosts without types.
    const completion = { checker: checker(check as () => Completion), maxReturns: 1 };
    const { told, result } = await runGuided({ completion }, [
      [say('Done.'), stop],
      [say('Done.'), stop],
    ]);
    expect(told.at(-1)?.[1]).toContain(says);
    expect(result).toMatchObject({ status: 'completed', unfinished: expect.stringContaining(says) });
  });

  test('the failure of a checker is logged, even if the model does not see it', async () => {
    const { session, records } = testSession();
    let frozen = false;
    const completion = {
      checker: checker((context) => {
        frozen = Object.isFrozen(context);
        throw new Error('no light');
      }),
      maxReturns: 0,
    };
    const { told } = await runGuided({ completion }, [[say('Done.'), stop]], { session });
    expect(told).toEqual([['Go.']]);
    expect(records.find(({ type }) => type === 'feedback')).toMatchObject({
      source: 'completion',
      given: [],
      failed: [{ name: 'done', message: 'no light' }],
    });
    expect(frozen).toBe(true);
  });

  test('a checker that never answers ends with the run', async () => {
    const controller = new AbortController();
    const hanging = checker(() => {
      queueMicrotask(() => controller.abort());
      return new Promise(() => undefined);
    });
    const completion = { checker: hanging, maxReturns: 1 };
    const { result } = await runGuided({ completion }, [[say('Done.'), stop]], { signal: controller.signal });
    expect(result).toMatchObject({ status: 'aborted', text: 'Done.' });
  });
});

describe('output', () => {
  test('the text is parsed, and every request contains its schema', async () => {
    const { result, model } = await runGuided({ output: numberFormat() }, [
      [echoed('a'), stop],
      [say('7: seven'), stop],
    ]);
    expect(result).toMatchObject({ status: 'completed', text: '7: seven', output: 7 });
    expect(model.requests.map(({ output }) => output)).toEqual([numberFormat().jsonSchema, numberFormat().jsonSchema]);
  });

  test('without a format there is no output, and no schema', async () => {
    const { result, model } = await runGuided({}, [[say('7: seven'), stop]]);
    expect(result).not.toHaveProperty('output');
    expect(model.requests[0]?.output).toBeUndefined();
  });

  test('an invalid answer is returned once, with its problems', async () => {
    const { session, records } = testSession();
    const turns = [
      [say('seven'), stop],
      [say('7: seven'), stop],
    ];
    const { result, told } = await runGuided({ output: numberFormat() }, turns, { session });
    expect(told).toEqual([['Go.'], ['Go.', 'Begin with a number.']]);
    expect(result).toMatchObject({ status: 'completed', output: 7, turns: 2 });
    expect(records.filter(({ type }) => type === 'feedback')).toMatchObject([{ source: 'output', turn: 1 }]);
  });

  test('output.invalid: an answer that stays invalid is a model error', async () => {
    const turns = [[say('seven'), stop], [stop], [say('VII'), stop], [say('no'), stop]];
    const { result, told } = await runGuided({ output: numberFormat(2) }, turns);
    expect(told).toHaveLength(3);
    expect(result).toMatchObject({
      status: 'model-error',
      text: 'VII',
      error: { code: 'output.invalid', message: 'Begin with a number.' },
    });
    expect(result).not.toHaveProperty('output');
  });

  test.each<[Partial<RunAgentOptions>, string]>([
    [{ maxRounds: 1 }, 'max-rounds'],
    [{ budget: createBudget({ maxTokens: 5 }) }, 'budget'],
  ])('with nothing left to correct it with (%j), that is what ended the run', async (options, status) => {
    const { result, events } = await runGuided({ output: numberFormat() }, [[say('seven'), stop]], options);
    expect(result).toMatchObject({ status, text: 'seven', error: { code: 'output.invalid' } });
    expect(events.some(({ type }) => type === 'feedback')).toBe(false);
  });

  test('completion is checked before the output', async () => {
    const completion = {
      checker: checker(({ calls }) => (calls > 0 ? { complete: true } : { complete: false, feedback: 'Call it.' })),
      maxReturns: 1,
    };
    const turns = [
      [say('done'), stop],
      [echoed('a'), stop],
      [say('done'), stop],
      [say('1: done'), stop],
    ];
    const { result, told } = await runGuided({ completion, output: numberFormat() }, turns);
    expect(told.at(-1)).toEqual(['Go.', 'Call it.', 'Begin with a number.']);
    expect(result).toMatchObject({ status: 'completed', output: 1, turns: 4 });
    // The checker has seen the call, even without feedback.
    expect(result).not.toHaveProperty('unfinished');
  });
});

test('interrupted at any record, the run ends the same way', async () => {
  const guidance = (): Partial<RenderedPrompt> => ({
    feedback: [provider('each', [everyCalls(2)])],
    completion: {
      checker: checker(({ calls }) => (calls > 2 ? { complete: true } : { complete: false, feedback: 'More.' })),
      maxReturns: 2,
    },
    output: numberFormat(),
  });
  const script = [
    [echoed('a'), echoed('b'), stop],
    [say('done'), stop],
    [echoed('c'), stop],
    [say('done'), stop],
    [say('3: done'), stop],
  ];
  const store = memoryStore();
  const clock = testClock();
  const session = createSession({ id: 's', slices: [notes], store, clock });
  const model = playing(...script);
  const prompt = guidedPrompt([echo], guidance());
  const whole = await runAgent({ model, prompt, session, input: 'Go.', clock }).result;
  expect(whole).toMatchObject({ status: 'completed', output: 3, turns: 5 });
  const last = model.requests.at(-1)?.messages;
  expect(last?.filter(({ role }) => role === 'user').map((message) => message.text)).toEqual([
    'Go.',
    'each at 2',
    'More.',
    'Begin with a number.',
  ]);
  const records: readonly LogRecord[] = [...store.records];
  const starts = records.findIndex(({ type }) => type === 'run-start');
  const ended = records.findIndex(({ type }) => type === 'run-end');
  for (let cut = starts + 1; cut <= ended; cut += 1) {
    const part = memoryStore(records.slice(0, cut));
    const again = replay(part.records, { slices: [notes], store: part, clock });
    const asked = records.slice(0, cut).filter(({ type }) => type === 'model-message').length;
    const rest = playing(...script.slice(asked));
    const result = await resumeRun({ model: rest, prompt: guidedPrompt([echo], guidance()), session: again, clock })
      .result;
    // A call after the cut never started, and ends as cancelled; it still counts.
    expect({ cut, ...result }).toMatchObject({ cut, status: 'completed', output: 3, turns: 5, text: '3: done' });
    const told = rest.requests.at(-1)?.messages.map(({ role, text }) => (role === 'tool' ? role : text));
    if (told !== undefined) expect(told).toEqual(last?.map(({ role, text }) => (role === 'tool' ? role : text)));
  }
});

/** Runs `script`, then resumes from every prefix of its log with the rest of the script. Returns the results. */
async function cutEverywhere(
  guidance: Partial<RenderedPrompt>,
  script: readonly (readonly ModelEvent[])[],
  pauseMs = 0,
) {
  const store = memoryStore();
  const clock = testClock();
  const prompt = guidedPrompt([echo], guidance);
  const session = createSession({ id: 's', slices: [notes], store, clock });
  const whole = await runAgent({ model: playing(...script), prompt, session, input: 'Go.', clock }).result;
  const records: readonly LogRecord[] = [...store.records];
  const first = records.findIndex(({ type }) => type === 'run-start') + 1;
  const last = records.findIndex(({ type }) => type === 'run-end');
  const cuts = [];
  clock.advance(pauseMs);
  for (let cut = first; cut <= last; cut += 1) {
    const part = memoryStore(records.slice(0, cut));
    const again = replay(part.records, { slices: [notes], store: part, clock });
    const asked = records.slice(0, cut).filter(({ type }) => type === 'model-message').length;
    const model = playing(...script.slice(asked));
    const result = await resumeRun({ model, prompt, session: again, clock }).result;
    cuts.push({ result, asked: asked + model.requests.length, told: model.requests.map(toldIn) });
  }
  return { whole, cuts };
}

test('a resumed run is returned and corrected no more often than an uninterrupted one', async () => {
  const never = { checker: checker(() => ({ complete: false, feedback: 'More.' }) as const), maxReturns: 2 };
  const says = [say('done'), stop];
  const { whole, cuts } = await cutEverywhere({ completion: never, output: numberFormat() }, Array(8).fill(says));
  expect(whole).toMatchObject({ status: 'model-error', turns: 4, unfinished: 'More.' });
  expect(cuts.length).toBeGreaterThan(6);
  for (const { result, asked } of cuts) {
    expect(asked).toBe(4);
    expect(result).toMatchObject({ status: 'model-error', turns: 4, unfinished: 'More.' });
  }
});

test('interrupted after a failed checker, the run calls the checker again and not the model', async () => {
  const throws = checker(() => {
    throw new Error('no light');
  });
  const { cuts } = await cutEverywhere({ completion: { checker: throws, maxReturns: 0 } }, [[say('done'), stop]]);
  expect(cuts.map(({ asked }) => asked)).toEqual(cuts.map(() => 1));
  expect(cuts.at(-1)?.result).toMatchObject({ status: 'completed', unfinished: expect.stringContaining('no light') });
});

test('the time of a resumed run counts from its start', async () => {
  const feedback = [provider('clock', [everySeconds(10)])];
  const { cuts } = await cutEverywhere(
    { feedback },
    [
      [echoed('a'), stop],
      [say('.'), stop],
    ],
    10_000,
  );
  // Interrupted before the record of the turn's feedback, it is due now.
  expect(cuts[1]?.told).toEqual([['Go.', 'clock at 1']]);
});

test('an empty last message is parsed, not the text before it', async () => {
  const script = [[say('7: seven'), echoed('a'), stop], [stop], [say('8: eight'), stop]];
  const { whole, cuts } = await cutEverywhere({ output: numberFormat() }, script);
  expect(whole).toMatchObject({ output: 8, turns: 3 });
  for (const { result } of cuts) expect(result).toMatchObject({ output: 8, turns: 3 });
});

test('the problem of the checker and the cut text are reported together', async () => {
  const completion = { checker: checker(() => ({ complete: false, feedback: 'Sign it.' })), maxReturns: 0 };
  const { result } = await runGuided({ completion }, [[say('The answer is'), { type: 'finish', reason: 'length' }]]);
  expect(result).toMatchObject({ status: 'completed', cut: 'length' });
  expect(result.unfinished).toMatch(/^Sign it\. The last message was cut off.*\(`length`\)\.$/);
});
