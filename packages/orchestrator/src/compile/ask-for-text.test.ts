import type { Model, ModelEvent, ModelRequest } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { askForText } from './ask-for-text.ts';

const down = new TypeError('fetch failed');
const messages = [{ role: 'user', text: 'Write.' }] as const;
const say = (text: string): ModelEvent => ({ type: 'text-delta', text });
const finish: ModelEvent = { type: 'finish', reason: 'stop' };

interface Watched {
  readonly model: Model;
  readonly requests: readonly ModelRequest[];
  /** The number of times the stream was closed. */
  readonly closed: () => number;
}

/** A model whose stream yields `events`, then does what `atEnd` does. Throws any error from closing. */
function watched(events: readonly unknown[], atEnd: () => unknown = () => ({ done: true, value: undefined })): Watched {
  const requests: ModelRequest[] = [];
  let closed = 0;
  const stream = (request: ModelRequest) => {
    requests.push(request);
    const left = events.values();
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const { done, value } = left.next();
          return done === true ? atEnd() : Promise.resolve({ done: false, value });
        },
        return: () => {
          closed += 1;
          throw down;
        },
      }),
    };
  };
  return { model: { id: 'watched', stream } as unknown as Model, requests, closed: () => closed };
}

function listenersOf(signal: AbortSignal): () => number {
  let count = 0;
  const { addEventListener: add, removeEventListener: remove } = signal;
  signal.addEventListener = (...parameters: Parameters<typeof add>) => {
    count += 1;
    add.apply(signal, parameters);
  };
  signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
    count -= 1;
    remove.apply(signal, parameters);
  };
  return () => count;
}

test('after the answer, the model is aborted, its stream is closed, and no listener is left', async () => {
  const { signal } = new AbortController();
  const listeners = listenersOf(signal);
  const { model, requests, closed } = watched([say('Yes'), say('.'), finish]);
  expect(await askForText(model, { messages, signal })).toEqual({
    type: 'text',
    text: 'Yes.',
    reason: 'stop',
    calls: 0,
    usage: undefined,
  });
  expect(requests[0]?.signal.aborted).toBe(true);
  expect([closed(), listeners()]).toEqual([1, 0]);
});

test('only valid token counts are added up', async () => {
  const usage = { inputTokens: -7, outputTokens: 3 };
  const asked = await askForText(watched([{ ...finish, usage }]).model, { messages });
  expect(asked).toMatchObject({ type: 'text', usage: { inputTokens: 0, outputTokens: 3 } });
});

const throwing = (): never => {
  throw down;
};

describe('a failure of the model at any point is the answer, with the text so far', () => {
  test.each<[where: string, model: unknown, message: string, text: string]>([
    ['in `stream`', { id: 'm', stream: throwing }, 'fetch failed', ''],
    ['with a rejection of `stream`', { id: 'm', stream: async () => throwing() }, 'an async iterable', ''],
    ['with a stream of nothing', { id: 'm', stream: () => null }, 'an async iterable', ''],
    ['when it is iterated', { id: 'm', stream: () => ({ [Symbol.asyncIterator]: throwing }) }, 'fetch failed', ''],
    ['without an iterator', { id: 'm', stream: () => ({ [Symbol.asyncIterator]: 5 }) }, 'an async iterable', ''],
    ['synchronously in `next`', watched([say('a')], throwing).model, 'fetch failed', 'a'],
    ['with a rejection of `next`', watched([say('a')], async () => throwing()).model, 'fetch failed', 'a'],
    ['without `finish`', watched([say('a')]).model, 'without `finish`', 'a'],
    ['with an invalid step', watched([say('a')], async () => null).model, '', 'a'],
    ['with an invalid event', watched([say('a'), null]).model, '', 'a'],
    ['with an unknown event', watched([say('a'), { type: 'thinking' }]).model, '`thinking`', 'a'],
    ['with an invalid text', watched([say('a'), { type: 'text-delta', text: ['b'] }]).model, 'not a string', 'a'],
    [
      'with a property that throws',
      watched([
        say('a'),
        {
          get type() {
            return throwing();
          },
        },
      ]).model,
      'fetch failed',
      'a',
    ],
  ])('%s', async (_, model, message, text) => {
    const asked = await askForText(model as Model, { messages });
    expect(asked).toMatchObject({ type: 'failed', message: expect.stringContaining(message), text });
  });
});

test.each<[what: string, event: unknown]>([
  ['empty texts', say('')],
  ['calls', { type: 'tool-call', name: 'a', arguments: {} }],
  ['characters', say('x')],
])('endless %s end in a failure, even if they come synchronously', async (_, event) => {
  let given = 0;
  const endless = watched([], () => {
    given += 1;
    if (given > 5_000) throw new Error('The stream was not stopped.');
    return { done: false, value: event };
  });
  const asked = await askForText(endless.model, { messages, maxCharacters: 1_000 });
  expect(asked).toMatchObject({ type: 'failed', message: expect.stringContaining('more than 1000') });
  expect([given, endless.closed()]).toEqual([1_001, 1]);
});

describe('a model that ignores its signal is abandoned', () => {
  const reason = new Error('enough');

  test.each<[when: string, hang: (stop: () => void) => unknown]>([
    [
      'during `stream`',
      (stop) => {
        stop();
        return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) };
      },
    ],
    [
      'during the opening of its stream',
      (stop) => ({
        [Symbol.asyncIterator]: () => {
          stop();
          return { next: () => new Promise(() => undefined) };
        },
      }),
    ],
    [
      'during a call of `next`',
      (stop) => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            stop();
            return new Promise(() => undefined);
          },
        }),
      }),
    ],
    [
      'during a pending `next`',
      (stop) => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            queueMicrotask(stop);
            return new Promise(() => undefined);
          },
        }),
      }),
    ],
    [
      'during closing',
      (stop) => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            queueMicrotask(stop);
            return new Promise(() => undefined);
          },
          return: () => new Promise(() => undefined),
        }),
      }),
    ],
  ])('%s', async (_, hang) => {
    const controller = new AbortController();
    const model = { id: 'm', stream: () => hang(() => controller.abort(reason)) } as unknown as Model;
    await expect(askForText(model, { messages, signal: controller.signal })).rejects.toBe(reason);
  });
});
