import { HoldfastError } from '@holdfast/core';
import { type ConformanceCheck, toConformanceCheck } from '../conformance/check.ts';
import type { PolicyCase, PolicyTesterOptions } from './cases.ts';
import { checkCase, policyChecks } from './checks.ts';
import { describeCall } from './world.ts';

/**
 * Tests a policy in separate sessions, for any test runner: each check is one test, `test(name, run)`. First one per case; then requirements
 * for every policy, tested with all cases: it does not modify its input, decides the same when checked again, keeps all knowledge in its
 * state (after a restore, a rollback, failed calls), denies the same call in other spellings, decides for any arguments, and leaves no
 * timers.
 *
 * @throws HoldfastError `options.invalid` without cases, or for a case with a tool missing from `tools`.
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
