import { deepFreeze } from '@holdfast/core';
import type { Plan, PlanViolation } from './types.ts';
import { readDraft } from './draft.ts';
import { createReport } from './violations.ts';
import { toPlan } from './write-plan.ts';

/** What came of reading. Lists are in the order of the plan. */
export type PlanReading =
  | { readonly type: 'plan'; readonly plan: Plan; readonly warnings: readonly PlanViolation[] }
  /** The plan is one that says why there is none. */
  | { readonly type: 'declined'; readonly error: string }
  | {
      readonly type: 'invalid';
      readonly violations: readonly PlanViolation[];
      readonly warnings: readonly PlanViolation[];
    };

/**
 * Reads a plan from JSON text or a value, in the present form or an older one, and gives it in its normal form. Only the form is
 * checked: whether the plan makes sense, and fits any tools, says `checkPlan`, which reads by itself.
 */
export function readPlan(source: unknown): PlanReading {
  const reports = { violations: createReport(), warnings: createReport() };
  const reading = readDraft(source, reports);
  if (reading.type === 'declined') return Object.freeze({ type: 'declined', error: reading.error });
  const [violations, warnings] = [reports.violations.list(), reports.warnings.list()];
  const plan = violations.length > 0 || reading.type !== 'plan' ? undefined : toPlan(reading.plan);
  if (plan === undefined) return Object.freeze({ type: 'invalid', violations, warnings });
  return deepFreeze({ type: 'plan', plan, warnings });
}
