export type { Budget, BudgetLimits } from './budget.ts';
export { digestJson, sortKeys, toCanonicalJson } from './canonical-json.ts';
export { checkOptions, type OptionRules } from './check-options.ts';
export { type Clock, type Deadline, systemClock } from './clock.ts';
export type { ConversationFormat, PromptPart } from './conversation-format.ts';
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
} from './decision.ts';
export { decodeJson } from './decode-json.ts';
export { describeThrown, HoldfastError, type HoldfastErrorOptions, isHoldfastError, type Problem } from './errors.ts';
export { readExpansion, visibilityExpansionRequired } from './expansion.ts';
export type { FileEntry, FileStat, Filesystem, FilesystemReader } from './filesystem.ts';
export type {
  Completion,
  CompletionChecker,
  CompletionContext,
  CompletionRule,
  FeedbackProvider,
  FeedbackTrigger,
  GuidanceContext,
} from './guidance.ts';
export {
  type CopiedJson,
  copyJson,
  deepFreeze,
  freezeOpen,
  isPlainObject,
  type Json,
  type JsonLimits,
  type JsonObject,
} from './json.ts';
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
} from './model.ts';
export { toModelUsage } from './model-usage.ts';
export { nearestNames } from './nearest-names.ts';
export type { ApprovalAnswer, Outcome, OutcomeKind, PendingApproval, RunStatus } from './outcome.ts';
export type { OutputFormat, ParsedOutput } from './output-format.ts';
export { definePack, isPack, type Pack, type PackDefinition, type PackPreset } from './pack.ts';
export { modelJsonLimits, type ParsedJson, parseJson, type TextLimits } from './parse-json.ts';
export type {
  Planner,
  PlannerAnswer,
  PlannerAttempt,
  PlannerProblem,
  PlannerRequest,
  PlannerTool,
  TraceEntry,
} from './planner.ts';
export {
  definePlugin,
  isPlugin,
  type Plugin,
  type PluginCommand,
  type PluginCommandContext,
  type PluginContributions,
  type PluginDefinition,
  type PluginModel,
} from './plugin.ts';
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
} from './policy.ts';
export { toPrintable, toPrintableBlock, unprintable } from './printable.ts';
export type { Prompt, PromptView, RenderedPrompt } from './prompt.ts';
export { ReadOnlyMap, ReadOnlySet } from './read-only.ts';
export {
  cutMiddle,
  isMaxResultChars,
  maxResultCharsOf,
  minResultChars,
  type RecordedOutcome,
  readOutcome,
  renderJson,
  renderPlainly,
  toOutcomeText,
} from './recorded-outcome.ts';
export { hasMask, type Redactor, type Vault } from './redactor.ts';
export { isStagedResource, type ResourceTransaction, type StagedResource, type Touched } from './resource.ts';
export {
  defineResource,
  isResourceDefinition,
  type ResourceBuild,
  type ResourceDefinition,
  type ResourceInstance,
  type ResourceLifetime,
  type ResourceView,
} from './resource-definition.ts';
export { findRetryProblem, retryDelayMs, type ToolRetry, toRetry } from './retry.ts';
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
} from './run-event.ts';
export {
  type JsonSchemaDefinition,
  jsonSchema,
  type Schema,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
} from './schema.ts';
export type { Section, TaskExample, TaskStep, Visibility, VisibilityRule } from './section.ts';
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
} from './slice.ts';
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
} from './tool.ts';
export type { ChildSession, ProbeContext, ToolContext, ToolSession } from './tool-context.ts';
export {
  type EnvironmentProblem,
  type EnvironmentVariable,
  findEnvironmentProblem,
  findVariableProblem,
  toEnvironmentVariables,
} from './tool-environment.ts';
export { checkToolName, findToolNameProblem } from './tool-name.ts';
export { isToolResult, type ToolResult, toolError, toolOk } from './tool-result.ts';
