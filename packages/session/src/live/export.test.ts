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
import { describeCode } from '@holdfast/core/internal';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { createSession, memoryStore, type Session } from '../index.ts';

const notes: Slice<ListState<{ text: string; done: boolean }>> = defineSlice({
  id: 'notes',
  kind: 'list',
  schema: v.object({ text: v.string(), done: v.optional(v.boolean(), false) }),
  reducers: { 'note-added': (_state, payload) => append({ text: payload }) },
});
const count: Slice<number> = defineSlice<number>({
  id: 'count',
  kind: 'value',
  initial: 0,
  schema: v.pipe(v.number(), v.minValue(1)),
  reducers: { 'note-added': (state) => replace(state + 1) },
});
const diary: Slice<ListState<Json>> = defineSlice<Json>({
  id: 'diary',
  kind: 'list',
  retention: 'log',
  reducers: { happened: (_state, payload) => append(payload) },
});
const seen: Slice<KeyedState<Json>> = defineSlice<Json>({ id: 'policy:seen', kind: 'keyed', reducers: {} });
const slices: readonly Slice[] = [notes, count, diary];

function start() {
  const store = memoryStore();
  const session = createSession({ id: 's', slices, store });
  session.dispatch({ type: 'note-added', payload: 'a' });
  session.dispatch({ type: 'happened', payload: 'x' });
  see(session, 'k', { deep: [1] });
  return { session, store };
}

function see(session: Session, key: string, item: Json): void {
  const transaction = session.begin();
  transaction.apply(seen, [upsert(key, item)]);
  transaction.commit({ type: 'tool-call-end', changes: transaction.changes });
}

function codeOf(run: () => unknown): unknown {
  try {
    run();
    return 'nothing was thrown';
  } catch (thrown) {
    return describeCode(thrown as { code: string });
  }
}

test('an export contains the declaration and state of each slice', () => {
  const { session } = start();
  expect(session.export()).toEqual({
    format: 1,
    sessionId: 's',
    seq: 5,
    slices: [
      { id: 'count', kind: 'value', retention: 'state', initial: 0, events: ['note-added'], state: 1 },
      { id: 'diary', kind: 'list', retention: 'log', events: ['happened'], state: ['x'] },
      {
        id: 'notes',
        kind: 'list',
        retention: 'state',
        events: ['note-added'],
        state: [{ text: 'a', done: false }],
      },
      { id: 'policy:seen', kind: 'keyed', retention: 'state', events: [], state: [['k', { deep: [1] }]] },
    ],
  });
});

test("an import restores everything, including policies' state, in one record; the sessions then diverge", () => {
  const { session } = start();
  const store = memoryStore();
  const other = createSession({ id: 'o', slices, store });
  other.dispatch({ type: 'note-added', payload: 'dropped' });
  other.import(JSON.parse(JSON.stringify(session.export())));
  expect(other.export().slices).toEqual(session.export().slices);
  expect(other.read(seen).toObject()).toEqual({ k: { deep: [1] } });
  expect(Object.isFrozen(other.read(seen).get('k'))).toBe(true);
  expect(store.records.map(({ type }) => type)).toEqual(['session-start', 'event', 'import']);
  other.dispatch({ type: 'note-added', payload: 'b' });
  expect([other.read(notes).size, other.read(count), session.read(notes).size]).toEqual([2, 2, 1]);
});

test('slices missing from the import are reset; schemas fill in what an older export lacks', () => {
  const { session } = start();
  session.import({
    format: 1,
    slices: [{ id: 'notes', kind: 'list', retention: 'state', events: [], state: [{ text: 'old' }] }],
  });
  expect(session.read(notes).toArray()).toEqual([{ text: 'old', done: false }]);
  expect([session.read(count), session.read(diary).size, session.read(seen).size]).toEqual([0, 0, 0]);
});

const good = { id: 'notes', kind: 'list', retention: 'state', events: [], state: [] };
let nested: Json = 1;
for (let depth = 0; depth < 80; depth += 1) nested = [nested];

