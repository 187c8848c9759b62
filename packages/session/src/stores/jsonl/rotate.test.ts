import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { append, defineSlice, isHoldfastError } from '@holdfast/core';
import { afterAll, expect, inject, test } from 'vitest';
import { type LogFiles, nodeFiles } from '../../disk/files.ts';
import { createSession, type LogRecord, replay, type Session } from '../../index.ts';
import { createJsonlLog, type JsonlLog, openJsonlLog, readLog } from '../../jsonl.ts';
import { goOnWithLog } from './open.ts';
import { beginJsonlLog } from './store.ts';

const root = mkdtempSync(join(tmpdir(), 'holdfast-rotate-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newFolder = (): string => mkdtempSync(join(root, 'f-'));

const notes = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { noted: (_state, payload) => append(payload) },
});
const slices = [notes];
const often = { snapshotAfterBytes: 1 };

function write(session: Session, from: number, to: number): void {
  for (let number = from; number < to; number += 1) session.dispatch({ type: 'noted', payload: `größe ${number}` });
}

async function writeLog(count: number, path = join(newFolder(), 's.jsonl')): Promise<string> {
  const session = createSession({ id: 's', store: createJsonlLog(path, often), slices });
  write(session, 0, count);
  await session.close();
  return path;
}

/** Older files of a log, oldest first. */
function olderOf(path: string): readonly string[] {
  const numberOf = (name: string): number => Number(name.split('.before-')[1]);
  return readdirSync(join(path, '..'))
    .filter((name) => name.includes('.before-'))
    .sort((one, other) => numberOf(one) - numberOf(other))
    .map((name) => join(path, '..', name));
}

test("a snapshot begins a new file under the log's name; earlier bytes stay unchanged under another name", async () => {
  const path = join(newFolder(), 's.jsonl');
  const store = createJsonlLog(path, { snapshotAfterBytes: 600 });
  const session = createSession({ id: 's', store, slices });
  let bytes = Buffer.alloc(0);
  while (olderOf(path).length === 0) {
    bytes = readFileSync(path);
    write(session, 0, 1);
  }
  const { records } = readLog(path);
  const snapshot = records.findIndex(({ type }) => type === 'snapshot');
  const [before = ''] = olderOf(path);
  expect(before).toBe(`${path}.before-${snapshot}`);
  expect(readFileSync(before).subarray(0, bytes.length).equals(bytes)).toBe(true);
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(2);
  expect(statSync(path).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600);
  write(session, 1, 3);
  await session.close();
  expect(readdirSync(join(path, '..')).toSorted()).toEqual(['s.jsonl', `s.jsonl.before-${snapshot}`]);
  const opened = openJsonlLog(path);
  expect(opened.records.map(({ seq }) => seq)).toEqual([snapshot, snapshot + 1, snapshot + 2]);
  expect(opened).not.toHaveProperty('earlier');
  expect(replay(opened.records, { slices }).export()).toEqual(session.export());
  opened.store.close();
});

test('all files form one log for readLog and read from any record, also during writes', async () => {
  const path = await writeLog(60);
  expect(olderOf(path).length).toBeGreaterThan(2);
  const { records, problem, torn, head } = readLog(path);
  expect([problem, torn]).toEqual([undefined, undefined]);
  expect(records.map(({ seq }) => seq)).toEqual([...records.keys()]);
  expect(replay(records, { slices }).read(notes).size).toBe(60);
  const { store } = openJsonlLog(path, often);
  for (let from = 0; from <= records.length + 1; from += 1) expect([...store.read(from)]).toEqual(records.slice(from));
  expect([...store.read()]).toEqual(records);
  // New files begin under the name that is being read.
  const session = replay([...store.read()], { slices, store });
  const seen: LogRecord[] = [];
  for (const record of store.read()) {
    write(session, 100 + record.seq, 101 + record.seq);
    seen.push(record);
  }
  expect(seen).toEqual(records);
  await session.close();
  const after = readLog(path, { head });
  expect(after.notedSeq).toBe(records.length - 1);
  expect(after.records.length).toBeGreaterThan(2 * records.length);
  expect(after.problem).toBeUndefined();
});

