import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkFlips, checkLineDamage, makeFolder, writeLog } from '../log-damage.ts';
import { checkSegmentFlips, writeSegments } from '../log-damage-segments.ts';
import { amount } from './amount.ts';

test('every single bit of a log of 200 records that is turned over is found at its record', () => {
  using folder = makeFolder();
  const log = writeLog(join(folder.path, 's.jsonl'), amount(200));
  const seen = checkFlips(log, folder.path);
  console.log(`${log.lines.length} records:`, seen);
  expect(seen.flips).toBe(log.bytes.length * 8);
});

test('every line of a log of 200 records that is deleted, swapped, doubled, inserted or forged is found', () => {
  using folder = makeFolder();
  const log = writeLog(join(folder.path, 's.jsonl'), amount(200));
  const count = checkLineDamage(log, folder.path);
  console.log(`${log.lines.length} records, ${count} damages`);
  expect(count).toBeGreaterThan(log.lines.length ** 2);
});

test('every single bit of the files of a log that is turned over is found', () => {
  using folder = makeFolder();
  const log = writeSegments(join(folder.path, 's.jsonl'), amount(12));
  const seen = checkSegmentFlips(log, 1);
  console.log(`${log.records.length} records in ${log.files.length} files:`, seen);
  expect(seen.flips).toBeGreaterThan(log.records.length * 800);
});
