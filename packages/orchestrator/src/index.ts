export { type CheckedPlan, type CheckPlanOptions, checkPlan, type PlanCheck, type PlanLimits } from './check/plan.ts';
export type { NodeAsk } from './check/policies.ts';
export { type CompiledPlan, type CompileEvent, type CompilePlanOptions, compilePlan } from './compile/compile.ts';
export { modelPlanner, planFrom } from './compile/planners.ts';
export { createLockTable, type LockAnswer, type LockTable, type LockWait } from './limits/lock-table.ts';
export type { RateLimit } from './limits/rates.ts';
export {
  type FanOutReport,
  type FanOutRun,
  type FanOutToolInput,
  type FanOutToolOptions,
  fanOutTool,
} from './nested/fan-out.ts';
export { type PlanToolInput, type PlanToolOptions, planTool } from './nested/plan-tool.ts';
export { childRecords, childSessions } from './nested/records.ts';
export type { SubRunOptions, SubRunReport } from './nested/sub-run.ts';
export { type PlanReading, readPlan } from './plan/read.ts';
export { planSchema } from './plan/schema.ts';
export type { InputTree, NodeId, OnFail, Plan, PlanNode, PlanViolation, Reference } from './plan/types.ts';
export { type NodeReport, reportTrace, type Tone, type TraceReport } from './report/report.ts';
export { type Synthesis, type SynthesiseOptions, synthesise } from './report/synthesise.ts';
export type { RunPlanOptions } from './run/options.ts';
export type { PlanRun } from './run/perform.ts';
export { type ResumePlanOptions, resumePlan } from './run/resume.ts';
export { runPlan } from './run/run.ts';
export type { NodeWait, PlanEvent } from './run/state.ts';
export { readTrace } from './trace/log.ts';
export type { NodeKind, NodeTrace, PlanStatus, PlanTrace } from './trace/trace.ts';
