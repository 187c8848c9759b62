import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LogEntry, type LogRecord, memoryStore, type OpenedLog, type SessionStore } from '@holdfast/session';
import { createJsonlLog, type JsonlLog, type JsonlOptions, openJsonlLog, readLog } from '@holdfast/session/jsonl';
import { createSqliteLog, openSqliteLog, readSqliteLog, type SqliteLog } from '@holdfast/session/sqlite';
import type { ConformanceCheck } from '@holdfast/testing';
import { type StoreConformanceOptions, storeConformance } from '@holdfast/testing/conformance';
import { afterAll, afterEach, expect, test, vi } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-stores-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => void vi.useRealTimers());
let places = 0;
const place = (): string => {
  places += 1;
  return String(places);
};

function jsonl(options: JsonlOptions): StoreConformanceOptions<JsonlLog> {
  return {
    create: () => createJsonlLog(join(folder, `${place()}.jsonl`), options),
    read: ({ path }) => readLog(path).records,
    reopen: ({ path }) => openJsonlLog(path, options),
    without: options.sync === 'disk' ? [] : ['sync'],
  };
}

function sqlite(options: JsonlOptions): StoreConformanceOptions<SqliteLog> {
  return {
    // One database for all: what one session does shows in no other.
    create: () => createSqliteLog(join(folder, 'sessions.db'), { ...options, sessionId: place() }),
    read: ({ path, sessionId }) => readSqliteLog(path, { sessionId }).records,
    reopen: ({ path, sessionId }) => openSqliteLog(path, { ...options, sessionId }),
    without: options.sync === 'disk' ? [] : ['sync'],
  };
}

const suites: Readonly<Record<string, readonly ConformanceCheck[]>> = {
  memory: storeConformance({
    create: () => memoryStore(),
    read: ({ records }) => records,
    reopen: (store) => ({ records: store.records, store }),
    inMemory: true,
    without: ['sync', 'snapshots'],
  }),
  jsonl: storeConformance(jsonl({})),
  'jsonl, on disk, with many snapshots': storeConformance(jsonl({ sync: 'disk', snapshotAfterBytes: 5_000 })),
  sqlite: storeConformance(sqlite({})),
  'sqlite, on disk, with many snapshots': storeConformance(sqlite({ sync: 'disk', snapshotAfterBytes: 5_000 })),
};

const checks = Object.entries(suites).flatMap(([store, suite]) => suite.map((check) => ({ store, ...check })));

test.each(checks.filter(({ skipped }) => skipped === undefined))('$store: $name', async ({ run }) => {
  await expect(run()).resolves.toBeUndefined();
});

test('what cannot be asked of a store says so, and does not pass', async () => {
  const skipped = checks.filter((check) => check.skipped !== undefined);
  expect(skipped.map(({ store, name }) => `${store}: ${name}`)).toEqual([
    'memory: an entry that is not JSON is rejected without a trace',
    'memory: a closed store rejects records, however often it was closed',
    'memory: an open log cannot be opened by a second writer',
    'memory: a closed store does not write into a log that was reopened elsewhere',
    'memory: appended records are synced to the disk, for concurrent callers',
    'memory: a closed store syncs no more, and leaves no caller waiting',
    'memory: a snapshot is due after enough records, and later after a larger snapshot',
    'memory: a log opens from its last snapshot, and keeps earlier records',
    'memory: a session writes due snapshots, and is restored from the last one',
    ...['jsonl', 'sqlite'].flatMap((store) => [
      `${store}: appended records are synced to the disk, for concurrent callers`,
      `${store}: a closed store syncs no more, and leaves no caller waiting`,
    ]),
  ]);
  for (const { run } of skipped) await expect(run()).rejects.toMatchObject({ code: 'conformance.skipped' });
});

