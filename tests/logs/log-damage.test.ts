import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { replay } from '@holdfast/session';
import { openJsonlLog, readLog } from '@holdfast/session/jsonl';
import { expect, inject, test } from 'vitest';
import {
  checkFlips,
  checkLineDamage,
  checkPrefixes,
  findHidden,
  linkOf,
  makeFolder,
  replayed,
  rewriteTail,
  writeLog,
} from './log-damage.ts';
import { writeSegments } from './log-damage-segments.ts';

// Every kind of record stands among the first fifty.
const records = inject('long') > 0 ? 200 : 50;
const few = inject('long') > 0 ? 200 : 16;

test('every prefix of a log gives its whole records, and says what is torn', () => {
  using folder = makeFolder();
  const log = writeLog(join(folder.path, 's.jsonl'), few);
  expect([log.reading.problem, log.reading.torn]).toEqual([undefined, undefined]);
  expect(log.lines).toHaveLength(few);
  expect(checkPrefixes(log, folder.path)).toBe(log.bytes.length + 1);
}, 120_000);

test('a session that is replayed from the first records of a log equals the session at that moment', () => {
  using folder = makeFolder();
  const { reading, moments } = writeLog(join(folder.path, 's.jsonl'), records);
  expect(moments).toHaveLength(records + 1);
  for (const [index, { slices, states }] of moments.slice(1).entries()) {
    const count = index + 1;
    expect(replayed(reading.records.slice(0, count), slices), `after ${count} records`).toEqual(states);
  }
});

test('a log that was cut at a record, or within one, opens, and its session goes on', async () => {
  using folder = makeFolder();
  const { bytes, edges, moments } = writeLog(join(folder.path, 'whole.jsonl'), records);
  const path = join(folder.path, 's.jsonl');
  for (const [index, { slices, states }] of moments.slice(1).entries()) {
    const count = index + 1;
    const edge = edges[count] ?? 0;
    const next = edges[count + 1] ?? edge + 1;
    for (const size of new Set([edge, Math.min(edge + 1, next - 1), (edge + next) >> 1, next - 1])) {
      writeFileSync(path, bytes.subarray(0, size));
      const { records, store, torn } = openJsonlLog(path);
      expect(records).toHaveLength(count);
      expect(torn?.bytes ?? 0).toBe(size - edge);
      if (torn !== undefined) rmSync(torn.keptAt);
      const session = replay(records, { slices, store });
      expect(session.export().slices).toEqual(states);
      session.record({ type: 'note' });
      await session.close();
      const { records: after, problem, torn: tornAfter } = readLog(path);
      expect([after.length, problem, tornAfter]).toEqual([count + 1, undefined, undefined]);
    }
  }
});

test('every single bit of a log that is turned over is found at its record', () => {
  using folder = makeFolder();
  const log = writeLog(join(folder.path, 's.jsonl'), 6);
  const seen = checkFlips(log, folder.path);
  expect(seen.flips).toBe(log.bytes.length * 8);
  // In the last record there is nothing after it that could tell: most of them show only against a head noted before.
  expect(seen.onlyByHead).toBeLessThan((log.lines.at(-1) ?? '').length * 8);
  expect(seen.onlyByHead).toBeGreaterThan(0);
});

test('every line of a log that is deleted, swapped, doubled, inserted or forged is found at its place', () => {
  using folder = makeFolder();
  const log = writeLog(join(folder.path, 's.jsonl'), 24);
  expect(checkLineDamage(log, folder.path)).toBeGreaterThan(900);
});

test('a tail that was cut or written anew at the edge of a record shows by its head, and only by it', () => {
  using folder = makeFolder();
  const { lines, reading } = writeLog(join(folder.path, 's.jsonl'), 40);
  const path = join(folder.path, 's.jsonl');
  for (let from = 0; from < lines.length; from += 1) {
    for (const tail of [lines.slice(0, from), rewriteTail(lines, from)]) {
      writeFileSync(path, tail.map((line) => `${line}\n`).join(''));
      const { head, problem, torn } = readLog(path);
      expect([problem, torn]).toEqual([undefined, undefined]);
      expect(head).not.toBe(reading.head);
    }
  }
});

const verb = Buffer.from('\n');

