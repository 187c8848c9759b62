import { append, defineSlice, type Json, type Outcome, type Slice, upsert } from '@holdfast/core';
import { expect, test } from 'vitest';
import { createSession, explainCall, type LogEntry, type LogRecord, memoryStore, type Session } from '../index.ts';

const notes: Slice = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { 'note-added': (_state, payload) => append(payload) },
});
const seen: Slice = defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', reducers: {} });

function start() {
  const store = memoryStore();
  const clock = { now: () => 7, after: () => () => undefined };
  const session = createSession({ id: 's', slices: [notes], store, clock });
  return { session, explain: (callId: string) => explainCall(store.records, callId) };
}

interface Fields {
  readonly [field: string]: Json;
}

function outcome(callId: string, kind: Outcome['kind']): Fields {
  return { kind, callId, name: 'write', code: kind, message: '', value: null, rendered: '', text: '' };
}

function endOf(callId: string, kind: Outcome['kind'], more: Fields = {}): LogEntry {
  return {
    type: 'tool-call-end',
    callId,
    name: 'write',
    rawArguments: '{}',
    decisions: [{ policy: 'host/p', type: 'allow' }],
    outcome: outcome(callId, kind),
    events: [],
    writes: [],
    startedAtMs: 7,
    durationMs: 0,
    ...more,
  };
}

function message(turn: number, ...ids: readonly string[]): LogEntry {
  const calls = ids.map((id) => ({ id, name: 'write', arguments: `{"of":"${id}"}` }));
  return { type: 'model-message', turn, text: `turn ${turn}`, calls, reason: 'tool-calls' };
}

function request(callId: string, policy: string): LogEntry {
  const asks = [{ policy, type: 'ask', reason: `${policy} wants to know` }];
  return { type: 'approval-request', pending: { callId, name: 'write', input: {}, dangerous: false, asks } };
}

/** Mimics `child()`: its records are wrapped in records of the surrounding session. */
function childOf(session: Session, callId: string, sessionId: string): Session {
  return createSession({
    id: sessionId,
    slices: [notes],
    store: {
      append: (entry: LogEntry, seq) =>
        session.record({ type: 'child-record', callId, sessionId, childSeq: seq, entry }),
      close: () => undefined,
    },
  });
}

test("explains a call completely, from the model's message to its late result", () => {
  const { session, explain } = start();
  session.record({ type: 'run-start' });
  session.record(message(1, 'other', 'c1'));
  session.record(request('c1', 'host/p'));
  session.record({ type: 'approval-answer', callId: 'c1', answer: { type: 'approve', grant: true } });
  session.record({ type: 'tool-call-start', callId: 'c1', name: 'write', input: { path: 'a' } });
  const decisions = [{ policy: 'host/p', type: 'allow', reason: 'Approved.' }];
  session.record(endOf('c1', 'in-doubt', { turn: 1, decisions, abandoned: true }));
  session.record(endOf('other', 'ok', { turn: 1 }));
  session.record({ type: 'tool-call-late', callId: 'c1', name: 'write', answer: 'returned', value: 5, atMs: 9 });
  session.record({ type: 'resource-apply-failed', callId: 'c1', message: 'disk' });
  session.record({ type: 'run-end' });

  const explained = explain('c1');
  expect(explained).toEqual({
    callId: 'c1',
    uses: [
      {
        callId: 'c1',
        name: 'write',
        status: 'ended',
        message: { seq: 2, turn: 1, text: 'turn 1', arguments: '{"of":"c1"}' },
        decisions,
        approvals: [
          {
            seq: 3,
            atMs: 7,
            asks: [{ policy: 'host/p', type: 'ask', reason: 'host/p wants to know' }],
            input: {},
            answer: { seq: 4, atMs: 7, answer: { type: 'approve', grant: true } },
          },
        ],
        start: { seq: 5, atMs: 7, input: { path: 'a' } },
        end: { seq: 6, atMs: 7, ...endOf('c1', 'in-doubt', { turn: 1, decisions, abandoned: true }) },
        late: { seq: 8, atMs: 9, type: 'tool-call-late', callId: 'c1', name: 'write', answer: 'returned', value: 5 },
        problems: [{ seq: 9, type: 'resource-apply-failed', message: 'disk' }],
        nested: [],
        changed: { kept: false, events: [], changes: [], writes: [] },
      },
    ],
  });
  expect(JSON.parse(JSON.stringify(explained))).toEqual(explained);
});

