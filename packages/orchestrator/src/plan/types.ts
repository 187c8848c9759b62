import { findToolNameProblem, type Json, type JsonObject } from '@holdfast/core';

/** Names a node in its plan: a whole number from 0 on, or a letter and then up to 63 letters, digits, `_` and `-`. */
export type NodeId = number | string;

/**
 * What becomes of the rest when a node fails: everything stops; everything goes on; what needed the node is skipped and the rest goes
 * on.
 */
export type OnFail = 'halt' | 'continue' | 'skip_dependents';

/** A plan of tool calls with every default filled in. Frozen JSON, as it is written. */
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

const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Whether `value` can name a node. A text of digits cannot: it would be hard to tell from the number. */
export function isNodeId(value: unknown): value is NodeId {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  if (typeof value !== 'string' || !namePattern.test(value)) return false;
  // Words that mean something to JavaScript: whoever makes an object with a key for each node must never meet them.
  return findToolNameProblem(value.toLowerCase())?.code !== 'tool.name.reserved';
}

/** Nearly every bad id is the number in quotes, which a message shows like the number. */
export function adviseOnNumber(id: unknown): string {
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? ' Write the number, without quotes.' : '';
}

/** What `isNodeId` asks for, for messages. */
export const nodeIdRule =
  'a whole number from 0 on, or a letter followed by up to 63 letters, digits, `_` and `-` that is no reserved word';
