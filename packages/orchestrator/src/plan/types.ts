import type { Json, JsonObject } from '@holdfast/core';

/** Names a node in its plan: a whole number from 0 on, or a letter and then up to 63 letters, digits, `_` and `-`. */
export type NodeId = number | string;

/**
 * What becomes of the rest when a node fails: everything stops; everything goes on; what needed the node is skipped and the rest goes
 * on.
 */
export type OnFail = 'halt' | 'continue' | 'skip_dependents';

/** A plan of tool calls in the present format, with every default filled in. Frozen JSON, as it is written. */
export interface Plan {
  readonly version: 1;
  readonly status: 'success';
  /** In plan order: among nodes that could start, the first one does. */
  readonly nodes: readonly PlanNode[];
  /** Whose result is the plan's. */
  readonly final_output_node: NodeId;
}

/** One call of a plan. */
export interface PlanNode {
  readonly id: NodeId;
  readonly tool: string;
  /** What does the tool's work, as its file names it. Absent only in what `readPlan` reads. */
  readonly function?: string;
  /** Literal JSON with references in it: `{ "$from": id, "path": …, "default": … }`, or in texts `{{STEPS.id.path}}`. */
  readonly inputs: JsonObject;
  /** Nodes that settle before this one starts, each once, in plan order: those that were named and those that `inputs` refer to. */
  readonly depends_on: readonly NodeId[];
  /** How often it is tried again. Default 0. */
  readonly retry: number;
  /** Seconds. Default 60. */
  readonly timeout: number;
  /** Default `halt`. */
  readonly on_fail: OnFail;
  /** Says nothing to the runtime; `purpose` is for people. Default `{}`. */
  readonly metadata: JsonObject;
}

/** What one node takes from another's result. */
export interface Reference {
  readonly from: NodeId;
  /** A text is a key of an object; a number is a place in a list, or the key of that name in an object. Empty: the whole result. */
  readonly path: readonly (string | number)[];
  /** Stands in where there is no such value. Data, in which nothing is referred to. */
  readonly default?: Json;
}

/** Inputs with their references found. Only what a plan itself says becomes one: no result is ever parsed. */
export type InputTree =
  /** Nothing in it refers to anything. */
  | { readonly type: 'value'; readonly value: Json }
  /** Stands for the value referred to, with its type. */
  | { readonly type: 'reference'; readonly reference: Reference }
  | {
      readonly type: 'text';
      readonly parts: readonly (string | Reference)[];
      /**
       * The text is nothing but one reference, and the tool's schema does not ask for a text there: it stands for the value with its
       * type. Otherwise what is referred to becomes text, which is compact JSON for all but texts.
       */
      readonly keepsType: boolean;
    }
  | { readonly type: 'list'; readonly items: readonly InputTree[] }
  | { readonly type: 'object'; readonly members: readonly (readonly [string, InputTree])[] };

/** One thing that is wrong with a plan, or that is worth knowing about it. */
export interface PlanViolation {
  readonly code: string;
  /** Where, as in `nodes[2].inputs.city`; empty for the plan itself. Cut at 500 characters. */
  readonly path: string;
  /** The node's id, where it has one that can be used. */
  readonly node?: NodeId;
  /** For people and models; cut at 1,000 characters. */
  readonly message: string;
}
