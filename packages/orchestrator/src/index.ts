export { type CheckedPlan, type CheckPlanOptions, checkPlan, type PlanCheck, type PlanLimits } from './check-plan.ts';
export type { NodeAsk } from './check-policies.ts';
export { type CompiledPlan, type CompileEvent, type CompilePlanOptions, compilePlan } from './compile-plan.ts';
export { createLockTable, type LockAnswer, type LockTable, type LockWait } from './lock-table.ts';
export { modelPlanner } from './model-planner.ts';
export type { InputTree, NodeId, OnFail, Plan, PlanNode, PlanViolation, Reference } from './plan.ts';
export type { NodeWait, PlanEvent } from './plan-event.ts';
export { planFrom } from './plan-from.ts';
export type { RunPlanOptions } from './plan-options.ts';
export type { PlanRun } from './plan-run.ts';
export { planSchema } from './plan-schema.ts';
export type { RateLimit } from './rate-limits.ts';
export { type PlanReading, readPlan } from './read-plan.ts';
export { readTrace } from './read-trace.ts';
export { type NodeReport, reportTrace, type Tone, type TraceReport } from './report-facts.ts';
export { type ResumePlanOptions, resumePlan } from './resume-plan.ts';
export { runPlan } from './run-plan.ts';
export type { SubRunOptions, SubRunReport } from './sub-run.ts';
export {
  type FanOutReport,
  type FanOutRun,
  type FanOutToolInput,
  type FanOutToolOptions,
  fanOutTool,
} from './sub-run-fan-out.ts';
export { childRecords, childSessions } from './sub-run-records.ts';
export { type PlanToolInput, type PlanToolOptions, planTool } from './sub-run-tool.ts';
export { type Synthesis, type SynthesiseOptions, synthesise } from './synthesise.ts';
export type { NodeKind, NodeTrace, PlanStatus, PlanTrace } from './trace.ts';
