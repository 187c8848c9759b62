import type { Json } from '@holdfast/core';
import { parseJson } from '@holdfast/core/internal';
import * as v from 'valibot';

/** An error of the other side; `code` and `data` of a HoldfastError. */
export interface ThrownMessage {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly data?: Json | undefined;
  readonly stack?: string | undefined;
}

/** A request of a tool to the host. */
export interface Request {
  readonly type: 'request';
  readonly call: number;
  readonly request: number;
  readonly method: string;
  readonly parameters: readonly Json[];
}

/** How a call ended. */
export type Ending =
  /** An absent value is `undefined`. */
  | { readonly type: 'returned'; readonly value?: Json | undefined }
  | {
      readonly type: 'result';
      readonly success: boolean;
      readonly message: string;
      readonly value: Json;
      readonly excluded: boolean;
      readonly code?: string | undefined;
      readonly reason?: string | undefined;
    }
  /** The function's result is not JSON. */
  | { readonly type: 'unfit'; readonly problem: string }
  | { readonly type: 'threw'; readonly error: ThrownMessage }
  /** The file cannot be imported, lacks the function, or differs from the verified one. */
  | { readonly type: 'unimportable'; readonly reason: 'import' | 'function' | 'changed'; readonly error: ThrownMessage }
  /** The function waits for something that can never happen. */
  | { readonly type: 'stuck' };

/** The end of a call. `idle`: no code of it can still run, so the next call may start. */
export type Answer = Ending & { readonly call: number; readonly idle: boolean };

/** A message from the program in which a tool runs. Untrusted: the tool may write to the same pipe. */
export type ChildMessage =
  | Answer
  | Request
  /** Sent after an answer that was not `idle`: once it is idle, or if it will not be soon. */
  | { readonly type: 'idle'; readonly call: number }
  | { readonly type: 'restless'; readonly call: number }
  | { readonly type: 'beat'; readonly call: number }
  | { readonly type: 'progress'; readonly call: number; readonly message: string }
  | { readonly type: 'pong' }
  /** The first message: calls can start. */
  | { readonly type: 'ready' };

// Parsed from JSON text.
const json = v.custom<Json>((value) => value !== undefined);
const call = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const text = v.string();
const thrown = v.object({
  name: text,
  message: text,
  code: v.optional(text),
  data: v.optional(json),
  stack: v.optional(text),
});
const answer = { call, idle: v.boolean() };

const childMessage: v.GenericSchema<unknown, ChildMessage> = v.variant('type', [
  v.object({ ...answer, type: v.literal('returned'), value: v.optional(json) }),
  v.object({
    ...answer,
    type: v.literal('result'),
    success: v.boolean(),
    message: text,
    value: json,
    excluded: v.boolean(),
    code: v.optional(text),
    reason: v.optional(text),
  }),
  v.object({ ...answer, type: v.literal('unfit'), problem: text }),
  v.object({ ...answer, type: v.literal('threw'), error: thrown }),
  v.object({
    ...answer,
    type: v.literal('unimportable'),
    reason: v.picklist(['import', 'function', 'changed']),
    error: thrown,
  }),
  v.object({ ...answer, type: v.literal('stuck') }),
  v.object({ call, type: v.literal('request'), request: call, method: text, parameters: v.array(json) }),
  v.object({ call, type: v.picklist(['idle', 'restless']) }),
  v.object({ call, type: v.literal('beat') }),
  v.object({ call, type: v.literal('progress'), message: text }),
  v.object({ type: v.picklist(['pong', 'ready']) }),
]);

// A value of 64 levels, the usual limit, within a message.
const jsonLimits = { maxDepth: 67 } as const;

/** Parses a message of a tool's process; `undefined` if invalid. */
export function readChildMessage(message: string): ChildMessage | undefined {
  const parsed = parseJson(message, jsonLimits);
  const read = parsed.ok ? v.safeParse(childMessage, parsed.value) : undefined;
  return read?.success === true ? read.output : undefined;
}
