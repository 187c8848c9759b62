import type { Json } from '@holdfast/core';
import { expect, test } from 'vitest';
import { createSession, type LogEntry, type LogRecord, memoryStore, replay, type SessionStore } from '../index.ts';
import { OpenWorkLedger } from './open-work.ts';

const place = { run: 1, turn: 2 };
const pendingOf = (callId: string, digest: string, more: { readonly [field: string]: Json } = place): LogEntry => ({
  type: 'approval-request',
  pending: { callId, name: 'send', input: { to: 'ada' }, dangerous: false, asks: [], digest, ...more },
});
const answerTo = (callId: string, digest: string, type = 'approve'): LogEntry => ({
  type: 'approval-answer',
  callId,
  ...place,
  digest,
  answer: { type },
  by: 'ada',
});
const startOf = (callId: string, repeat: string, more: { readonly [field: string]: Json } = place): LogEntry => ({
  type: 'tool-call-start',
  callId,
  name: 'send',
  input: {},
  repeat,
  ...more,
});
const endOf = (callId: string, more: { readonly [field: string]: Json } = place): LogEntry => ({
  type: 'tool-call-end',
  callId,
  ...more,
});
const run = (type: string, status?: string): LogEntry => ({
  type,
  run: 1,
  ...(status === undefined ? {} : { status }),
});

function ledgerOf(...entries: readonly LogEntry[]): OpenWorkLedger {
  const ledger = new OpenWorkLedger();
  for (const [seq, entry] of entries.entries()) ledger.note(entry, seq, seq * 10);
  return ledger;
}

test('a question is open until answered, and its call until it ends', () => {
  const asked = [run('run-start'), pendingOf('a', 'd1'), run('run-end', 'suspended')];
  expect(ledgerOf(...asked).read()).toMatchObject({
    runs: [{ run: 1, seq: 0, suspended: true }],
    calls: [{ callId: 'a', name: 'send', run: 1, turn: 2, approvals: [{ pending: { digest: 'd1' }, askedAtMs: 10 }] }],
  });
  const answered = ledgerOf(...asked, answerTo('a', 'd1'));
  expect(answered.read().calls).toMatchObject([
    { approvals: [{ answer: { type: 'approve' }, answeredAtMs: 30, answeredBy: 'ada' }] },
  ]);
  expect(ledgerOf(...asked, answerTo('a', 'd1'), run('run-resume'), endOf('a')).read()).toMatchObject({
    runs: [{ suspended: false }],
    calls: [],
  });
});

test('an answer to another question is ignored, and each question has one answer', () => {
  const ledger = ledgerOf(
    pendingOf('a', 'd1'),
    pendingOf('a', 'd2'),
    answerTo('a', 'd1', 'deny'),
    answerTo('a', 'd1'),
    answerTo('a', 'd3'),
    answerTo('b', 'd1'),
  );
  expect(ledger.read().calls).toMatchObject([
    {
      callId: 'a',
      approvals: [{ pending: { digest: 'd1' }, answer: { type: 'deny' } }, { pending: { digest: 'd2' } }],
    },
  ]);
  expect(ledger.read().calls[0]?.approvals[1]).not.toHaveProperty('answer');
});

test('a reader cannot change a question', () => {
  const ledger = ledgerOf(pendingOf('a', 'd1'));
  const [call] = ledger.read().calls;
  expect(() => Object.assign(call?.approvals[0]?.pending.input as object, { to: 'eve' })).toThrow(TypeError);
  const handedOut = (call?.approvals ?? []) as unknown[];
  expect(() => handedOut.pop()).toThrow(TypeError);
  expect(() => (ledger.read().calls as unknown[]).pop()).toThrow(TypeError);
  expect(ledger.read().calls[0]?.approvals).toHaveLength(1);
});

test('equal ids in two turns, or of a direct call, are different calls', () => {
  const direct = { rawArguments: '{}' };
  const ledger = ledgerOf(
    startOf('a', 'never'),
    startOf('a', 'never', { run: 1, turn: 3 }),
    startOf('a', 'never', direct),
    endOf('a', {}),
  );
  expect(ledger.read().calls.map(({ run, turn }) => [run, turn])).toEqual([
    [1, 2],
    [1, 3],
  ]);
});

