import { expect, test } from 'vitest';
import { checkEveryOperation } from '../logs/log-faults.ts';
import { crash, refused, short } from '../logs/log-faults-disk.ts';
import { amount } from './amount.ts';

const codes = ['ENOSPC', 'EIO', 'EROFS', 'EMFILE'];
const faults = [
  ...codes.flatMap((code) => [refused(code), refused(code, 2), refused(code, 3), refused(code, 30), short(code)]),
  short(),
  ...(['nothing', 'half', 'all'] as const).map((done) => crash(done)),
];

// A different start for each fault, so that together they cover every operation.
const step = Math.max(1, Math.round(5_000_000 / amount(1_000_000)));

test.each([
  { snapshotAfterBytes: Number.POSITIVE_INFINITY },
  { snapshotAfterBytes: 25_000 },
  { snapshotAfterBytes: 8_000 },
])(
  'every fault at every operation, or at every few of them, on a log with a new file after $snapshotAfterBytes bytes',
  async ({ snapshotAfterBytes }) => {
    for (const [index, fault] of faults.entries()) {
      const met = await checkEveryOperation([fault], snapshotAfterBytes, { from: index % step, step });
      console.log(`${JSON.stringify(fault)}: ${met.length} operations, ${index + 1} of ${faults.length} faults`);
      expect(met.length).toBeGreaterThan(60 / step - 2);
    }
  },
);
