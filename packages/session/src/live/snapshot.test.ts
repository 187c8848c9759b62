import { append, defineSlice, type Json, replace, upsert } from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { createSession, type LogEntry, type LogRecord, memoryStore, replay, type SessionStore } from '../index.ts';

const notes = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { noted: (_state, payload) => append(payload) },
});
const diary = defineSlice<string>({
  id: 'diary',
  kind: 'keyed',
  retention: 'log',
  reducers: { happened: (state, payload) => upsert(String(payload), state.size) },
});
const slices = [notes, diary];

/** Asks for a snapshot at the given rate. */
function askingStore(begin: readonly LogRecord[] = []): {
  readonly store: SessionStore;
  readonly ask: () => void;
  readonly records: () => readonly LogRecord[];
} {
  const memory = memoryStore(begin);
  let due = false;
  const store: SessionStore = {
    ...memory,
    get snapshotDue() {
      return due;
    },
    append(entry, seq, atMs) {
      if (entry.type === 'snapshot') due = false;
      memory.append(entry, seq, atMs);
    },
  };
  return {
    store,
    ask: () => {
      due = true;
    },
    records: () => memory.records,
  };
}

const typesOf = (records: readonly LogRecord[]): readonly string[] => records.map(({ type }) => type);

test('a snapshot follows the record after which the store asks for it, and holds the full state', () => {
  const { store, ask, records } = askingStore();
  const session = createSession({ id: 's', slices, store });
  const told: string[] = [];
  session.subscribe(({ type }) => told.push(type));
  session.dispatch({ type: 'noted', payload: 'one' });
  ask();
  session.dispatch({ type: 'noted', payload: 'two' });
  session.dispatch({ type: 'happened', payload: 'x' });
  expect(typesOf(records())).toEqual(['session-start', 'event', 'event', 'snapshot', 'event']);
  expect(told).toEqual(['event', 'event', 'snapshot', 'event']);
  expect(records()[3]).toEqual({
    seq: 3,
    atMs: expect.any(Number),
    type: 'snapshot',
    sessionId: 's',
    nonce: expect.stringMatching(/^[0-9a-f]{16}$/),
    slices: [
      { id: 'notes', kind: 'list', retention: 'state', events: ['noted'], state: ['one', 'two'] },
      { id: 'diary', kind: 'keyed', retention: 'log', events: ['happened'], state: [] },
    ],
    open: { runs: [], calls: [] },
  });
  const again = replay(records().slice(3), { slices });
  expect(again.export()).toEqual(session.export());
  expect(again.snapshot()).toMatchObject({ sessionId: 's', seq: 5 });
  again.dispatch({ type: 'noted', payload: 'three' });
  expect(again.read(notes).toArray()).toEqual(['one', 'two', 'three']);
  expect([...again.records()].map(({ seq }) => seq)).toEqual([3, 4, 5]);
});

test('it holds no uncommitted change', () => {
  const { store, ask, records } = askingStore();
  const session = createSession({ slices, store });
  const outer = session.begin();
  outer.dispatch({ type: 'noted', payload: 'outer' });
  const inner = outer.begin();
  inner.dispatch({ type: 'noted', payload: 'inner' });
  ask();
  inner.commit({ type: 'tool-call-end', events: inner.events.map((event) => ({ ...event })) });
  expect(records().at(-1)).toMatchObject({ type: 'snapshot', slices: [{ state: [] }, {}] });
  outer.commit({ type: 'tool-call-end', events: outer.events.map((event) => ({ ...event })) });
  expect(replay(records().slice(-2), { slices }).read(notes).toArray()).toEqual(['outer', 'inner']);
});

test('undeclared slices are declared before it', () => {
  const { store, ask, records } = askingStore();
  const session = createSession({ store });
  ask();
  session.subscribe(({ type }) => {
    if (type === 'note') session.read(notes);
  });
  session.record({ type: 'note' });
  expect(typesOf(records())).toEqual(['session-start', 'note', 'slice', 'snapshot']);
  expect(replay(records().slice(3), { slices: [notes] }).read(notes).size).toBe(0);
});

test('open work is open again', () => {
  const { store, ask, records } = askingStore();
  const session = createSession({ store });
  session.record({ type: 'run-start', run: 1 });
  session.record({ type: 'plan-start', plan: 2, digest: 'd', document: { nodes: [] } });
  session.record({ type: 'tool-call-start', callId: 'a', run: 1, turn: 0, name: 'send', input: {}, repeat: 'never' });
  ask();
  session.record({ type: 'note' });
  session.record({ type: 'tool-call-start', callId: 'b', run: 1, turn: 0, name: 'send', input: {}, repeat: 'safe' });
  const all = replay(records()).openWork();
  expect(all.calls.map(({ callId }) => callId)).toEqual(['a', 'b']);
  expect(all.plans).toEqual([{ run: 2, seq: 2, suspended: false, digest: 'd' }]);
  expect(replay(records().slice(-2)).openWork()).toEqual(all);
});

test('a restore to before a snapshot records the restored states', () => {
  const { store, ask, records } = askingStore();
  const session = createSession({ slices, store });
  session.dispatch({ type: 'noted', payload: 'one' });
  session.dispatch({ type: 'happened', payload: 'x' });
  const before = session.snapshot();
  ask();
  session.dispatch({ type: 'noted', payload: 'two' });
  const after = session.snapshot();
  session.dispatch({ type: 'happened', payload: 'y' });
  session.restore(before);
  expect(records().at(-1)).toMatchObject({ type: 'restore', toSeq: 3, slices: [{ id: 'notes', state: ['one'] }] });
  expect(records().at(-1)?.['slices']).toHaveLength(1);
  session.restore(after);
  expect(records().at(-1)).not.toHaveProperty('slices');
  session.restore(before);
  for (const from of [0, 4]) {
    const again = replay(records().slice(from), { slices });
    expect(again.export()).toEqual(session.export());
    // Also in a reopened session.
    again.restore(after);
    again.restore(before);
    expect(again.read(notes).toArray()).toEqual(['one']);
  }
});

