import { HoldfastError, type Pack } from '@holdfast/core';
import type { ConformanceCheck } from '../conformance/check.ts';
import { policyTester } from '../policy/tester.ts';
import { type PackCases, toSuites, toTesterOptions } from './cases.ts';
import { type PackManifest, packChecks, suiteChecks } from './checks.ts';

export interface PackTesterOptions {
  /** The `package.json` of the pack: then it is checked that the pack says the same. */
  readonly manifest?: PackManifest;
  /** How many random options, and random arguments of each preset, are tried. Always the same ones. Default 200. */
  readonly runs?: number;
}

/**
 * Tests a pack, for any test runner: each check is one test, `test(name, run)`. First what the pack as a whole has to hold to: it says
 * what it is, its presets make policies and have cases, every policy of it lets through and refuses in some case, options are refused
 * or make policies that answer, unknown ones are refused. Then, for each preset and each further choice of options, the cases and checks
 * of `policyTester` on all its policies together; that sessions have nothing to do with each other; and random arguments.
 *
 * @throws HoldfastError `options.invalid` for what is no pack, without cases, and for cases of a preset that there is not.
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
