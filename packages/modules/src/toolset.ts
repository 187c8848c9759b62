import type { Json, JsonObject, Outcome, PendingApproval, Tool } from '@holdfast/core';
import type { Caller, CallOptions } from '@holdfast/executor';
import type { ModuleError } from './module-error.ts';

/** What every runner takes, but for the tools. Without a session there is one in memory, for as long as the toolset is. */
export type ToolsetOptions = Partial<Omit<CallOptions, 'tools'>>;

/** A tool as a predictor is told of it. */
export interface ToolListing {
  readonly name: string;
  readonly description: string;
  /** JSON Schema; null for a tool without one. */
  readonly args_schema: JsonObject | null;
}

/** What came of one call. `error.message` is what a predictor is told. */
export type ToolExecution =
  | { readonly type: 'ok'; readonly value: Json; readonly outcome: Outcome }
  | { readonly type: 'failed'; readonly error: ModuleError; readonly outcome: Outcome | undefined }
  | { readonly type: 'suspended'; readonly pending: readonly PendingApproval[] };

/** Tools by name, to which others may be added at any time; calls of them take the one call path. */
export interface Toolset {
  /** In order of their names. */
  readonly tools: readonly Tool[];
  /** @throws HoldfastError `modules.tool_duplicate`, and what a tool's schema is refused with. */
  register(tool: Tool): void;
  get(name: string): Tool | undefined;
  /** Never rejects for a bad call. `args` is a value or JSON text, default `{}`. */
  execute(name: string, args?: unknown): Promise<ToolExecution>;
  /** As `execute`, for `{ name, args }` in any shape in which a predictor may ask for one call. */
  executeCall(call: unknown): Promise<ToolExecution>;
  /** In order of names: the same tools give the same text. */
  toJSON(): readonly ToolListing[];
  /** A caller over the tools as they are now, with these options over the toolset's. */
  open(options?: ToolsetOptions): Caller;
}
