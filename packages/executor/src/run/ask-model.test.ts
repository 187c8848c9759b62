import { HoldfastError, type Model, type ModelEvent } from '@holdfast/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { call, collect, echo, say, stop, testSession, toolsPrompt } from '../fixtures.ts';
import { createBudget, type RunResult, runAgent } from '../index.ts';

/* What a model may do that its contract does not say: a run ends or goes on, and nothing is thrown at the host. */

const unhandled: unknown[] = [];
const note = (thrown: unknown): void => void unhandled.push(thrown);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  // Node tells of unhandled rejections once the microtasks are done.
  await new Promise((resolve) => void setImmediate(resolve));
  process.off('unhandledRejection', note);
  if (unhandled.length > 0) throw new Error('An unhandled rejection.', { cause: unhandled[0] });
});

const thrown = (what: unknown): never => {
  throw what;
};
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

/** Runs a model whose stream is whatever it is. */
async function runStream(stream: () => unknown): Promise<RunResult> {
  const { session } = testSession();
  const model = { id: 'test:hostile', stream } as Model;
  const prompt = toolsPrompt([echo]);
  const signal = new AbortController().signal;
  // Once where nothing can end the run, and once where something could.
  const results = [
    await runAgent({ model, prompt, session, input: '' }).result,
    await runAgent({ model, prompt, session, input: '', signal }).result,
  ];
  expect(results[1]).toEqual({ ...results[0], error: results[1]?.error });
  return results[0] as RunResult;
}

/** A stream of these events, with what its iterator has beside `next`. */
function sending(events: readonly unknown[], rest: object = {}): () => unknown {
  return () => {
    const left = [...events];
    const next = async (): Promise<unknown> =>
      left.length === 0 ? { done: true, value: undefined } : { done: false, value: left.shift() };
    return { [Symbol.asyncIterator]: () => ({ next, ...rest }) };
  };
}

const nextIs = (next: () => unknown): (() => unknown) => {
  return () => ({ [Symbol.asyncIterator]: () => ({ next }) });
};

test.each<[string, () => unknown, object]>([
  ['throws a revoked proxy', () => thrown(revoked()), { name: 'Error' }],
  ['throws null', () => thrown(null), { message: 'a thrown null' }],
  [
    'throws an Error whose name and stack are none',
    () => thrown(Object.assign(new Error('broke'), { name: 7, stack: 7 })),
    { name: '7', message: 'broke' },
  ],
  [
    'throws an Error whose name cannot be read',
    () => thrown(Object.defineProperty(new Error('broke'), 'name', { get: () => thrown('no name') })),
    { name: 'Error', message: 'broke' },
  ],
  [
    'throws a HoldfastError whose data is not JSON',
    () => thrown(new HoldfastError('model.busy', 'Busy.', { data: 1n as never })),
    { code: 'model.busy', message: 'Busy.', data: null },
  ],
  ['streams nothing', () => undefined, { message: expect.stringContaining('an async iterable') }],
  ['streams a list', () => [stop], { message: expect.stringContaining('an async iterable') }],
  ['rejects', () => Promise.reject(new Error('401')), { message: expect.stringContaining('an async iterable') }],
  ['streams what cannot be looked at', revoked, {}],
  ['has no iterator', () => ({ [Symbol.asyncIterator]: () => undefined }), {}],
  ['answers no step', nextIs(() => undefined), {}],
  ['answers a text as a step', nextIs(async () => 'deadline'), {}],
  ['throws a revoked proxy midway', nextIs(() => Promise.reject(revoked())), { name: 'Error' }],
  ['sends null', sending([null]), {}],
  ['sends a text', sending(['Hello.']), { message: 'The model sent an event of unknown type `undefined`.' }],
  ['sends a type that is not a string', sending([{ type: { toString: () => thrown('no') } }]), { message: 'no' }],
  [
    'sends a text that is none',
    sending([{ type: 'text-delta', text: Symbol('x') }, stop]),
    { message: 'The model sent a `text-delta` whose `text` is not a string.' },
  ],
  [
    'sends no text at all',
    sending([{ type: 'text-delta' }, stop]),
    { message: 'The model sent a `text-delta` whose `text` is not a string.' },
  ],
])('model-error: a model that %s', async (_what, stream, error) => {
  const result = await runStream(stream);
  expect(result).toMatchObject({ status: 'model-error', text: '' });
  expect(result.error).toMatchObject(error);
  expect(typeof result.error?.message).toBe('string');
});

