import { expect, test } from 'vitest';
import { checkEveryOperation, checkFault } from './log-faults.ts';
import { crash, refused, short } from './log-faults-disk.ts';

/** Bytes after which a log goes on in a new file. */
const sizes = { 'one file': Number.POSITIVE_INFINITY, 'many files': 25_000 };

test('without a fault the script ends in every way', async () => {
  const { told, failed, reopened } = await checkFault(short(), 10_000, sizes['many files']);
  expect([failed, reopened, told.length]).toEqual([undefined, 0, 50]);
  const kinds = Map.groupBy(told, ({ kind }) => kind);
  expect([...kinds].map(([kind, calls]) => [kind, calls.length])).toEqual([
    ['denied', 5],
    ['ok', 33],
    ['failed', 8],
    ['invalid', 2],
    ['unknown-tool', 2],
  ]);
});

const errors = ['ENOSPC', 'EIO', 'EROFS', 'EMFILE'].map((code) => refused(code));

test.each([
  // Every operation with one of the codes; with each of them in the long suite.
  { place: 'one file', fault: 'refuses', faults: errors },
  // Then the write cannot be taken back either.
  { place: 'one file', fault: 'refuses, and the next as well', faults: [refused('EIO', 2)] },
  { place: 'one file', fault: 'refuses, and some more', faults: [refused('ENOSPC', 7)] },
  { place: 'one file', fault: 'writes a part', faults: [short()] },
  { place: 'one file', fault: 'writes a part, and the next refuses', faults: [short('ENOSPC')] },
  { place: 'one file', fault: 'never happens: the process ends before it', faults: [crash('nothing')] },
  { place: 'one file', fault: 'ends halfway with the process', faults: [crash('half')] },
  { place: 'one file', fault: 'is the last one of its process', faults: [crash('all')] },
  { place: 'many files', fault: 'refuses', faults: errors },
  { place: 'many files', fault: 'refuses, and the next as well', faults: [refused('EIO', 2)] },
  { place: 'many files', fault: 'ends halfway with the process', faults: [crash('half')] },
  { place: 'many files', fault: 'is the last one of its process', faults: [crash('all')] },
] as const)(
  '$place: nothing is lost and nobody is told a lie, whichever operation on the log $fault',
  async ({ place, faults }) => {
    // A few of them, with those that begin a new file; `npm run long` takes every one.
    const met = await checkEveryOperation(faults, sizes[place], { from: 2, step: place === 'one file' ? 17 : 7 });
    expect(met.filter((name) => name === 'writeSync').length).toBeGreaterThan(1);
    expect(met.includes('renameSync')).toBe(place === 'many files');
  },
  120_000,
);
