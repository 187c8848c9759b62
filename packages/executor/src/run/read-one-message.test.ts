import type { Model, ModelRequest } from '@holdfast/core';
import { expect, test } from 'vitest';
import { readOneMessage } from './read-one-message.ts';

const request: Omit<ModelRequest, 'signal'> = { messages: [], tools: [] };

/** A model that says `said` and then does what `then` does, with the signal that it was given. */
function speaking(then: () => Promise<unknown>): Model & { signal?: AbortSignal } {
  const model: Model & { signal?: AbortSignal } = {
    id: 'test:model',
    async *stream({ signal }) {
      model.signal = signal;
      yield { type: 'text-delta', text: 'so far' };
      await then();
      yield { type: 'finish', reason: 'stop' };
    },
  };
  return model;
}

test('when the message is there, the signal of the model is aborted', async () => {
  const outer = new AbortController();
  const model = speaking(() => Promise.resolve());
  expect(await readOneMessage(model, request, { signal: outer.signal })).toMatchObject({
    type: 'message',
    text: 'so far',
  });
  expect(model.signal?.aborted).toBe(true);
  expect(model.signal?.reason).toMatchObject({ name: 'AbortError', message: 'The message has been read.' });
  expect(outer.signal.aborted).toBe(false);
});

test('the signal ends the wait for a model that ignores it, and its reason reaches the model', async () => {
  const outer = new AbortController();
  const reason = new Error('enough');
  const model = speaking(() => {
    outer.abort(reason);
    return new Promise<never>(() => undefined);
  });
  expect(await readOneMessage(model, request, { signal: outer.signal })).toEqual({ type: 'ended', text: 'so far' });
  expect(model.signal?.reason).toBe(reason);
});

test('a signal that had fired before ends it without waiting for anything', async () => {
  const model = speaking(() => new Promise<never>(() => undefined));
  expect(await readOneMessage(model, request, { signal: AbortSignal.abort() })).toEqual({ type: 'ended', text: '' });
});

test('without a signal a message is read as long as it may be', async () => {
  const model = speaking(() => Promise.resolve());
  expect(await readOneMessage(model, request)).toMatchObject({ type: 'message' });
  expect(await readOneMessage(model, request, { maxCharacters: 3 })).toMatchObject({ type: 'wrong' });
  expect(model.signal?.aborted).toBe(true);
});