test.each<[string, () => unknown]>([
  ['throws', () => thrown(new Error('broke'))],
  ['throws a revoked proxy', () => thrown(revoked())],
  ['rejects', () => Promise.reject(new Error('broke'))],
  ['answers nothing', () => undefined],
  ['answers a text', () => 'closed'],
  ['answers a revoked proxy', revoked],
  ['answers what has no `then` that could be called', () => Object.defineProperty({}, 'then', { value: 1 })],
  ['never settles', () => new Promise(() => undefined)],
])('a clean-up that %s changes nothing', async (_what, clean) => {
  expect(await runStream(sending([say('Done.'), stop], { return: clean }))).toMatchObject({
    status: 'completed',
    text: 'Done.',
  });
});

test('what a model sends after its `finish` is not read', async () => {
  const result = await runStream(sending([say('Done.'), stop, say(' More.'), call('echo', '{}'), null]));
  expect(result).toMatchObject({ status: 'completed', text: 'Done.', turns: 1, outcomes: [] });
});

test.each<[string, unknown, RunResult['usage']]>([
  ['null', null, { inputTokens: 0, outputTokens: 0 }],
  ['a text', 'many', { inputTokens: 0, outputTokens: 0 }],
  ['a list', [1, 2], { inputTokens: 0, outputTokens: 0 }],
  ['texts', { inputTokens: '3', outputTokens: '2' }, { inputTokens: 0, outputTokens: 0 }],
  ['NaN', { inputTokens: Number.NaN, outputTokens: 2 }, { inputTokens: 0, outputTokens: 2 }],
  ['Infinity', { inputTokens: 3, outputTokens: Number.POSITIVE_INFINITY }, { inputTokens: 3, outputTokens: 0 }],
  ['negative numbers', { inputTokens: -3, outputTokens: -2 }, { inputTokens: 0, outputTokens: 0 }],
  ['half of it', { inputTokens: 3 }, { inputTokens: 3, outputTokens: 0 }],
  ['numbers', { inputTokens: 3, outputTokens: 2, cost: 1n }, { inputTokens: 3, outputTokens: 2 }],
])('usage that is %s', async (_what, usage, counted) => {
  const { session, records } = testSession();
  const model = { id: 'test:counting', stream: sending([say('Done.'), { ...stop, usage }]) } as Model;
  const budget = createBudget({ maxTokens: 1_000 });
  const result = await runAgent({ model, prompt: toolsPrompt([]), session, input: '', budget }).result;
  expect(result).toMatchObject({ status: 'completed', usage: counted });
  expect(budget.used.tokens).toBe(counted.inputTokens + counted.outputTokens);
  expect(JSON.parse(JSON.stringify(records.at(-1)))).toMatchObject({ usage: counted });
});

test.each([[undefined], [null], [7], ['done'], [{ toString: () => thrown('no') }]])(
  'a reason that is none is `other`: %j',
  async (reason) => {
    const { session, records } = testSession();
    const model = { id: 'test:reason', stream: sending([say('Done.'), { type: 'finish', reason }]) } as Model;
    expect(await runAgent({ model, prompt: toolsPrompt([]), session, input: '' }).result).toMatchObject({
      status: 'completed',
    });
    expect(records.find(({ type }) => type === 'model-message')).toMatchObject({ reason: 'other' });
  },
);

test.each<[unknown, string]>([
  [42, '(number)'],
  [undefined, '(undefined)'],
  [{ toString: () => thrown('no') }, '(object)'],
])('a call whose name is not a string ends as unknown-tool', async (name, shown) => {
  const { session } = testSession();
  let asked = 0;
  const turns = [
    [{ type: 'tool-call', id: 7, name, arguments: '{}' }, stop],
    [say('I see.'), stop],
  ];
  const model = { id: 'test:names', stream: () => sending(turns[asked++] ?? [])() as AsyncIterable<ModelEvent> };
  const run = runAgent({ model, prompt: toolsPrompt([echo]), session, input: '' });
  await collect(run);
  expect(await run.result).toMatchObject({
    status: 'completed',
    text: 'I see.',
    outcomes: [{ kind: 'unknown-tool', name: shown }],
  });
});
