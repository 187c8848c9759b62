import { setImmediate } from 'node:timers/promises';
import { memoryStore } from '@holdfast/session';
import {
  type ChannelVersions,
  type CheckpointTuple,
  ERROR,
  emptyCheckpoint,
  uuid6,
} from '@langchain/langgraph-checkpoint';
import { afterAll, expect, test } from 'vitest';
import { beginSession, LogPlaces } from './checkpoint-logs.ts';
import { HoldfastCheckpointSaver } from './checkpoint-saver.ts';
import { ReopeningSaver } from './reopening-saver.ts';

// Behavior outside the public suite, each time with a log that is closed and reopened in between.
const places = new LogPlaces();
afterAll(() => places[Symbol.dispose]());
const stores = Object.entries(places.byStore).map(([store, makePlace]) => ({ store, makePlace }));

interface Put {
  readonly thread?: string;
  readonly parent?: string;
  readonly values?: Record<string, unknown>;
  readonly versions?: ChannelVersions;
  /** Default: all. */
  readonly fresh?: ChannelVersions;
  readonly metadata?: Record<string, unknown>;
}

/** Returns the checkpoint's id. */
async function put(saver: ReopeningSaver, { thread = 't', parent, ...rest }: Put = {}): Promise<string> {
  const { values = {}, versions = {}, fresh = versions, metadata = {} } = rest;
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(0), channel_values: values, channel_versions: versions };
  const config = { configurable: { thread_id: thread, ...(parent !== undefined && { checkpoint_id: parent }) } };
  await saver.put(config, checkpoint, { source: 'loop', step: 0, parents: {}, ...metadata }, fresh);
  return checkpoint.id;
}

const at = (id?: string, thread = 't'): { configurable: Record<string, string> } => ({
  configurable: { thread_id: thread, ...(id !== undefined && { checkpoint_id: id }) },
});

async function valuesAt(saver: ReopeningSaver, id: string): Promise<unknown> {
  return (await saver.getTuple(at(id)))?.checkpoint.channel_values;
}

async function listed(tuples: AsyncIterable<CheckpointTuple>): Promise<unknown[]> {
  const ids: unknown[] = [];
  for await (const { checkpoint } of tuples) ids.push(checkpoint.id);
  return ids;
}

test.each(stores)('$store: bytes, sets and undefined values are restored', async ({ makePlace }) => {
  const saver = new ReopeningSaver(makePlace());
  const values = { bytes: new Uint8Array([0, 255, 128]), set: new Set(['ä', '\u{1f600}']), none: undefined };
  const id = await put(saver, { values, versions: { bytes: 1, set: 1, none: 1 } });
  expect(await valuesAt(saver, id)).toStrictEqual(values);
  await saver.putWrites(at(id), [['bytes', values.bytes]], 'task');
  expect((await saver.getTuple(at(id)))?.pendingWrites).toStrictEqual([['task', 'bytes', values.bytes]]);
  await saver.close();
});

test.each(stores)('$store: two forks of a checkpoint keep separate values of one version', async ({ makePlace }) => {
  const saver = new ReopeningSaver(makePlace());
  const root = await put(saver, { values: { a: 0, b: 'root' }, versions: { a: 1, b: 1 } });
  const versions = { a: 2, b: 1 };
  const left = await put(saver, { parent: root, values: { a: 'left', b: 'x' }, versions, fresh: { a: 2 } });
  const right = await put(saver, { parent: root, values: { a: 'right', b: 'x' }, versions, fresh: { a: 2 } });
  const child = await put(saver, { parent: left, versions, fresh: {} });
  expect(await valuesAt(saver, left)).toEqual({ a: 'left', b: 'root' });
  expect(await valuesAt(saver, right)).toEqual({ a: 'right', b: 'root' });
  expect(await valuesAt(saver, child)).toEqual({ a: 'left', b: 'root' });
  // The parent has no stored value for this version.
  const stray = await put(saver, { parent: left, versions: { a: 3 }, fresh: {} });
  expect(await valuesAt(saver, stray)).toEqual({});
  await saver.close();
});

