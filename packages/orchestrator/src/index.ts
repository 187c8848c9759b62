export { type CheckedPlan, type CheckPlanOptions, checkPlan, type PlanCheck, type PlanLimits } from './check-plan.ts';
export type { InputTree, NodeId, OnFail, Plan, PlanNode, PlanViolation, Reference } from './plan.ts';
export { planSchema } from './plan-schema.ts';
export { type PlanReading, readPlan } from './read-plan.ts';