test('session.records reads back; a reader that stops early closes its files', async () => {
  const path = await writeLog(20);
  let open = 0;
  const files: LogFiles = {
    ...nodeFiles,
    open(name, how) {
      open += 1;
      return nodeFiles.open(name, how);
    },
    close(descriptor) {
      open -= 1;
      nodeFiles.close(descriptor);
    },
  };
  const { records, store } = goOnWithLog(path, files, often);
  const session = replay(records, { slices, store });
  expect(open).toBe(1);
  for (const record of session.records(3)) {
    expect(record.seq).toBe(3);
    break;
  }
  expect(open).toBe(1);
  await session.close();
  expect(open).toBe(0);
});

test('a link to a log also finds its older files', async () => {
  const path = await writeLog(20);
  const link = join(newFolder(), 'link.jsonl');
  symlinkSync(path, link);
  expect(readLog(link)).toEqual(readLog(path));
  const { store, earlier } = openJsonlLog(link, often);
  expect(earlier).toBeUndefined();
  expect([...store.read()]).toEqual(readLog(path).records);
  store.close();
});

const damages: readonly (readonly [string, (older: readonly string[]) => void, string])[] = [
  ['the oldest is missing', ([first = '']) => rmSync(first), 'sequence'],
  ['one in the middle is missing', (older) => rmSync(older[1] ?? ''), 'sequence'],
  ['the newest of them is missing', (older) => rmSync(older.at(-1) ?? ''), 'sequence'],
  ['two are swapped', ([one = '', other = '']) => swap(one, other), 'sequence'],
  ['a line is edited', ([, second = '']) => edit(second, (text) => text.replace('größe', 'kleine')), 'chain'],
  [
    'the last line is edited',
    (older) => edit(older.at(-1) ?? '', (text) => text.replace(/"atMs":\d(?=.*\n$)/, '"atMs":9')),
    'chain',
  ],
  ['a line is gone', ([, second = '']) => edit(second, (text) => text.replace(/\n.*\n/, '\n')), 'sequence'],
  ['the last line is gone', (older) => edit(older.at(-1) ?? '', (text) => text.replace(/.*\n$/, '')), 'sequence'],
  ['the last line is cut', ([, second = '']) => edit(second, (text) => text.slice(0, -5)), 'record'],
  ['the newline is cut', (older) => edit(older.at(-1) ?? '', (text) => text.slice(0, -1)), 'record'],
  ['a line is added', ([first = '']) => appendFileSync(first, '{"seq":1}\n'), 'record'],
  [
    'one begins with a later number',
    (older) => edit(older.at(-1) ?? '', (text) => text.replace(/\d+/, '99999')),
    'sequence',
  ],
  ['one is empty', ([, second = '']) => edit(second, () => ''), 'sequence'],
];

function swap(one: string, other: string): void {
  renameSync(one, `${one}.x`);
  renameSync(other, one);
  renameSync(`${one}.x`, other);
}

function edit(path: string, change: (text: string) => string): void {
  const text = readFileSync(path, 'utf8');
  expect(change(text)).not.toBe(text);
  writeFileSync(path, change(text));
}

test.each(damages)(
  'of the older files %s: readLog reports it, and the log opens from its last snapshot',
  async (_what, damage, reason) => {
    const path = await writeLog(60);
    const whole = readLog(path);
    damage(olderOf(path));
    const { records, problem, torn } = readLog(path);
    expect(problem).toMatchObject({ code: 'log.damaged', reason });
    expect(torn).toBeUndefined();
    // An edit shows at the link of the next line.
    const good = (problem?.seq ?? 0) - (reason === 'chain' ? 1 : 0);
    expect(records.slice(0, good)).toEqual(whole.records.slice(0, good));
    expect(records).toHaveLength(problem?.seq ?? 0);
    const opened = openJsonlLog(path, often);
    const session = replay(opened.records, { slices, store: opened.store });
    expect(session.read(notes).size).toBe(60);
    expect(() => [...session.records()]).toThrow(expect.objectContaining({ code: 'log.damaged', reason }));
    write(session, 60, 80);
    await session.close();
    expect(readLog(path).problem).toEqual({ ...problem, path: expect.any(String) });
  },
);

