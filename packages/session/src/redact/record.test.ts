import {
  append,
  defineSlice,
  type Json,
  type KeyedState,
  type ListState,
  type Redactor,
  replace,
  type Slice,
  upsert,
} from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { createSession, type LogEntry, memoryStore, replay, verifySnapshots } from '../index.ts';
import { createRedactor } from '../redact.ts';

const key = 'a key known only to the host';
const secret = 'hunter-two!';
const notes: Slice<ListState<Json>> = defineSlice<Json>({
  id: 'notes',
  kind: 'list',
  reducers: { noted: (_state, payload) => append(payload) },
});
const byName: Slice<KeyedState<Json>> = defineSlice<Json>({ id: 'policy:by-name', kind: 'keyed', reducers: {} });

function learned(...secrets: readonly string[]): Redactor {
  return createRedactor({ key, secrets });
}

const mask = String(learned(secret).redact(secret));

describe('masking of a record', () => {
  test('covers content, and never the fields that Holdfast itself needs', () => {
    const own = {
      type: 'tool-call-end',
      callId: 'ok',
      parentId: 'p/ok',
      run: 4711,
      turn: 1,
      name: 'reset_password',
      decisions: [{ policy: 'prompt/ok', type: 'allow', observed: 'ok', reason: 'ok it is not' }],
      outcome: { kind: 'ok', callId: 'ok', name: 'reset_password', code: undefined, message: 'it is ok' },
      events: [{ type: 'ok', payload: 'ok' }],
      changes: [{ slice: 'policy:ok', op: 'upsert', key: 'ok', item: 'ok' }],
      writes: [{ resource: 'ok', key: 'ok.txt', change: 'created' }],
      error: { name: 'Error', message: 'ok', stack: 'Error: ok\n at ok' },
      input: { ok: ['ok'] },
      startedAtMs: 4711,
    };
    const ok = String(learned('okok').redact('okok'));
    const text = JSON.stringify(own).replaceAll('ok', 'okok');
    const entry = JSON.parse(text) as typeof own;
    expect(learned('okok', '4711').maskRecord(entry)).toEqual({
      ...entry,
      decisions: [{ policy: 'prompt/okok', type: 'allow', observed: 'okok', reason: `${ok} it is not` }],
      outcome: { kind: 'okok', callId: 'okok', name: 'reset_password', message: `it is ${ok}` },
      events: [{ type: 'okok', payload: ok }],
      changes: [{ slice: 'policy:okok', op: 'upsert', key: ok, item: ok }],
      writes: [{ resource: 'okok', key: `${ok}.txt`, change: 'created' }],
      error: { name: 'Error', message: ok, stack: `Error: ${ok}\n at ${ok}` },
      input: { [ok]: [ok] },
    });
  });

  test("covers a plan's inputs of tools and its texts", () => {
    const node = { id: secret, tool: 'reset_password', function: 'resetPassword', depends_on: [secret], retry: 4711 };
    const content = { inputs: { user: `is ${secret}`, password: 'other' }, metadata: { purpose: secret } };
    const document = { version: 1, status: 'success', nodes: [{ ...node, ...content }], final_output_node: secret };
    const start = { type: 'plan-start', plan: 4711, document, digest: secret, request: `Tell ${secret}`, atMs: 4711 };
    const redactor = learned(secret, '4711', 'other');
    expect(redactor.maskRecord(start)).toEqual({
      ...start,
      document: {
        ...document,
        nodes: [
          {
            ...node,
            inputs: { user: `is ${mask}`, password: redactor.redact('other') },
            metadata: { purpose: mask },
          },
        ],
      },
      request: `Tell ${mask}`,
    });
    const unknown = { ...start, document: { ...document, nodes: [{ ...node, inputs: { password: 'not learned' } }] } };
    expect(JSON.stringify(learned().maskRecord(unknown))).not.toContain('not learned');
    const ended = {
      type: 'plan-node',
      plan: 4711,
      node: secret,
      kind: 'skipped',
      code: 'plan.halted',
      because: [secret],
    };
    expect(redactor.maskRecord({ ...ended, message: `No ${secret}` })).toEqual({ ...ended, message: `No ${mask}` });
  });

  test('returns the same record if nothing is secret', () => {
    const entry = { type: 'model-message', text: 'hi', calls: [], usage: { inputTokens: 4711, outputTokens: 4711 } };
    expect(learned(secret, '4711').maskRecord(entry)).toBe(entry);
  });

  test('covers the whole of a foreign record, except its type', () => {
    expect(
      learned(secret, 'password').maskRecord({ type: 'password', token: 'x', [secret]: 1, text: `a ${secret}` }),
    ).toEqual({
      type: 'password',
      token: learned('x').redact('x'),
      [mask]: 1,
      text: `a ${mask}`,
    });
  });

  test('covers nested records', () => {
    const entry = { type: 'tool-call-start', callId: secret, name: 'a', input: { a: secret } };
    const child = { type: 'child-record', callId: 'c', sessionId: 's', childSeq: 1, entry };
    expect(learned(secret).maskRecord({ type: 'child-event', callId: 'c', sessionId: 's', event: child })).toEqual({
      type: 'child-event',
      callId: 'c',
      sessionId: 's',
      event: { ...child, entry: { ...entry, input: { a: mask } } },
    });
  });

  test('covers the state of slices, where keys are not names of secrets', () => {
    const state = [
      ['reset_password', 'a'],
      [secret, `b ${secret}`],
    ];
    const slices = [{ id: 'grants', kind: 'keyed', retention: 'state', events: [], state, initial: secret }];
    expect(learned(secret).maskRecord({ type: 'import', slices }).slices[0]).toEqual({
      id: 'grants',
      kind: 'keyed',
      retention: 'state',
      events: [],
      state: [
        ['reset_password', 'a'],
        [mask, `b ${mask}`],
      ],
      initial: mask,
    });
  });
});

