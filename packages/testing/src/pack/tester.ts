import { HoldfastError, type Pack } from '@holdfast/core';
import type { ConformanceCheck } from '../conformance/check.ts';
import { policyTester } from '../policy/tester.ts';
import { type PackCases, toSuites, toTesterOptions } from './cases.ts';
import { type PackManifest, packChecks, suiteChecks } from './checks.ts';

export interface PackTesterOptions {
  /** The pack's `package.json`, to check that both agree. */
  readonly manifest?: PackManifest;
  /** Number of random options, and of random arguments per preset. Deterministic. Default 200. */
  readonly runs?: number;
}

/**
 * Tests a pack, for any test runner: each check is one test, `test(name, run)`. First come checks of the pack as a whole: its metadata, that
 * presets create policies and have cases, that every policy allows and denies something, and that options are rejected or create policies
 * that decide. Then, for each preset and each further choice of options: the cases and checks of `policyTester` on all policies together,
 * the independence of sessions, and random arguments.
 *
 * @throws HoldfastError `options.invalid` for an invalid pack, missing cases, and unknown presets.
 */
export function packTester(
  pack: Pack,
  cases: PackCases,
  { manifest, runs = 200 }: PackTesterOptions = {},
): readonly ConformanceCheck[] {
  const suites = toSuites(pack, cases);
  if (!Number.isInteger(runs) || runs < 1)
    throw new HoldfastError('options.invalid', '`runs` must be a positive integer.');
  const test = { pack, suites, manifest, runs };
  return [
    ...packChecks.map(({ name, run }) => ({ name, skipped: undefined, run: () => run(test) })),
    ...suites.flatMap((suite) => [
      ...policyTester(toTesterOptions(pack, suite)).map((check) => ({
        ...check,
        name: `${suite.title}: ${check.name}`,
      })),
      ...suiteChecks.map(({ name, run }) => ({
        name: `${suite.title}: ${name}`,
        skipped: undefined,
        run: () => run(test, suite),
      })),
    ]),
  ];
}