test.each<[string, (path: string) => void]>([
  ['is missing', (path) => rmSync(path)],
  ['begins with something else', (path) => edit(path, (text) => `x${text}`)],
  ['begins with another number', (path) => edit(path, (text) => text.replace(/\d+/, '2'))],
  [
    'begins with the number in its name',
    (path) => edit(path, (text) => text.replace(/\d+/, path.split('.before-')[1] ?? '')),
  ],
  ['begins with a number that is too large', (path) => edit(path, (text) => text.replace(/\d+/, '99999'))],
])('if an older file %s, records of earlier files are still returned', async (_what, damage) => {
  const path = await writeLog(60);
  const whole = readLog(path);
  const [, second = '', third = ''] = olderOf(path);
  damage(third);
  const seq = Number(second.split('.before-')[1]);
  const { records, problem } = readLog(path);
  expect(problem?.seq).toBe(seq);
  expect(records).toEqual(whole.records.slice(0, seq));
});

test.each([[''], ['{"seq":'], ['\n'.repeat(2)]])(
  'a newest file that now contains %j is not restarted',
  async (text) => {
    const path = await writeLog(60);
    const older = olderOf(path);
    const seq = Number(older.at(-1)?.split('.before-')[1]);
    const { records } = readLog(path);
    writeFileSync(path, text);
    const isRecord = text.includes('\n');
    expect(() => openJsonlLog(path)).toThrow(expect.objectContaining({ reason: isRecord ? 'record' : 'sequence' }));
    expect(readFileSync(path, 'utf8')).toBe(text);
    // Earlier records are readable, and the log resumes once the file is restored.
    expect(readLog(path).records).toEqual(records.slice(0, seq));
    renameSync(older.at(-1) ?? '', path);
    const opened = openJsonlLog(path);
    expect([...opened.store.read()]).toEqual(records.slice(0, seq));
    opened.store.close();
  },
);

test('opening reports a previous file that does not end where the snapshot begins', async () => {
  const path = await writeLog(60);
  const before = olderOf(path).at(-1) ?? '';
  const seq = Number(before.split('.before-')[1]);
  edit(before, (text) => text.replace(/"atMs":\d(?=.*\n$)/, '"atMs":9'));
  const changed = openJsonlLog(path);
  expect(changed.earlier).toMatchObject({ code: 'log.damaged', reason: 'chain', seq, path: before });
  changed.store.close();
  rmSync(before);
  const missing = openJsonlLog(path);
  expect(missing.earlier).toMatchObject({ code: 'log.damaged', reason: 'sequence', seq, path: before });
  missing.store.close();
});

test('the last line of the previous file is found at any length', () => {
  const path = join(newFolder(), 's.jsonl');
  const store = createJsonlLog(path);
  store.append({ type: 'note' }, 0, 1);
  store.append({ type: 'note', text: 'x'.repeat(300_000) }, 1, 1);
  store.append({ type: 'snapshot' }, 2, 1);
  store.close();
  const opened = openJsonlLog(path);
  expect(opened).not.toHaveProperty('earlier');
  opened.store.close();
});

test('a torn tail of the newest file is moved aside, and earlier files are not touched', async () => {
  const path = await writeLog(60);
  const whole = readLog(path);
  const older = olderOf(path).map((name) => readFileSync(name, 'utf8'));
  appendFileSync(path, '{"seq":');
  expect(readLog(path)).toEqual({ ...whole, torn: { offset: statSync(path).size - 7, bytes: 7 } });
  const { torn, store } = openJsonlLog(path);
  store.close();
  expect(torn?.bytes).toBe(7);
  expect(readLog(path)).toEqual(whole);
  expect(olderOf(path).map((name) => readFileSync(name, 'utf8'))).toEqual(older);
});

// The real disk is slow, and syncs do not matter for what a process leaves.
const quick: LogFiles = { ...nodeFiles, sync: () => undefined };