describe('a session with a redactor', () => {
  test('masks events before reducers see them, so that its state matches its log', () => {
    const store = memoryStore();
    const told: Json[] = [];
    const session = createSession({ slices: [notes], store, redactor: learned(secret) });
    session.subscribe((record) => told.push(record));
    session.dispatch({ type: 'noted', payload: { password: 'x', text: `it is ${secret}` } });
    const masked = { password: learned('x').redact('x'), text: `it is ${mask}` };
    expect(session.read(notes).toArray()).toEqual([masked]);
    expect(store.records.at(-1)).toMatchObject({ type: 'event', events: [{ type: 'noted', payload: masked }] });
    expect(
      replay(store.records, { slices: [notes] })
        .read(notes)
        .toArray(),
    ).toEqual([masked]);
    expect(JSON.stringify([store.records, told, session.export()])).not.toContain(secret);
  });

  test('masks the operations of policies', () => {
    const store = memoryStore();
    const session = createSession({ store, redactor: learned(secret) });
    const transaction = session.begin();
    transaction.apply(byName, [upsert('reset_password', 3), upsert(secret, [secret]), upsert('gone', 1)]);
    transaction.commit({ type: 'event', events: [], changes: [...transaction.changes] });
    const expected = { gone: 1, reset_password: 3, [mask]: [mask] };
    expect(session.read(byName).toObject()).toEqual(expected);
    expect(replay(store.records).read(byName).toObject()).toEqual(expected);
    expect(JSON.stringify(store.records)).not.toContain(secret);
  });

  test('shows masks to readers of staged state, and to reducers', () => {
    const seen: unknown[] = [];
    const heard: Slice<ListState<Json>> = defineSlice<Json>({
      id: 'heard',
      kind: 'list',
      reducers: {
        noted: (_state, payload) => {
          seen.push(payload);
          return append(payload);
        },
      },
    });
    const transaction = createSession({ slices: [heard], redactor: learned(secret) }).begin();
    transaction.dispatch({ type: 'noted', payload: secret });
    transaction.apply(byName, [upsert(secret, secret)]);
    expect(transaction.read(heard).toArray()).toEqual([mask]);
    expect(transaction.read(byName).toObject()).toEqual({ [mask]: mask });
    transaction.commit({
      type: 'event',
      events: [...transaction.events],
      changes: [...transaction.changes],
    } as unknown as LogEntry);
    expect(seen).toEqual([mask]);
  });

  test('masks changes staged before their secret was known', () => {
    const store = memoryStore();
    const redactor = createRedactor({ key });
    const session = createSession({ slices: [notes], store, redactor });
    const outer = session.begin();
    outer.dispatch({ type: 'noted', payload: `outer ${secret}` });
    const inner = outer.begin();
    inner.dispatch({ type: 'noted', payload: `inner ${secret}` });
    inner.apply(byName, [upsert(secret, 1)]);
    redactor.learn(secret);
    const commit = (type: string, { events, changes }: typeof inner): Parameters<typeof inner.commit>[0] => ({
      type,
      callId: type,
      events: events.map((event) => ({ ...event })),
      changes: [...changes],
      outcome: { kind: 'ok' },
    });
    inner.commit(commit('tool-call-end', inner));
    outer.commit(commit('tool-call-end', outer));
    expect(session.read(notes).toArray()).toEqual([`outer ${mask}`, `inner ${mask}`]);
    expect(session.read(byName).toObject()).toEqual({ [mask]: 1 });
    const again = replay(store.records, { slices: [notes] });
    expect(again.read(notes).toArray()).toEqual(session.read(notes).toArray());
    expect(again.read(byName).toObject()).toEqual(session.read(byName).toObject());
    expect(JSON.stringify(store.records)).not.toContain(secret);
  });

  test('masks a value replaced as a whole before its secret was known', () => {
    const last: Slice<Json> = defineSlice<Json>({ id: 'policy:last', kind: 'value', initial: null, reducers: {} });
    const redactor = createRedactor({ key });
    const session = createSession({ redactor });
    const transaction = session.begin();
    transaction.apply(last, [replace({ was: secret })]);
    redactor.learn(secret);
    transaction.commit({ type: 'event', events: [], changes: [...transaction.changes] });
    expect(session.read(last)).toEqual({ was: mask });
  });

  test('masks the initial value of a slice in a log that can be replayed', () => {
    const login: Slice<Json> = defineSlice<Json>({
      id: 'login',
      kind: 'value',
      initial: { password: secret },
      reducers: { set: (_state, payload) => replace(payload) },
    });
    const store = memoryStore();
    const first = createSession({ slices: [login], store, redactor: learned() });
    first.dispatch({ type: 'set', payload: 1 });
    expect(JSON.stringify([store.records, first.export()])).not.toContain(secret);
    expect(replay(store.records, { slices: [login], redactor: learned() }).export().slices).toEqual(
      first.export().slices,
    );
    expect(replay(store.records, { slices: [login] }).read(login)).toBe(1);

    const later = memoryStore();
    const session = createSession({ store: later, redactor: learned() });
    session.register(login);
    session.dispatch({ type: 'set', payload: 1 });
    expect(later.records.map(({ type }) => type)).toEqual(['session-start', 'slice', 'event']);
    expect(JSON.stringify(later.records)).not.toContain(secret);
  });

  test('masks imports, foreign records, and errors during close', async () => {
    const store = memoryStore();
    const session = createSession({ slices: [notes], store, redactor: learned(secret) });
    const other = createSession({ slices: [notes] });
    other.dispatch({ type: 'noted', payload: secret });
    session.import(other.export());
    session.record({ type: 'mine', text: secret });
    session.subscribe(() => {
      throw new Error(secret);
    });
    session.record({ type: 'yours' });
    session.onClose(() => {
      throw new Error(secret);
    });
    await session.close();
    expect(session.read(notes).toArray()).toEqual([mask]);
    expect(store.records.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['import', 'mine', 'subscriber-error', 'close-error']),
    );
    expect(JSON.stringify(store.records)).not.toContain(secret);
    expect(
      replay(store.records, { slices: [notes] })
        .read(notes)
        .toArray(),
    ).toEqual([mask]);
  });

  test('passes its redactor to forks and replayed sessions', () => {
    const redactor = learned(secret);
    const session = createSession({ redactor });
    expect(session.fork().redactor).toBe(redactor);
    expect(session.fork({ redactor: undefined }).redactor).toBeUndefined();
    const store = memoryStore();
    createSession({ store });
    const again = replay(store.records, { redactor });
    again.record({ type: 'mine', text: secret });
    expect(JSON.stringify([...again.records()])).not.toContain(secret);
  });

  test('rejects invalid imports as without a redactor', () => {
    const session = createSession({ redactor: learned(secret) });
    const refused = expect.objectContaining({ code: 'session.invalid', reason: 'import' });
    for (const data of [1, { format: 1 }, { format: 1, slices: [() => 1] }]) {
      expect(() => session.import(data)).toThrow(refused);
    }
  });
});

