import {
  append,
  clear,
  defineSlice,
  type Json,
  type KeyedState,
  type ListState,
  replace,
  type Slice,
  upsert,
} from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { createSession, type LogRecord, memoryStore, replay, type SessionTransaction } from '../index.ts';

const notes: Slice<ListState<string>> = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { 'note-added': (_state, payload) => append(payload) },
});
const count: Slice<number> = defineSlice<number>({
  id: 'count',
  kind: 'value',
  initial: 0,
  reducers: { 'note-added': (state) => replace(state + 1) },
});
const seen: Slice<KeyedState<Json>> = defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', reducers: {} });

const note = (payload: string) => ({ type: 'note-added', payload });

function commit(transaction: SessionTransaction): void {
  const events = transaction.events.map((event) => ({ ...event }));
  transaction.commit({ type: 'tool-call-end', events, changes: transaction.changes });
}

function start() {
  const store = memoryStore();
  const session = createSession({
    id: 's',
    slices: [notes],
    store,
    clock: { now: () => 5, after: () => () => undefined },
  });
  return { session, store };
}

function codeOf(run: () => unknown): unknown {
  try {
    run();
    return 'nothing was thrown';
  } catch (thrown) {
    return thrown;
  }
}

test('a rebuilt session has the state, id and records, and continues after the last one', () => {
  const { session, store } = start();
  session.dispatch(note('a'));
  const transaction = session.begin();
  transaction.dispatch(note('b'));
  transaction.apply(seen, [upsert('k', 1)]);
  commit(transaction);
  session.record({ type: 'model-message', text: 'passed over', events: [] });

  const kept = memoryStore(store.records);
  const rebuilt = replay(store.records, { slices: [notes], store: kept });
  expect(rebuilt.id).toBe('s');
  expect(rebuilt.read(notes).toArray()).toEqual(['a', 'b']);
  expect(rebuilt.read(seen).toObject()).toEqual({ k: 1 });
  rebuilt.dispatch(note('c'));
  expect(kept.records.map(({ seq }) => seq)).toEqual(kept.records.map((_record, index) => index));
  expect(kept.records.slice(0, -1)).toEqual(store.records);
  expect(
    replay(kept.records, { slices: [notes] })
      .read(notes)
      .toArray(),
  ).toEqual(['a', 'b', 'c']);
  expect(session.read(notes).toArray()).toEqual(['a', 'b']);
});

test('rebuilt state is frozen and shares no objects with the records', () => {
  const { session, store } = start();
  session.dispatch(note('a'));
  const transaction = session.begin();
  transaction.apply(seen, [upsert('k', { deep: [1] })]);
  commit(transaction);
  const records = JSON.parse(JSON.stringify(store.records)) as LogRecord[];
  const item = replay(records, { slices: [notes] })
    .read(seen)
    .get('k');
  expect(item).toEqual({ deep: [1] });
  expect(Object.isFrozen(item)).toBe(true);
});

test('a new slice is declared before the next record; reading alone writes nothing', () => {
  const { session, store } = start();
  session.read(seen);
  session.read(count);
  session.read({ ...seen });
  expect(store.records).toHaveLength(1);
  session.dispatch(note('a'));
  session.read({ ...seen });
  session.dispatch(note('b'));
  expect(store.records.map(({ type }) => type)).toEqual(['session-start', 'slice', 'slice', 'event', 'event']);
  expect(store.records.slice(1, 3)).toEqual([
    { seq: 1, atMs: 5, type: 'slice', id: 'policy:seen', kind: 'keyed', retention: 'state', events: [] },
    {
      seq: 2,
      atMs: 5,
      type: 'slice',
      id: 'count',
      kind: 'value',
      retention: 'state',
      initial: 0,
      events: ['note-added'],
    },
  ]);
});

test('subscribers see slice records in log order', () => {
  const { session, store } = start();
  const told: LogRecord[] = [];
  session.subscribe((record) => void told.push(record));
  session.register(count);
  session.dispatch(note('a'));
  expect(told).toEqual(store.records.slice(1));
  expect(told.map(({ type }) => type)).toEqual(['slice', 'event']);
});

