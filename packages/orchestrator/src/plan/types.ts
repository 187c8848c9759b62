import type { Json, JsonObject } from '@holdfast/core';
import { findToolNameProblem } from '@holdfast/core/internal';

/** The id of a node in its plan: a whole number from 0, or a letter and up to 63 letters, digits, `_` and `-`. */
export type NodeId = number | string;

/**
 * The effect of a failed node: `halt` stops the run; `continue` lets all other nodes run; `skip_dependents` skips the nodes that depend on
 * it.
 */
export type OnFail = 'halt' | 'continue' | 'skip_dependents';

/** A plan of tool calls with all defaults filled in. Frozen JSON, in the format in which plans are written. */
export interface Plan {
  readonly version: 1;
  readonly status: 'success';
  /** In plan order: of several nodes that could start, the first does. */
  readonly nodes: readonly PlanNode[];
  /** The node whose result is the result of the plan. */
  readonly final_output_node: NodeId;
}

/** One call of a plan. */
export interface PlanNode {
  readonly id: NodeId;
  readonly tool: string;
  /** The function behind the tool, as named in the tool's file. Absent only in the result of `readPlan`. */
  readonly function?: string;
  /** JSON with references: `{ "$from": id, "path": …, "default": … }`, or `{{STEPS.id.path}}` in texts. */
  readonly inputs: JsonObject;
  /** The nodes that must end before this one starts, by name or reference; unique, in plan order. */
  readonly depends_on: readonly NodeId[];
  /** Number of retries. Default 0. */
  readonly retry: number;
  /** Seconds. Default 60. */
  readonly timeout: number;
  /** Default `halt`. */
  readonly on_fail: OnFail;
  /** Ignored by the runtime; `purpose` is for people. Default `{}`. */
  readonly metadata: JsonObject;
}

/** The part of another node's result that an input takes. */
export interface Reference {
  readonly from: NodeId;
  /** A string is a key of an object; a number is an index of a list, or the key of that name in an object. Empty: the whole result. */
  readonly path: readonly (string | number)[];
  /** Used if the value does not exist. Cannot contain references. */
  readonly default?: Json;
}

/** Inputs with parsed references. Only the plan can contain references: results are never parsed. */
export type InputTree =
  /** Contains no references. */
  | { readonly type: 'value'; readonly value: Json }
  /** Replaced by the value, with its type. */
  | { readonly type: 'reference'; readonly reference: Reference }
  | {
      readonly type: 'text';
      readonly parts: readonly (string | Reference)[];
      /**
       * True if the text is a single reference and the tool's schema does not require a string: it keeps the type of the value. Otherwise
       * the value is inserted as text: strings verbatim, others as compact JSON.
       */
      readonly keepsType: boolean;
    }
  | { readonly type: 'list'; readonly items: readonly InputTree[] }
  | { readonly type: 'object'; readonly members: readonly (readonly [string, InputTree])[] };

/** A problem or a warning about a plan. */
export interface PlanViolation {
  readonly code: string;
  /** The finer kind, if the code has several. */
  readonly reason?: string;
  /** The location, such as `nodes[2].inputs.city`; empty for the plan itself. At most 500 characters. */
  readonly path: string;
  /** The node's id, if it has a valid one. */
  readonly node?: NodeId;
  /** For people and models; at most 1,000 characters. */
  readonly message: string;
}

const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** True if `value` is a valid node id. A string of digits is not: it would look like a number. */
export function isNodeId(value: unknown): value is NodeId {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  if (typeof value !== 'string' || !namePattern.test(value)) return false;
  // Reserved words of JavaScript are rejected, so that ids are safe as object keys.
  return findToolNameProblem(value.toLowerCase())?.reason !== 'name.reserved';
}

/** The most common mistake is a quoted number, which looks the same in a message. */
export function adviseOnNumber(id: unknown): string {
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? ' Write the number, without quotes.' : '';
}

/** The rule of `isNodeId`, for messages. */
export const nodeIdRule =
  'a whole number from 0, or a letter followed by up to 63 letters, digits, `_` and `-` that is not a reserved word';
