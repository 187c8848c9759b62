export type { Deadline } from './basics/clock.ts';
export type { HoldfastErrorOptions, Problem } from './basics/errors.ts';
export type {
  CompiledSchema,
  JsonSchemaDefinition,
  SchemaIssue,
  StandardIssue,
  StandardResult,
  Validation,
} from './basics/schema.ts';
export type { BudgetLimits } from './call/budget.ts';
export type { Allow, Ask, AskOptions, Deny, DenyOptions } from './call/decision.ts';
export type { Command, DescribedCall, Disk, DiskEntry, Host, RecordedFacts, Recursion, Unclear } from './call/facts.ts';
export type {
  AnswerVerdict,
  Completion,
  CompletionContext,
  CompletionRule,
  FeedbackTrigger,
  GuidanceContext,
  Guide,
  GuidedRun,
  ModelAnswer,
  Speaker,
} from './call/guidance.ts';
export type { ToolOutcome } from './call/outcome.ts';
export type {
  PlannerAnswer,
  PlannerAttempt,
  PlannerProblem,
  PlannerRequest,
  PlannerTool,
  TraceEntry,
} from './call/planner.ts';
export type {
  BoundPolicy,
  PolicyCheck,
  PolicyReserve,
  PolicyStateDefinition,
  PolicyUpdate,
  ReserveContext,
} from './call/policy.ts';
export type { PromptView, RenderedPrompt, SectionOpening } from './call/prompt.ts';
export type { ToolRetry } from './call/retry.ts';
export type {
  FeedbackEvent,
  OmittedArguments,
  ThrownError,
  ToolCallBeatEvent,
  ToolCallLateEvent,
  ToolCallProgressEvent,
  ToolCallRetryEvent,
  ToolCallStartEvent,
} from './call/run-event.ts';
export type { TaskExample, TaskStep, Visibility, VisibilityRule } from './call/section.ts';
export type { EffectCheck, Executed, ToolExample, ToolFields, ToolOrigin } from './call/tool.ts';
export type { ChildSession, ProbeContext, ToolSession } from './call/tool-context.ts';
export type { ConversationFormat, PromptPart } from './model/conversation-format.ts';
export type { CutReason } from './model/model.ts';
export type { OutputFormat, ParsedOutput } from './model/output-format.ts';
export type { PackDefinition, PackPreset } from './plugin/pack.ts';
export type { PluginCommand, PluginCommandContext, PluginDefinition, PluginModel } from './plugin/plugin.ts';
export type { FileEntry, FileStat } from './state/filesystem.ts';
export type { Touched } from './state/resource.ts';
export type { ResourceBuild, ResourceInstance, ResourceLifetime, ResourceView } from './state/resource-definition.ts';
export type { Reducer, SliceDefinition, SliceKind } from './state/slice.ts';
