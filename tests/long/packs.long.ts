import { expect, test } from 'vitest';
import { listPackChecks } from '../policies/pack-suites.ts';
import { amount } from './amount.ts';

const runs = amount(2_000);
const fuzzed = /any options are rejected|altered arguments of its cases/;
const checks = (await listPackChecks(runs)).filter(({ name }) => fuzzed.test(name));

test.each(checks)(`$pack, ${runs} times: $name`, async ({ run }) => {
  await expect(run()).resolves.toBeUndefined();
});
