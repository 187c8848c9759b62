import {
  append,
  type Clock,
  clear,
  defineSlice,
  type Json,
  type KeyedState,
  type ListState,
  remove,
  replace,
  type Slice,
  upsert,
} from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { createSession, type LogEntry, memoryStore, replay, type SessionOptions } from '../index.ts';

const clock: Clock = { now: () => 1_000, after: () => () => undefined };

const notes: Slice<ListState<{ text: string }>> = defineSlice({
  id: 'notes',
  kind: 'list',
  schema: v.object({ text: v.string() }),
  reducers: { 'note-added': (_state, payload) => append(payload), 'notes-cleared': () => clear },
});
const owners: Slice<KeyedState<string>> = defineSlice<string>({
  id: 'owners',
  kind: 'keyed',
  schema: v.string(),
  reducers: {
    'owner-set': (_state, payload) => {
      const [key, owner] = payload as [string, string];
      return upsert(key, owner);
    },
    'owner-removed': (_state, payload) => remove(String(payload)),
    'owners-replaced': (_state, payload) => replace(payload),
  },
});
const count: Slice<number> = defineSlice<number>({
  id: 'count',
  kind: 'value',
  initial: 0,
  reducers: {
    'note-added': (state) => replace(state + 1),
    broken: () => {
      throw new Error('reducer broke');
    },
  },
});
const diary: Slice<ListState<string>> = defineSlice<string>({
  id: 'diary',
  kind: 'list',
  retention: 'log',
  reducers: { happened: (_state, payload) => append(payload) },
});

const declared = [
  { id: 'notes', kind: 'list', retention: 'state', events: ['note-added', 'notes-cleared'] },
  { id: 'owners', kind: 'keyed', retention: 'state', events: ['owner-set', 'owner-removed', 'owners-replaced'] },
  { id: 'count', kind: 'value', retention: 'state', initial: 0, events: ['note-added', 'broken'] },
  { id: 'diary', kind: 'list', retention: 'log', events: ['happened'] },
];

function start(options: SessionOptions = {}) {
  const store = memoryStore();
  return {
    store,
    session: createSession({ id: 's', slices: [notes, owners, count, diary], store, clock, ...options }),
  };
}

test('an event reaches every listening slice and the log', () => {
  const { session, store } = start();
  session.dispatch({ type: 'note-added', payload: { text: 'a' } });
  session.dispatch({ type: 'note-added', payload: { text: 'b' } });
  expect(session.read(notes).toArray()).toEqual([{ text: 'a' }, { text: 'b' }]);
  expect(session.read(count)).toBe(2);
  expect(store.records).toEqual([
    { seq: 0, atMs: 1_000, type: 'session-start', sessionId: 's', nonce: session.nonce, slices: declared },
    { seq: 1, atMs: 1_000, type: 'event', events: [{ type: 'note-added', payload: { text: 'a' } }] },
    { seq: 2, atMs: 1_000, type: 'event', events: [{ type: 'note-added', payload: { text: 'b' } }] },
  ]);
});

test('every operation changes its kind of slice', () => {
  const { session } = start();
  session.dispatch({ type: 'owner-set', payload: ['a', 'Ann'] });
  session.dispatch({ type: 'owner-set', payload: ['__proto__', 'Eve'] });
  session.dispatch({ type: 'owner-set', payload: ['a', 'Bob'] });
  expect(session.read(owners).get('a')).toBe('Bob');
  expect(session.read(owners).get('__proto__')).toBe('Eve');
  session.dispatch({ type: 'owner-removed', payload: 'a' });
  expect(session.read(owners).has('a')).toBe(false);
  session.dispatch({ type: 'owners-replaced', payload: { c: 'Cid' } });
  expect(session.read(owners).toObject()).toEqual({ c: 'Cid' });
  session.dispatch({ type: 'note-added', payload: { text: 'a' } });
  session.dispatch({ type: 'notes-cleared', payload: null });
  expect(session.read(notes).size).toBe(0);
});

