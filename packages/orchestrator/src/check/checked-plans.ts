import type { CheckedPlan, CheckPlanOptions } from './plan.ts';

const checkedPlans = new WeakMap<CheckedPlan, CheckPlanOptions>();

/** Notes that `plan`, this very object, came of a check with `options`. */
export function markChecked(plan: CheckedPlan, options: CheckPlanOptions): void {
  // The host's list may change; what was checked does not.
  checkedPlans.set(plan, { ...options, tools: [...options.tools] });
}

/** With what `plan` was checked; `undefined`: it only looks like a plan that was. */
export function checkedWith(plan: CheckedPlan): CheckPlanOptions | undefined {
  return checkedPlans.get(plan);
}
