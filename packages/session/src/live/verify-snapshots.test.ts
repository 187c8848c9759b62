import { append, defineSlice, type Json, replace } from '@holdfast/core';
import { expect, test } from 'vitest';
import {
  createSession,
  type LogEntry,
  type LogRecord,
  memoryStore,
  replay,
  type Session,
  verifySnapshots,
} from '../index.ts';
import { toRedactor } from '../redact.ts';

const notes = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { noted: (_state, payload) => append(payload) },
});
const total = defineSlice<number>({
  id: 'total',
  kind: 'value',
  initial: 0,
  reducers: { noted: (state) => replace(state + 1) },
});
const slices = [notes, total];
const policy = defineSlice<Json>({ id: 'policy', kind: 'value', initial: null, reducers: {} });

/** A store that asks for a snapshot after every third record. */
function storeWithSnapshots(begin: readonly LogRecord[] = []) {
  const memory = memoryStore(begin);
  let since = 0;
  return {
    ...memory,
    get snapshotDue() {
      return since >= 3;
    },
    append(entry: LogEntry, seq: number, atMs: number) {
      since = entry.type === 'snapshot' ? 0 : since + 1;
      memory.append(entry, seq, atMs);
    },
  };
}

function work(session: Session): void {
  session.record({ type: 'tool-call-start', callId: 'a', name: 'send', input: {}, repeat: 'never' });
  for (let number = 0; number < 9; number += 1) {
    session.dispatch({ type: 'noted', payload: `note ${number}` });
    const transaction = session.begin();
    transaction.apply(policy, [replace({ number })]);
    transaction.commit({ type: 'event', events: [], changes: transaction.changes });
  }
}

function writeLog(): readonly LogRecord[] {
  const store = storeWithSnapshots();
  const session = createSession({ id: 's', slices, store });
  work(session);
  return [...store.read()];
}

const numbersOf = (records: readonly LogRecord[]): readonly number[] =>
  records.filter(({ type }) => type === 'snapshot').map(({ seq }) => seq);

test('snapshots match the records before them', () => {
  const records = writeLog();
  const count = numbersOf(records).length;
  expect(count).toBeGreaterThan(4);
  expect(verifySnapshots(records, { slices })).toEqual({ compared: count, unchecked: [] });
  // The comparison starts from the first snapshot.
  expect(verifySnapshots(records.slice(numbersOf(records)[1]), { slices })).toEqual({
    compared: count - 2,
    unchecked: [],
  });
});

test('slices without a passed definition are reported as unchecked', () => {
  const records = writeLog();
  const compared = numbersOf(records).length;
  expect(verifySnapshots(records)).toEqual({ compared, unchecked: ['notes', 'total'] });
  expect(verifySnapshots(records, { slices: [total] })).toEqual({ compared, unchecked: ['notes'] });
});

test('interrupted work counts as the same work', () => {
  const records = writeLog();
  const again = replay(records, { slices, store: storeWithSnapshots(records) });
  for (let number = 0; number < 6; number += 1) again.dispatch({ type: 'noted', payload: 'more' });
  const all = [...again.records()];
  expect(JSON.stringify(all.findLast(({ type }) => type === 'snapshot'))).toContain('"interrupted":true');
  expect(verifySnapshots(all, { slices }).problem).toBeUndefined();
});

type Snapshot = { readonly [field: string]: Json; readonly slices: readonly { readonly [field: string]: Json }[] };

test.each<[string, (snapshot: Snapshot) => object, string | undefined]>([
  ['of another session', () => ({ sessionId: 'other' }), undefined],
  ['of a fork', () => ({ forkedFrom: { sessionId: 'other', seq: 1 } }), undefined],
  [
    'with another item',
    ({ slices: [first, ...rest] }) => ({ slices: [{ ...first, state: ['mine'] }, ...rest] }),
    'notes',
  ],
  [
    'with a decreased counter',
    ({ slices: [first, second, ...rest] }) => ({ slices: [first, { ...second, state: 0 }, ...rest] }),
    'total',
  ],
  ["with another policy's state", ({ slices: all }) => ({ slices: all.with(2, { ...all[2], state: {} }) }), 'policy'],
  ['with a slice less', ({ slices: all }) => ({ slices: all.slice(1) }), 'notes'],
  ['with a slice more', ({ slices: all }) => ({ slices: [...all, { ...all[2], id: 'mine' }] }), 'mine'],
  ['without open work', () => ({ open: { runs: [], calls: [] } }), undefined],
  ['with invalid slices', () => ({ slices: null }), 'notes'],
])('log.damaged: snapshot: one %s', (_what, change, slice) => {
  const records = writeLog();
  const [, , at = 0] = numbersOf(records);
  const changed = records.map((record) =>
    record.seq === at ? ({ ...record, ...change(record as unknown as Snapshot) } as LogRecord) : record,
  );
  expect(verifySnapshots(changed, { slices }).problem).toEqual({
    code: 'log.damaged',
    reason: 'snapshot',
    seq: at,
    ...(slice !== undefined && { slice }),
    message: expect.stringMatching(
      /^The snapshot \d+ differs from the records.*It was changed afterwards, or a reducer is not pure\.$/,
    ),
  });
});

test('log.damaged: snapshot: an impure reducer', () => {
  let calls = 0;
  const impure = defineSlice<number>({
    id: 'impure',
    kind: 'value',
    initial: 0,
    reducers: {
      noted: () => {
        calls += 1;
        return replace(calls);
      },
    },
  });
  const store = storeWithSnapshots();
  work(createSession({ slices: [notes, impure], store }));
  const records = [...store.read()];
  expect(verifySnapshots(records, { slices: [notes, impure] }).problem).toMatchObject({
    code: 'log.damaged',
    reason: 'snapshot',
    slice: 'impure',
  });
});

test('a secret learned later is masked in a snapshot, and counts as equal', () => {
  let secret = 'nothing yet';
  const mask = (text: string): string => text.replaceAll(secret, '[redacted:0123456789ab]');
  const redactor = toRedactor({
    redact: (json: Json): Json => JSON.parse(mask(JSON.stringify(json))) as Json,
    learn: (learned: string): void => {
      secret = learned;
    },
  });
  const store = storeWithSnapshots();
  const session = createSession({ slices, store, redactor });
  session.dispatch({ type: 'noted', payload: 'the word is swordfish' });
  redactor.learn('swordfish');
  work(session);
  const records = [...store.read()];
  expect(JSON.stringify(records.find(({ type }) => type === 'snapshot'))).toContain('the word is [redacted:');
  expect(verifySnapshots(records, { slices }).problem).toBeUndefined();
});

test('a fork is compared from its beginning with its origin, or else from its first snapshot', () => {
  const origin = createSession({ id: 'origin', slices });
  work(origin);
  const store = storeWithSnapshots();
  const fork = origin.fork({ store });
  work(fork);
  const records = [...store.read()];
  const count = numbersOf(records).length;
  expect(verifySnapshots(records, { slices, base: origin })).toEqual({ compared: count, unchecked: [] });
  expect(verifySnapshots(records, { slices })).toEqual({ compared: count - 1, unchecked: [] });
});

test('records that cannot be replayed fail as in replay', () => {
  expect(() => verifySnapshots([])).toThrow(expect.objectContaining({ code: 'replay.failed', reason: 'record' }));
  expect(() => verifySnapshots(writeLog().toSpliced(3, 1))).toThrow(
    expect.objectContaining({ code: 'replay.failed', data: { reason: 'record', seq: 3 } }),
  );
});
