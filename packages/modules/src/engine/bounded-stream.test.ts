import { expect, test } from 'vitest';
import { BoundedStream } from './watch.ts';

async function takeAll<Event>(reader: AsyncIterator<Event>): Promise<Event[]> {
  const taken: Event[] = [];
  for (let step = await reader.next(); step.done !== true; step = await reader.next()) taken.push(step.value);
  return taken;
}

function counted(limit: number): { readonly stream: BoundedStream<number>; readonly dropped: () => number } {
  let dropped = 0;
  return {
    stream: new BoundedStream<number>(limit, () => {
      dropped += 1;
    }),
    dropped: () => dropped,
  };
}

test('each reader sees what comes after it began, in order, and ends after it', async () => {
  const { stream, dropped } = counted(10);
  stream.push(0);
  const first = stream[Symbol.asyncIterator]();
  stream.push(1);
  const second = stream[Symbol.asyncIterator]();
  stream.push(2);
  stream.end();
  stream.push(3);
  expect(await takeAll(first)).toEqual([1, 2]);
  expect(await takeAll(second)).toEqual([2]);
  expect(await takeAll(stream[Symbol.asyncIterator]())).toEqual([]);
  expect(dropped()).toBe(0);
});

test('a reader that never reads loses the oldest; the others lose nothing', async () => {
  const { stream, dropped } = counted(3);
  const idle = stream[Symbol.asyncIterator]();
  const busy = stream[Symbol.asyncIterator]();
  const seen: (number | undefined)[] = [];
  for (let event = 0; event < 10; event += 1) {
    stream.push(event);
    seen.push((await busy.next()).value);
  }
  stream.end();
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(await takeAll(idle)).toEqual([7, 8, 9]);
  expect(dropped()).toBe(7);
});

test('whoever waits gets what comes, in the order in which it asked; the end answers the rest', async () => {
  const { stream } = counted(3);
  const reader = stream[Symbol.asyncIterator]();
  const waiting = [reader.next(), reader.next(), reader.next()];
  stream.push(1);
  stream.push(2);
  stream.end();
  expect(await Promise.all(waiting)).toEqual([
    { done: false, value: 1 },
    { done: false, value: 2 },
    { done: true, value: undefined },
  ]);
});

test('a reader that leaves, or throws, is told nothing more and holds nothing', async () => {
  const { stream, dropped } = counted(1);
  const leaving = async (): Promise<void> => {
    for await (const event of stream) throw new Error(`seen ${event}`);
  };
  const left = leaving();
  stream.push(1);
  await expect(left).rejects.toThrow('seen 1');
  const reader = stream[Symbol.asyncIterator]();
  stream.push(2);
  const waiting = stream[Symbol.asyncIterator]();
  const unanswered = waiting.next();
  await waiting.return?.();
  expect(await unanswered).toEqual({ done: true, value: undefined });
  await reader.return?.();
  for (let event = 0; event < 10; event += 1) stream.push(event);
  expect(await reader.next()).toEqual({ done: true, value: undefined });
  expect(dropped()).toBe(0);
});
