import type { ModelRequest, Redactor, Tool } from '@holdfast/core';
import type { Completion, FeedbackEvent } from '@holdfast/core/types';
import { resumeRun, runAgent } from '@holdfast/executor';
import { createSession, type LogRecord, replay, type Session, type SessionStore } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { describe, expect, test } from 'vitest';
import { call, echo, playing, say, stop, testClock, testSession } from './guidance-fixtures.ts';
import { checker, everyCalls, fileCreated, guidedPrompt, namedFiles, numberFormat, provider } from './test-guidance.ts';

const echoed = (id: string) => call('echo', { q: id }, id);
const onceThenDone = () => playing([echoed('a'), stop], [say('Done.'), stop]);
const toldIn = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).filter(({ role }) => role === 'user').map((message) => message.text);

describe('guidance is not trusted to answer', () => {
  test('a pending file lookup has the time limits of the run and of a policy', async () => {
    const clock = testClock();
    const hanging = { ...namedFiles(new Set()), readOnly: { stat: () => new Promise(() => undefined) } };
    const prompt = guidedPrompt([echo], { feedback: [provider('file', [fileCreated('a')])] });
    const options = { prompt, input: 'Go.', clock, resources: { filesystem: hanging } };

    const slow = testSession();
    const run = runAgent({ ...options, model: onceThenDone(), session: slow.session, policyTimeoutMs: 50 });
    for await (const { type } of run) if (type === 'tool-call-end') setImmediate(() => clock.advance(50));
    expect(await run.result).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(slow.records.find(({ type }) => type === 'feedback')).toMatchObject({
      given: [],
      failed: [{ name: 'file', message: 'No answer within 50 ms.' }],
    });

    const controller = new AbortController();
    const model = onceThenDone();
    const aborted = runAgent({ ...options, model, session: testSession().session, signal: controller.signal });
    for await (const { type } of aborted) if (type === 'tool-call-end') setImmediate(() => controller.abort());
    expect(await aborted.result).toMatchObject({ status: 'aborted', turns: 1 });
    expect(model.requests).toHaveLength(1);
  });

  test.each<[string, (advance: () => void) => string | Promise<string>]>([
    [
      'takes until the deadline',
      (advance) => {
        advance();
        return 'Hurry.';
      },
    ],
    [
      'never answers',
      (advance) => {
        setImmediate(advance);
        return new Promise(() => undefined);
      },
    ],
  ])('after a provider that %s the model is not asked', async (_title, provide) => {
    const clock = testClock();
    const model = onceThenDone();
    const feedback = [provider('late', [everyCalls(1)], () => provide(() => clock.advance(1_000)))];
    const { session, records } = testSession();
    const prompt = guidedPrompt([echo], { feedback });
    const options = { model, prompt, session, input: 'Go.', clock };
    expect(await runAgent({ ...options, timeoutMs: 1_000, policyTimeoutMs: 9_000 }).result).toMatchObject({
      status: 'deadline',
      turns: 1,
    });
    expect(model.requests).toHaveLength(1);
    expect(records.filter(({ type }) => type === 'feedback')).toHaveLength(1);
  });

  test.each<[string, unknown]>([
    [
      'a getter that throws',
      {
        get complete() {
          throw new Error('boo');
        },
      },
    ],
    ['a revoked proxy', revoked()],
  ])('a checker that answers with %s has not said that the work is done', async (_title, answer) => {
    const completion = { checker: checker(() => answer as Completion), maxReturns: 1 };
    const model = playing([say('One.'), stop], [say('Two.'), stop]);
    const prompt = guidedPrompt([echo], { completion });
    const result = await runAgent({ model, prompt, session: testSession().session, input: 'Go.' }).result;
    expect(result).toMatchObject({ status: 'completed', text: 'Two.' });
    expect(result.unfinished).toMatch(/^The completion check failed: /);
  });

  test('a listener can change neither messages to the model nor the log', async () => {
    const model = onceThenDone();
    const { session, records } = testSession();
    const prompt = guidedPrompt([echo], { feedback: [provider('each', [everyCalls(1)])] });
    const spoil = ({ given }: FeedbackEvent): void => {
      const said = given as { name: string; text: string }[];
      for (const spoiling of [
        () => said.push({ name: 'x', text: 'More.' }),
        () => Object.assign(said[0] ?? {}, { text: 'Other.' }),
      ]) {
        expect(spoiling).toThrow(TypeError);
      }
    };
    let heard = 0;
    const onEvent = (event: { type: string }): void => {
      if (event.type !== 'feedback') return;
      heard += 1;
      spoil(event as FeedbackEvent);
    };
    await runAgent({ model, prompt, session, input: 'Go.', onEvent }).result;
    expect(heard).toBe(1);
    expect(records.filter(({ type }) => type === 'subscriber-error')).toEqual([]);
    expect(toldIn(model.requests.at(-1))).toEqual(['Go.', 'each at 1']);
    expect(records.find(({ type }) => type === 'feedback')).toMatchObject({ given: [{ text: 'each at 1' }] });
  });

  test('a model cannot remove tools from later requests', async () => {
    const seen: number[] = [];
    const scripted = onceThenDone();
    const model = {
      id: 'greedy',
      stream(request: ModelRequest) {
        seen.push(request.tools.length);
        expect(() => (request.tools as unknown[]).pop()).toThrow(TypeError);
        return scripted.stream(request);
      },
    };
    const prompt = guidedPrompt([echo], {});
    await runAgent({ model, prompt, session: testSession().session, input: 'Go.' }).result;
    expect(seen).toEqual([1, 1]);
  });
});

