import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { append, defineSlice } from '@holdfast/core';
import { afterAll, expect, inject, test } from 'vitest';
import { createSession, replay } from '../../index.ts';
import { createJsonlLog, openJsonlLog, readLog } from '../../jsonl.ts';

const root = mkdtempSync(join(tmpdir(), 'holdfast-open-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newFolder = (): string => mkdtempSync(join(root, 'f-'));
const newPath = (): string => join(newFolder(), 's.jsonl');

const notes = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { 'note-added': (_state, payload) => append(payload) },
});

async function writeLog(count: number, path = newPath()): Promise<string> {
  const session = createSession({ id: 's', store: createJsonlLog(path), slices: [notes] });
  for (let index = 1; index < count; index += 1) session.dispatch({ type: 'note-added', payload: `größe ${index}` });
  await session.close();
  return path;
}

test('a session continues in its log', async () => {
  const path = await writeLog(3);
  const { records, store, torn } = openJsonlLog(path);
  expect(torn).toBeUndefined();
  const session = replay(records, { slices: [notes], store });
  session.dispatch({ type: 'note-added', payload: 'more' });
  expect(session.read(notes).toArray()).toEqual(['größe 1', 'größe 2', 'more']);
  await session.close();
  const reading = readLog(path);
  expect(reading.problem).toBeUndefined();
  expect(replay(reading.records, { slices: [notes] }).snapshot()).toMatchObject({ sessionId: 's', seq: 4 });
  const again = openJsonlLog(path);
  expect(again.records).toEqual(reading.records);
  again.store.close();
});

test('every prefix of a log opens with its complete records, and continues as a valid log', () => {
  const long = inject('long');
  const count = long > 0 ? Math.ceil(60 * long) : 4;
  const original = newPath();
  const first = createJsonlLog(original);
  for (let seq = 0; seq < count; seq += 1) first.append({ type: `ö${seq}` }, seq, 1);
  first.close();
  const bytes = readFileSync(original);
  const { records: all } = readLog(original);
  const folder = newFolder();
  const path = join(folder, 's.jsonl');
  for (let size = 0; size <= bytes.length; size += 1) {
    const part = bytes.subarray(0, size);
    writeFileSync(path, part);
    const end = part.lastIndexOf(10) + 1;
    const whole = part.filter((byte) => byte === 10).length;
    const { records, torn, store } = openJsonlLog(path);
    expect(records).toEqual(all.slice(0, whole));
    expect(torn).toEqual(end === size ? undefined : { offset: end, bytes: size - end, keptAt: `${path}.torn-${end}` });
    if (torn !== undefined) {
      expect(readFileSync(torn.keptAt).equals(part.subarray(end))).toBe(true);
      rmSync(torn.keptAt);
    }
    store.append({ type: 'next' }, whole, 1);
    store.close();
    const after = readFileSync(path);
    expect(after.subarray(0, end).equals(part.subarray(0, end))).toBe(true);
    const reading = readLog(path);
    expect([reading.problem, reading.torn, reading.records.length]).toEqual([undefined, undefined, whole + 1]);
    expect(reading.records.at(-1)).toEqual({ seq: whole, atMs: 1, type: 'next' });
  }
  expect(readdirSync(folder)).toEqual(['s.jsonl']);
});

const damages: readonly (readonly [string, (lines: readonly string[], at: number) => readonly string[]])[] = [
  ['deleted', (lines, at) => lines.toSpliced(at, 1)],
  ['duplicated', (lines, at) => lines.toSpliced(at, 0, lines[at] ?? '')],
  ['swapped with the next', (lines, at) => lines.toSpliced(at, 2, lines[at + 1] ?? '', lines[at] ?? '')],
  ['edited', (lines, at) => lines.with(at, (lines[at] ?? '').replace(/"atMs":\d/, '"atMs":7'))],
];

test.each(damages)('a log with any line %s is rejected and left unchanged', async (_what, damage) => {
  const lines = readFileSync(await writeLog(12), 'utf8')
    .trimEnd()
    .split('\n');
  const folder = newFolder();
  const path = join(folder, 's.jsonl');
  // A change to the last line shows only against a noted head; a duplicate shows.
  for (let at = 0; at < lines.length - 1; at += 1) {
    // The torn tail must stay, too.
    const text = `${damage(lines, at).join('\n')}\n{"torn`;
    writeFileSync(path, text);
    const { problem } = readLog(path);
    expect(problem).toBeDefined();
    expect(() => openJsonlLog(path)).toThrow(
      expect.objectContaining({
        code: problem?.code,
        data: { reason: problem?.reason, path, seq: problem?.seq, offset: problem?.offset },
      }),
    );
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(readdirSync(folder)).toEqual(['s.jsonl']);
  }
});