test('defaults of a schema are part of the state', () => {
  const tasks = defineSlice<{ text: string; done: boolean }>({
    id: 'tasks',
    kind: 'list',
    schema: v.object({ text: v.string(), done: v.optional(v.boolean(), false) }),
    reducers: { 'task-added': (_state, payload) => append(payload) },
  });
  const { session } = start({ slices: [tasks] });
  session.dispatch({ type: 'task-added', payload: { text: 'a' } });
  expect(session.read(tasks).toArray()).toEqual([{ text: 'a', done: false }]);
  expect(Object.isFrozen(session.read(tasks).at(0))).toBe(true);
});

test('state is a frozen copy of the dispatched value', () => {
  const { session } = start();
  const payload = { text: 'a' };
  session.dispatch({ type: 'note-added', payload });
  payload.text = 'changed';
  const [note] = session.read(notes);
  expect(note).toEqual({ text: 'a' });
  expect(Object.isFrozen(note)).toBe(true);
});

test.each([
  ['slice.invalid: value.invalid', { type: 'note-added', payload: { text: 7 } }],
  ['slice.invalid: value.invalid', { type: 'note-added', payload: { text: 'a', more: 1 } }],
  ['event.invalid', { type: 'note-added', payload: new Date() as unknown as Json }],
  ['event.invalid: unhandled', { type: 'note-aded', payload: null }],
])('%s: %o changes nothing', (code, event) => {
  const { session, store } = start();
  expect(() => session.dispatch(event)).toThrow(
    expect.toSatisfy((error: { code: string }) => describeCode(error) === code),
  );
  expect(session.read(notes).size).toBe(0);
  expect(session.read(count)).toBe(0);
  expect(store.records).toHaveLength(1);
});

test('a slice rejects non-JSON values with its name', () => {
  const odd = defineSlice<Json>({
    id: 'odd',
    kind: 'value',
    initial: null,
    reducers: { odd: () => replace(new Map()) },
  });
  const { session } = start({ slices: [odd] });
  expect(() => session.dispatch({ type: 'odd', payload: null })).toThrow(/Slice `odd` holds JSON only/);
});

test.each([
  ['value', append(1)],
  ['list', upsert('k', 1)],
  ['keyed', append(1)],
  ['list', replace({})],
  ['keyed', replace(1)],
  ['list', { op: 'append', items: [1] } as never],
] as const)('slice.invalid: operation.invalid: on a %s slice %o', (kind, operation) => {
  const slice = defineSlice<Json>({ id: 'x', kind, initial: 0, reducers: { go: () => operation } } as never);
  const { session } = start({ slices: [slice] });
  expect(() => session.dispatch({ type: 'go', payload: null })).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'operation.invalid' }),
  );
});

test('an event is reduced by all its slices or by none', () => {
  const half = defineSlice<Json>({ id: 'half', kind: 'value', initial: 0, reducers: { broken: () => replace(1) } });
  const { session } = start({ slices: [half, count] });
  const transaction = session.begin();
  expect(() => transaction.dispatch({ type: 'broken', payload: null })).toThrow('reducer broke');
  transaction.commit({ type: 'event' });
  expect(session.read(half)).toBe(0);
});

test('a transaction sees its own writes at once; others see them after the commit', () => {
  const { session, store } = start();
  const transaction = session.begin();
  transaction.dispatch({ type: 'note-added', payload: { text: 'a' } });
  expect(transaction.read(notes).size).toBe(1);
  expect(session.read(notes).size).toBe(0);
  transaction.commit({ type: 'tool-call-end', callId: 'c', events: transaction.events.map((event) => ({ ...event })) });
  expect(session.read(notes).size).toBe(1);
  expect(store.records.at(-1)).toMatchObject({
    type: 'tool-call-end',
    events: [{ type: 'note-added', payload: { text: 'a' } }],
  });
});

