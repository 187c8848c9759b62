import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openJsonlLog, readLog } from '@holdfast/session/jsonl';
import { openSqliteLog, readSqliteLog } from '@holdfast/session/sqlite';
import { expect, inject, test } from 'vitest';
import { makeFolder } from './log-damage.ts';
import { checkSegmentFlips, restore, type SegmentedLog, writeSegments } from './log-damage-segments.ts';
import { sessionId, sqliteLogOf } from './log-damage-sqlite.ts';

function makeLog(folder: string): SegmentedLog {
  const log = writeSegments(join(folder, 's.jsonl'), 3);
  expect(log.files.map(({ seq }) => seq)).toEqual([0, 5, 13, 21]);
  return log;
}

test('a bit that is turned over in any file of a log is found', () => {
  using folder = makeFolder();
  const log = makeLog(folder.path);
  const { flips, onlyByHead } = checkSegmentFlips(log, 7);
  expect(flips).toBeGreaterThan(4_000);
  expect(onlyByHead).toBeLessThan(flips / 20);
  restore(log);
  expect(readLog(log.path).head).toBe(log.head);
});

// Found by `npm run long`: among many files another number is often that of another file.
test('a file whose first record has another number does not follow the file that this names', () => {
  using folder = makeFolder();
  const log = writeSegments(join(folder.path, 's.jsonl'), 12);
  const bytes = '{"seq":00,'.length;
  expect(checkSegmentFlips(log, 1, bytes).flips).toBe(log.files.length * bytes * 8);
});

// Coprime to the length of a line, so that cuts fall everywhere in one.
const step = inject('long') > 0 ? 1 : 7;

test('an older file that was cut anywhere is found at the record that it should have', () => {
  using folder = makeFolder();
  const log = makeLog(folder.path);
  for (const { path, bytes, seq } of log.files.slice(0, -1)) {
    for (let size = 0; size < bytes.length; size += step) {
      const part = bytes.subarray(0, size);
      writeFileSync(path, part);
      const { problem, torn, records } = readLog(log.path);
      const whole = seq + part.filter((byte) => byte === 10).length;
      expect([problem?.seq, records.length, torn], `${path} cut at ${size}`).toEqual([whole, whole, undefined]);
    }
    writeFileSync(path, bytes);
  }
}, 120_000);

test('the newest file, cut anywhere after its snapshot, gives the records before that', () => {
  using folder = makeFolder();
  const log = makeLog(folder.path);
  const { bytes, seq } = log.files.at(-1) ?? { bytes: Buffer.alloc(0), seq: 0 };
  for (let size = bytes.indexOf(10) + 1; size < bytes.length; size += step) {
    const part = bytes.subarray(0, size);
    writeFileSync(log.path, part);
    const whole = seq + part.filter((byte) => byte === 10).length;
    const reading = readLog(log.path);
    expect([reading.records, reading.problem]).toEqual([log.records.slice(0, whole), undefined]);
    const { records, store, torn, earlier } = openJsonlLog(log.path, { snapshotAfterBytes: Number.POSITIVE_INFINITY });
    expect([records, earlier]).toEqual([log.records.slice(seq, whole), undefined]);
    expect(torn?.bytes ?? 0).toBe(size - (part.lastIndexOf(10) + 1));
    if (torn !== undefined) rmSync(torn.keptAt);
    store.append({ type: 'note' }, whole, 1);
    store.close();
    const after = readLog(log.path);
    expect([after.records.length, after.problem, after.torn]).toEqual([whole + 1, undefined, undefined]);
  }
});

test('the newest file, cut within its snapshot, is not continued as an empty log', () => {
  using folder = makeFolder();
  const log = makeLog(folder.path);
  const { bytes, seq } = log.files.at(-1) ?? { bytes: Buffer.alloc(0), seq: 0 };
  for (let size = 0; size <= bytes.indexOf(10); size += step) {
    writeFileSync(log.path, bytes.subarray(0, size));
    const { records, problem, torn, head } = readLog(log.path);
    expect([records, problem, torn?.bytes ?? 0]).toEqual([log.records.slice(0, seq), undefined, size]);
    expect(head).not.toBe(log.head);
    expect(() => openJsonlLog(log.path)).toThrow(expect.objectContaining({ code: expect.stringMatching(/^log\./) }));
    expect(readdirSync(folder.path)).toHaveLength(log.files.length);
  }
});

test('a file that is missing, in the place of another, or of another log is found', () => {
  using folder = makeFolder();
  const log = makeLog(folder.path);
  const other = writeSegments(join(folder.path, 'other.jsonl'), 3, 'word');
  const wrong: string[] = [];
  for (const [index, { path, seq, count }] of log.files.entries()) {
    const look = (what: string): void => {
      const { problem, records, head } = readLog(log.path);
      // An older file in the place of the newest is the log as it was then: a tail that was cut at a record.
      const found = path === log.path && problem === undefined ? head !== log.head : problem !== undefined;
      // Its content may be consistent; then the next record finds the damage.
      if (!found || records.length > seq + count) wrong.push(`${path} ${what}`);
      restore(log);
    };
    for (const file of [...log.files, ...other.files]) {
      if (file.path === path || (file.path === other.path && path === log.path)) continue;
      copyFileSync(file.path, path);
      look(`replaced by ${file.path}`);
    }
    if (path === log.path) continue;
    rmSync(path);
    look(`removed, the ${index}th`);
  }
  expect(wrong).toEqual([]);
});

test('opening a log looks whether its newest file follows the one before, and goes on in any case', () => {
  using folder = makeFolder();
  const log = makeLog(folder.path);
  const [, , before] = log.files;
  if (before === undefined) throw new Error('There is no file before the newest one.');
  const lastLine = before.bytes.lastIndexOf(10, before.bytes.length - 2) + 1;
  const damages = {
    removed: () => rmSync(before.path),
    emptied: () => writeFileSync(before.path, ''),
    cut: () => writeFileSync(before.path, before.bytes.subarray(0, -1)),
    'cut at a record': () => writeFileSync(before.path, before.bytes.subarray(0, lastLine)),
    edited: () => writeFileSync(before.path, Buffer.from(before.bytes.toString().replaceAll('note', 'nose'))),
  };
  for (const [what, damage] of Object.entries(damages)) {
    damage();
    const { earlier, records, store } = openJsonlLog(log.path);
    store.close();
    expect([what, earlier?.path, earlier?.seq]).toEqual([what, before.path, 21]);
    expect(records).toEqual(log.records.slice(21));
    expect(readLog(log.path).problem).toBeDefined();
    restore(log);
  }
});

test('a row that is changed is found also before a snapshot, and by opening only from the last one on', () => {
  using folder = makeFolder();
  const { records, head } = makeLog(folder.path);
  using log = sqliteLogOf(records);
  expect(log.head).toBe(head);
  const last = records.findLastIndex(({ type }) => type === 'snapshot');
  for (let seq = 0; seq < records.length - 1; seq += 1) {
    log.change(`UPDATE holdfast_records SET text = json_set(text, '$.atMs', 7000) WHERE session = 1 AND seq = ?`, seq);
    const { problem } = readSqliteLog(log.path, { sessionId });
    expect([problem?.reason, problem?.seq]).toEqual(['chain', seq + 1]);
    const open = (): void => openSqliteLog(log.path, { sessionId }).store.close();
    if (seq >= last)
      expect(open, `row ${seq}`).toThrow(expect.objectContaining({ code: 'log.damaged', reason: 'chain' }));
    else if (seq < last - 1) open();
    log.replaceRows(log.lines);
  }
});