test('log.damaged: record, sequence and chain name the place and a remedy', async () => {
  const lines = readFileSync(await writeLog(3), 'utf8')
    .trimEnd()
    .split('\n');
  const path = newPath();
  for (const [reason, damaged] of [
    ['record', lines.with(1, '{')],
    ['sequence', lines.toSpliced(1, 1)],
    ['chain', lines.with(1, (lines[1] ?? '').replace('größe', 'kleine'))],
  ] as const) {
    writeFileSync(path, `${damaged.join('\n')}\n`);
    expect(() => openJsonlLog(path)).toThrow(
      expect.objectContaining({
        code: 'log.damaged',
        reason,
        message: expect.stringMatching(/at byte \d+.*`readLog` returns.*start a new/),
      }),
    );
  }
});

test('a torn tail never overwrites an earlier one', async () => {
  const path = await writeLog(2);
  const bytes = readFileSync(path);
  const kept = ['{"a', '{"b', '{"c'].map((tail) => {
    writeFileSync(path, Buffer.concat([bytes, Buffer.from(tail)]));
    const { torn, store } = openJsonlLog(path);
    store.close();
    return torn?.keptAt ?? '';
  });
  const first = `${path}.torn-${bytes.length}`;
  expect(kept).toEqual([first, `${first}-2`, `${first}-3`]);
  expect(kept.map((name) => readFileSync(name, 'utf8'))).toEqual(['{"a', '{"b', '{"c']);
  expect(readFileSync(path).equals(bytes)).toBe(true);
});

test('log.missing: neither a file nor a lock is created', () => {
  const folder = newFolder();
  expect(() => openJsonlLog(join(folder, 's.jsonl'))).toThrow(expect.objectContaining({ code: 'log.missing' }));
  expect(() => openJsonlLog(join(folder, 'none', 's.jsonl'))).toThrow(expect.objectContaining({ code: 'log.missing' }));
  expect(readdirSync(folder)).toEqual([]);
});

test('log.write_failed: open: a folder is not a log', () => {
  const folder = newFolder();
  const path = join(folder, 's.jsonl');
  mkdirSync(path);
  expect(() => openJsonlLog(path)).toThrow(expect.objectContaining({ code: 'log.write_failed', reason: 'open' }));
  expect(readdirSync(folder)).toEqual(['s.jsonl']);
});

test.runIf(process.platform !== 'win32')(
  'log.write_failed: open: a torn tail that cannot be moved stays in place',
  async () => {
    const path = await writeLog(2);
    const bytes = Buffer.concat([readFileSync(path), Buffer.alloc(50_000, 'x')]);
    writeFileSync(path, bytes);
    // Limits files to 8 KiB at most; `sh` counts in 512 or 1,024 bytes.
    const program = `const { openJsonlLog } = await import(process.argv[1]);
try { openJsonlLog(process.argv[2]); } catch (error) { console.log(error.code, error.reason, error.message); }`;
    const node = [process.execPath, '--conditions=holdfast-source', '--input-type=module', '-e', program];
    const { stdout } = spawnSync(
      'sh',
      ['-c', 'ulimit -f 8; exec "$@"', 'sh', ...node, new URL('../../jsonl.ts', import.meta.url).href, path],
      { encoding: 'utf8' },
    );
    expect(stdout).toMatch(/^log\.write_failed open .*could not be moved/);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(readdirSync(join(path, '..'))).toEqual(['s.jsonl']);
  },
);

test('log.write_failed: sequence: a store accepts only the next record', async () => {
  const path = await writeLog(3);
  const before = readFileSync(path);
  const { store } = openJsonlLog(path);
  // As from a new session in place of the replayed one.
  expect(() => createSession({ id: 'other', store })).toThrow(
    expect.objectContaining({ code: 'log.write_failed', data: { reason: 'sequence', seq: 0, expected: 3 } }),
  );
  store.close();
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('session.closed: a closed store rejects writes and closes once', async () => {
  const path = await writeLog(2);
  const { store } = openJsonlLog(path);
  store.close();
  expect(existsSync(`${path}.lock`)).toBe(false);
  const next = openJsonlLog(path);
  store.close();
  expect(() => store.append({ type: 'late' }, 2, 1)).toThrow(expect.objectContaining({ code: 'session.closed' }));
  next.store.append({ type: 'next' }, 2, 1);
  next.store.close();
  expect(readLog(path).records.map(({ type }) => type)).toEqual(['session-start', 'event', 'next']);
});

test('a link to a log opens the same log', async () => {
  const path = await writeLog(2);
  const link = join(newFolder(), 'link.jsonl');
  symlinkSync(path, link);
  const { store } = openJsonlLog(link);
  expect(() => openJsonlLog(path)).toThrow(expect.objectContaining({ code: 'log.locked' }));
  store.append({ type: 'next' }, 2, 1);
  store.close();
  expect(readLog(path).records).toHaveLength(3);
});
