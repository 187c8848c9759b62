import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkFlips, checkLineDamage, makeFolder, writeLog } from '../logs/log-damage.ts';
import { checkSegmentFlips, writeSegments } from '../logs/log-damage-segments.ts';
import { tryFlips } from '../logs/log-damage-sqlite.ts';
import { amount } from './amount.ts';

test('every flipped bit in a log of 200 records is found at its record', () => {
  using folder = makeFolder();
  const log = writeLog(join(folder.path, 's.jsonl'), amount(200));
  const seen = checkFlips(log, folder.path);
  console.log(`${log.lines.length} records:`, seen);
  expect(seen.flips).toBe(log.bytes.length * 8);
});

test('every deleted, swapped, duplicated, inserted or forged line in a log of 200 records is found', () => {
  using folder = makeFolder();
  const log = writeLog(join(folder.path, 's.jsonl'), amount(200));
  const count = checkLineDamage(log, folder.path);
  console.log(`${log.lines.length} records, ${count} damages`);
  expect(count).toBeGreaterThan(log.lines.length ** 2);
});

test('every flipped bit in the files of a log is found', () => {
  using folder = makeFolder();
  const log = writeSegments(join(folder.path, 's.jsonl'), amount(12));
  const seen = checkSegmentFlips(log, 1);
  console.log(`${log.records.length} records in ${log.files.length} files:`, seen);
  expect(seen.flips).toBeGreaterThan(log.records.length * 800);
});

test('no flipped bit of a SQLite database changes the log without an error or a problem', () => {
  // Three bits of each byte: 61,440 of a database of five pages, each read, and opened for writing.
  function* three(bytes: number): Generator<number> {
    for (let byte = 0; byte < amount(bytes); byte += 1) {
      for (let bit = 0; bit < 3; bit += 1) yield byte * 8 + ((byte + bit * 3) % 8);
    }
  }
  const { flips, seen, silent } = tryFlips(three, 1);
  console.log(`${flips} flips:`, seen);
  expect(silent).toEqual([]);
  expect(flips).toBe(amount(61_440));
});
