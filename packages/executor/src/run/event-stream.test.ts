import { expect, test } from 'vitest';
import { call, collect, echo, playing, say, stop, testSession, toolsPrompt } from '../fixtures.ts';
import { runAgent } from '../index.ts';
import { EventStream } from './event-stream.ts';

async function listOf<Event>(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const end = { done: true, value: undefined };

test('two loops over one run both see every event', async () => {
  const model = playing([say('See.'), call('echo', '{"q":"hi"}', 'a'), stop], [say('Done.'), stop]);
  const run = runAgent({ model, prompt: toolsPrompt([echo]), session: testSession().session, input: '' });
  const [first, second] = await Promise.all([collect(run), collect(run)]);
  expect(first.map(({ type }) => type)).toContain('tool-call-end');
  expect(first.at(-1)).toMatchObject({ type: 'run-end' });
  expect(second).toEqual(first);
});

test('a loop that begins after the run has ended ends at once', async () => {
  const run = runAgent({
    model: playing([stop]),
    prompt: toolsPrompt([]),
    session: testSession().session,
    input: '',
  });
  await run.result;
  expect(await collect(run)).toEqual([]);
});

test('nothing is buffered before an iteration, and each iteration sees later events', async () => {
  const stream = new EventStream<number>();
  expect(stream.observed).toBe(false);
  stream.push(1);
  const early = listOf(stream);
  expect(stream.observed).toBe(true);
  stream.push(2);
  const late = listOf(stream);
  stream.push(3);
  stream.end();
  expect([await early, await late, await listOf(stream)]).toEqual([[2, 3], [3], []]);
  expect(stream.observed).toBe(false);
});

test('the error of the end reaches every loop after what was queued, also one that begins later', async () => {
  const stream = new EventStream<number>();
  const seen: number[] = [];
  const read = async (): Promise<void> => {
    for await (const event of stream) seen.push(event);
  };
  const loops = [read(), read()];
  stream.push(1);
  stream.end({ error: new Error('broke') });
  const settled = await Promise.allSettled([...loops, read()]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(seen).toEqual([1, 1]);
});

test('one loop that stops does not stop the other, and is kept nothing for', async () => {
  const stream = new EventStream<number>();
  const stopped = stream[Symbol.asyncIterator]();
  const kept = listOf(stream);
  stream.push(1);
  expect(await stopped.next()).toEqual({ done: false, value: 1 });
  const waiting = stopped.next();
  expect(await stopped.return?.()).toEqual(end);
  expect(await waiting).toEqual(end);
  stream.push(2);
  stream.end();
  expect(await stopped.next()).toEqual(end);
  expect(await kept).toEqual([1, 2]);
});

test('several `next` that wait at once are served in their order', async () => {
  const stream = new EventStream<number | undefined>();
  const iterator = stream[Symbol.asyncIterator]();
  const steps = [iterator.next(), iterator.next(), iterator.next()];
  stream.push(undefined);
  stream.push(2);
  stream.end();
  expect(await Promise.all(steps)).toEqual([{ done: false, value: undefined }, { done: false, value: 2 }, end]);
});

test('a slow reader of a limited stream loses the oldest events, which is counted; the others lose nothing', async () => {
  let dropped = 0;
  const onDrop = (): void => {
    dropped += 1;
  };
  const stream = new EventStream<number>({ maxWaiting: 3, onDrop });
  const idle = stream[Symbol.asyncIterator]();
  const busy = stream[Symbol.asyncIterator]();
  const seen: (number | undefined)[] = [];
  for (let event = 0; event < 10; event += 1) {
    stream.push(event);
    seen.push((await busy.next()).value);
  }
  stream.end();
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect([await idle.next(), await idle.next(), await idle.next(), await idle.next()]).toEqual([
    { done: false, value: 7 },
    { done: false, value: 8 },
    { done: false, value: 9 },
    end,
  ]);
  expect(dropped).toBe(7);
});
