import { append, defineSlice, HoldfastError, type Json, type Slice, upsert } from '@holdfast/core';
import {
  createSession,
  type LogEntry,
  type LogRecord,
  type OpenedLog,
  replay,
  type Session,
  type SessionStore,
} from '@holdfast/session';

export interface StoreUnderTest {
  readonly store: SessionStore;
  readonly read: () => Promise<readonly LogRecord[]>;
  readonly reopen: () => Promise<OpenedLog>;
}

export interface StoreCheck {
  readonly name: string;
  /** `reopen`: a log can be gone on with. `text`: what is kept is JSON text, in a place that others can reach. */
  readonly needs?: readonly ('reopen' | 'text')[];
  readonly run: (test: StoreUnderTest) => Promise<void>;
}

export const storeChecks: readonly StoreCheck[] = [
  {
    name: 'records come back in order, numbered from 0 without a gap',
    run: async (test) => {
      const entries = Array.from({ length: 200 }, (_, index): LogEntry => ({ type: 'note', index }));
      await keeps(test, entries);
    },
  },
  {
    name: 'a store without records has none',
    run: async (test) => keeps(test, []),
  },
  ...Object.entries({
    'text of any script, control characters, half surrogates': [
      'größe 漢字 🧵 e\u0301',
      '\u0000\u0001\u007f\u2028\u2029\n\r\t"\\/',
      '\ud800',
      'a\udc00b',
      '',
    ],
    'numbers at the edges': [0, -1, 0.1, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE],
    'keys that mean something to JavaScript': [
      JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "toString": null, "": 2, "10": 3, "9": 4}') as Json,
    ],
    'empty and mixed collections': [[], {}, [[], {}, null, false, [null]]],
    'a value 500 levels deep': [nest(500)],
    'a record of two megabytes': ['größe '.repeat(300_000)],
  } satisfies Record<string, readonly Json[]>).map(
    ([what, values]): StoreCheck => ({
      name: `JSON comes back as it was: ${what}`,
      run: async (test) =>
        keeps(
          test,
          values.map((value) => ({ type: 'note', value })),
        ),
    }),
  ),
  {
    name: 'a field `__proto__` of the entry itself comes back as a field',
    run: async (test) => keeps(test, [JSON.parse('{"type": "note", "__proto__": {"type": "other"}}') as LogEntry]),
  },
  {
    name: 'an entry that is no JSON is refused and leaves nothing behind',
    needs: ['text'],
    run: async (test) => {
      const first = { type: 'note', value: 1 };
      test.store.append(first, 0, 1_000);
      const cycle: Record<string, unknown> = { type: 'note' };
      cycle['self'] = cycle;
      for (const [what, entry] of Object.entries({ 'a bigint': { type: 'note', value: 1n }, 'a cycle': cycle })) {
        // Made to break the type: the store meets it where a host's own code is not checked.
        mustThrow(`an entry with ${what}`, () => test.store.append(entry as unknown as LogEntry, 1, 1_001));
      }
      await keeps(test, [{ type: 'note', value: 2 }], [{ seq: 0, atMs: 1_000, ...first }]);
    },
  },
  {
    name: 'a record that does not follow the last one is refused and leaves nothing behind',
    needs: ['text'],
    run: async (test) => {
      const first = { type: 'note', value: 1 };
      test.store.append(first, 0, 1_000);
      mustThrow('a second record 0', () => test.store.append({ type: 'note' }, 0, 1_001));
      mustThrow('a record 2 after record 0', () => test.store.append({ type: 'note' }, 2, 1_001));
      await keeps(test, [{ type: 'note', value: 2 }], [{ seq: 0, atMs: 1_000, ...first }]);
    },
  },
  {
    name: 'a session writes to it: what is rebuilt from its log equals what was',
    run: async (test) => {
      const session = createSession({ id: 'conformance', slices, store: test.store });
      work(session);
      const before = session.export();
      await session.close();
      const records = await test.read();
      same(
        'the types of the records',
        records.map(({ type }) => type),
        ['session-start', 'event', 'tool-call-end', 'tool-call-end', 'note'],
      );
      same('the rebuilt state', replay(records, { slices }).export(), before);
    },
  },
  {
    name: 'a session that was closed writes nothing more, however often it is closed',
    run: async (test) => {
      const session = createSession({ id: 'conformance', slices, store: test.store });
      await session.close();
      await session.close();
      mustThrow('a write after `close`', () => session.record({ type: 'note' }));
      same('the number of records', (await test.read()).length, 1);
    },
  },
  {
    name: 'a log is gone on with, again and again',
    needs: ['reopen'],
    run: async (test) => {
      let session = createSession({ id: 'conformance', slices, store: test.store });
      for (let round = 0; round < 3; round += 1) {
        work(session);
        const before = session.export();
        await session.close();
        const { records, store } = await test.reopen();
        session = replay(records, { slices, store });
        same(`the state after round ${round}`, session.export(), before);
      }
      work(session);
      const before = session.export();
      await session.close();
      const { records, store } = await test.reopen();
      store.close();
      same(
        'the numbers of the records',
        records.map(({ seq }) => seq),
        [...records.keys()],
      );
      same('the state at the end', replay(records, { slices }).export(), before);
    },
  },
  {
    name: 'a log that is open is not opened by a second writer',
    needs: ['reopen', 'text'],
    run: async (test) => {
      test.store.append({ type: 'note', value: 1 }, 0, 1_000);
      await mustReject('opening a log that is open', async () => {
        const { store } = await test.reopen();
        store.close();
      });
      await keeps(test, [{ type: 'note', value: 2 }], [{ seq: 0, atMs: 1_000, type: 'note', value: 1 }]);
    },
  },
];

