export { type Clock, type Deadline, systemClock } from './basics/clock.ts';
export { HoldfastError, type HoldfastErrorOptions, isHoldfastError, type Problem } from './basics/errors.ts';
export { foldKey, foldPath } from './basics/fold-path.ts';
export type { Json, JsonObject } from './basics/json.ts';
export type {
  CompiledSchema,
  JsonSchemaDefinition,
  Schema,
  SchemaIssue,
  StandardIssue,
  StandardResult,
  StandardSchema,
  Validation,
} from './basics/schema.ts';
export { runsByItself } from './basics/self-running.ts';
export type { Budget, BudgetLimits } from './call/budget.ts';
export {
  type Allow,
  type Ask,
  type AskOptions,
  allow,
  ask,
  type Decision,
  type Deny,
  type DenyOptions,
  deny,
  type PolicyDecision,
} from './call/decision.ts';
export { visibilityExpansionRequired } from './call/expansion.ts';
export type {
  CallFacts,
  Command,
  DescribedCall,
  Describer,
  Disk,
  DiskEntry,
  Host,
  Place,
  PlaceView,
  RecordedFacts,
  Recursion,
  Unclear,
} from './call/facts.ts';
export type { FactsSource } from './call/facts-source.ts';
export type {
  AnswerVerdict,
  Completion,
  CompletionChecker,
  CompletionContext,
  CompletionRule,
  FeedbackProvider,
  FeedbackTrigger,
  GuidanceContext,
  Guide,
  GuidedRun,
  ModelAnswer,
  Speaker,
} from './call/guidance.ts';
export type { ApprovalAnswer, Outcome, OutcomeKind, PendingApproval, RunStatus, ToolOutcome } from './call/outcome.ts';
export type {
  Planner,
  PlannerAnswer,
  PlannerAttempt,
  PlannerProblem,
  PlannerRequest,
  PlannerTool,
  TraceEntry,
} from './call/planner.ts';
export {
  type BoundPolicy,
  definePolicy,
  type Policy,
  type PolicyCheck,
  type PolicyContext,
  type PolicyReserve,
  type PolicyResult,
  type PolicyStateDefinition,
  type PolicyUpdate,
  type PreparedCall,
  type ReserveContext,
} from './call/policy.ts';
export type { Prompt, PromptView, RenderedPrompt, SectionOpening } from './call/prompt.ts';
export { type ToolResult, toolError, toolOk } from './call/result.ts';
export type { ToolRetry } from './call/retry.ts';
export type {
  FeedbackEvent,
  OmittedArguments,
  RunEvent,
  ThrownError,
  ToolCallBeatEvent,
  ToolCallEndEvent,
  ToolCallLateEvent,
  ToolCallProgressEvent,
  ToolCallRetryEvent,
  ToolCallStartEvent,
} from './call/run-event.ts';
export type { Section, TaskExample, TaskStep, Visibility, VisibilityRule } from './call/section.ts';
export {
  defineTool,
  type EffectCheck,
  type Effects,
  type ExecutableTool,
  type Executed,
  type InputOfTool,
  type OutputOfTool,
  type Repeat,
  type Tool,
  type ToolDefinition,
  type ToolExample,
  type ToolFields,
  type ToolOrigin,
} from './call/tool.ts';
export type { ChildSession, ProbeContext, ToolContext, ToolSession } from './call/tool-context.ts';
export type { ConversationFormat, PromptPart } from './model/conversation-format.ts';
export type {
  CutReason,
  FinishReason,
  Message,
  Model,
  ModelEvent,
  ModelRequest,
  ModelUsage,
  ToolCall,
  ToolDeclaration,
} from './model/model.ts';
export type { OutputFormat, ParsedOutput } from './model/output-format.ts';
export { definePack, type Pack, type PackDefinition, type PackPreset } from './plugin/pack.ts';
export {
  definePlugin,
  type Plugin,
  type PluginCommand,
  type PluginCommandContext,
  type PluginContributions,
  type PluginDefinition,
  type PluginModel,
} from './plugin/plugin.ts';
export type { FileEntry, FileStat, Filesystem, FilesystemReader } from './state/filesystem.ts';
export type { Redactor, Vault } from './state/redactor.ts';
export type { ResourceTransaction, StagedResource, Touched } from './state/resource.ts';
export {
  defineResource,
  type ResourceBuild,
  type ResourceDefinition,
  type ResourceInstance,
  type ResourceLifetime,
  type ResourceView,
} from './state/resource-definition.ts';
export {
  append,
  clear,
  defineSlice,
  type KeyedState,
  type ListState,
  type Operation,
  type Reducer,
  remove,
  replace,
  type SessionEvent,
  type SessionReader,
  type Slice,
  type SliceDefinition,
  type SliceKind,
  upsert,
} from './state/slice.ts';