test.each([
  { nested: 'never', repeat: 'never' },
  { nested: 'keyed', repeat: 'keyed' },
  { nested: undefined, repeat: 'never' },
])('a nested call with repeat `$nested` makes the outer call `$repeat`', ({ nested, repeat }) => {
  const inner = startOf('a/1', nested ?? 'never', { parentId: 'a' });
  if (nested === undefined) delete (inner as Record<string, unknown>)['repeat'];
  for (const entry of [
    inner,
    { type: 'child-record', callId: 'a', sessionId: 's/a/child_1', childSeq: 0, entry: inner },
  ]) {
    const ledger = ledgerOf(startOf('b', 'safe'), startOf('a', 'keyed'), entry);
    expect(ledger.read().calls.map(({ callId, start }) => [callId, start?.repeat])).toEqual([
      ['b', 'safe'],
      ['a', repeat],
    ]);
  }
});

test('nested questions and ends open no calls', () => {
  const ledger = ledgerOf(
    startOf('a', 'keyed'),
    pendingOf('a/1', 'd', { parentId: 'a' }),
    endOf('a/1', { ...place, parentId: 'a' }),
    // A model may choose the id of a nested call.
    endOf('a', { ...place, parentId: 'b' }),
  );
  expect(ledger.read().calls.map(({ callId }) => callId)).toEqual(['a']);
});

test('a run that ends closes its own calls', () => {
  const other = { run: 5, turn: 1 };
  const ledger = ledgerOf(run('run-start'), pendingOf('a', 'd'), pendingOf('b', 'd', other), run('run-end', 'aborted'));
  expect(ledger.read()).toMatchObject({ runs: [], calls: [{ callId: 'b' }] });
});

const plan = (type: string, more: { readonly [field: string]: Json } = {}): LogEntry => ({ type, plan: 3, ...more });
const begun = plan('plan-start', { digest: 'd', document: { nodes: [] } });
const direct: { readonly [field: string]: Json } = {};

test.each<{ what: string; entries: readonly LogEntry[]; plans: unknown; calls?: readonly string[] }>([
  { what: 'has begun', entries: [begun], plans: [{ run: 3, seq: 0, suspended: false, digest: 'd' }] },
  {
    what: 'waits',
    entries: [begun, pendingOf('plan_3_a', 'd1', direct), plan('plan-end', { status: 'suspended' })],
    plans: [{ run: 3, seq: 0, suspended: true, digest: 'd' }],
    calls: ['plan_3_a'],
  },
  {
    what: 'goes on',
    entries: [begun, plan('plan-end', { status: 'suspended' }), plan('plan-resume')],
    plans: [{ run: 3, seq: 0, suspended: false, digest: 'd' }],
  },
  {
    what: 'has ended, with only its own calls',
    entries: [
      begun,
      { ...begun, plan: 33 },
      startOf('plan_3_a', 'never', direct),
      pendingOf('plan_3_b', 'd1', direct),
      pendingOf('plan_33_a', 'd2', direct),
      startOf('plan_3', 'never', direct),
      startOf('plan_3_c', 'never'),
      plan('plan-end', { status: 'failed' }),
    ],
    plans: [{ run: 33, seq: 1, suspended: false, digest: 'd' }],
    calls: ['plan_33_a', 'plan_3', 'plan_3_c'],
  },
  {
    what: 'does not belong to this log',
    entries: [
      plan('plan-end', { status: 'failed' }),
      plan('plan-resume'),
      { type: 'plan-start', plan: 'x', digest: 'd' },
      { type: 'child-record', callId: 'a', sessionId: 'c', childSeq: 0, entry: begun },
    ],
    plans: [],
  },
])('a plan that $what', ({ entries, plans, calls = [] }) => {
  const open = ledgerOf(...entries).read();
  expect(open.plans).toEqual(plans);
  expect(open.calls.map(({ callId }) => callId)).toEqual(calls);
  const json = JSON.parse(JSON.stringify(ledgerOf(...entries).toJson())) as Json;
  expect(OpenWorkLedger.fromJson(json).read()).toEqual(open);
});

