import {
  append,
  defineSlice,
  type Json,
  type KeyedState,
  type ListState,
  remove,
  replace,
  type Slice,
  upsert,
} from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { createSession, memoryStore, replay, type SessionTransaction } from '../index.ts';

const notes: Slice<ListState<string>> = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { 'note-added': (_state, payload) => append(payload) },
});
const stock: Slice<number> = defineSlice<number>({
  id: 'stock',
  kind: 'value',
  initial: 3,
  reducers: {
    taken: (state, payload) => {
      if (state < Number(payload)) throw new Error('sold out');
      return replace(state - Number(payload));
    },
    'note-added': () => undefined,
    'emptied-if-five': (state) => (state === 5 ? replace(0) : undefined),
    filled: () => replace(5),
  },
});
const diary: Slice<ListState<string>> = defineSlice<string>({
  id: 'diary',
  kind: 'list',
  retention: 'log',
  reducers: { happened: (_state, payload) => append(payload) },
});
const seen: Slice<KeyedState<Json>> = defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', reducers: {} });

function start() {
  const store = memoryStore();
  return { store, session: createSession({ id: 's', slices: [notes, stock, diary], store }) };
}

function commit(transaction: SessionTransaction, callId: string, parentId?: string): void {
  transaction.commit({
    type: 'tool-call-end',
    callId,
    ...(parentId === undefined ? {} : { parentId }),
    events: transaction.events.map((event) => ({ ...event })),
    changes: transaction.changes,
  });
}

const note = (payload: string) => ({ type: 'note-added', payload });
const taken = (payload: number) => ({ type: 'taken', payload });

test('concurrent transactions: the second commit keeps the writes of the first', () => {
  const { session } = start();
  const [first, second] = [session.begin(), session.begin()];
  first.dispatch(note('first'));
  second.dispatch(note('second'));
  first.dispatch(taken(1));
  second.dispatch(taken(2));
  first.apply(seen, [upsert('a', 1)]);
  second.apply(seen, [upsert('b', 2)]);
  commit(second, 'second');
  commit(first, 'first');
  expect(session.read(notes).toArray()).toEqual(['second', 'first']);
  expect(session.read(stock)).toBe(0);
  expect(session.read(seen).toObject()).toEqual({ a: 1, b: 2 });
});

test('a commit whose events no longer apply fails: nothing changed or recorded, still open', () => {
  const { session, store } = start();
  const [first, second] = [session.begin(), session.begin()];
  first.dispatch(taken(2));
  second.dispatch(note('gone'));
  second.dispatch(taken(2));
  commit(first, 'first');
  expect(() => commit(second, 'second')).toThrow('sold out');
  expect(store.records).toHaveLength(2);
  expect(session.read(notes).size).toBe(0);
  expect(session.read(stock)).toBe(1);
  expect(second.read(notes).toArray()).toEqual(['gone']);
  second.discard();
  expect(() => second.read(notes)).toThrow(expect.objectContaining({ code: 'context.closed' }));
});

test('an event that changed nothing runs again on a concurrent commit', () => {
  const { session } = start();
  const transaction = session.begin();
  transaction.dispatch({ type: 'emptied-if-five', payload: null });
  expect(transaction.read(stock)).toBe(3);
  session.dispatch({ type: 'filled', payload: null });
  commit(transaction, 'c');
  expect(session.read(stock)).toBe(0);
});

test('reducers do not run again without concurrent commits', () => {
  let runs = 0;
  const counted = defineSlice<number>({
    id: 'counted',
    kind: 'value',
    initial: 0,
    reducers: {
      counted: (state) => {
        runs += 1;
        return replace(state + 1);
      },
    },
  });
  const session = createSession({ slices: [counted, notes] });
  const transaction = session.begin();
  const nested = transaction.begin();
  nested.dispatch({ type: 'counted', payload: null });
  session.dispatch(note('elsewhere'));
  commit(nested, 'n', 'c');
  commit(transaction, 'c');
  expect([runs, session.read(counted)]).toEqual([1, 1]);
});