test.each(stores)('$store: a task that runs again writes once; its error is the last one', async ({ makePlace }) => {
  const saver = new ReopeningSaver(makePlace());
  const id = await put(saver);
  const writes = async (): Promise<unknown> => (await saver.getTuple(at(id)))?.pendingWrites;
  await saver.putWrites(
    at(id),
    [
      ['a', 1],
      ['a', 2],
      [ERROR, 'first'],
    ],
    'task',
  );
  await saver.putWrites(
    at(id),
    [
      ['a', 'again'],
      [ERROR, 'second'],
      ['c', 3],
      ['d', 4],
    ],
    'task',
  );
  expect(await writes()).toEqual([
    ['task', ERROR, 'second'],
    ['task', 'a', 1],
    ['task', 'a', 2],
    ['task', 'c', 3],
    ['task', 'd', 4],
  ]);
  await saver.putWrites(at(id), [['path', 1]], 'a task', 'z');
  await saver.putWrites(at(id), [['path', 2]], 'z task', 'b');
  expect(((await writes()) as unknown[]).slice(-2)).toEqual([
    ['z task', 'path', 2],
    ['a task', 'path', 1],
  ]);
  await saver.close();
});

test.each(stores)('$store: special names such as `__proto__` are ordinary names', async ({ makePlace }) => {
  const saver = new ReopeningSaver(makePlace());
  for (const thread of ['__proto__', 'constructor', '["t","",""]', '\ud800', ' ']) {
    const id = await put(saver, { thread, values: { toString: thread }, versions: { toString: 1 } });
    await saver.putWrites(at(id, thread), [['hasOwnProperty', thread]], '__proto__', '__proto__');
    const tuple = await saver.getTuple(at(undefined, thread));
    expect(tuple?.checkpoint.channel_values).toEqual({ toString: thread });
    expect(tuple?.pendingWrites).toEqual([['__proto__', 'hasOwnProperty', thread]]);
    expect(await listed(saver.list(at(undefined, thread)))).toEqual([id]);
  }
  await saver.close();
});

test.each(stores)('$store: a deleted thread loses its writes, and can start again', async ({ makePlace }) => {
  const saver = new ReopeningSaver(makePlace());
  const id = await put(saver, { values: { a: 1 }, versions: { a: 1 } });
  const other = await put(saver, { thread: 'other' });
  await saver.putWrites(at(id), [['a', 1]], 'task');
  await saver.deleteThread('t');
  await saver.deleteThread('never there');
  expect(await saver.getTuple(at(id))).toBeUndefined();
  expect(await listed(saver.list({}))).toEqual([other]);
  const child = await put(saver, { parent: id, versions: { a: 1 }, fresh: {} });
  expect(await valuesAt(saver, child)).toEqual({});
  await saver.putWrites(at(id), [['b', 2]], 'task');
  await put(saver);
  expect((await saver.getTuple(at(id)))?.pendingWrites).toBeUndefined();
  await saver.close();
});

test.each(stores)('$store: a list is newest first and a snapshot of its start', async ({ makePlace }) => {
  const saver = new ReopeningSaver(makePlace());
  const owner = { name: 'ann', roles: ['admin'] };
  const first = await put(saver, { thread: 'b', metadata: { owner } });
  const second = await put(saver, { thread: 'a', metadata: { owner: { ...owner, roles: [] } } });
  const third = await put(saver, { thread: 'b' });
  expect(await listed(saver.list({}))).toEqual([third, second, first]);
  expect(await listed(saver.list({}, { limit: 0 }))).toEqual([]);
  expect(await listed(saver.list({}, { limit: 2, before: at(third) }))).toEqual([second, first]);
  expect(await listed(saver.list({}, { filter: { owner } }))).toEqual([first]);
  expect(await listed(saver.list({}, { filter: { constructor: Object } }))).toEqual([]);
  expect(await listed(saver.list(at(first, 'b')))).toEqual([first]);
  const seen: unknown[] = [];
  for await (const { checkpoint } of saver.list({})) {
    seen.push(checkpoint.id);
    await put(saver);
    await saver.deleteThread('b');
  }
  expect(seen).toEqual([third, second, first]);
  await saver.close();
});