test.each<[string, unknown]>([
  ['session.invalid: import', null],
  ['session.invalid: import', { format: 2, slices: [] }],
  ['session.invalid: import', { format: 1 }],
  ['session.invalid: import', { format: 1, slices: {} }],
  ['session.invalid: import', { format: 1, slices: ['notes'] }],
  ['session.invalid: import', { format: 1, slices: [{ ...good, kind: 'set' }] }],
  ['session.invalid: import', { format: 1, slices: [{ ...good, events: [1] }] }],
  ['session.invalid: import', { format: 1, slices: [good, good] }],
  ['session.invalid: import', { format: 1, slices: [{ ...good, state: { a: 1 } }] }],
  ['session.invalid: import', { format: 1, slices: [{ ...good, state: undefined }] }],
  ['session.invalid: import', { format: 1, slices: [{ ...good, id: 'x', kind: 'keyed', state: { a: 1 } }] }],
  ['session.invalid: import', { format: 1, slices: [{ ...good, id: 'x', kind: 'keyed', state: [['a', 1, 2]] }] }],
  ['session.invalid: import', { format: 1, slices: [{ ...good, id: 'x', kind: 'keyed', state: [[1, 1]] }] }],
  [
    'session.invalid: import',
    {
      format: 1,
      slices: [
        {
          ...good,
          id: 'x',
          kind: 'keyed',
          state: [
            ['a', 1],
            ['a', 2],
          ],
        },
      ],
    },
  ],
  ['session.invalid: import', { format: 1, slices: [{ id: 'x', kind: 'value', retention: 'state', events: [] }] }],
  ['session.invalid: import', { format: 1, slices: [{ ...good, state: [nested] }] }],
  ['session.invalid: import', { format: 1, slices: [{ ...good, state: [() => 1] }] }],
  ['session.invalid: import', JSON.parse('{"format":1,"slices":[],"__proto__":{"polluted":true}}')],
  ['session.invalid: import', { format: 1, sessionId: 5, slices: [] }],
  ['session.invalid: import', { format: 1, seq: 'x', slices: [] }],
  ['slice.invalid: unknown', { format: 1, slices: [{ ...good, id: 'elsewhere', events: ['happened'] }] }],
  ['slice.invalid: conflict', { format: 1, slices: [{ ...good, kind: 'keyed' }] }],
  ['slice.invalid: conflict', { format: 1, slices: [{ ...good, retention: 'log' }] }],
  ['slice.invalid: value.invalid', { format: 1, slices: [{ ...good, state: [{ text: 7 }] }] }],
  [
    'slice.invalid: value.invalid',
    { format: 1, slices: [{ id: 'count', kind: 'value', retention: 'state', events: [], state: -1 }] },
  ],
])('%s: an import of %o changes nothing', (code, data) => {
  const { session, store } = start();
  const before = session.export();
  expect(codeOf(() => session.import(data))).toBe(code);
  expect(session.export()).toEqual(before);
  expect(store.records).toHaveLength(before.seq);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('an untouched slice is imported unchanged, even if its schema rejects the initial value', () => {
  const { session } = start();
  session.import(createSession({ slices }).export());
  expect(session.read(count)).toBe(0);
});

test('session.invalid: import: data with a throwing getter', () => {
  const hostile = {
    get format() {
      throw new Error('hostile');
    },
  };
  expect(codeOf(() => start().session.import(hostile))).toBe('session.invalid: import');
});

test('one bad slice rejects the whole import, including new slices', () => {
  const { session } = start();
  const bad = { ...good, id: 'count', kind: 'value', state: 'x' };
  const fresh = { ...good, id: 'fresh', state: [1] };
  expect(codeOf(() => session.import({ format: 1, slices: [fresh, good, bad] }))).toBe('slice.invalid: value.invalid');
  expect(session.export().slices.map(({ id }) => id)).toEqual(['count', 'diary', 'notes', 'policy:seen']);
  expect(session.read(notes).size).toBe(1);
});

test('an import that the store rejects changes nothing', () => {
  const kept = memoryStore();
  let full = false;
  const session = createSession({
    slices,
    store: {
      ...kept,
      append(entry, seq, atMs) {
        if (full) throw new Error('disk full');
        kept.append(entry, seq, atMs);
      },
    },
  });
  full = true;
  expect(() => session.import(start().session.export())).toThrow('disk full');
  expect(session.export().slices.map(({ id }) => id)).toEqual(['count', 'diary', 'notes']);
  expect(session.read(notes).size).toBe(0);
});

test('state that looks like code, a class or a prototype stays plain data', () => {
  const { session } = start();
  const texts = [
    '{"lc":1,"type":"constructor","id":["fs"]}',
    '{"$type":"Function"}',
    '{"__proto__":{}}',
    '{"toJSON":1}',
  ];
  const objects: Json = [
    { lc: 1, type: 'constructor', id: ['fs'], kwargs: {} },
    { $type: 'Function' },
    { toJSON: 'x', constructor: 'y' },
  ];
  see(session, 'texts', texts);
  see(session, 'objects', objects);
  see(session, '__proto__', { polluted: true });
  see(session, 'constructor', 'c');
  const other = createSession({ slices });
  other.import(JSON.parse(JSON.stringify(session.export())));
  const items = other.read(seen);
  expect([items.get('texts'), items.get('objects'), items.get('__proto__'), items.get('constructor')]).toEqual([
    texts,
    objects,
    { polluted: true },
    'c',
  ]);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('non-JSON values are rejected on write with the name of the slice, as are initial values', () => {
  const { session } = start();
  expect(() => see(session, 'k', new Map() as unknown as Json)).toThrow(/Slice `policy:seen` holds JSON only/);
  const odd: Slice = { ...seen, id: 'policy:odd', kind: 'value', initial: new Set() as unknown as Json };
  expect(codeOf(() => session.read(odd))).toBe('slice.invalid: value.invalid');
  expect(() => session.read(odd)).toThrow('`policy:odd`');
});

test('a replaced map keeps every given key', () => {
  const { session } = start();
  const transaction = session.begin();
  transaction.apply(seen, [replace(JSON.parse('{"__proto__":1,"a":2}'))]);
  expect([...transaction.read(seen)].sort()).toEqual([
    ['__proto__', 1],
    ['a', 2],
  ]);
});
