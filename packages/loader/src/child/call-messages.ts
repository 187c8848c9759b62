import {
  copyJson,
  describeThrown,
  HoldfastError,
  isHoldfastError,
  isPlainObject,
  type Json,
  type JsonObject,
  parseJson,
  type TraceEntry,
} from '@holdfast/core';
import type { FrameLimits } from './frames.ts';

/** What was thrown on the other side. */
export interface ThrownMessage {
  readonly name: string;
  readonly message: string;
  /** Of a HoldfastError. */
  readonly code?: string;
  readonly data?: Json;
  readonly stack?: string;
}

/** What the host tells the program in which a tool runs. */
export type HostMessage =
  | {
      readonly type: 'call';
      readonly call: number;
      /** URL of the file to import. */
      readonly url: string;
      /** Of its bytes, in hexadecimal. */
      readonly sha256: string;
      /** The same of every file that is known, by absolute path; with the first call only. */
      readonly files?: readonly (readonly [path: string, sha256: string])[];
      readonly form: string;
      readonly function: string;
      readonly input: Json;
      readonly callId: string;
      readonly idempotencyKey: string;
      /** `null`: there is no end. */
      readonly remainingMs: number | null;
      /** Whether the host has bound a filesystem. */
      readonly filesystem: boolean;
      /** Of a plan's node; `null`: too large to be sent. */
      readonly trace?: readonly TraceEntry[] | null;
    }
  /** The answer to a request; bytes are the frame's body. */
  | { readonly type: 'reply'; readonly request: number; readonly value: Json }
  | { readonly type: 'refusal'; readonly request: number; readonly error: ThrownMessage }
  | { readonly type: 'ping' };

/** What a tool asks the host for. */
export interface Request {
  readonly type: 'request';
  readonly call: number;
  readonly request: number;
  readonly method: string;
  readonly parameters: readonly Json[];
}

/** How a call ended. */
export type Ending =
  /** Absent value: `undefined`. */
  | { readonly type: 'returned'; readonly value?: Json }
  | {
      readonly type: 'result';
      readonly success: boolean;
      readonly message: string;
      readonly value: Json;
      readonly excluded: boolean;
      readonly code?: string;
    }
  /** The function returned what is no JSON. */
  | { readonly type: 'unfit'; readonly problem: string }
  | { readonly type: 'threw'; readonly error: ThrownMessage }
  /** The file could not be imported, has no such function any more, or is not the one that was verified. */
  | {
      readonly type: 'unimportable';
      readonly reason: 'import' | 'function' | 'changed';
      readonly error: ThrownMessage;
    }
  /** The function waits for what cannot come any more. */
  | { readonly type: 'stuck' };

/** How which call ended. `idle`: nothing of it is left that could still run, so that the next one may come. */
export type Answer = Ending & { readonly call: number; readonly idle: boolean };

/** What the program in which a tool runs tells the host. Untrusted: the tool may write to the same pipe. */
export type ChildMessage =
  | Answer
  | Request
  /** Comes after an answer that was not `idle`: that it is now, or that it will not be for long. */
  | { readonly type: 'idle'; readonly call: number }
  | { readonly type: 'restless'; readonly call: number }
  | { readonly type: 'progress'; readonly call: number; readonly message: string }
  | { readonly type: 'beat'; readonly call: number }
  | { readonly type: 'pong' }
  /** The first one of all: a call can come. */
  | { readonly type: 'ready' };

/** A message of the tool's process. Files go into the body. */
export const childLimits: FrameLimits = { maxJsonBytes: 4 * 1024 * 1024, maxBodyBytes: 16 * 1024 * 1024 };

/** The longest text of a trace that is sent, in characters. */
export const maxTraceLength: number = 8 * 1024 * 1024;

/** A message of the host, which has limits of its own. */
export const hostLimits: FrameLimits = { maxJsonBytes: 64 * 1024 * 1024, maxBodyBytes: 256 * 1024 * 1024 };

// A value of 64 levels, as everywhere, within a message.
const jsonLimits = { maxDepth: 67 } as const;