test('without `reopen`, what needs it is skipped', () => {
  const suite = storeConformance({ create: () => memoryStore(), read: ({ records }) => records });
  expect(suite.filter(({ skipped }) => skipped === 'no `reopen` was given').map(({ name }) => name)).toEqual([
    'a resumed log is one log',
    'an open log cannot be opened by a second writer',
    'a closed store does not write into a log that was reopened elsewhere',
    'records from before a reopen are readable',
    'a log opens from its last snapshot, and keeps earlier records',
    'a log is resumed repeatedly',
    'a session writes due snapshots, and is restored from the last one',
  ]);
});

test.each(['read', 'sync', 'snapshotDue'] as const)(
  'a store without `%s` that does not say so is found',
  async (part) => {
    const suite = storeConformance<SessionStore>({
      create: () => ({ ...memoryStore(), sync: async () => undefined, snapshotDue: false, [part]: undefined }),
      read: () => [],
    });
    const results = await Promise.allSettled(
      suite.filter(({ skipped }) => skipped === undefined).map(({ run }) => run()),
    );
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
    expect(reasons.filter((reason) => reason.includes(`to have \`${part}\``)).length).toBeGreaterThan(0);
  },
);

/** A store that breaks one promise, by what it does otherwise than a sound one. */
interface Broken {
  /** The only problem found is the error it throws itself. */
  readonly throws?: string;
  readonly create?: (store: JsonlLog) => Partial<SessionStore>;
  readonly read?: (records: readonly LogRecord[]) => readonly LogRecord[];
  readonly reopen?: (open: () => Promise<OpenedLog>, before: JsonlLog) => Promise<OpenedLog>;
}

type Append = SessionStore['append'];

const changing =
  (change: (entry: LogEntry, seq: number) => LogEntry) =>
  ({ append }: SessionStore): Partial<SessionStore> => ({
    append: (entry, seq, atMs) => append(change(entry, seq), seq, atMs),
  });

/** Opens the log as it should be, and makes another one of that. */
const opening =
  (change: (opened: OpenedLog) => OpenedLog): NonNullable<Broken['reopen']> =>
  async (open) =>
    change(await open());

const inText = (from: RegExp | string, to: string): Broken => ({
  create: changing((entry) => JSON.parse(JSON.stringify(entry).replaceAll(from, to)) as LogEntry),
});

/** A log that others can open while it is written: in memory, whatever it says of itself. */
const shared = (): Broken => {
  const store = memoryStore();
  return {
    create: () => ({ append: store.append, read: store.read, close: store.close }),
    read: () => store.records,
    reopen: async () => ({ records: store.records, store }),
  };
};