test('a nested transaction reads its parent; its commit is recorded at once but applied when the parent commits', () => {
  const { session, store } = start();
  const parent = session.begin();
  parent.dispatch(note('a'));
  const nested = parent.begin();
  nested.dispatch(note('b'));
  nested.apply(seen, [upsert('n', 1)]);
  expect(nested.read(notes).toArray()).toEqual(['a', 'b']);
  expect(parent.read(notes).toArray()).toEqual(['a']);
  commit(nested, 'nested', 'parent');
  expect(parent.read(notes).toArray()).toEqual(['a', 'b']);
  expect(session.read(notes).size).toBe(0);
  expect(store.records.at(-1)).toMatchObject({ callId: 'nested', parentId: 'parent', events: [{ payload: 'b' }] });
  parent.dispatch(note('c'));
  commit(parent, 'parent');
  expect(session.read(notes).toArray()).toEqual(['a', 'b', 'c']);
  expect(session.read(seen).toObject()).toEqual({ n: 1 });
  expect(store.records.at(-1)).toMatchObject({
    callId: 'parent',
    events: [{ payload: 'a' }, { payload: 'b' }, { payload: 'c' }],
    changes: [{ slice: 'policy:seen', key: 'n' }],
  });
});

test('discarding a nested transaction drops its changes; discarding the parent drops all', () => {
  const { session, store } = start();
  const parent = session.begin();
  parent.dispatch(note('a'));
  const dropped = parent.begin();
  dropped.dispatch(note('b'));
  dropped.discard();
  expect(parent.read(notes).toArray()).toEqual(['a']);
  const kept = parent.begin();
  kept.dispatch(note('c'));
  commit(kept, 'kept', 'parent');
  parent.discard();
  expect(session.read(notes).size).toBe(0);
  expect(store.records.map(({ type }) => type)).toEqual(['session-start', 'tool-call-end']);
});

test("two nested transactions keep each other's writes; one that no longer applies fails alone", () => {
  const { session } = start();
  const parent = session.begin();
  const [one, two, three] = [parent.begin(), parent.begin(), parent.begin()];
  for (const [index, nested] of [one, two, three].entries()) {
    nested.dispatch(note(String(index)));
    nested.dispatch(taken(index));
  }
  commit(three, '2', 'parent');
  expect(() => commit(two, '1', 'parent')).not.toThrow();
  const late = parent.begin();
  expect(() => late.dispatch(taken(1))).toThrow('sold out');
  commit(one, '0', 'parent');
  commit(parent, 'parent');
  expect(session.read(notes).toArray()).toEqual(['2', '1', '0']);
  expect(session.read(stock)).toBe(0);
});

test.each(['read', 'dispatch', 'publish', 'apply', 'begin', 'commit'] as const)(
  'context.closed: %s of a nested transaction, at any depth, after a surrounding one has ended',
  (method) => {
    for (const end of ['commit', 'discard'] as const) {
      const { session, store } = start();
      const parent = session.begin();
      const nested = parent.begin().begin();
      nested.dispatch(note('late'));
      if (end === 'commit') commit(parent, 'parent');
      else parent.discard();
      const before = store.records.length;
      const late = {
        read: () => nested.read(notes),
        dispatch: () => nested.dispatch(note('later')),
        publish: () => nested.publish({ type: 'happened', payload: 'late' }),
        apply: () => nested.apply(seen, [upsert('a', 1)]),
        begin: () => nested.begin(),
        commit: () => commit(nested, 'nested', 'parent'),
      };
      expect(late[method]).toThrow(expect.objectContaining({ code: 'context.closed' }));
      nested.discard();
      expect(store.records).toHaveLength(before);
      expect(session.read(notes).size + session.read(diary).size).toBe(0);
    }
  },
);

test('published events are visible at once and never lost, even where the same slice is staged', () => {
  const { session } = start();
  const [parent, other] = [session.begin(), session.begin()];
  parent.dispatch({ type: 'happened', payload: 'staged by the parent' });
  other.dispatch({ type: 'happened', payload: 'staged by another' });
  const nested = parent.begin();
  nested.dispatch({ type: 'happened', payload: 'staged inside' });
  nested.publish({ type: 'happened', payload: 'published' });
  expect(nested.read(diary).toArray()).toEqual(['published', 'staged by the parent', 'staged inside']);
  expect(parent.read(diary).toArray()).toEqual(['published', 'staged by the parent']);
  expect(other.read(diary).toArray()).toEqual(['published', 'staged by another']);
  expect(session.read(diary).toArray()).toEqual(['published']);
  nested.dispatch({ type: 'happened', payload: 'after' });
  commit(nested, 'nested', 'parent');
  other.publish({ type: 'happened', payload: 'published later' });
  other.discard();
  commit(parent, 'parent');
  expect(session.read(diary).toArray()).toEqual([
    'published',
    'published later',
    'staged by the parent',
    'staged inside',
    'after',
  ]);
});