/** A message of a tool's process; `undefined` for whatever else its text is. */
export function readChildMessage(text: string): ChildMessage | undefined {
  const parsed = parseJson(text, jsonLimits);
  if (!parsed.ok || !isPlainObject(parsed.value)) return undefined;
  // What is a plain object among JSON is a JSON object.
  const message = parsed.value as JsonObject;
  const { type, call } = message;
  if (type === 'pong' || type === 'ready') return { type };
  if (!isCount(call)) return undefined;
  switch (type) {
    case 'idle':
    case 'restless':
    case 'beat':
      return { type, call };
    case 'progress':
      return typeof message['message'] === 'string' ? { type, call, message: message['message'] } : undefined;
    case 'request':
      return readRequest(message, call);
    default:
      return typeof message['idle'] === 'boolean' ? readAnswer(message, call, message['idle']) : undefined;
  }
}

function readRequest({ request, method, parameters }: JsonObject, call: number): Request | undefined {
  if (!isCount(request) || typeof method !== 'string' || !isList(parameters)) return undefined;
  return { type: 'request', call, request, method, parameters };
}

function readAnswer(answer: JsonObject, call: number, idle: boolean): Answer | undefined {
  const { type, value, message, success, excluded, code, problem, reason } = answer;
  switch (type) {
    case 'returned':
      return { type, call, idle, ...(value === undefined ? {} : { value }) };
    case 'result': {
      const told = typeof message === 'string' && typeof success === 'boolean' && typeof excluded === 'boolean';
      if (!told || value === undefined || !(code === undefined || typeof code === 'string')) return undefined;
      return { type, call, idle, message, success, excluded, value, ...(code === undefined ? {} : { code }) };
    }
    case 'unfit':
      return typeof problem === 'string' ? { type, call, idle, problem } : undefined;
    case 'stuck':
      return { type, call, idle };
    case 'threw': {
      const error = readThrown(answer['error']);
      return error === undefined ? undefined : { type, call, idle, error };
    }
    case 'unimportable': {
      const error = readThrown(answer['error']);
      const known = reason === 'import' || reason === 'function' || reason === 'changed';
      if (error === undefined || !known) return undefined;
      return { type, call, idle, reason, error };
    }
    default:
      return undefined;
  }
}

function readThrown(error: Json | undefined): ThrownMessage | undefined {
  if (!isPlainObject(error)) return undefined;
  const { name, message, code, data, stack } = error as JsonObject;
  if (typeof name !== 'string' || typeof message !== 'string') return undefined;
  return {
    name,
    message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(data === undefined ? {} : { data }),
    ...(typeof stack === 'string' ? { stack } : {}),
  };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

const maxTextLength = 20_000;

/** What crosses a process boundary of something thrown, whatever it is. Never throws. */
export function toThrownMessage(thrown: unknown): ThrownMessage {
  const message = describeThrown(thrown).slice(0, maxTextLength);
  try {
    const { name, stack } = thrown instanceof Error ? thrown : { name: typeof thrown, stack: undefined };
    const data = isHoldfastError(thrown) ? copyJson(thrown.data, { maxLength: maxTextLength }) : undefined;
    return {
      name: String(name).slice(0, 100),
      message,
      ...(isHoldfastError(thrown) ? { code: String(thrown.code).slice(0, 100) } : {}),
      ...(data?.ok === true ? { data: data.value } : {}),
      ...(typeof stack === 'string' ? { stack: stack.slice(0, maxTextLength) } : {}),
    };
  } catch {
    // An error whose properties throw: its description is all that there is.
    return { name: 'Error', message };
  }
}

/** The error to throw on this side: a HoldfastError where it was one, else an Error that says the same. */
export function fromThrownMessage({ name, message, code, data, stack }: ThrownMessage): Error {
  // A code is a word of ours; whatever else a tool puts there is nothing to branch on.
  const known = code !== undefined && /^[a-z][a-z0-9_.-]*$/.test(code);
  const error = known ? new HoldfastError(code, message, { data: data ?? null }) : toError(name, message);
  // The place where it was thrown, not the one where it has been read; without one, none.
  error.stack = stack ?? `${name}: ${message}`;
  return error;
}

function toError(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}