test('a state taken between a record and its snapshot precedes the snapshot', () => {
  const { store, ask, records } = askingStore();
  const session = createSession({ slices, store });
  let between = session.snapshot();
  session.subscribe(({ type }) => {
    if (type === 'event') between = session.snapshot();
  });
  ask();
  session.dispatch({ type: 'noted', payload: 'one' });
  expect(typesOf(records())).toEqual(['session-start', 'event', 'snapshot']);
  session.reset();
  session.restore(between);
  expect(replay(records().slice(2), { slices }).read(notes).toArray()).toEqual(['one']);
});

test('a fork is replayed from its snapshot without its origin, and from its beginning with it', () => {
  const origin = createSession({ id: 'origin', slices });
  origin.dispatch({ type: 'noted', payload: 'one' });
  const { store, ask, records } = askingStore();
  const fork = origin.fork({ id: 'fork', store });
  fork.dispatch({ type: 'noted', payload: 'two' });
  ask();
  fork.dispatch({ type: 'noted', payload: 'three' });
  const fromSnapshot = records().slice(3);
  expect(fromSnapshot[0]).toMatchObject({ type: 'snapshot', forkedFrom: { sessionId: 'origin', seq: 2 } });
  expect(replay(fromSnapshot, { slices }).export()).toEqual(fork.export());
  expect(replay(fromSnapshot, { slices, base: origin }).export()).toEqual(fork.export());
  expect(() => replay(records(), { slices })).toThrow(
    expect.objectContaining({ code: 'replay.failed', reason: 'base_missing' }),
  );
  // The next snapshot records the origin, too.
  const next = askingStore(fromSnapshot);
  const again = replay(fromSnapshot, { slices, store: next.store });
  next.ask();
  again.record({ type: 'note' });
  expect(next.records().at(-1)).toMatchObject({ forkedFrom: { sessionId: 'origin', seq: 2 } });
});

test('a snapshot with missing or different definitions is rejected like a log', () => {
  const { store, ask, records } = askingStore();
  const session = createSession({ slices: [notes], store });
  ask();
  session.record({ type: 'note' });
  const from = records().slice(2);
  expect(() => replay(from)).toThrow(expect.objectContaining({ code: 'replay.failed', reason: 'slice_missing' }));
  const other = defineSlice<string>({
    id: 'notes',
    kind: 'value',
    initial: '',
    reducers: { noted: () => replace('') },
  });
  expect(() => replay(from, { slices: [other] })).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'conflict' }),
  );
});

test("a policy's state from a snapshot is validated when the policy first reads it", () => {
  const { store, ask, records } = askingStore();
  const session = createSession({ store });
  const transaction = session.begin();
  transaction.apply(defineSlice<Json>({ id: 'policy', kind: 'value', initial: 0, reducers: {} }), [replace('x')]);
  ask();
  transaction.commit({ type: 'event', events: [], changes: transaction.changes });
  const again = replay(records().slice(-1));
  const strict = defineSlice({ id: 'policy', kind: 'value', initial: 0, schema: v.number(), reducers: {} });
  expect(() => again.read(strict)).toThrow(expect.objectContaining({ code: 'slice.invalid', reason: 'value.invalid' }));
  expect(again.read(defineSlice<Json>({ id: 'policy', kind: 'value', initial: 0, reducers: {} }))).toBe('x');
});

test('a failed snapshot breaks no call: it is logged, and not retried within the write', () => {
  const memory = memoryStore();
  let attempts = 0;
  const store: SessionStore = {
    ...memory,
    // A store that never stops asking.
    snapshotDue: true,
    append(entry, seq, atMs) {
      if (entry.type === 'snapshot') {
        attempts += 1;
        throw new Error('too much');
      }
      memory.append(entry, seq, atMs);
    },
  };
  const session = createSession({ slices, store });
  session.dispatch({ type: 'noted', payload: 'one' });
  expect(attempts).toBe(2);
  expect(typesOf(memory.records)).toEqual(['session-start', 'snapshot-failed', 'event', 'snapshot-failed']);
  expect(memory.records.at(-1)).toMatchObject({ message: expect.stringContaining('too much') });
  expect(replay(memory.records, { slices }).read(notes).toArray()).toEqual(['one']);
});

test('session.invalid: record.reserved: only the session writes snapshots', () => {
  expect(() => createSession().record({ type: 'snapshot' })).toThrow(
    expect.objectContaining({ code: 'session.invalid', reason: 'record.reserved' }),
  );
});

test.each<[string, (records: readonly LogRecord[]) => readonly LogRecord[], number]>([
  ['begins with neither a start nor a snapshot', (records) => records.slice(1), 1],
  ['lacks a record after its snapshot', (records) => [...records.slice(2, 3), ...records.slice(4)], 3],
  ['has a snapshot that names no slices', (records) => [{ ...records[2], slices: null } as unknown as LogRecord], 2],
])('replay.failed: record: a log that %s', (_what, change, seq) => {
  const { store, ask, records } = askingStore();
  const session = createSession({ store });
  ask();
  const note: LogEntry = { type: 'note' };
  for (let count = 0; count < 3; count += 1) session.record(note);
  expect(typesOf(records())).toEqual(['session-start', 'note', 'snapshot', 'note', 'note']);
  expect(() => replay(change(records()))).toThrow(
    expect.objectContaining({ code: 'replay.failed', data: { reason: 'record', seq } }),
  );
});
