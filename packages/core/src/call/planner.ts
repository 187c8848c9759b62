import type { Json, JsonObject } from '../basics/json.ts';
import type { ModelUsage, ToolDeclaration } from '../model/model.ts';
import type { Effects } from './tool.ts';

/** A tool as shown to a planner. */
export interface PlannerTool extends ToolDeclaration {
  /** Of what it returns, where it says so: what other nodes may refer to. */
  readonly outputSchema?: JsonObject | undefined;
  readonly effects: Effects;
  readonly dangerous: boolean;
}

/** One thing that is wrong with what a planner has answered. */
export interface PlannerProblem {
  readonly code: string;
  /** Where in the plan, as in `nodes[2].inputs.city`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** An earlier answer to the same request, and why it is not a valid plan. */
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

/** A plan as text, in which its JSON is looked for, or as a value. Untrusted: it is checked as a whole. */
export type PlannerAnswer =
  | {
      readonly text: string;
      readonly usage?: ModelUsage | undefined;
      /** The message was cut by a limit on its length: whatever stands in it, it is not all. */
      readonly cut?: boolean | undefined;
      /** Remarks about the answer beside its text. */
      readonly warnings?: readonly PlannerProblem[] | undefined;
    }
  | { readonly plan: Json };

/** Writes plans. It never runs anything; whatever it throws means that it could not be asked. */
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
  /** How its call ended; `skipped`: there was none. */
  readonly kind: string;
  /** The stable reason of anything but `ok`. */
  readonly code: string | undefined;
  readonly message: string;
  /** The tool's return value; null if it did not succeed. */
  readonly value: Json;
}