test.each(['nothing', '', '__proto__', 'constructor'])('an unknown id: %s', (callId) => {
  const { session, explain } = start();
  session.record(message(1, 'c1'));
  expect(explain(callId)).toBeUndefined();
});

test.each<[string, readonly LogEntry[]]>([
  ['asked', [message(1, 'c1')]],
  ['waiting', [message(1, 'c1'), request('c1', 'host/p')]],
  ['waiting', [request('c1', 'host/p'), { type: 'approval-answer', callId: 'c1', answer: { type: 'approve' } }]],
  ['begun', [message(1, 'c1'), { type: 'tool-call-start', callId: 'c1', name: 'write', input: {} }]],
  ['ended', [endOf('c1', 'ok')]],
])('a call that is %s', (status, entries) => {
  const { session, explain } = start();
  for (const entry of entries) session.record(entry);
  expect(explain('c1')?.uses).toMatchObject([{ status, name: 'write', changed: { kept: status === 'ended' } }]);
});

test('a reused id: each call has its own message, questions and end', () => {
  const { session, explain } = start();
  session.record(message(1, 'c1'));
  session.record(request('c1', 'first'));
  session.record({ type: 'approval-answer', callId: 'c1', answer: { type: 'deny', reason: 'no' } });
  session.record(endOf('c1', 'denied', { turn: 1 }));
  session.record(message(2, 'c1', 'c1'));
  session.record(endOf('c1', 'ok', { turn: 2 }));
  session.record(endOf('c1', 'invalid', { turn: 2 }));
  session.record(endOf('c1', 'failed'));
  session.record(message(1, 'c1'));
  session.record(message(2, 'c1'));
  const uses = explain('c1')?.uses ?? [];
  expect(uses.map(({ end, message: asked }) => [end?.outcome.kind, asked?.seq])).toEqual([
    ['denied', 1],
    ['ok', 5],
    ['invalid', 5],
    ['failed', undefined],
    [undefined, 9],
    [undefined, 10],
  ]);
  expect(uses.map(({ approvals }) => approvals.length)).toEqual([1, 0, 0, 0, 0, 0]);
  expect(uses[0]?.approvals[0]?.answer?.answer).toEqual({ type: 'deny', reason: 'no' });
});

test('asked by several policies in turn: every question keeps its answer', () => {
  const { session, explain } = start();
  for (const policy of ['first', 'second']) {
    session.record(request('c1', policy));
    session.record({ type: 'approval-answer', callId: 'c1', answer: { type: 'approve' } });
  }
  session.record(request('c1', 'third'));
  const [use] = explain('c1')?.uses ?? [];
  expect(use?.approvals.map(({ asks, answer }) => [asks[0]?.policy, answer?.answer.type])).toEqual([
    ['first', 'approve'],
    ['second', 'approve'],
    ['third', undefined],
  ]);
  expect(use?.decisions).toEqual([{ policy: 'third', type: 'ask', reason: 'third wants to know' }]);
});

test('the answer to a repeated question belongs to the last one', () => {
  const { session, explain } = start();
  session.record(request('c1', 'before'));
  session.record(request('c1', 'again'));
  session.record({ type: 'approval-answer', callId: 'c1', answer: { type: 'approve' } });
  expect(explain('c1')?.uses[0]?.approvals.map(({ answer }) => answer?.seq)).toEqual([undefined, 3]);
});

test('a late result belongs to the abandoned call, even if its id was reused', () => {
  const { session, explain } = start();
  session.record(endOf('c1', 'timed-out', { turn: 1, abandoned: true }));
  session.record(endOf('c1', 'ok', { turn: 2 }));
  session.record({ type: 'tool-call-late', callId: 'c1', name: 'write', answer: 'threw', message: 'x', atMs: 9 });
  expect(explain('c1')?.uses.map(({ late }) => late?.seq)).toEqual([3, undefined]);
});