/** By the check that has to find it: some promises can be broken in more than one way. */
const broken: readonly (readonly [check: string, store: Broken])[] = [
  ['in order, numbered', { read: (records) => records.slice(0, 199) }],
  ['in order, numbered', { read: (records) => records.toReversed() }],
  ['in order, numbered', { create: ({ append }) => ({ append: (entry, seq) => append(entry, seq, 0) }) }],
  ['empty store has no records', { read: () => [{ type: 'note', seq: 0, atMs: 0 }] }],
  ['half surrogates', inText('\\ud800', '\ufffd')],
  ['numbers at the edges', inText('5e-324', '0')],
  ['keys that mean something', { create: changing((entry) => copyByHand(entry)) }],
  ['empty and mixed collections', inText('[null]', '[]')],
  ['a value 500 levels deep', { create: changing((entry) => (JSON.stringify(entry).length > 2_000 ? note : entry)) }],
  ['two megabytes', { create: changing((entry) => (JSON.stringify(entry).length > 100_000 ? note : entry)) }],
  ['own field `__proto__`', { create: changing((entry) => Object.assign({}, entry)) }],
  ['the `atMs` of an entry', { create: changing(({ atMs, ...entry }) => (atMs === undefined ? entry : { ...entry })) }],
  [
    'is not modified',
    {
      create: changing((entry, seq) => {
        Reflect.set(entry, 'number', seq);
        return entry;
      }),
    },
  ],
  [
    'is not JSON is rejected',
    {
      create: ({ append }) => ({
        append(entry, seq, atMs) {
          try {
            append(entry, seq, atMs);
          } catch {
            append(note, seq, atMs);
          }
        },
      }),
    },
  ],
  ['record out of sequence', { create: ({ append }) => ({ append: renumbering(append) }) }],
  ['closed store rejects records', { create: ({ append, close }) => dropping(append, close) }],
  [
    'closed store rejects records',
    {
      throws: 'closed twice',
      create: ({ close }) => {
        let closed = false;
        return {
          close() {
            if (closed) throw new Error('closed twice');
            closed = true;
            close();
          },
        };
      },
    },
  ],
  ['is one log', { reopen: opening(({ records, store }) => ({ records: records.slice(0, -1), store })) }],
  [
    'is one log',
    {
      reopen: opening(({ records, store }) => ({
        records,
        store: { ...store, append: renumbering(store.append, records) },
      })),
    },
  ],
  ['by a second writer', shared()],
  [
    'reopened elsewhere',
    {
      create: (store) => ({
        append(entry, seq, atMs) {
          try {
            store.append(entry, seq, atMs);
          } catch (error) {
            if (seq !== 4) throw error;
          }
        },
      }),
    },
  ],
  ['for concurrent callers', { create: () => ({ sync: () => new Promise(() => undefined) }) }],
  [
    'for concurrent callers',
    {
      throws: 'busy',
      create: () => {
        let running = 0;
        return {
          async sync() {
            running += 1;
            if (running > 1) throw new Error('busy');
            await Promise.resolve();
            running -= 1;
          },
        };
      },
    },
  ],
  ['leaves no caller waiting', { create: () => ({ sync: async () => undefined }) }],
  [
    'leaves no caller waiting',
    {
      create: ({ close }) => {
        const waiting = new Set<() => void>();
        return {
          sync: () => new Promise((resolve) => setTimeout(() => void waiting.add(resolve), 1)),
          close,
        };
      },
    },
  ],
  ['readable from any record', { create: ({ read }) => ({ read: () => read() }) }],
  ['readable from any record', { create: ({ read }) => ({ read: (from = 0) => [...read(from)].slice(0, 100) }) }],
  [
    'readable from any record',
    {
      create: ({ read }) => {
        let cache: readonly LogRecord[] | undefined;
        return {
          read(from = 0) {
            cache ??= [...read()];
            return cache.slice(from);
          },
        };
      },
    },
  ],
  ['appends during a read', { create: ({ read }) => ({ read: fromTheEnd(read) }) }],
  [
    'concurrent readers',
    {
      create: ({ read }) => {
        // One place for all who read.
        let next = 0;
        return {
          *read(from = 0) {
            for (next = from; ; next += 1) {
              const [record] = read(next);
              if (record === undefined) return;
              yield record;
            }
          },
        };
      },
    },
  ],
  [
    'once closed',
    {
      create: ({ read, close }) => {
        let closed = false;
        return {
          read: (from) => (closed ? [...read(from)].slice(1) : read(from)),
          close() {
            closed = true;
            close();
          },
        };
      },
    },
  ],
  [
    'from before a reopen',
    {
      reopen: opening(({ records, store }) => ({
        records,
        store: { ...store, read: (from = 0) => store.read?.(Math.max(from, records.length)) ?? [] },
      })),
    },
  ],
  ['due after enough records', { create: () => ({ snapshotDue: true }) }],
  ['due after enough records', { create: () => ({ snapshotDue: false }) }],
  ['due after enough records', { create: (store) => dueAfter(store, 100_000) }],
  [
    'due after enough records',
    {
      create: ({ append }) => {
        let due = false;
        return {
          append(entry, seq, atMs) {
            append(entry, seq, atMs);
            due = seq > 10;
          },
          get snapshotDue() {
            return due;
          },
        };
      },
    },
  ],
  [
    'opens from its last snapshot',
    { reopen: async (open, { path }) => ({ records: readLog(path).records, store: (await open()).store }) },
  ],
  [
    'opens from its last snapshot',
    {
      reopen: opening(({ records, store }) => ({
        records,
        store: { ...store, read: (from = 0) => records.slice(from) },
      })),
    },
  ],
  [
    'session rebuilt from the log',
    { create: changing((entry) => (entry.type === 'event' ? withoutEvents(entry) : entry)) },
  ],
  [
    'closed session writes nothing',
    {
      create: ({ append, close }) => ({
        close() {
          append(note, 1, 1_000);
          close();
        },
      }),
    },
  ],
  [
    'resumed repeatedly',
    { create: changing((entry) => (entry.type === 'tool-call-end' ? withoutEvents(entry) : entry)) },
  ],
  [
    'writes due snapshots',
    {
      throws: 'cannot be replayed',
      create: changing((entry) => (entry.type === 'snapshot' ? { ...entry, slices: [] } : entry)),
    },
  ],
  ['writes due snapshots', { create: () => ({ snapshotDue: false }) }],
];

