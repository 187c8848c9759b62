export { digestJson, sortKeys, toCanonicalJson } from './basics/canonical-json.ts';
export { checkOptions, type OptionRules } from './basics/check-options.ts';
export { type Clock, type Deadline, systemClock } from './basics/clock.ts';
export { decodeJson } from './basics/decode-json.ts';
export {
  describeThrown,
  HoldfastError,
  type HoldfastErrorOptions,
  isHoldfastError,
  type Problem,
} from './basics/errors.ts';
export {
  type CopiedJson,
  copyJson,
  deepFreeze,
  freezeOpen,
  isPlainObject,
  type Json,
  type JsonLimits,
  type JsonObject,
} from './basics/json.ts';
export { forModel } from './basics/model-text.ts';
export { nearestNames } from './basics/nearest-names.ts';
export { modelJsonLimits, type ParsedJson, parseJson, type TextLimits } from './basics/parse-json.ts';
export { toPrintable, toPrintableBlock, unprintable } from './basics/printable.ts';
export { ReadOnlyMap, ReadOnlySet } from './basics/read-only.ts';
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
export { sha256 } from './basics/sha256.ts';
export type { Budget, BudgetLimits } from './call/budget.ts';
export {
  type Allow,
  type Ask,
  type AskOptions,
  allow,
  ask,
  type Decision,
  type Deny,
  deny,
  type PolicyDecision,
} from './call/decision.ts';
export { readExpansion, visibilityExpansionRequired } from './call/expansion.ts';
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
export type { ApprovalAnswer, Outcome, OutcomeKind, PendingApproval, RunStatus } from './call/outcome.ts';
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
export {
  cutMiddle,
  isMaxResultChars,
  isToolResult,
  maxResultCharsOf,
  minResultChars,
  type RecordedOutcome,
  readOutcome,
  renderJson,
  renderPlainly,
  type ToolResult,
  toOutcomeText,
  toolError,
  toolOk,
} from './call/result.ts';
export { findRetryProblem, retryDelayMs, type ToolRetry, toRetry } from './call/retry.ts';
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
  type Repeat,
  type Tool,
  type ToolDefinition,
  type ToolExample,
  type ToolOrigin,
} from './call/tool.ts';
export type { ChildSession, ProbeContext, ToolContext, ToolSession } from './call/tool-context.ts';
export {
  type EnvironmentProblem,
  type EnvironmentVariable,
  findEnvironmentProblem,
  findVariableProblem,
  toEnvironmentVariables,
} from './call/tool-environment.ts';
export { checkToolName, findToolNameProblem } from './call/tool-name.ts';
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
export { toModelUsage } from './model/model-usage.ts';
export type { OutputFormat, ParsedOutput } from './model/output-format.ts';
export { definePack, isPack, type Pack, type PackDefinition, type PackPreset } from './plugin/pack.ts';
export {
  definePlugin,
  isPlugin,
  type Plugin,
  type PluginCommand,
  type PluginCommandContext,
  type PluginContributions,
  type PluginDefinition,
  type PluginModel,
} from './plugin/plugin.ts';
export type { FileEntry, FileStat, Filesystem, FilesystemReader } from './state/filesystem.ts';
export { hasMask, type Redactor, type Vault } from './state/redactor.ts';
export { isStagedResource, type ResourceTransaction, type StagedResource, type Touched } from './state/resource.ts';
export {
  defineResource,
  isResourceDefinition,
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
  isOperation,
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