test('a full store rejects a slice declaration: reading still works, and the slice is declared once later', () => {
  const kept = memoryStore();
  let full = false;
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
  full = true;
  expect(session.read(count)).toBe(0);
  expect(() => session.dispatch(note('a'))).toThrow('disk full');
  expect(session.read(notes).size + session.read(count)).toBe(0);
  full = false;
  session.dispatch(note('b'));
  expect(kept.records.map(({ type }) => type)).toEqual(['session-start', 'slice', 'event']);
});

test('a slice that joined late handles events only from then on', () => {
  const { session, store } = start();
  session.dispatch(note('a'));
  session.register(count);
  session.dispatch(note('b'));
  expect(replay(store.records, { slices: [notes, count] }).read(count)).toBe(1);
});

test('a definition that listens to more events handles them from now on, and the log declares it', () => {
  const { session, store } = start();
  session.register(count);
  session.dispatch(note('a'));
  const more = defineSlice<string>({
    id: 'notes',
    kind: 'list',
    reducers: {
      'note-added': (_state, payload) => append(payload),
      'note-shouted': (_state, payload) => append(String(payload).toUpperCase()),
    },
  });
  const shouts = defineSlice<number>({
    id: 'shouts',
    kind: 'value',
    initial: 0,
    reducers: { 'note-shouted': (state) => replace(state + 1), 'note-added': () => replace(-1) },
  });
  const kept = memoryStore(store.records);
  const rebuilt = replay(store.records, { slices: [more, count, shouts], store: kept });
  expect(rebuilt.read(shouts)).toBe(0);
  rebuilt.dispatch({ type: 'note-shouted', payload: 'b' });
  expect(rebuilt.read(more).toArray()).toEqual(['a', 'B']);
  const again = replay(kept.records, { slices: [more, count, shouts] });
  expect(again.read(more).toArray()).toEqual(['a', 'B']);
  expect([again.read(shouts), again.read(count)]).toEqual([1, 1]);
});

test("a policy's slice finds the rebuilt state; a different slice does not", () => {
  const { session, store } = start();
  const transaction = session.begin();
  transaction.apply(seen, [upsert('k', 'text')]);
  commit(transaction);
  const bySchema = (schema: v.GenericSchema<Json>): Slice =>
    defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', schema, reducers: {} });
  const rebuilt = replay(store.records, { slices: [notes] });
  expect(() => rebuilt.read(bySchema(v.number()))).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'value.invalid' }),
  );
  expect(() => rebuilt.read({ ...seen, kind: 'list' })).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'conflict' }),
  );
  expect((rebuilt.read(bySchema(v.string())) as KeyedState<Json>).get('k')).toBe('text');
  expect(() => replay(store.records, { slices: [notes, bySchema(v.number())] })).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'value.invalid' }),
  );
});

test('a cleared state is accepted even if the schema rejects the initial value', () => {
  const { session, store } = start();
  const state = (schema?: v.GenericSchema<Json>): Slice =>
    defineSlice<Json>({
      id: 'policy:state',
      kind: 'value',
      initial: null as Json,
      reducers: {},
      ...(schema === undefined ? {} : { schema }),
    });
  const transaction = session.begin();
  transaction.apply(state(), [replace('x'), clear]);
  commit(transaction);
  expect(replay(store.records, { slices: [notes, state(v.string())] }).read(state(v.string()))).toBeNull();
});

test('replay.failed: slice_missing: reducers are not in the log', () => {
  const { session, store } = start();
  session.register(count);
  session.dispatch(note('a'));
  expect(codeOf(() => replay(store.records, { slices: [notes] }))).toMatchObject({
    code: 'replay.failed',
    reason: 'slice_missing',
    data: { id: 'count' },
  });
});

