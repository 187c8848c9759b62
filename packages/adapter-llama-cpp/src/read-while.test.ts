import type { ModelEvent } from '@holdfast/core';
import { expect, test } from 'vitest';
import { readWhile, type Work } from './read-while.ts';

const text = (value: string): ModelEvent => ({ type: 'text-delta', text: value });
const reason = new Error('over');

async function collect(signal: AbortSignal, work: Work): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of readWhile(signal, work)) events.push(event);
  return events;
}

test('all pushed events come before the end or the error', async () => {
  const { signal } = new AbortController();
  const work: Work = async (push) => {
    push(text('a'));
    await Promise.resolve();
    push(text('b'));
  };
  expect(await collect(signal, work)).toEqual([text('a'), text('b')]);
  const read: ModelEvent[] = [];
  const failing = async (): Promise<void> => {
    const events = readWhile(signal, async (push) => {
      push(text('a'));
      throw reason;
    });
    for await (const event of events) read.push(event);
  };
  await expect(failing()).rejects.toBe(reason);
  expect(read).toEqual([text('a')]);
});

test('an abort reaches the reader at once and stops the work', async () => {
  const controller = new AbortController();
  let stoppedBy: unknown;
  const events = readWhile(controller.signal, (push, stopped) => {
    push(text('a'));
    stopped.addEventListener('abort', () => {
      stoppedBy = stopped.reason;
    });
    return new Promise(() => undefined);
  });
  expect(await events.next()).toMatchObject({ value: text('a') });
  const next = events.next();
  controller.abort(reason);
  await expect(next).rejects.toBe(reason);
  expect(stoppedBy).toBe(reason);
});

test('work does not start for an aborted request, and stops when the reader leaves', async () => {
  let begun = 0;
  const count: Work = async () => {
    begun += 1;
  };
  await expect(collect(AbortSignal.abort(reason), count)).rejects.toBe(reason);
  expect(begun).toBe(0);
  let isStopped = false;
  const events = readWhile(new AbortController().signal, (push, stopped) => {
    push(text('a'));
    stopped.addEventListener('abort', () => {
      isStopped = true;
    });
    return new Promise(() => undefined);
  });
  await events.next();
  await events.return(undefined);
  expect(isStopped).toBe(true);
});