const lines: Slice = defineSlice<string>({
  id: 'conformance/lines',
  kind: 'list',
  reducers: { 'line-added': (_state, payload) => append(payload) },
});
const names: Slice = defineSlice<Json>({
  id: 'conformance/names',
  kind: 'keyed',
  reducers: { 'name-set': (_state, payload) => upsert(String(payload), payload) },
});
const slices: readonly Slice[] = [lines, names];

/** An event, a commit within a commit, something discarded, and a record that changes no state. */
function work(session: Session): void {
  session.dispatch({ type: 'line-added', payload: 'first' });
  const outer = session.begin();
  outer.dispatch({ type: 'name-set', payload: '__proto__' });
  const inner = outer.begin();
  inner.dispatch({ type: 'line-added', payload: 'größe \ud800' });
  inner.commit({ type: 'tool-call-end', events: inner.events.map((event) => ({ ...event })) });
  outer.commit({ type: 'tool-call-end', events: outer.events.map((event) => ({ ...event })) });
  const dropped = session.begin();
  dropped.dispatch({ type: 'line-added', payload: 'never' });
  dropped.discard();
  session.record({ type: 'note', value: null });
}

/** Appends `entries` after `before`, closes, and reads everything back. */
async function keeps(
  { store, read }: StoreUnderTest,
  entries: readonly LogEntry[],
  before: readonly LogRecord[] = [],
): Promise<void> {
  const expected = [...before];
  for (const entry of entries) {
    const seq = expected.length;
    store.append(entry, seq, 1_000 + seq);
    expected.push({ seq, atMs: 1_000 + seq, ...entry });
  }
  store.close();
  const records = await read();
  same('the number of records', records.length, expected.length);
  for (const [index, record] of records.entries()) same(`record ${index}`, record, expected[index]);
}

function same(what: string, found: unknown, expected: unknown): void {
  if (isSame(found, expected)) return;
  throw new HoldfastError('conformance.failed', `Expected ${what} to be ${show(expected)}, got ${show(found)}.`);
}

/** Equal as JSON; the order of keys does not count. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = new Map<string, unknown>(Object.entries(a));
  const right = new Map<string, unknown>(Object.entries(b));
  return left.size === right.size && [...left].every(([key, value]) => right.has(key) && isSame(value, right.get(key)));
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 200)}… (${text.length} characters)` : text;
}

function mustThrow(what: string, action: () => void): void {
  try {
    action();
  } catch {
    return;
  }
  throw new HoldfastError('conformance.failed', `Expected ${what} to be refused.`);
}

async function mustReject(what: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch {
    return;
  }
  throw new HoldfastError('conformance.failed', `Expected ${what} to be refused.`);
}

function nest(levels: number): Json {
  let value: Json = 'deep';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}