test('a snapshot from before plans is readable, and one without plans has the same form', () => {
  const before: Json = { runs: [{ run: 1, seq: 0, suspended: true }], calls: [] };
  const ledger = OpenWorkLedger.fromJson(before);
  expect(ledger.read()).toEqual({ ...before, plans: [] });
  expect(JSON.stringify(ledger.toJson())).toBe(JSON.stringify(before));
  ledger.note(begun, 5, 50);
  expect(ledger.read().plans).toMatchObject([{ run: 3, seq: 5 }]);
});

test("a person's statement about an effect is kept with the call", () => {
  const resolution = { type: 'done', value: 1 };
  const ledger = ledgerOf(startOf('a', 'never'), { type: 'call-resolution', callId: 'a', ...place, resolution });
  expect(ledger.read().calls).toMatchObject([{ callId: 'a', resolution }]);
});

test('a statement about an earlier call does not apply to a new one with its id', () => {
  const resolution = { type: 'call-resolution', callId: 'a', ...place, resolution: { type: 'not-done' } };
  const ledger = ledgerOf(pendingOf('a', 'd1'), resolution, startOf('a', 'never'));
  expect(ledger.read().calls[0]).not.toHaveProperty('resolution');
});

const change = (item: number): Json => ({ slice: 'policy:a', op: 'upsert', key: 'k', item });
const reserving = (callId: string, item: number, more: { readonly [field: string]: Json } = place): LogEntry =>
  startOf(callId, 'never', { ...more, reserved: [change(item)] });
const nestedIn = (parentId: string) => ({ ...place, parentId });
const endedAs = (callId: string, kind: string): LogEntry => endOf(callId, { ...nestedIn('a'), outcome: { kind } });
const reservedIn = (...entries: readonly LogEntry[]) =>
  ledgerOf(...entries)
    .read()
    .calls.map(({ callId, start }) => [callId, start?.reserved?.map((each) => [each.callId, each.changes])]);

test.each<{ what: string; entries: readonly LogEntry[]; reserved: unknown }>([
  { what: 'nothing', entries: [startOf('a', 'never')], reserved: undefined },
  { what: 'its own', entries: [reserving('a', 1)], reserved: [['a', [change(1)]]] },
  { what: 'no list', entries: [startOf('a', 'never', { ...place, reserved: 5 })], reserved: undefined },
  {
    what: 'its changes of the latest start',
    entries: [reserving('a', 1), reserving('a', 2)],
    reserved: [['a', [change(2)]]],
  },
  {
    what: 'its earlier changes, if the latest start has none',
    entries: [reserving('a', 1), startOf('a', 'never')],
    reserved: [['a', [change(1)]]],
  },
  {
    what: 'the changes of nested calls that may have taken effect',
    entries: [
      startOf('a', 'never'),
      reserving('a/1', 1, nestedIn('a')),
      endedAs('a/1', 'ok'),
      reserving('a/2', 2, nestedIn('a')),
      endedAs('a/2', 'in-doubt'),
      reserving('a/3', 3, nestedIn('a')),
      endedAs('a/3', 'failed'),
      reserving('a/4', 4, nestedIn('a')),
      reserving('a/4/1', 5, nestedIn('a/4')),
    ],
    reserved: [
      ['a/1', [change(1)]],
      ['a/2', [change(2)]],
      ['a/4', [change(4)]],
      ['a/4/1', [change(5)]],
    ],
  },
  {
    what: 'nothing of another run, a child session, or a similar id',
    entries: [
      startOf('a', 'never'),
      reserving('a/1', 1, { ...nestedIn('a'), run: 7 }),
      reserving('ab/1', 2, nestedIn('ab')),
      { type: 'child-record', callId: 'a', sessionId: 'c', childSeq: 0, entry: reserving('a/1', 3, { parentId: 'a' }) },
    ],
    reserved: undefined,
  },
])('a call reserves $what', ({ entries, reserved }) => {
  expect(reservedIn(...entries)).toEqual([['a', reserved]]);
  const json = JSON.parse(JSON.stringify(ledgerOf(...entries).toJson())) as Json;
  expect(OpenWorkLedger.fromJson(json).read()).toEqual(ledgerOf(...entries).read());
});