test.each([
  ['kind', defineSlice<Json>({ id: 'notes', kind: 'keyed', reducers: { 'note-added': () => undefined } })],
  [
    'retention',
    defineSlice<Json>({ id: 'notes', kind: 'list', retention: 'log', reducers: { 'note-added': () => undefined } }),
  ],
  ['events', defineSlice<Json>({ id: 'notes', kind: 'list', reducers: { other: () => undefined } })],
  ['reducers', defineSlice<Json>({ id: 'notes', kind: 'list', reducers: {} })],
])('slice.invalid: conflict: a definition of another %s than the log says', (_what, definition) => {
  const { store } = start();
  expect(() => replay(store.records, { slices: [definition as Slice] })).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'conflict' }),
  );
});

test('slice.invalid: conflict: another initial value, two definitions of one id, data for a slice with reducers', () => {
  const store = memoryStore();
  createSession({ slices: [count, seen], store });
  const other = defineSlice<number>({ ...countDefinition, initial: 1 });
  const reducing = defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', reducers: { x: () => undefined } });
  for (const slices of [[other], [count, { ...count }], [count, reducing]]) {
    expect(() => replay(store.records, { slices })).toThrow(
      expect.objectContaining({ code: 'slice.invalid', reason: 'conflict' }),
    );
  }
});

const countDefinition = {
  id: 'count',
  kind: 'value' as const,
  initial: 0,
  reducers: { 'note-added': (state: number) => replace(state + 1) },
};

const began = { type: 'session-start', sessionId: 's', slices: [] };
const declared = {
  type: 'session-start',
  sessionId: 's',
  slices: [{ id: 'policy:seen', kind: 'keyed', retention: 'state', events: [] }],
};
const change = { slice: 'policy:seen', op: 'upsert', key: 'k', item: 1 };

test.each<[string, number, readonly unknown[]]>([
  ['no record', 0, []],
  ['another beginning', 0, [{ type: 'event', events: [] }]],
  ['an earlier build', 0, [{ type: 'session-start', sessionId: 's' }]],
  ['a fork of nothing', 0, [{ ...began, forkedFrom: 's' }]],
  ['a second start', 1, [began, began]],
  ['a gap', 1, [began, { type: 'x', seq: 7 }]],
  ['an invalid slice', 1, [began, { type: 'slice', id: 'x', kind: 'set', retention: 'state', events: [] }]],
  ['a slice without events', 1, [began, { type: 'slice', id: 'x', kind: 'list', retention: 'state' }]],
  ['an event without a handler', 1, [began, { type: 'event', events: [{ type: 'x', payload: null }] }]],
  ['an invalid event', 1, [began, { type: 'event', events: ['x'] }]],
  ['an event without payload', 1, [{ ...began }, { type: 'event', events: [{ type: 'x' }] }]],
  ['events that are not a list', 1, [began, { type: 'event', events: {} }]],
  ['a change of nothing', 1, [began, { type: 'tool-call-end', events: [], changes: [change] }]],
  ['an invalid change', 1, [declared, { type: 'tool-call-end', changes: [{ ...change, op: 'drop' }] }]],
  ['a change without key', 1, [declared, { type: 'tool-call-end', changes: [{ ...change, key: 1 }] }]],
  [
    'a change of another kind',
    1,
    [declared, { type: 'tool-call-end', changes: [{ ...change, op: 'append', items: [] }] }],
  ],
  ['a change without items', 1, [declared, { type: 'tool-call-end', changes: [{ ...change, op: 'append' }] }]],
  ['a change without item', 1, [declared, { type: 'tool-call-end', changes: [{ ...change, item: undefined }] }]],
  ['a restore to a later record', 1, [began, { type: 'restore', toSeq: 2 }]],
  ['a restore to nothing', 1, [began, { type: 'restore', toSeq: 'x' }]],
  ['an invalid import', 1, [declared, { type: 'import', slices: [{ id: 'policy:seen' }] }]],
])('replay.failed: record: %s', (_what, seq, entries) => {
  const records = entries.map((entry, index) => ({ seq: index, atMs: 0, ...(entry as object) }) as LogRecord);
  expect(codeOf(() => replay(records))).toMatchObject({ code: 'replay.failed', reason: 'record', data: { seq } });
});

