export { type Clock, systemClock } from './basics/clock.ts';
export { HoldfastError, isHoldfastError } from './basics/errors.ts';
export type { Json, JsonObject } from './basics/json.ts';
export type { Schema, StandardSchema } from './basics/schema.ts';
export { runsByItself } from './basics/self-running.ts';
export type { Budget } from './call/budget.ts';
export { allow, ask, type Decision, deny, type PolicyDecision } from './call/decision.ts';
export { visibilityExpansionRequired } from './call/expansion.ts';
export type { CallFacts, Describer, Place, PlaceView } from './call/facts.ts';
export type { FactsSource } from './call/facts-source.ts';
export type { CompletionChecker, FeedbackProvider } from './call/guidance.ts';
export type { ApprovalAnswer, Outcome, OutcomeKind, PendingApproval, RunStatus } from './call/outcome.ts';
export type { Planner } from './call/planner.ts';
export { definePolicy, type Policy, type PolicyContext, type PolicyResult, type PreparedCall } from './call/policy.ts';
export type { Prompt } from './call/prompt.ts';
export { type ToolResult, toolError, toolOk } from './call/result.ts';
export type { RunEvent, ToolCallEndEvent } from './call/run-event.ts';
export type { Section } from './call/section.ts';
export {
  defineTool,
  type Effects,
  type ExecutableTool,
  type InputOfTool,
  type OutputOfTool,
  type Repeat,
  type Tool,
  type ToolDefinition,
} from './call/tool.ts';
export type { ToolContext } from './call/tool-context.ts';
export type {
  FinishReason,
  Message,
  Model,
  ModelEvent,
  ModelRequest,
  ModelUsage,
  ToolCall,
  ToolDeclaration,
} from './model/model.ts';
export { definePack, type Pack } from './plugin/pack.ts';
export { definePlugin, type Plugin, type PluginContributions } from './plugin/plugin.ts';
export type { Filesystem, FilesystemReader } from './state/filesystem.ts';
export type { Redactor, Vault } from './state/redactor.ts';
export type { ResourceTransaction, StagedResource } from './state/resource.ts';
export { defineResource, type ResourceDefinition } from './state/resource-definition.ts';
export {
  append,
  clear,
  defineSlice,
  type KeyedState,
  type ListState,
  type Operation,
  remove,
  replace,
  type SessionEvent,
  type SessionReader,
  type Slice,
  upsert,
} from './state/slice.ts';