test.each<[string, (bytes: Buffer) => Buffer, string, number]>([
  ['CRLF line ends', (bytes) => Buffer.from(bytes.toString().replaceAll('\n', '\r\n')), 'chain', 1],
  ['a byte order mark', (bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]), 'record', 0],
  ['UTF-16', (bytes) => Buffer.from(bytes.toString(), 'utf16le'), 'record', 0],
  ['gzip', (bytes) => Buffer.concat([gzipSync(bytes), verb]), 'record', 0],
  ['one newline', () => verb, 'record', 0],
  ['newlines', () => Buffer.from('\n\n\n'), 'record', 0],
  ['a newline more at the end', (bytes) => Buffer.concat([bytes, verb]), 'record', 5],
  ['a newline more at the start', (bytes) => Buffer.concat([verb, bytes]), 'record', 0],
  ['a newline too few', (bytes) => Buffer.from(bytes.toString().replace('\n', '')), 'record', 0],
  ['a space before a line', (bytes) => Buffer.from(bytes.toString().replace('\n{', '\n {')), 'chain', 2],
  ['zeros for its end', (bytes) => Buffer.concat([bytes.fill(0, bytes.length - 50), verb]), 'record', 4],
  ['itself twice', (bytes) => Buffer.concat([bytes, bytes]), 'sequence', 5],
  ['another log after it', (bytes) => Buffer.concat([bytes, Buffer.from('{"seq":5}\n')]), 'record', 5],
  [
    'a record that goes on after it was torn',
    (bytes) => Buffer.concat([bytes.subarray(0, -20), Buffer.from('\n{}\n')]),
    'record',
    4,
  ],
])('a log with %s is found', (_what, damage, reason, seq) => {
  using folder = makeFolder();
  const path = join(folder.path, 's.jsonl');
  const { bytes } = writeLog(path, 5);
  writeFileSync(path, damage(bytes));
  const { records, problem } = readLog(path);
  expect(problem).toMatchObject({ code: 'log.damaged', reason, seq });
  expect(records).toHaveLength(seq);
  expect(() => openJsonlLog(path)).toThrow(expect.objectContaining({ code: 'log.damaged', reason }));
});

test.each<[string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['zeros', Buffer.alloc(4_096)],
  ['gzip without a newline in it', Buffer.from(gzipSync('x').filter((byte) => byte !== 10))],
])('a log that holds %s has no record, and one can be begun in it', (_what, bytes) => {
  using folder = makeFolder();
  const path = join(folder.path, 's.jsonl');
  writeFileSync(path, bytes);
  const { records, problem, torn } = readLog(path);
  expect([records, problem, torn?.bytes ?? 0]).toEqual([[], undefined, bytes.length]);
  const { store } = openJsonlLog(path);
  store.append({ type: 'note' }, 0, 1);
  store.close();
  const after = readLog(path);
  expect([after.records, after.problem, after.torn]).toEqual([
    [{ seq: 0, atMs: 1, type: 'note' }],
    undefined,
    undefined,
  ]);
});

const program = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

function verify(workspace: string, ...parameters: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--conditions=holdfast-source', program, 'verify', '--workspace', workspace, ...parameters],
      (error) => resolve(error === null ? 0 : Number(error.code)),
    );
  });
}

test('`holdfast verify --head` finds what `holdfast verify` cannot', async () => {
  using folder = makeFolder();
  const sessions = join(folder.path, '.holdfast', 'sessions');
  mkdirSync(sessions, { recursive: true });
  const { lines, reading } = writeLog(join(sessions, 'whole.jsonl'), 12);
  const write = (id: string, changed: readonly string[]): void =>
    writeFileSync(join(sessions, `${id}.jsonl`), changed.map((line) => `${line}\n`).join(''));
  write('cut', lines.slice(0, -1));
  write('last-anew', rewriteTail(lines, 11));
  write('tail-anew', rewriteTail(lines, 5));
  write('edited', lines.with(4, (lines[4] ?? '').replace('"atMs":', '"atMs":1')));
  const { head } = reading;
  const many = writeSegments(join(sessions, 'many.jsonl'), 3);
  const [oldest, , before] = many.files;
  const cases: readonly (readonly [number, string, ...(readonly string[])])[] = [
    [0, 'tail-anew'],
    [1, 'edited'],
    [0, 'whole', '--head', head],
    [0, 'whole', '--head', linkOf(lines[8] ?? '')],
    [1, 'cut', '--head', head],
    [1, 'last-anew', '--head', head],
    [1, 'tail-anew', '--head', head],
    // Noted when there was nothing yet of what was written anew.
    [0, 'tail-anew', '--head', linkOf(lines[4] ?? '')],
    [1, 'edited', '--head', head],
    // In several files; noted when there was only the oldest of them.
    [0, 'many', '--head', many.head],
    [0, 'many', '--head', linkOf(oldest?.bytes.toString().split('\n')[2] ?? '')],
    [1, 'many', '--head', head],
  ];
  const exitCodes = await Promise.all(cases.map(([, ...parameters]) => verify(folder.path, ...parameters)));
  expect(exitCodes).toEqual(cases.map(([expected]) => expected));
  // The log as it was before its last file.
  copyFileSync(before?.path ?? '', many.path);
  expect(await Promise.all([verify(folder.path, 'many'), verify(folder.path, 'many', '--head', many.head)])).toEqual([
    0, 1,
  ]);
}, 120_000);

test('what is taken for found would not be without a reason: a log that is as it was has none', () => {
  using folder = makeFolder();
  const log = writeLog(join(folder.path, 's.jsonl'), 5);
  expect(findHidden(log.reading, { reason: 'chain', seq: 1 }, log.reading.head)).toBe('was not found');
  expect(findHidden(log.reading, 'only by its head', log.reading.head)).toBe('the head is the same as before');
});