test('discarded changes leave no trace, but published ones stay in the log slice', () => {
  const { session, store } = start();
  const transaction = session.begin();
  transaction.dispatch({ type: 'note-added', payload: { text: 'a' } });
  transaction.publish({ type: 'happened', payload: 'tried' });
  expect(transaction.read(diary).toArray()).toEqual(['tried']);
  transaction.discard();
  expect(session.read(notes).size).toBe(0);
  expect(session.read(diary).toArray()).toEqual(['tried']);
  expect(store.records.map(({ type }) => type)).toEqual(['session-start', 'event']);
});

test('event.invalid: retention: only log slices can be published to', () => {
  const { session } = start();
  expect(() => session.begin().publish({ type: 'note-added', payload: { text: 'a' } })).toThrow(
    expect.objectContaining({ code: 'event.invalid', reason: 'retention' }),
  );
});

test.each(['read', 'dispatch', 'publish', 'apply', 'begin', 'commit'] as const)(
  'context.closed: %s after the end',
  (method) => {
    const { session } = start();
    const seen = defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', reducers: {} });
    const transaction = session.begin();
    transaction.discard();
    const late = {
      read: () => transaction.read(notes),
      dispatch: () => transaction.dispatch({ type: 'note-added', payload: { text: 'late' } }),
      publish: () => transaction.publish({ type: 'happened', payload: 'late' }),
      apply: () => transaction.apply(seen, [upsert('a', 1)]),
      begin: () => transaction.begin(),
      commit: () => transaction.commit({ type: 'event' }),
    };
    expect(late[method]).toThrow(expect.objectContaining({ code: 'context.closed' }));
    expect(session.read(notes).size + session.read(diary).size + session.read(count)).toBe(0);
  },
);

test('operations that policies apply are in the commit record', () => {
  const { session, store } = start();
  const seen = defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', reducers: {} });
  const rounds = defineSlice<number>({ id: 'policy:rounds', kind: 'value', initial: 0, reducers: {} });
  const trail = defineSlice<string>({ id: 'policy:trail', kind: 'list', reducers: {} });
  const transaction = session.begin();
  transaction.apply(seen, [upsert('a', 'v1'), upsert('b', { deep: [1] }), remove('a')]);
  transaction.apply(seen, []);
  transaction.apply(rounds, [replace(3)]);
  transaction.apply(trail, [append('x'), clear]);
  transaction.commit({ type: 'tool-call-end', changes: transaction.changes });
  expect(session.read(seen).toObject()).toEqual({ b: { deep: [1] } });
  expect(store.records.at(-1)).toMatchObject({
    changes: [
      { slice: 'policy:seen', op: 'upsert', key: 'a', item: 'v1' },
      { slice: 'policy:seen', op: 'upsert', key: 'b', item: { deep: [1] } },
      { slice: 'policy:seen', op: 'remove', key: 'a' },
      { slice: 'policy:rounds', op: 'replace', value: 3 },
      { slice: 'policy:trail', op: 'append', items: ['x'] },
      { slice: 'policy:trail', op: 'clear' },
    ],
  });
});

test('a restore returns state slices and keeps log slices', () => {
  const { session, store } = start();
  session.dispatch({ type: 'note-added', payload: { text: 'a' } });
  const snapshot = session.snapshot();
  session.dispatch({ type: 'note-added', payload: { text: 'b' } });
  session.dispatch({ type: 'happened', payload: 'x' });
  const later = defineSlice<number>({ id: 'later', kind: 'value', initial: 5, reducers: { later: () => replace(6) } });
  session.register(later);
  session.dispatch({ type: 'later', payload: null });
  session.restore(snapshot);
  expect(session.read(notes).size).toBe(1);
  expect(session.read(count)).toBe(1);
  expect(session.read(diary).toArray()).toEqual(['x']);
  expect(session.read(later)).toBe(5);
  expect(store.records.at(-1)).toMatchObject({ type: 'restore', toSeq: 2 });
});

test('snapshot.foreign and slice.invalid: unknown', () => {
  const { session } = start();
  expect(() => session.restore(createSession({ id: 'other' }).snapshot())).toThrow(
    expect.objectContaining({ code: 'session.invalid', reason: 'snapshot.foreign' }),
  );
  const bare = createSession({ id: 's' });
  expect(() => bare.restore(session.snapshot())).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'unknown' }),
  );
});