describe('calls are counted', () => {
  test.each([
    ['rounds', { maxRounds: 1 }, 'max-rounds'],
    ['time', { timeoutMs: 10 }, 'deadline'],
  ] as const)('those of the last message, too, when there is no %s left', async (_title, limits, status) => {
    const { session } = testSession();
    const clock = testClock();
    const slow: Tool = {
      ...echo,
      execute: () => {
        clock.advance(10);
        return { a: '' };
      },
    };
    const prompt = guidedPrompt([slow], { feedback: [provider('third', [everyCalls(3)])] });
    for (const _run of [1, 2]) {
      const run = runAgent({ model: playing([echoed('a'), stop]), prompt, session, input: 'Go.', clock, ...limits });
      expect((await run.result).status).toBe(status);
    }
    const model = onceThenDone();
    await runAgent({ model, prompt, session, input: 'Go.' }).result;
    expect(toldIn(model.requests.at(-1))).toEqual(['Go.', 'third at 3']);
  });

  test('calls of two concurrent runs', async () => {
    const { session, records } = testSession();
    const feedback = [
      provider('slow', [everyCalls(1)], () => new Promise((resolve) => setImmediate(resolve, undefined))),
    ];
    const prompt = guidedPrompt([echo], { feedback });
    const go = () => runAgent({ model: onceThenDone(), prompt, session, input: 'Go.' }).result;
    await Promise.all([go(), go(), go()]);
    const model = onceThenDone();
    await runAgent({ model, prompt, session, input: 'Go.' }).result;
    expect(records.findLast(({ type }) => type === 'feedback')).toMatchObject({ calls: 4 });
  });

  test('a file created at the end of a run is reported in the next one', async () => {
    const { session } = testSession();
    const filesystem = namedFiles(new Set(['a']));
    const controller = new AbortController();
    const hanging = provider('file', [fileCreated('a')], () => {
      controller.abort();
      return new Promise(() => undefined);
    });
    const first = guidedPrompt([echo], { feedback: [hanging] });
    const options = { input: 'Go.', resources: { filesystem } };
    await runAgent({ ...options, model: onceThenDone(), prompt: first, session, signal: controller.signal }).result;
    const model = onceThenDone();
    const prompt = guidedPrompt([echo], { feedback: [provider('file', [fileCreated('a')])] });
    await runAgent({ ...options, model, prompt, session }).result;
    expect(toldIn(model.requests.at(-1))).toEqual(['Go.', 'file at 2']);
  });
});

test.each([
  [{ maxRounds: 1 }, 'completed'],
  [{ maxRounds: 2 }, 'completed'],
])('an output that fits counts when the model would not be sent back any more (%j)', async (options, status) => {
  const completion = { checker: checker(() => ({ complete: false, feedback: 'More.' })), maxReturns: 0 };
  const prompt = guidedPrompt([echo], { completion, output: numberFormat() });
  const model = playing([say('7: seven'), stop]);
  const result = await runAgent({ model, prompt, session: testSession().session, input: 'Go.', ...options }).result;
  expect(result).toMatchObject({ status, output: 7, unfinished: 'More.' });
});

test('an output that is masked in the log is requested again', async () => {
  const redactor = createRedactor({ key: 'a key of sixteen', secrets: ['7: seven'] });
  const { session, records } = redactedSession(redactor);
  const prompt = guidedPrompt([echo], { output: { ...numberFormat(), parse: (text) => ({ ok: true, value: text }) } });
  const live = runAgent({ model: playing([say('7: seven'), stop]), prompt, session, input: 'Go.' });
  expect(await live.result).toMatchObject({ status: 'completed', output: '7: seven' });

  const cut = records.slice(0, records.findIndex(({ type }) => type === 'model-message') + 1);
  const model = playing([say('7: seven'), stop]);
  const resumed = resumeRun({ model, prompt, session: replay(cut, { redactor }) });
  expect(await resumed.result).toMatchObject({ status: 'completed', output: '7: seven', turns: 2 });
  expect(toldIn(model.requests[0])).toEqual(['Go.', expect.stringContaining('contained a secret')]);
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function redactedSession(redactor: Redactor): { readonly session: Session; readonly records: readonly LogRecord[] } {
  const records: LogRecord[] = [];
  const store: SessionStore = {
    append: (entry, seq, atMs) => void records.push({ seq, atMs, ...entry }),
    close: () => undefined,
  };
  return { session: createSession({ store, redactor }), records };
}
