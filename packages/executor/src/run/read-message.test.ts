import type { Model, ModelEvent, ModelRequest } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { readMessage } from './read-message.ts';

const request: ModelRequest = { messages: [], tools: [], signal: new AbortController().signal };

/** A model that sends `events`, whatever they are, and notes whether it could clean up. */
function sending(...events: readonly unknown[]): Model & { closed: boolean } {
  const model = {
    id: 'test:model',
    closed: false,
    async *stream(): AsyncGenerator<ModelEvent> {
      try {
        // A faulty model keeps to no type.
        for (const event of events) yield event as ModelEvent;
      } finally {
        model.closed = true;
      }
    },
  };
  return model;
}

function streaming(stream: unknown): Model {
  return { id: 'test:model', stream: () => stream as AsyncIterable<ModelEvent> };
}

const text = (said: string): unknown => ({ type: 'text-delta', text: said });
const stop = { type: 'finish', reason: 'stop' };

describe('a message is read as it came', () => {
  test('with its text, its calls, usage and metadata', async () => {
    const call = { id: 'a', name: 'look', arguments: '{}' };
    const heard: string[] = [];
    const model = sending(text('Hel'), { type: 'tool-call', ...call, extra: 1 }, text('lo'), {
      type: 'finish',
      reason: 'tool-calls',
      usage: { inputTokens: 3, outputTokens: 2 },
      providerMetadata: { seal: 'x' },
    });
    expect(await readMessage(model, request, { onText: (said) => heard.push(said) })).toEqual({
      type: 'message',
      text: 'Hello',
      calls: [call],
      reason: 'tool-calls',
      usage: { inputTokens: 3, outputTokens: 2 },
      providerMetadata: { seal: 'x' },
    });
    expect(heard).toEqual(['Hel', 'lo']);
    await Promise.resolve();
    expect(model.closed).toBe(true);
  });

  test.each([
    ['a reason that is none counts as another one', { type: 'finish', reason: 'tired' }, { reason: 'other' }],
    ['a known reason stays', { type: 'finish', reason: 'length' }, { reason: 'length' }],
    ['counts that are none are left out', { ...stop, usage: { inputTokens: -1 } }, { usage: undefined }],
  ])('%s', async (_, finish, expected) => {
    expect(await readMessage(sending(text('x'), finish), request)).toMatchObject({ type: 'message', ...expected });
  });
});

describe('a value that is not a model is reported, with the text so far', () => {
  test.each([
    ['no finish', sending(text('half')), 'The model ended its message without `finish`.', 'half'],
    ['text that is none', sending(text('a'), { type: 'text-delta', text: 1 }), 'whose `text` is not a string', 'a'],
    ['an unknown event', sending(text('a'), { type: 'song' }), 'an event of unknown type `song`', 'a'],
    ['no stream', streaming(undefined), 'an async iterable', ''],
    ['an object that cannot be iterated', streaming({ [Symbol.asyncIterator]: 1 }), 'an async iterable', ''],
  ])('%s', async (_, model, problem, said) => {
    const reading = await readMessage(model, request);
    expect(reading).toMatchObject({ type: 'wrong', text: said });
    expect(reading.type === 'wrong' ? reading.problem : '').toContain(problem);
  });

  test('a stream that is a promise, whose rejection nobody else will hear', async () => {
    const unheard: unknown[] = [];
    const listen = (reason: unknown): void => void unheard.push(reason);
    process.on('unhandledRejection', listen);
    expect(await readMessage(streaming(Promise.reject(new Error('late'))), request)).toMatchObject({ type: 'wrong' });
    await new Promise<void>((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listen);
    expect(unheard).toEqual([]);
  });

  test.each([
    [2, [text('ab')], 'message'],
    [2, [text('abc')], 'wrong'],
    [3, [text(''), text(''), text('')], 'message'],
    [2, [text(''), text(''), text('')], 'wrong'],
    [
      1,
      [
        { type: 'tool-call', name: 'a' },
        { type: 'tool-call', name: 'a' },
      ],
      'wrong',
    ],
  ] as const)('at most %d characters of %j: %s', async (maxCharacters, events, type) => {
    const reading = await readMessage(sending(...events, stop), request, { maxCharacters });
    expect(reading.type).toBe(type);
    if (reading.type === 'wrong') expect(reading.problem).toBe(`The model sent more than ${maxCharacters} characters.`);
  });
});

test('what it throws is told with what had come', async () => {
  const thrown = new Error('gone');
  const model: Model = {
    id: 'test:model',
    async *stream() {
      yield { type: 'text-delta', text: 'so far' };
      throw thrown;
    },
  };
  expect(await readMessage(model, request)).toEqual({ type: 'threw', thrown, text: 'so far' });
});

describe('nobody waits any more', () => {
  /** The end of the wait, with counts of added and removed listeners. */
  function patience(): {
    readonly onEnd: (end: () => void) => () => void;
    end(): void;
    readonly listeners: Set<() => void>;
  } {
    const listeners = new Set<() => void>();
    return {
      listeners,
      onEnd(end) {
        listeners.add(end);
        return () => void listeners.delete(end);
      },
      end() {
        for (const listener of listeners) listener();
      },
    };
  }
  const never = new Promise<never>(() => undefined);

  test('while the model thinks for ever', async () => {
    const { onEnd, end, listeners } = patience();
    const model: Model = {
      id: 'test:model',
      async *stream() {
        yield { type: 'text-delta', text: 'a' };
        await never;
      },
    };
    const reading = readMessage(model, request, { onEnd, onText: end });
    expect(await reading).toEqual({ type: 'ended', text: 'a' });
    expect(listeners.size).toBe(0);
  });

  test('before it was asked', async () => {
    const over = (end: () => void): (() => void) => {
      end();
      return () => undefined;
    };
    const silent = streaming({ [Symbol.asyncIterator]: () => ({ next: () => never }) });
    expect(await readMessage(silent, request, { onEnd: over })).toEqual({ type: 'ended', text: '' });
  });

  test('a model whose steps are not promises is read to the end of its step', async () => {
    const { onEnd, end } = patience();
    let steps = 0;
    const model = streaming({
      [Symbol.asyncIterator]: () => ({
        next() {
          steps += 1;
          if (steps === 2) end();
          return { done: false, value: text(String(steps)) };
        },
      }),
    });
    expect(await readMessage(model, request, { onEnd })).toEqual({ type: 'ended', text: '1' });
  });

  test('what is thrown after the end is of no consequence', async () => {
    const { onEnd, end } = patience();
    const model = streaming({
      [Symbol.asyncIterator]: () => ({
        next() {
          end();
          throw new Error('stopped');
        },
      }),
    });
    expect(await readMessage(model, request, { onEnd })).toEqual({ type: 'ended', text: '' });
  });

  test('the listener for the end is removed when the message is there', async () => {
    const { onEnd, listeners } = patience();
    expect(await readMessage(sending(text('x'), stop), request, { onEnd })).toMatchObject({
      type: 'message',
      text: 'x',
    });
    expect(listeners.size).toBe(0);
  });

  test('a clean-up that fails or never ends changes nothing', async () => {
    for (const finish of [() => Promise.reject(new Error('no')), () => never]) {
      const model = streaming({
        [Symbol.asyncIterator]: () => ({
          next: () => Promise.resolve({ done: false, value: stop }),
          return: finish,
        }),
      });
      expect(await readMessage(model, request)).toMatchObject({ type: 'message', text: '' });
    }
  });
});