test('slice.invalid: conflict: two definitions under one id; equal data without reducers is one slice', () => {
  const { session } = start();
  const other = defineSlice<number>({ id: 'count', kind: 'value', initial: 0, reducers: { x: () => replace(1) } });
  expect(() => session.read(other)).toThrow(expect.objectContaining({ code: 'slice.invalid', reason: 'conflict' }));
  const make = (initial: number) => defineSlice<number>({ id: 'policy:x', kind: 'value', initial, reducers: {} });
  const transaction = session.begin();
  transaction.apply(make(1), [replace(2)]);
  transaction.commit({ type: 'event', changes: transaction.changes });
  expect(session.read(make(1))).toBe(2);
  expect(() => session.read(make(3))).toThrow(expect.objectContaining({ code: 'slice.invalid', reason: 'conflict' }));
});

test('a throwing subscriber is recorded and breaks nothing; it unsubscribes once', () => {
  const { session, store } = start();
  const seen: [string, number][] = [];
  const stop = session.subscribe((record) => {
    seen.push([record.type, session.read(count)]);
    throw new Error('subscriber broke');
  });
  session.dispatch({ type: 'note-added', payload: { text: 'a' } });
  expect(seen).toEqual([
    ['event', 1],
    ['subscriber-error', 1],
  ]);
  expect(store.records.at(-1)).toMatchObject({ type: 'subscriber-error', recordSeq: 1, message: 'subscriber broke' });
  expect([stop(), stop()]).toEqual([true, false]);
  session.record({ type: 'later' });
  expect(seen).toHaveLength(2);
});

test('a failing store prevents the commit', () => {
  const store = memoryStore();
  let failing = false;
  const { session } = start({
    store: {
      append(entry, seq, atMs) {
        if (failing) throw new Error('disk full');
        store.append(entry, seq, atMs);
      },
      close: () => undefined,
    },
  });
  failing = true;
  expect(() => session.dispatch({ type: 'note-added', payload: { text: 'a' } })).toThrow('disk full');
  expect(session.read(notes).size).toBe(0);
  failing = false;
  session.dispatch({ type: 'note-added', payload: { text: 'a' } });
  expect(store.records.map(({ seq }) => seq)).toEqual([0, 1]);
});

test('session.closed: a closed session rejects writes', () => {
  const { session } = start();
  void session.close();
  void session.close();
  expect(() => session.dispatch({ type: 'note-added', payload: { text: 'a' } })).toThrow(
    expect.objectContaining({ code: 'session.closed' }),
  );
});

test('a generated id contains the start time', () => {
  expect(createSession({ clock: { ...clock, now: () => Date.UTC(2026, 0, 2, 3, 4, 5) } }).id).toMatch(
    /^2026-01-02-03-04-05-[0-9a-f]{8}$/,
  );
});

test('a session whose first record fails closes its store', () => {
  let closed = 0;
  const store = {
    append: () => {
      throw new Error('ENOSPC');
    },
    close: () => {
      closed += 1;
    },
  };
  expect(() => createSession({ store })).toThrow('ENOSPC');
  expect(closed).toBe(1);
});

test('a subscriber that changes a record affects neither the log nor a replay', () => {
  const store = memoryStore();
  const session = createSession({ slices: [notes], store });
  session.subscribe((record) => {
    for (const key of ['events', 'changes']) {
      const list: unknown = record[key];
      if (Array.isArray(list)) expect(() => list.splice(0)).toThrow(TypeError);
    }
    expect(() => Object.assign(record, { events: [] })).toThrow(TypeError);
  });
  session.dispatch({ type: 'note-added', payload: { text: 'a' } });
  const transaction = session.begin();
  transaction.dispatch({ type: 'note-added', payload: { text: 'b' } });
  transaction.commit({ type: 'event', events: transaction.events } as unknown as LogEntry);
  expect(
    replay(store.records, { slices: [notes] })
      .read(notes)
      .toArray(),
  ).toEqual(session.read(notes).toArray());
  expect(session.read(notes).size).toBe(2);
});
