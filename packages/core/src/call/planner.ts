import type { Json, JsonObject } from '../basics/json.ts';
import type { ModelUsage, ToolDeclaration } from '../model/model.ts';
import type { Effects } from './tool.ts';

/** A tool as shown to a planner. */
export interface PlannerTool extends ToolDeclaration {
  /** The return type, if declared: the fields that other nodes may refer to. */
  readonly outputSchema?: JsonObject | undefined;
  readonly effects: Effects;
  readonly dangerous: boolean;
}

/** One problem of a planner's answer. */
export interface PlannerProblem {
  readonly code: string;
  /** The finer kind, if the code has several. */
  readonly reason?: string;
  /** Position in the plan, such as `nodes[2].inputs.city`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** An earlier answer to the request, and its problems. */
export interface PlannerAttempt {
  readonly text: string;
  readonly problems: readonly PlannerProblem[];
}

/** A request for one plan. */
export interface PlannerRequest {
  /** The task, in the user's words. */
  readonly request: string;
  /** All tools that the plan may use, always in the same order. */
  readonly tools: readonly PlannerTool[];
  /** Oldest first; empty the first time. */
  readonly attempts: readonly PlannerAttempt[];
  /** Aborted when the plan is no longer needed. */
  readonly signal: AbortSignal;
}

/** A plan as text containing JSON, or as a value. Untrusted: it is checked as a whole. */
export type PlannerAnswer =
  | {
      readonly text: string;
      readonly usage?: ModelUsage | undefined;
      /** True if the message was cut by a length limit. */
      readonly cut?: boolean | undefined;
      /** Warnings about the answer, separate from its text. */
      readonly warnings?: readonly PlannerProblem[] | undefined;
    }
  | { readonly plan: Json };

/** Writes plans. It never runs anything; an error means that it is unavailable. */
export interface Planner {
  /** For people and logs. */
  readonly id: string;
  plan(request: PlannerRequest): Promise<PlannerAnswer>;
}

/** The result of one node of a plan, as seen by tools of later nodes. */
export interface TraceEntry {
  /** The node's id. */
  readonly node: number | string;
  readonly tool: string;
  /** The outcome's kind; `skipped` without a call. */
  readonly kind: string;
  /** The stable code of any outcome but `ok`. */
  readonly code: string | undefined;
  /** The finer kind, if the code has several. */
  readonly reason?: string | undefined;
  readonly message: string;
  /** The tool's return value; null if it did not succeed. */
  readonly value: Json;
}
