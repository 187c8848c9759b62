import { expect, test } from 'vitest';
import { compare, type Subject, toSpread } from './compare.ts';
import { formatReport } from './report.ts';

/** A clock that only the subjects move, and what they did, in order. */
function bench() {
  let time = 0;
  const order: string[] = [];
  const subject = (name: string, takes: readonly number[], more: Partial<Subject> = {}): Subject => {
    let sample = 0;
    return {
      name,
      operations: 10,
      prepare() {
        time += 1_000_000; // untimed
        return async () => {
          order.push(name);
          time += takes[sample] ?? 0;
          sample += 1;
        };
      },
      ...more,
    };
  };
  return { order, subject, now: () => time };
}

test('rounds are interleaved, each starts with another subject, and warm-up does not count', async () => {
  const { order, subject, now } = bench();
  const subjects = [subject('floor', [9_999, 100, 200, 300]), subject('ours', [9_999, 300, 400, 300], { goal: 2.5 })];
  const rows = await compare(subjects, { rounds: 3, warmUpRounds: 1, now });
  expect(order).toEqual(['floor', 'ours', 'ours', 'floor', 'floor', 'ours', 'ours', 'floor']);
  expect(rows).toEqual([
    { name: 'floor', nsPerOperation: { median: 20, min: 10, max: 30 } },
    {
      name: 'ours',
      nsPerOperation: { median: 30, min: 30, max: 40 },
      ratio: { median: 2, min: 1, max: 3, against: 'floor' },
      goal: 2.5,
    },
  ]);
});

test('a subject may be compared with another than the first, and only with one that is there', async () => {
  const { subject, now } = bench();
  const subjects = [subject('floor', [10]), subject('a', [20]), subject('b', [60], { against: 'a' })];
  const rows = await compare(subjects, { rounds: 1, warmUpRounds: 0, now });
  expect(rows.map(({ ratio }) => ratio?.median)).toEqual([undefined, 2, 3]);
  const unknown = [subject('floor', [10]), subject('a', [20], { against: 'gone' })];
  await expect(compare(unknown, { rounds: 1, warmUpRounds: 0, now })).rejects.toThrow('unknown `gone`');
});

test('a goal in time is about what a subject takes over the other', async () => {
  const { subject, now } = bench();
  const subjects = [subject('floor', [100, 200]), subject('ours', [300, 300], { goalOverNs: 15 })];
  const rows = await compare(subjects, { rounds: 2, warmUpRounds: 0, now });
  expect(rows[1]?.overNs).toEqual({ median: 15, min: 10, max: 20, goal: 15 });
  const lines = formatReport({ name: 'import', rounds: 2, rows }).split('\n');
  expect(lines.at(-1)).toContain('15 ns over, met with 15 ns');
});

test.each([
  [[3, 1, 2], { median: 2, min: 1, max: 3 }],
  [[4, 1, 2, 3], { median: 2.5, min: 1, max: 4 }],
  [[7], { median: 7, min: 7, max: 7 }],
])('the spread of %j', (samples, spread) => {
  expect(toSpread(samples)).toEqual(spread);
});

test('the table says what was measured and whether the goal is met', () => {
  const spread = { median: 1500, min: 900, max: 2_000_000 };
  const ratio = { median: 2, min: 1, max: 3, against: 'floor' };
  const text = formatReport({
    name: 'call',
    rounds: 5,
    rows: [
      { name: 'floor', nsPerOperation: spread },
      { name: 'fast', nsPerOperation: spread, ratio, goal: 2 },
      { name: 'slow', nsPerOperation: spread, ratio, goal: 1.9 },
    ],
  });
  expect(text.split('\n')).toEqual([
    'call, 5 interleaved rounds',
    '         median   min - max         ratio (min - max)             goal',
    '  floor  1.50 us  900 ns - 2.00 ms',
    '  fast   1.50 us  900 ns - 2.00 ms  2.00x (1.00 - 3.00) of floor  2x, met',
    '  slow   1.50 us  900 ns - 2.00 ms  2.00x (1.00 - 3.00) of floor  1.9x, missed',
  ]);
});

test('figures say their unit, and whether their goal is met', () => {
  const figures = [
    { name: 'packages', value: 9, unit: 'packages', goal: 9 },
    { name: 'more', value: 10, unit: 'packages', goal: 9 },
    { name: 'size', value: 7, unit: 'kB' },
  ];
  expect(formatReport({ name: 'install', figures }).split('\n')).toEqual([
    'install',
    '  packages: 9 packages; goal 9 packages, met',
    '  more: 10 packages; goal 9 packages, missed',
    '  size: 7 kB',
  ]);
});