test('nested calls at any depth, and which changes were kept', () => {
  const { session, explain } = start();
  for (const kind of ['failed', 'ok'] as const) {
    const parent = session.begin();
    const nested = parent.begin();
    const inner = nested.begin();
    inner.dispatch({ type: 'note-added', payload: kind });
    inner.apply(seen, [upsert('k', 1)]);
    const committed = (transaction: typeof inner): Fields => ({
      events: transaction.events.map((event) => ({ ...event })),
      changes: transaction.changes,
    });
    inner.commit(endOf('p/1/1', 'ok', { parentId: 'p/1', ...committed(inner) }));
    nested.commit(endOf('p/1', 'ok', { parentId: 'p', ...committed(nested) }));
    session.record(endOf('p/2', 'denied', { parentId: 'p' }));
    if (kind === 'ok') parent.commit(endOf('p', 'ok', committed(parent)));
    else session.record(endOf('p', 'failed'));
  }
  const [failed, done] = explain('p')?.uses ?? [];
  for (const [use, kept] of [
    [failed, false],
    [done, true],
  ] as const) {
    expect(use?.changed.kept).toBe(kept);
    expect(use?.nested).toMatchObject([
      { callId: 'p/1', parentId: 'p', changed: { kept }, nested: [{ callId: 'p/1/1', changed: { kept }, nested: [] }] },
      { callId: 'p/2', end: { outcome: { kind: 'denied' } }, changed: { kept: false }, nested: [] },
    ]);
  }
  expect(done?.changed.events).toEqual([{ type: 'note-added', payload: 'ok' }]);
  expect(done?.changed.changes).toEqual([{ slice: 'policy:seen', op: 'upsert', key: 'k', item: 1 }]);
  expect(explain('p/1/1')?.uses.map(({ changed }) => changed.kept)).toEqual([false, true]);
});

test('a call nested in a running call is listed as not kept', () => {
  const { session, explain } = start();
  session.record({ type: 'tool-call-start', callId: 'p', name: 'write', input: {} });
  const parent = session.begin();
  parent.begin().commit(endOf('p/1', 'ok', { parentId: 'p' }));
  expect(explain('p')?.uses).toMatchObject([
    { status: 'begun', nested: [{ callId: 'p/1', changed: { kept: false } }] },
  ]);
});

test('calls in a child session that share ids with the surrounding session', () => {
  const { session, explain } = start();
  session.record(message(1, 'call_1_0'));
  const child = childOf(session, 'call_1_0', 's/call_1_0/1');
  child.record(message(1, 'call_1_0'));
  const transaction = child.begin();
  const nested = transaction.begin();
  nested.commit(endOf('call_1_0/1', 'ok', { parentId: 'call_1_0' }));
  transaction.dispatch({ type: 'note-added', payload: 'in the child' });
  const events = transaction.events.map((event) => ({ ...event }));
  transaction.commit(endOf('call_1_0', 'ok', { parentId: 'call_1_0', turn: 1, events }));
  session.record(endOf('call_1_0', 'failed', { turn: 1 }));

  const uses = explain('call_1_0')?.uses ?? [];
  expect(uses.map(({ sessionId, end }) => [sessionId, end?.outcome.kind])).toEqual([
    [undefined, 'failed'],
    ['s/call_1_0/1', 'ok'],
  ]);
  expect(uses[0]).toMatchObject({
    message: { seq: 1 },
    nested: [
      {
        callId: 'call_1_0',
        sessionId: 's/call_1_0/1',
        message: { turn: 1 },
        // The call that opened the child session failed, and so did everything in it.
        changed: { kept: false, events },
        nested: [{ callId: 'call_1_0/1', nested: [] }],
      },
    ],
  });
});

test('an edited log is explained as far as possible, without hanging', () => {
  const odd: readonly LogEntry[] = [
    { type: 'model-message', calls: 'c1' },
    { type: 'model-message', calls: [null, { id: 7 }, { id: 'c1' }] },
    { type: 'approval-request', pending: null },
    { type: 'approval-request', pending: { callId: 'c1', asks: 'x' } },
    { type: 'approval-answer', callId: 'c1', answer: 'yes' },
    { type: 'approval-answer', callId: 'nobody', answer: { type: 'approve' } },
    { type: 'tool-call-end', callId: 'c1' },
    { type: 'tool-call-end', callId: 7, outcome: { kind: 'ok' } },
    { type: 'tool-call-late', callId: 'nobody' },
    { type: 'child-record', callId: 'c1', sessionId: 'x', entry: 'x' },
    { ...endOf('c1', 'ok', { parentId: 'c2' }), nested: true },
    { ...endOf('c2', 'ok', { parentId: 'c1' }), nested: true },
    { ...endOf('self', 'ok', { parentId: 'self' }), nested: true },
  ];
  const records = odd.map((entry, seq) => ({ seq, atMs: 0, ...entry }) as LogRecord);
  for (const callId of ['c1', 'c2', 'self']) {
    expect(explainCall(records, callId)?.uses.at(-1)).toMatchObject({ status: 'ended', changed: { kept: false } });
  }
  const chain = Array.from({ length: 20_000 }, (_, n) => ({
    seq: n,
    atMs: 0,
    ...endOf(`c${20_000 - n}`, 'ok', { parentId: `c${19_999 - n}` }),
    nested: true,
  }));
  expect(explainCall(chain, 'c1')?.uses[0]?.nested).toHaveLength(1);
  expect(explainCall(chain, 'c20000')?.uses[0]?.changed.kept).toBe(false);
});

