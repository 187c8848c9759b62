import {
  append,
  defineSlice,
  type Json,
  type KeyedState,
  type ListState,
  replace,
  type Slice,
  upsert,
} from '@holdfast/core';
import { expect, test } from 'vitest';
import { createSession, memoryStore, type SessionStore } from '../index.ts';

const notes: Slice<ListState<string>> = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { 'note-added': (_state, payload) => append(payload) },
});
const diary: Slice<ListState<string>> = defineSlice<string>({
  id: 'diary',
  kind: 'list',
  retention: 'log',
  reducers: { happened: (_state, payload) => append(payload) },
});
const seen: Slice<KeyedState<Json>> = defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', reducers: {} });

const note = (payload: string) => ({ type: 'note-added', payload });

function start(around: (store: SessionStore) => SessionStore = (store) => store) {
  const store = memoryStore();
  return { store, session: createSession({ id: 's', slices: [notes, diary], store: around(store) }) };
}

test('a fork has the same state under another id; later changes stay separate', () => {
  const { session, store } = start();
  session.dispatch(note('a'));
  const told: string[] = [];
  session.subscribe(({ type }) => void told.push(type));
  const kept = memoryStore();
  const fork = session.fork({ store: kept });
  expect(fork.id).not.toBe('s');
  fork.dispatch(note('fork'));
  session.dispatch(note('session'));
  expect(fork.read(notes).toArray()).toEqual(['a', 'fork']);
  expect(session.read(notes).toArray()).toEqual(['a', 'session']);
  expect(told).toEqual(['event']);
  expect(store.records).toHaveLength(3);
  expect(kept.records[0]).toMatchObject({ seq: 0, forkedFrom: { sessionId: 's', seq: 2 } });
  expect(session.fork({ id: 'chosen' }).id).toBe('chosen');
});

test('a fork knows and declares slices that the session has not declared yet', () => {
  const { session } = start();
  session.read(seen);
  const kept = memoryStore();
  const fork = session.fork({ store: kept });
  fork.record({ type: 'x' });
  expect(kept.records.map(({ type }) => type)).toEqual(['session-start', 'x']);
  expect(kept.records[0]?.['slices']).toMatchObject([{ id: 'notes' }, { id: 'diary' }, { id: 'policy:seen' }]);
  expect(fork.export().slices).toEqual(session.export().slices);
});

test('a fork does not include staged changes', () => {
  const { session } = start();
  const transaction = session.begin();
  transaction.dispatch(note('staged'));
  expect(session.fork().read(notes).size).toBe(0);
});

test("a reset returns state slices, including policies', to their initial values and keeps log slices", () => {
  const { session, store } = start();
  session.dispatch(note('a'));
  session.dispatch({ type: 'happened', payload: 'x' });
  const transaction = session.begin();
  transaction.apply(seen, [upsert('k', 1)]);
  transaction.commit({ type: 'event', changes: transaction.changes });
  const open = session.begin();
  open.dispatch(note('open'));
  session.reset();
  expect([session.read(notes).size, session.read(seen).size, session.read(diary).size]).toEqual([0, 0, 1]);
  expect(store.records.at(-1)).toMatchObject({ type: 'reset' });
  open.commit({ type: 'event', events: open.events.map((event) => ({ ...event })) });
  expect(session.read(notes).toArray()).toEqual(['open']);
});

test('subscribers see the state after the record', () => {
  const { session } = start();
  session.dispatch(note('a'));
  const before = session.snapshot();
  const data = session.export();
  const seenSizes: [string, number][] = [];
  session.subscribe(({ type }) => void seenSizes.push([type, session.read(notes).size]));
  session.reset();
  session.restore(before);
  session.reset();
  session.import(data);
  expect(seenSizes).toEqual([
    ['reset', 0],
    ['restore', 1],
    ['reset', 0],
    ['import', 1],
  ]);
});

test.each([
  [{ type: 'session-start' }],
  [{ type: 'slice' }],
  [{ type: 'event' }],
  [{ type: 'restore' }],
  [{ type: 'reset' }],
  [{ type: 'import' }],
  [{ type: 'tool-call-end', events: [note('a')] }],
  [{ type: 'tool-call-end', changes: [{ slice: 'policy:seen', op: 'clear' }] }],
])('session.invalid: record.reserved: %o would be replayed as a change', (entry) => {
  const { session, store } = start();
  expect(() => session.record(entry)).toThrow(
    expect.objectContaining({ code: 'session.invalid', reason: 'record.reserved' }),
  );
  expect(store.records).toHaveLength(1);
});