/** Files whose operations fail from number `from` on; `until` is the first that works again. */
function failing({ from, until, after = false }: { from: number; until: number; after?: boolean }): {
  readonly files: LogFiles;
  readonly count: () => number;
} {
  let count = 0;
  const files = Object.fromEntries(
    Object.entries(quick).map(([name, operation]: [string, (...parameters: unknown[]) => unknown]) => [
      name,
      (...parameters: unknown[]): unknown => {
        const failed = count >= from && count < until;
        const result = failed && !(after && count === from) ? undefined : operation(...parameters);
        count += 1;
        if (failed) throw Object.assign(new Error('EIO: it failed'), { code: 'EIO' });
        return result;
      },
    ]),
    // The same operations, under the same names.
  ) as unknown as LogFiles;
  return { files, count: () => count };
}

interface Told {
  /** Number of notes that the session has acknowledged. */
  acknowledged: number;
  /** Number of notes that the session has rejected. */
  refused: number;
  /** Set if closing failed, which may leave the lock. */
  unclosed: boolean;
}

/** A program that handles errors carefully and continues. */
function work(path: string, files: LogFiles): Told {
  const told: Told = { acknowledged: 0, refused: 0, unclosed: false };
  let open: { readonly session: Session; readonly store: JsonlLog } | undefined;
  const close = (store: JsonlLog | undefined): void => {
    open = undefined;
    try {
      store?.close();
    } catch {
      told.unclosed = true;
    }
  };
  const begin = (): { readonly session: Session; readonly store: JsonlLog } => {
    const isNew = !existsSync(path);
    const opened = isNew ? undefined : goOnWithLog(path, files, often);
    const store = opened?.store ?? beginJsonlLog(path, files, often);
    const records = opened?.records ?? [];
    try {
      return {
        store,
        session: records.length === 0 ? createSession({ id: 's', slices, store }) : replay(records, { slices, store }),
      };
    } catch (error) {
      close(store);
      throw error;
    }
  };
  for (let number = 0; number < 24; number += 1) {
    try {
      open ??= begin();
      open.session.dispatch({ type: 'noted', payload: `größe ${number}` });
      told.acknowledged += 1;
      expect(open.session.read(notes).size).toBe(told.acknowledged);
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      told.refused += 1;
      if (error.code === 'log.broken') close(open?.store);
    }
  }
  close(open?.store);
  return told;
}

function checkLeft(path: string, { acknowledged, refused, unclosed }: Told, crashed: boolean): void {
  if (!existsSync(path)) {
    expect(acknowledged).toBe(0);
    return;
  }
  if (crashed || unclosed) rmSync(`${path}.lock`, { force: true });
  const reading = readLog(path);
  expect(reading.problem).toBeUndefined();
  const opened = goOnWithLog(path, quick, often);
  expect(opened).not.toHaveProperty('earlier');
  if (opened.records.length === 0) {
    opened.store.close();
    return;
  }
  const session = replay(opened.records, { slices, store: opened.store });
  const { size } = session.read(notes);
  // The last write at the end of the process may or may not be there.
  expect(size).toBeGreaterThanOrEqual(acknowledged);
  expect(size).toBeLessThanOrEqual(acknowledged + (crashed ? 1 : 0));
  expect(acknowledged + refused).toBe(24);
  expect(replay(readLog(path).records, { slices }).export()).toEqual({ ...session.export() });
  write(session, 100, 112);
  void session.close();
  const end = readLog(path);
  expect([end.problem, end.torn]).toEqual([undefined, undefined]);
  const names = readdirSync(join(path, '..')).filter((name) => !/\.lock\.[0-9a-f]+\.new$|\.torn-/.test(name));
  expect(names.filter((name) => !/^s\.jsonl(\.before-\d+)?$/.test(name))).toEqual([]);
  // One older file per rotating snapshot, and nothing else.
  const snapshots = end.records.filter(({ type }) => type === 'snapshot').map(({ seq }) => `s.jsonl.before-${seq}`);
  expect(snapshots).toEqual(expect.arrayContaining(names.filter((name) => name.includes('.before-'))));
}

const rows = [
  { what: 'the process ends before', after: false, length: Number.POSITIVE_INFINITY },
  { what: 'the process ends after', after: true, length: Number.POSITIVE_INFINITY },
  { what: 'an error comes of', after: false, length: 1 },
  { what: 'an error is reported although the effect happened, by', after: true, length: 1 },
  { what: 'two errors in a row, from', after: false, length: 2 },
  { what: 'three errors in a row, from', after: false, length: 3 },
] as const;