test('a slice registered late handles events that are already staged', () => {
  const { session } = start();
  const copies = defineSlice<string>({
    id: 'copies',
    kind: 'list',
    reducers: { 'note-added': (_state, payload) => append(payload) },
  });
  const parent = session.begin();
  parent.dispatch(note('a'));
  const nested = parent.begin();
  nested.dispatch(note('b'));
  session.register(copies);
  expect(session.read(copies).size).toBe(0);
  nested.dispatch(note('c'));
  expect(nested.read(copies).toArray()).toEqual(['a', 'b', 'c']);
  expect(parent.read(copies).toArray()).toEqual(['a']);
  commit(nested, 'nested', 'parent');
  commit(parent, 'parent');
  expect(session.read(copies).toArray()).toEqual(['a', 'b', 'c']);
});

test('commit.conflict: replacing a whole value does not undo a concurrent change', () => {
  const session = createSession({ slices: [] });
  const count: Slice<number> = defineSlice<number>({ id: 'count', kind: 'value', initial: 0, reducers: {} });
  const set = (transaction: SessionTransaction): void =>
    transaction.apply(count, [replace(transaction.read(count) + 1)]);
  const commit = (transaction: SessionTransaction): void =>
    transaction.commit({ type: 'tool-call-end', events: [], changes: transaction.changes });
  const slow = session.begin();
  set(slow);
  const fast = session.begin();
  set(fast);
  commit(fast);
  expect(() => commit(slow)).toThrow(expect.objectContaining({ code: 'commit.conflict', data: { slice: 'count' } }));
  slow.discard();
  expect(session.read(count)).toBe(1);
});

test('slice.invalid: operation.invalid: a slice with reducers changes only by events', () => {
  const { session } = start();
  const transaction = session.begin();
  expect(() => transaction.apply(stock, [replace(9)])).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'operation.invalid' }),
  );
  expect(transaction.changes).toEqual([]);
});

test('slice.invalid: value.invalid: the key of an item is a string', () => {
  const { session } = start();
  expect(() => session.begin().apply(seen, [upsert(7 as unknown as string, 1)])).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'value.invalid' }),
  );
});

test('the log holds items with defaults filled in', () => {
  const { session, store } = start();
  const filled = defineSlice<{ text: string; done: boolean }>({
    id: 'policy:filled',
    kind: 'list',
    schema: v.object({ text: v.string(), done: v.optional(v.boolean(), false) }),
    reducers: {},
  });
  const transaction = session.begin();
  transaction.apply(filled, [append({ text: 'a' })]);
  commit(transaction, 'c');
  expect(session.read(filled).toArray()).toEqual([{ text: 'a', done: false }]);
  expect(store.records.at(-1)?.['changes']).toEqual([
    { slice: 'policy:filled', op: 'append', items: [{ text: 'a', done: false }] },
  ]);
});

test('a nested commit that the store rejects leaves the parent unchanged', () => {
  let full = false;
  const kept = memoryStore();
  const session = createSession({
    slices: [notes],
    store: {
      ...kept,
      append(entry, seq, atMs) {
        if (full) throw new Error('disk full');
        kept.append(entry, seq, atMs);
      },
    },
  });
  const parent = session.begin();
  const nested = parent.begin();
  nested.dispatch(note('a'));
  full = true;
  expect(() => commit(nested, 'nested', 'parent')).toThrow('disk full');
  expect(parent.read(notes).size).toBe(0);
  full = false;
  commit(nested, 'nested', 'parent');
  expect(parent.read(notes).toArray()).toEqual(['a']);
});