test.each([5, [5], [{ callId: 'a' }], { callId: 'a', changes: [] }])(
  'a snapshot with invalid reservations is rejected: %j',
  (reserved) => {
    const start = { atMs: 0, input: null, repeat: 'never', interrupted: false, reserved };
    const open = { runs: [], calls: [{ callId: 'a', name: 'send', approvals: [], start }] };
    const snapshot = { type: 'snapshot', seq: 0, atMs: 0, sessionId: 's', slices: [], open } as LogRecord;
    expect(() => replay([snapshot])).toThrow(expect.objectContaining({ code: 'replay.failed', reason: 'record' }));
  },
);

test.each([
  null,
  5,
  {},
  { runs: [], calls: {} },
  { runs: [1], calls: [] },
  { runs: [], calls: [{ callId: 'a' }] },
  { runs: [], plans: [5], calls: [] },
])('a snapshot with invalid open work is rejected: %j', (open) => {
  const snapshot = { type: 'snapshot', seq: 0, atMs: 0, sessionId: 's', slices: [], open } as LogRecord;
  expect(() => replay([snapshot])).toThrow(expect.objectContaining({ code: 'replay.failed', reason: 'record' }));
});

test('a replay and a snapshot have the same open work, marked as interrupted', () => {
  const store = memoryStore();
  const clock = { now: () => 7, after: () => () => undefined };
  const session = createSession({ id: 's', store, clock });
  for (const entry of [run('run-start'), startOf('x', 'never'), pendingOf('a', 'd1'), answerTo('a', 'd1')]) {
    session.record(entry);
  }
  const live = session.openWork();
  expect(live.calls[0]?.start?.interrupted).toBe(false);
  const again = replay(store.records, { store, clock }).openWork();
  expect(again.calls[0]?.start?.interrupted).toBe(true);
  const begun = live.calls[0]?.start;
  expect(again).toEqual({
    ...live,
    calls: [{ ...live.calls[0], start: { ...begun, interrupted: true } }, live.calls[1]],
  });

  const ledger = ledgerOf(run('run-start'), startOf('x', 'never'), pendingOf('a', 'd1'));
  const json: Json = JSON.parse(JSON.stringify(ledger.toJson()));
  expect(OpenWorkLedger.fromJson(json).read()).toEqual(ledger.read());
  const asked = OpenWorkLedger.fromJson(json).find({ callId: 'a', ...place });
  expect(() => Object.assign(asked?.approvals[0]?.pending ?? {}, { name: 'other' })).toThrow(TypeError);
  const restored = OpenWorkLedger.fromJson(json);
  restored.note(answerTo('a', 'd1'), 9, 9);
  expect(restored.read().calls[1]).toMatchObject({ approvals: [{ answer: { type: 'approve' } }] });
});

test('records are read from the store; an unreadable store throws', () => {
  const session = createSession({ id: 's' });
  session.record({ type: 'one' });
  session.record({ type: 'two' });
  expect([...session.records(1)].map(({ type, seq }) => [type, seq])).toEqual([
    ['one', 1],
    ['two', 2],
  ]);
  const blind: SessionStore = { append: () => undefined, close: () => undefined };
  expect(() => createSession({ store: blind }).records()).toThrow(
    expect.objectContaining({ code: 'log.unreadable', reason: 'unsupported' }),
  );
});

test('a memory store has one writer', () => {
  const store = memoryStore();
  const session = createSession({ id: 's', store });
  const second = replay(store.records, { store });
  session.record({ type: 'mine' });
  expect(() => second.record({ type: 'mine too' })).toThrow(
    expect.objectContaining({ code: 'log.write_failed', reason: 'sequence' }),
  );
  expect(store.records).toHaveLength(2);
});