test.each(rows)('$what any operation: no acknowledged record is lost, and the log opens', (row) => {
  const { after, length } = row;
  const counted = failing({ from: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY });
  const rehearsal = join(newFolder(), 's.jsonl');
  expect(work(rehearsal, counted.files)).toEqual({ acknowledged: 24, refused: 0, unclosed: false });
  expect(olderOf(rehearsal).length).toBeGreaterThan(2);
  // All operations in `npm run long`; every fifth in `npm test`, with another offset per fault.
  const stride = inject('long') > 0 ? 1 : 5;
  for (let from = (rows.indexOf(row) * 2) % stride; from < counted.count(); from += stride) {
    const path = join(newFolder(), 's.jsonl');
    const { files } = failing({ from, until: from + length, after });
    const told = work(path, files);
    try {
      // Past faults do not prevent reopening, unless the lock could not be released.
      if (length === 1 && !told.unclosed) expect(told.refused).toBeLessThanOrEqual(1);
      checkLeft(path, told, length === Number.POSITIVE_INFINITY);
    } catch (cause) {
      throw new Error(`operation ${from} of ${counted.count()}`, { cause });
    }
    rmSync(join(path, '..'), { recursive: true });
  }
});

test.each<[string, Partial<LogFiles>]>([
  ['no links', { link: () => fail('EPERM') }],
  [
    'no renaming over an open file',
    { rename: (from, to) => (to.endsWith('.jsonl') ? fail('EPERM') : nodeFiles.rename(from, to)) },
  ],
])('on a disk with %s snapshots stay in the same file', async (_what, change) => {
  const path = join(newFolder(), 's.jsonl');
  const session = createSession({ id: 's', slices, store: beginJsonlLog(path, { ...nodeFiles, ...change }, often) });
  write(session, 0, 60);
  await session.close();
  expect(readdirSync(join(path, '..'))).toEqual(['s.jsonl']);
  const { records, problem } = readLog(path);
  expect(problem).toBeUndefined();
  const snapshots = records.filter(({ type }) => type === 'snapshot').length;
  expect(snapshots).toBeGreaterThan(2);
  const opened = openJsonlLog(path, often);
  expect(opened.records).toEqual(records);
  const again = replay(opened.records, { slices, store: opened.store });
  expect(again.export()).toEqual(session.export());
  // On a better disk the next snapshot begins a new file.
  write(again, 60, 160);
  await again.close();
  expect(olderOf(path).length).toBeGreaterThan(0);
  expect(readLog(path).problem).toBeUndefined();
});

function fail(code: string): never {
  throw Object.assign(new Error(code), { code });
}

test('a foreign file with the same name is neither replaced nor read', async () => {
  const path = join(newFolder(), 's.jsonl');
  const store = createJsonlLog(path);
  store.append({ type: 'note' }, 0, 1);
  writeFileSync(`${path}.before-1`, 'mine\n');
  store.append({ type: 'snapshot' }, 1, 1);
  store.append({ type: 'note' }, 2, 1);
  store.close();
  expect(readFileSync(`${path}.before-1`, 'utf8')).toBe('mine\n');
  expect(readLog(path).records).toHaveLength(3);
  const opened = openJsonlLog(path);
  expect(opened.records).toHaveLength(3);
  opened.store.close();
});

test('leftovers of an interrupted rotation are removed', () => {
  const path = join(newFolder(), 's.jsonl');
  const store: JsonlLog = createJsonlLog(path);
  store.append({ type: 'note' }, 0, 1);
  store.close();
  writeFileSync(`${path}.next`, '{"seq":1');
  linkSync(path, `${path}.before-1`);
  // Another file, so not a leftover.
  writeFileSync(`${path}.before-2`, '');
  openJsonlLog(path).store.close();
  expect(readdirSync(join(path, '..')).toSorted()).toEqual(['s.jsonl', 's.jsonl.before-2']);
  writeFileSync(`${path}.before-1`, '');
  openJsonlLog(path).store.close();
  expect(readdirSync(join(path, '..')).toSorted()).toEqual(['s.jsonl', 's.jsonl.before-1', 's.jsonl.before-2']);
});