const note: LogEntry = { type: 'note' };

const withoutEvents = (entry: LogEntry): LogEntry => ({ ...entry, events: [] });

/** As careless code copies: `copy[key] = value`. */
function copyByHand<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) copy[key] = copyByHand(item);
  return copy as Value;
}

/** Takes every record for the next one. */
function renumbering(append: Append, before: readonly LogRecord[] = []): Append {
  let next = before.length;
  return (entry, _seq, atMs) => {
    append(entry, next, atMs);
    next += 1;
  };
}

/** Says nothing when it has been closed. */
function dropping(append: Append, close: () => void): Partial<SessionStore> {
  let closed = false;
  return {
    append(entry, seq, atMs) {
      if (!closed) append(entry, seq, atMs);
    },
    close() {
      closed = true;
      close();
    },
  };
}

/** Counts what is left to be read, which becomes more. */
function fromTheEnd(read: JsonlLog['read']): JsonlLog['read'] {
  return function* readBackwards(from = 0) {
    for (let left = [...read(from)].length; left > 0; left -= 1) {
      const record = [...read(from)].at(-left);
      if (record !== undefined) yield record;
    }
  };
}

/** However large the last snapshot was. */
function dueAfter({ append }: SessionStore, bytes: number): Partial<SessionStore> {
  let since = 0;
  return {
    append(entry, seq, atMs) {
      append(entry, seq, atMs);
      since = entry.type === 'snapshot' ? 0 : since + JSON.stringify(entry).length;
    },
    get snapshotDue() {
      return since > bytes;
    },
  };
}

function breaking({ create, read, reopen }: Broken): StoreConformanceOptions<JsonlLog> {
  const options: JsonlOptions = { sync: 'disk', snapshotAfterBytes: 100_000 };
  const sound = jsonl(options);
  return {
    create: async () => {
      const store = await sound.create();
      return Object.create(store, Object.getOwnPropertyDescriptors(create?.(store) ?? {})) as JsonlLog;
    },
    read: async (store) => {
      const records = await sound.read(store);
      return read?.(records) ?? records;
    },
    reopen: async (store) => {
      const open = async (): Promise<OpenedLog> => openJsonlLog(store.path, options);
      return (await reopen?.(open, store)) ?? open();
    },
  };
}

test.each(broken)('a store that breaks a promise is found: %s', async (name, store) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const check = storeConformance(breaking(store)).find((candidate) => candidate.name.includes(name));
  const [result] = await Promise.all([
    Promise.allSettled([check?.run()]).then(([first]) => first),
    vi.advanceTimersByTimeAsync(60_000),
  ]);
  const reason =
    store.throws === undefined
      ? { code: 'conformance.failed' }
      : { message: expect.stringContaining(store.throws) as string };
  expect(result).toMatchObject({ status: 'rejected', reason });
});

test('there is a broken store for every check', () => {
  const names = storeConformance(jsonl({ sync: 'disk' })).map((check) => check.name);
  expect(names.filter((name) => !broken.some(([part]) => name.includes(part)))).toEqual([]);
});
