export { type CheckedPlan, type CheckPlanOptions, checkPlan, type PlanCheck, type PlanLimits } from './check-plan.ts';
export { describePlan, planTable, type TextTable } from './describe-plan.ts';
export { describeTrace, traceSummary, traceTable } from './describe-trace.ts';
export { planToMermaid } from './mermaid.ts';
export type { InputTree, NodeId, OnFail, Plan, PlanNode, PlanViolation, Reference } from './plan.ts';
export { planSchema } from './plan-schema.ts';
export { type PlanReading, readPlan } from './read-plan.ts';
export { missingNodes } from './report-facts.ts';
export type { NodeKind, NodeTrace, PlanStatus, PlanTrace } from './trace.ts';