test('1,000 levels of nesting: every level has its own state, and all levels commit in order', () => {
  const { session } = start();
  const levels: SessionTransaction[] = [session.begin()];
  for (let depth = 0; depth < 1_000; depth += 1) {
    const level = levels.at(-1);
    level?.dispatch(note(String(depth)));
    if (level !== undefined) levels.push(level.begin());
  }
  expect(levels.at(-1)?.read(notes).size).toBe(1_000);
  expect(levels.at(500)?.read(notes).size).toBe(501);
  for (const level of levels.toReversed()) commit(level, 'c');
  expect(session.read(notes).toArray()).toEqual(Array.from({ length: 1_000 }, (_, depth) => String(depth)));
});

test('a subscriber that throws while the store is full does not fail the recorded commit', () => {
  const kept = memoryStore();
  let room = 2;
  const session = createSession({
    slices: [notes],
    store: {
      ...kept,
      append(entry, seq, atMs) {
        if (room === 0) throw new Error('disk full');
        room -= 1;
        kept.append(entry, seq, atMs);
      },
    },
  });
  session.subscribe(() => {
    throw new Error('subscriber broke');
  });
  session.dispatch(note('a'));
  expect(session.read(notes).toArray()).toEqual(['a']);
  expect(() => session.dispatch(note('b'))).toThrow('disk full');
});

test('earlier changes are re-applied, also by another process and in a nested transaction', () => {
  const { session, store } = start();
  const first = session.begin();
  first.apply(seen, [upsert('a', 1), upsert('b', 2), remove('b')]);
  const { changes } = first;
  first.discard();
  expect(session.read(seen).size).toBe(0);

  const again = replay(store.records, { slices: [notes, stock, diary] });
  // Another definition than the original: its schema does not validate the changes again.
  again.register(defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', schema: v.string() as never, reducers: {} }));
  for (const at of [session, again]) {
    const outer = at.begin();
    const inner = outer.begin();
    inner.reapply(JSON.parse(JSON.stringify(changes)) as Json[]);
    expect(inner.changes).toEqual(changes);
    commit(inner, 'c/1', 'c');
    commit(outer, 'c');
  }
  expect(session.read(seen).toObject()).toEqual({ a: 1 });
  expect(session.export().slices.find(({ id }) => id === 'policy:seen')?.state).toEqual([['a', 1]]);
  expect(again.export().slices.find(({ id }) => id === 'policy:seen')?.state).toEqual([['a', 1]]);
});

test.each<Json>([
  null,
  'upsert',
  { op: 'upsert', key: 'k', item: 1 },
  { slice: 'policy:other', op: 'upsert', key: 'k', item: 1 },
  { slice: 'policy:seen', op: 'merge', key: 'k' },
  { slice: 'policy:seen', op: 'upsert', key: 7, item: 1 },
  { slice: 'notes', op: 'append', items: ['x'] },
])('session.invalid: change: %j', (change) => {
  const { session } = start();
  session.read(seen);
  const transaction = session.begin();
  expect(() => transaction.reapply([change])).toThrow(
    expect.objectContaining({ code: 'session.invalid', reason: 'change' }),
  );
  transaction.discard();
  expect(() => transaction.reapply([])).toThrow(expect.objectContaining({ code: 'context.closed' }));
});

test('slice.invalid: operation.invalid: a change that its slice cannot hold', () => {
  const { session } = start();
  session.read(seen);
  expect(() => session.begin().reapply([{ slice: 'policy:seen', op: 'append', items: [1] }])).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'operation.invalid' }),
  );
});

test('changes in many slices are found in constant time, and commit or are dropped together', () => {
  let looks = 0;
  const many = Array.from({ length: 400 }, (_, index): Slice<number> => {
    const slice = defineSlice<number>({ id: `many-${index}`, kind: 'value', initial: 0, reducers: {} });
    return Object.freeze({
      ...slice,
      get id() {
        looks += 1;
        return slice.id;
      },
    });
  });
  const session = createSession();
  const change = (value: number): SessionTransaction => {
    const transaction = session.begin();
    for (const slice of many) transaction.apply(slice, [replace(value)]);
    for (const slice of many) transaction.apply(slice, [replace(transaction.read(slice) + 1)]);
    return transaction;
  };
  change(5).discard();
  const transaction = change(1);
  looks = 0;
  for (const slice of many) transaction.read(slice);
  // A linear search would need 80,000.
  expect(looks).toBeLessThan(10_000);
  transaction.commit({ type: 'event', events: [], changes: [...transaction.changes] });
  expect(new Set(many.map((slice) => session.read(slice)))).toEqual(new Set([2]));
});