test('who answered, and what a person said about an effect, even after the end', () => {
  const { session, explain } = start();
  session.record(message(1, 'a'));
  session.record(request('a', 'host/p'));
  session.record({ type: 'approval-answer', callId: 'a', answer: { type: 'approve' }, by: 'ada' });
  const resolve = (type: string): LogEntry => ({
    type: 'call-resolution',
    callId: 'a',
    resolution: { type },
    by: 'bob',
  });
  session.record(resolve('not-done'));
  expect(explain('a')?.uses).toMatchObject([
    {
      approvals: [{ answer: { answer: { type: 'approve' }, by: 'ada' } }],
      resolution: { resolution: { type: 'not-done' }, by: 'bob' },
    },
  ]);
  session.record(endOf('a', 'in-doubt'));
  session.record(resolve('done'));
  expect(explain('a')?.uses).toMatchObject([{ status: 'ended', resolution: { resolution: { type: 'done' } } }]);
  expect(explain('a')?.uses).toHaveLength(1);
});

test('equal ids in two runs are two calls', () => {
  const { session, explain } = start();
  const asked = (run: number, policy: string): LogEntry => {
    const asks = [{ policy, type: 'ask', reason: policy }];
    const pending = { callId: 'a', run, turn: 1, name: 'write', input: {}, dangerous: false, asks };
    return { type: 'approval-request', pending };
  };
  const place = (run: number): Fields => ({ callId: 'a', run, turn: 1 });
  for (const run of [1, 9]) {
    session.record({ ...message(1, 'a'), text: `run ${run}`, run });
    session.record(asked(run, `host/${run}`));
  }
  session.record({ type: 'approval-answer', ...place(1), answer: { type: 'approve' }, by: 'ann' });
  session.record({ type: 'approval-answer', ...place(9), answer: { type: 'deny' }, by: 'bob' });
  session.record({ type: 'tool-call-start', ...place(1), name: 'write', input: { of: 1 }, repeat: 'never' });
  session.record(endOf('a/1', 'ok', { run: 1, turn: 1, parentId: 'a' }));
  session.record(endOf('a/1', 'failed', { run: 9, turn: 1, parentId: 'a' }));
  session.record(endOf('a', 'denied', { run: 9, turn: 1 }));
  session.record({ type: 'call-resolution', ...place(1), resolution: { type: 'done' }, by: 'ann' });
  session.record(endOf('a', 'ok', { run: 1, turn: 1 }));
  expect(explain('a')?.uses).toMatchObject([
    {
      message: { text: 'run 1' },
      approvals: [{ asks: [{ policy: 'host/1' }], answer: { by: 'ann' } }],
      start: { input: { of: 1 } },
      resolution: { by: 'ann' },
      end: { outcome: { kind: 'ok' } },
      nested: [{ callId: 'a/1', changed: { kept: true } }],
    },
    {
      message: { text: 'run 9' },
      approvals: [{ asks: [{ policy: 'host/9' }], answer: { by: 'bob' } }],
      end: { outcome: { kind: 'denied' } },
      nested: [{ callId: 'a/1', end: { outcome: { kind: 'failed' } } }],
    },
  ]);
  expect(explain('a')?.uses.map(({ nested }) => nested.length)).toEqual([1, 1]);
  expect(explain('a/1')?.uses.map(({ changed }) => changed.kept)).toEqual([true, false]);
});

test("a direct call differs from a run's call with the same id", () => {
  const { session, explain } = start();
  session.record({ ...message(1, 'a'), run: 1 });
  session.record(request('a', 'host/direct'));
  session.record({ type: 'approval-answer', callId: 'a', answer: { type: 'deny' }, by: 'bob' });
  session.record(endOf('a', 'denied'));
  session.record(endOf('a', 'ok', { run: 1, turn: 1 }));
  expect(explain('a')?.uses).toMatchObject([
    { message: { turn: 1 }, approvals: [], end: { outcome: { kind: 'ok' } } },
    { approvals: [{ answer: { by: 'bob' } }], end: { outcome: { kind: 'denied' } } },
  ]);
});