test('a snapshot masks a secret that was learned after it was stored', () => {
  const kept = memoryStore();
  let due = false;
  const store = {
    append: (entry: LogEntry, seq: number, atMs: number) => kept.append(entry, seq, atMs),
    close: () => undefined,
    get snapshotDue() {
      return due;
    },
  };
  const redactor = createRedactor({ key: 'a key known only to the host' });
  const session = createSession({ slices: [notes], store, redactor });
  session.dispatch({ type: 'noted', payload: 'it is hunter-two!' });
  redactor.learn('hunter-two!');
  due = true;
  session.dispatch({ type: 'noted', payload: 'again hunter-two!' });
  const snapshot = kept.records.at(-1);
  expect(snapshot?.type).toBe('snapshot');
  expect(JSON.stringify(snapshot)).not.toContain('hunter-two!');
  expect(verifySnapshots(kept.records, { slices: [notes] })).toEqual({ compared: 1, unchecked: [] });
  const from = kept.records.slice(-1);
  expect(
    JSON.stringify(
      replay(from, { slices: [notes] })
        .read(notes)
        .toArray(),
    ),
  ).not.toContain('hunter-two!');
});

test('the type of a foreign entry stays first', () => {
  const masked = learned(secret).maskRecord({ type: 'node-start', node: secret });
  expect(JSON.stringify(masked)).toBe(JSON.stringify({ type: 'node-start', node: mask }));
});
