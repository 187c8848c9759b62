import { expect, test } from 'vitest';
import { checkEveryOperation } from '../log-faults.ts';
import { crash, refused, short } from '../log-faults-disk.ts';

const codes = ['ENOSPC', 'EIO', 'EROFS', 'EMFILE'];
const faults = [
  ...codes.flatMap((code) => [refused(code), refused(code, 2), refused(code, 3), refused(code, 30), short(code)]),
  short(),
  ...(['nothing', 'half', 'all'] as const).map((done) => crash(done)),
];

test.each([
  { snapshotAfterBytes: Number.POSITIVE_INFINITY },
  { snapshotAfterBytes: 25_000 },
  { snapshotAfterBytes: 8_000 },
])(
  'every fault at every operation on a log with a new file after $snapshotAfterBytes bytes',
  async ({ snapshotAfterBytes }) => {
    for (const [index, fault] of faults.entries()) {
      const met = await checkEveryOperation([fault], snapshotAfterBytes);
      console.log(`${JSON.stringify(fault)}: ${met.length} operations, ${index + 1} of ${faults.length} faults`);
      expect(met.length).toBeGreaterThan(60);
    }
  },
);
