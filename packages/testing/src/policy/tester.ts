import { HoldfastError } from '@holdfast/core';
import { type ConformanceCheck, toConformanceCheck } from '../conformance/check.ts';
import type { PolicyCase, PolicyTesterOptions } from './cases.ts';
import { checkCase, policyChecks } from './checks.ts';
import { describeCall } from './world.ts';

/**
 * Tests a policy in sessions of its own, for any test runner: each check is one test, `test(name, run)`. First one for each case;
 * then what every policy has to hold to, tried in all the cases: it changes nothing of what it is handed, answers the same when asked
 * again, keeps all that it knows in its state (saved and restored, rolled back, put back after calls that failed), refuses the same
 * call written otherwise, answers whatever the arguments are, and leaves no timer.
 *
 * @throws HoldfastError `options.invalid` without cases, or for a case that calls what is not among `tools`.
 */
export function policyTester(options: PolicyTesterOptions): readonly ConformanceCheck[] {
  checkOptions(options);
  const cases = options.cases.map((testCase, index) => ({
    name: `${index + 1}. ${testCase.title ?? describeCase(testCase)}`,
    skipped: undefined,
    run: () => checkCase(options, testCase),
  }));
  const checks = policyChecks.map(({ name, variants, run }) => {
    const isDifferent = variants !== undefined && options.different?.includes(variants) === true;
    const skipped = isDifferent ? `\`${variants}\` is declared as different` : undefined;
    return toConformanceCheck(name, skipped, () => run(options));
  });
  return [...cases, ...checks];
}

function checkOptions({ cases, tools }: PolicyTesterOptions): void {
  if (!Array.isArray(cases) || cases.length === 0) {
    throw new HoldfastError('options.invalid', '`cases` must have at least one case.');
  }
  if (tools === undefined) return;
  const names = new Set(tools.map(({ name }) => name));
  for (const { call, after = [] } of cases) {
    for (const step of [...after, call]) {
      if (!('tool' in step) || names.has(step.tool)) continue;
      throw new HoldfastError('options.invalid', `A case calls \`${step.tool}\`, which is not among \`tools\`.`);
    }
  }
}

function describeCase({ call, after = [], answer }: PolicyCase): string {
  return `${describeCall(call)}${after.length === 0 ? '' : ` after ${after.length} more`}: ${answer}`;
}