test('replay.failed: record: a reducer that throws now and did not then', () => {
  const { session, store } = start();
  session.dispatch(note('a'));
  session.dispatch(note('b'));
  const broken = defineSlice<Json>({
    id: 'notes',
    kind: 'list',
    reducers: {
      'note-added': (_state, payload) => {
        if (payload === 'b') throw new Error('not b');
        return append(payload);
      },
    },
  });
  expect(codeOf(() => replay(store.records, { slices: [broken] }))).toMatchObject({
    code: 'replay.failed',
    reason: 'record',
    data: { seq: 2 },
    message: expect.stringContaining('not b'),
    cause: expect.objectContaining({ message: 'not b' }),
  });
});

test('a fork is replayed on its origin: base_missing, base_foreign', () => {
  const { session, store } = start();
  session.dispatch(note('a'));
  const forked = memoryStore();
  const fork = session.fork({ id: 'f', store: forked });
  const { seq } = session.snapshot();
  session.dispatch(note('after the fork'));
  fork.dispatch(note('in the fork'));
  expect(forked.records[0]).toMatchObject({ type: 'session-start', forkedFrom: { sessionId: 's', seq: 2 } });

  const base = replay(store.records.slice(0, seq), { slices: [notes] });
  const rebuilt = replay(forked.records, { slices: [notes], base });
  expect(rebuilt.id).toBe('f');
  expect(rebuilt.read(notes).toArray()).toEqual(['a', 'in the fork']);
  expect(base.read(notes).toArray()).toEqual(['a']);

  const missing = { code: 'replay.failed', reason: 'base_missing', data: { sessionId: 's', seq: 2 } };
  expect(codeOf(() => replay(forked.records, { slices: [notes] }))).toMatchObject(missing);
  const later = replay(store.records, { slices: [notes] });
  for (const foreign of [later, createSession({ id: 's2' })]) {
    expect(codeOf(() => replay(forked.records, { slices: [notes], base: foreign }))).toMatchObject({
      code: 'replay.failed',
      reason: 'base_foreign',
    });
  }
  expect(codeOf(() => replay(store.records, { slices: [notes], base }))).toMatchObject({
    code: 'replay.failed',
    reason: 'base_foreign',
  });
});

test('the output of a schema is not validated again', () => {
  const store = memoryStore();
  const doubled = (): Slice<ListState<number>> =>
    defineSlice<number>({
      id: 'policy:doubled',
      kind: 'list',
      schema: v.pipe(
        v.number(),
        v.transform((n) => n * 2),
      ),
      reducers: {},
    });
  const summed = defineSlice<number>({
    id: 'summed',
    kind: 'list',
    schema: v.pipe(
      v.number(),
      v.transform((n) => n + 1),
    ),
    reducers: { summed: (_state, payload) => append(payload) },
  });
  const session = createSession({ slices: [summed], store });
  const other = createSession({ slices: [summed] });
  other.dispatch({ type: 'summed', payload: 10 });
  session.import(other.export());
  const [first, second] = [session.begin(), session.begin()];
  for (const transaction of [first, second]) {
    transaction.apply(doubled(), [append(1)]);
    transaction.dispatch({ type: 'summed', payload: 1 });
    commit(transaction);
  }
  const states = [session.read(doubled()).toArray(), session.read(summed).toArray()];
  expect(states).toEqual([
    [2, 2],
    [12, 2, 2],
  ]);
  const rebuilt = replay(store.records, { slices: [summed, doubled()] });
  expect([rebuilt.read(doubled()).toArray(), rebuilt.read(summed).toArray()]).toEqual(states);
});

test('restoring 1,000 times keeps each state once, by reference', () => {
  const { session, store } = start();
  for (let index = 0; index < 1_000; index += 1) {
    const before = session.snapshot();
    session.dispatch(note(String(index)));
    if (index % 2 === 0) session.restore(before);
  }
  const rebuilt = replay(store.records, { slices: [notes] });
  expect(rebuilt.read(notes).toArray()).toEqual(session.read(notes).toArray());
  expect(rebuilt.read(notes).size).toBe(500);
});