test.each([
  ['another type', { type: 'note', events: [note('a')] }],
  ['no events', { type: 'event' }],
  ['too few changes', { type: 'tool-call-end', events: [note('a')] }],
])('session.invalid: commit.entry: %s', (what, entry) => {
  const { session, store } = start();
  const transaction = session.begin();
  transaction.dispatch(note('a'));
  if (what === 'too few changes') transaction.apply(seen, [upsert('k', 1)]);
  expect(() => transaction.commit(entry)).toThrow(
    expect.objectContaining({ code: 'session.invalid', reason: 'commit.entry' }),
  );
  expect(store.records).toHaveLength(1);
  expect(session.read(notes).size).toBe(0);
  transaction.commit({ type: 'event', events: [note('a')], changes: transaction.changes });
  expect(session.read(notes).size).toBe(1);
});

test('without listeners the store is closed when `close` returns; state is readable but not writable', async () => {
  const closed: string[] = [];
  const { session } = start((store) => ({ ...store, close: () => void closed.push('store') }));
  session.dispatch(note('a'));
  const first = session.close();
  expect(closed).toEqual(['store']);
  await Promise.all([first, session.close()]);
  expect(closed).toEqual(['store']);
  expect(session.read(notes).toArray()).toEqual(['a']);
  expect(session.read(seen).size).toBe(0);
  expect(session.fork().read(notes).size).toBe(1);
  for (const write of [
    () => session.dispatch(note('b')),
    () => session.record({ type: 'x' }),
    () => session.reset(),
    () => session.onClose(() => undefined),
  ]) {
    expect(write).toThrow(expect.objectContaining({ code: 'session.closed' }));
  }
});

test('listeners run once, in reverse order, one after the other, before the store closes; they may still write', async () => {
  const steps: string[] = [];
  const { session, store } = start((kept) => ({ ...kept, close: () => void steps.push('store closed') }));
  session.onClose(() => void steps.push('first'));
  session.onClose(async () => {
    await Promise.resolve();
    session.dispatch(note('from a listener'));
    steps.push('second');
  });
  session.onClose(() => {
    steps.push('third');
    session.onClose(() => void steps.push('added on the way'));
    void session.close();
  });
  const closing = session.close();
  expect(steps).toEqual(['third']);
  await Promise.all([closing, session.close()]);
  await session.close();
  expect(steps).toEqual(['third', 'added on the way', 'second', 'first', 'store closed']);
  expect(store.records.at(-1)).toMatchObject({ type: 'event', events: [note('from a listener')] });
});

test("a listener's error is recorded and does not stop the others", async () => {
  const steps: string[] = [];
  const { session, store } = start((kept) => ({ ...kept, close: () => void steps.push('store closed') }));
  session.onClose(() => void steps.push('first'));
  session.onClose(() => {
    throw new Error('broke');
  });
  session.onClose(() => Promise.reject(null));
  await session.close();
  expect(steps).toEqual(['first', 'store closed']);
  expect(store.records.slice(1)).toMatchObject([
    { type: 'close-error', message: 'a thrown null' },
    { type: 'close-error', message: 'broke' },
  ]);
});

test('`close` rejects with an error of the store after all listeners ran', async () => {
  const steps: string[] = [];
  const { session } = start((store) => ({
    append(entry, seq, atMs) {
      if (seq > 0) throw new Error('disk full');
      store.append(entry, seq, atMs);
    },
    close: () => void steps.push('store closed'),
  }));
  session.onClose(() => void steps.push('first'));
  session.onClose(() => {
    throw new Error('broke');
  });
  await expect(session.close()).rejects.toThrow('disk full');
  expect(steps).toEqual(['first', 'store closed']);
  const broken = start((store) => ({
    ...store,
    close: () => {
      throw new Error('cannot close');
    },
  }));
  await expect(broken.session.close()).rejects.toThrow('cannot close');
});

test('snapshot, restore, rollback and fork cost the same at any size', () => {
  const big = createSession({
    slices: [
      defineSlice<number>({
        id: 'many',
        kind: 'list',
        reducers: { filled: (_state, payload) => replace(Array.from({ length: Number(payload) }, (_, n) => n)) },
      }),
    ],
  });
  big.dispatch({ type: 'filled', payload: 50_000 });
  const before = big.snapshot();
  const fork = big.fork();
  big.restore(before);
  // By reference: no item was read.
  expect(fork.snapshot().states.get('many')).toBe(before.states.get('many'));
  expect(big.snapshot().states.get('many')).toBe(before.states.get('many'));
});

test.each([{ seq: 7 }, { prev: 'x' }, { atMs: 'now' }])(
  'session.invalid: record.reserved: an entry that sets a field of the log: %j',
  (fields) => {
    const store = memoryStore();
    const session = createSession({ store });
    expect(() => session.record({ type: 'note', ...fields })).toThrow(
      expect.objectContaining({ code: 'session.invalid', reason: 'record.reserved' }),
    );
    session.record({ type: 'note', atMs: 5 });
    expect(store.records.map(({ seq }) => seq)).toEqual([0, 1]);
  },
);
