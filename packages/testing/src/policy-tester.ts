import { HoldfastError, type JsonObject, type Policy, type Tool } from '@holdfast/core';
import type { VariantKind } from './argument-variants.ts';
import type { ManualClock } from './manual-clock.ts';
import { checkCase, policyChecks } from './policy-checks.ts';
import { describeCall } from './policy-world.ts';
import type { ConformanceCheck } from './store-conformance.ts';

/** A call of a tool. */
export interface PolicyCall {
  readonly tool: string;
  /** Default: no arguments. */
  readonly input?: JsonObject;
}

/**
 * What happens before a case: a call, or that time passes. `outcome` is how the call has to end, default `ok`; whoever is asked
 * approves, for `denied` refuses. A stand-in for a tool fails where the outcome is `failed`.
 */
export type PolicyStep = (PolicyCall & { readonly outcome?: 'ok' | 'failed' | 'denied' }) | { readonly waitMs: number };

/** A call, and what the policy has to answer to it. */
export interface PolicyCase {
  /** To name a test by. Default: made of the call and the answer. */
  readonly title?: string;
  /** Calls of the session before. Default: none. */
  readonly after?: readonly PolicyStep[];
  readonly call: PolicyCall;
  readonly answer: 'allow' | 'ask' | 'deny';
  /** Of an allow of a policy under `observe`: what it has to note. */
  readonly observed?: 'ask' | 'deny';
  /** What the reason has to hold. */
  readonly reason?: string;
  /** Variants of these arguments that are something else, and may be let through. */
  readonly different?: readonly VariantKind[];
}

export interface PolicyTesterOptions {
  /** A new policy, as a host would make it. One that goes by time takes the clock, which `waitMs` moves. */
  readonly create: (world: { readonly clock: ManualClock }) => Policy;
  /** At least one. */
  readonly cases: readonly PolicyCase[];
  /**
   * The tools that are called, where the policy looks at more than names and arguments. Default: a stand-in for each name, which
   * takes any arguments, declares the effect `state` and does nothing.
   */
  readonly tools?: readonly Tool[];
  /** New resources for each session, `filesystem` among them. Default: none. */
  readonly resources?: () => Readonly<Record<string, unknown>>;
  /** Variants of arguments that are something else for this policy, in every case. */
  readonly different?: readonly VariantKind[];
}

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
    return {
      name,
      skipped,
      run: async () => {
        if (skipped !== undefined) {
          throw new HoldfastError('conformance.skipped', `Not checked, \`${name}\`: ${skipped}.`);
        }
        await run(options);
      },
    };
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
