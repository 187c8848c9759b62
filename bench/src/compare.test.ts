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

test('every round runs every subject in a new order, and warm-up does not count', async () => {
  const { order, subject, now } = bench();
  const subjects = [
    subject('floor', [9_999, 100, 200, 300]),
    subject('ours', [9_999, 300, 400, 300], { against: [{ name: 'floor', goal: 2.5 }] }),
  ];
  const rows = await compare(subjects, { rounds: 3, warmUpRounds: 1, now });
  const rounds = [0, 2, 4, 6].map((start) => order.slice(start, start + 2).join());
  expect(new Set(rounds)).toEqual(new Set(['floor,ours', 'ours,floor']));
  expect(rows).toEqual([
    { name: 'floor', rounds: 3, nsPerOperation: { median: 20, min: 10, max: 30 }, ratios: [] },
    {
      name: 'ours',
      rounds: 3,
      nsPerOperation: { median: 30, min: 30, max: 40 },
      ratios: [{ against: 'floor', median: 2, min: 1, max: 3, goal: 2.5 }],
    },
  ]);
});

test('no subject comes after the same one in every round', async () => {
  const { order, subject, now } = bench();
  const subjects = ['a', 'b', 'c', 'd'].map((name) => subject(name, []));
  await compare(subjects, { rounds: 12, warmUpRounds: 0, now });
  for (const name of ['a', 'b', 'c', 'd']) {
    const before = order.flatMap((other, index) => (order[index + 1] === name ? [other] : []));
    expect(new Set(before).size).toBeGreaterThanOrEqual(3);
  }
});

test('a subject may be compared with several others that exist', async () => {
  const { subject, now } = bench();
  const subjects = [
    subject('floor', [10]),
    subject('a', [20], { against: [{ name: 'floor' }] }),
    subject('b', [60], { against: [{ name: 'a' }, { name: 'floor' }] }),
  ];
  const rows = await compare(subjects, { rounds: 1, warmUpRounds: 0, now });
  expect(rows.map(({ ratios }) => ratios.map(({ median }) => median))).toEqual([[], [2], [3, 6]]);
  const unknown = [subject('floor', [10]), subject('a', [20], { against: [{ name: 'gone' }] })];
  await expect(compare(unknown, { rounds: 1, warmUpRounds: 0, now })).rejects.toThrow('unknown `gone`');
});

test('a goal in time limits the difference to the other subject', async () => {
  const { subject, now } = bench();
  const against = [{ name: 'floor', goalOverNs: 15 }];
  const subjects = [subject('floor', [100, 200]), subject('ours', [300, 300], { against })];
  const rows = await compare(subjects, { rounds: 2, warmUpRounds: 0, now });
  expect(rows[1]?.ratios[0]?.overNs).toEqual({ median: 15, min: 10, max: 20, goal: 15 });
  const lines = formatReport({ name: 'import', notes: [], rows }).split('\n');
  expect(lines.at(-1)).toContain('15 ns over, met with 15 ns');
});

test('a subject may have its own goal in addition to ratios', async () => {
  const { subject, now } = bench();
  const subjects = [
    subject('floor', [100]),
    subject('in time', [300], { goalNs: 30, against: [{ name: 'floor', goal: 2 }] }),
    subject('late', [310], { goalNs: 30 }),
  ];
  const rows = await compare(subjects, { rounds: 1, warmUpRounds: 0, now });
  const goals = formatReport({ name: 'call', notes: [], rows })
    .split('\n')
    .map((line) => /[\d.]+(?: ns|x), (?:met|missed)$/.exec(line)?.[0]);
  expect(goals).toEqual([undefined, undefined, undefined, '30 ns, met', '2x, missed', '30 ns, missed']);
});

test.each([
  [[3, 1, 2], { median: 2, min: 1, max: 3 }],
  [[4, 1, 2, 3], { median: 2.5, min: 1, max: 4 }],
  [[7], { median: 7, min: 7, max: 7 }],
])('the spread of %j', (samples, spread) => {
  expect(toSpread(samples)).toEqual(spread);
});

test('the table shows figures and met goals', () => {
  const spread = { median: 1500, min: 900, max: 2_000_000 };
  const ratio = { median: 2, min: 1, max: 300, against: 'floor' };
  const text = formatReport({
    name: 'call',
    notes: ['floor: the least.'],
    versions: { ai: '7.0.0', other: '1.2.3' },
    rows: [
      { name: 'floor', rounds: 5, nsPerOperation: spread, ratios: [] },
      {
        name: 'fast',
        rounds: 5,
        nsPerOperation: spread,
        ratios: [
          { ...ratio, goal: 2 },
          { ...ratio, median: 0.00213, min: 0.0234, against: 'other' },
        ],
      },
      { name: 'slow', rounds: 40, nsPerOperation: spread, ratios: [{ ...ratio, goal: 1.9 }] },
    ],
  });
  expect(text.split('\n')).toEqual([
    'call, interleaved rounds, with ai 7.0.0, other 1.2.3',
    '  floor: the least.',
    '         median   min - max         n   ratio (min - max)              goal',
    '  floor  1.50 us  900 ns - 2.00 ms  5',
    '  fast   1.50 us  900 ns - 2.00 ms  5   2.00x (1.00 - 300) of floor    2x, met',
    '                                        0.0021x (0.02 - 300) of other',
    '  slow   1.50 us  900 ns - 2.00 ms  40  2.00x (1.00 - 300) of floor    1.9x, missed',
  ]);
});

test('a table without goals has no column for them', () => {
  const nsPerOperation = { median: 1, min: 1, max: 1 };
  const rows = [{ name: 'floor', rounds: 1, nsPerOperation, ratios: [] }];
  expect(formatReport({ name: 'call', notes: [], rows }).split('\n')).toEqual([
    'call, interleaved rounds',
    '         median  min - max    n',
    '  floor  1 ns    1 ns - 1 ns  1',
  ]);
});

test('figures show their unit, and if their goal is met', () => {
  const figures = [
    { name: 'packages', value: 9, unit: 'packages', goal: 9 },
    { name: 'more', value: 10, unit: 'packages', goal: 9 },
    { name: 'size', value: 7, min: 6, max: 9, unit: 'kB' },
  ];
  expect(formatReport({ name: 'install', figures }).split('\n')).toEqual([
    'install',
    '  packages: 9 packages; goal 9 packages, met',
    '  more: 10 packages; goal 9 packages, missed',
    '  size: 7 kB (6 - 9)',
  ]);
});