test.each(stores)('$store: a log is opened from its last snapshot, if any', async ({ store, makePlace }) => {
  const place = makePlace();
  const saver = new ReopeningSaver(place);
  for (let count = 0; count < 20; count += 1) await put(saver);
  await saver.close();
  const { records, store: opened } = place.open();
  opened.close();
  expect(records.some(({ type }) => type === 'snapshot')).toBe(store.endsWith('snapshots'));
  if (store.endsWith('snapshots')) expect(records.length).toBeLessThan(20);
});

test('acknowledged data is on disk, if the store guarantees that', async () => {
  const allAsked = Promise.withResolvers<void>();
  const disk = Promise.withResolvers<void>();
  let asked = 0;
  const sync = (): Promise<void> => {
    asked += 1;
    if (asked === 3) allAsked.resolve();
    return disk.promise;
  };
  const store = { ...memoryStore(), sync };
  const saver = new HoldfastCheckpointSaver(beginSession({ begin: () => store, open: () => expect.unreachable() }));
  const acknowledged: string[] = [];
  const metadata = { source: 'input' as const, step: -1, parents: {} };
  const calls = {
    put: saver.put(at(), emptyCheckpoint(), metadata, {}),
    putWrites: saver.putWrites(at('1'), [['a', 1]], 'task'),
    deleteThread: saver.deleteThread('t'),
  };
  const noted = Object.entries(calls).map(async ([name, call]) => {
    await call;
    acknowledged.push(name);
  });
  await allAsked.promise;
  await setImmediate();
  expect(acknowledged).toEqual([]);
  disk.resolve();
  await Promise.all(noted);
  expect(acknowledged.toSorted()).toEqual(['deleteThread', 'put', 'putWrites']);
});

test('the old name of a checkpoint id is supported', async () => {
  const saver = new HoldfastCheckpointSaver(beginSession(places.byStore['memory']?.() ?? expect.unreachable()));
  const checkpoint = emptyCheckpoint();
  await saver.put(at(), checkpoint, { source: 'input', step: -1, parents: {} }, {});
  await saver.put(at(), { ...emptyCheckpoint(), id: uuid6(1) }, { source: 'loop', step: 0, parents: {} }, {});
  const tuple = await saver.getTuple({ configurable: { thread_id: 't', thread_ts: checkpoint.id } });
  expect(tuple?.checkpoint.id).toBe(checkpoint.id);
});

test.each([
  { config: { configurable: { thread_id: 1 } }, name: 'thread_id' },
  { config: { configurable: { thread_id: '' } }, name: 'thread_id' },
  { config: { configurable: { thread_id: 't', checkpoint_ns: {} } }, name: 'checkpoint_ns' },
  { config: { configurable: { thread_id: 't', checkpoint_id: 5 } }, name: 'checkpoint_id' },
])('an invalid name is refused and writes nothing: %#', async ({ config, name }) => {
  const saver = new HoldfastCheckpointSaver(beginSession(places.byStore['memory']?.() ?? expect.unreachable()));
  const { seq } = saver.session.snapshot();
  const metadata = { source: 'input' as const, step: -1, parents: {} };
  await expect(saver.put(config, emptyCheckpoint(), metadata, {})).rejects.toThrow(`configurable.${name}`);
  await expect(saver.putWrites(config, [['a', 1]], 'task')).rejects.toThrow('configurable.');
  expect(saver.session.snapshot().seq).toBe(seq);
});
