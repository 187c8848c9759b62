import { copyJson, describeThrown, HoldfastError, isHoldfastError, type Json, type TraceEntry } from '@holdfast/core';
import type { ThrownMessage } from './child-messages.ts';
import type { FrameLimits } from './frames.ts';

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

/** A message of the tool's process. Files go into the body. */
export const childLimits: FrameLimits = { maxJsonBytes: 4 * 1024 * 1024, maxBodyBytes: 16 * 1024 * 1024 };

/** The longest text of a trace that is sent, in characters. */
export const maxTraceLength: number = 8 * 1024 * 1024;

/** A message of the host, which has limits of its own. */
export const hostLimits: FrameLimits = { maxJsonBytes: 64 * 1024 * 1024, maxBodyBytes: 256 * 1024 * 1024 };

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
      code: isHoldfastError(thrown) ? String(thrown.code).slice(0, 100) : undefined,
      data: data?.ok === true ? data.value : undefined,
      stack: typeof stack === 'string' ? stack.slice(0, maxTextLength) : undefined,
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
