import { HoldfastError, isHoldfastError, type Json } from '@holdfast/core';
import { copyJson, describeThrown } from '@holdfast/core/internal';
import type { TraceEntry } from '@holdfast/core/types';
import type { ThrownMessage } from './child-messages.ts';
import type { FrameLimits } from './frames.ts';

/** A message from the host to the program in which a tool runs. */
export type HostMessage =
  | {
      readonly type: 'call';
      readonly call: number;
      /** URL of the file to import. */
      readonly url: string;
      /** Of its bytes, in hexadecimal. */
      readonly sha256: string;
      /** The same for every known file, by absolute path; only with the first call. */
      readonly files?: readonly (readonly [path: string, sha256: string])[];
      readonly form: string;
      readonly function: string;
      readonly input: Json;
      readonly callId: string;
      readonly idempotencyKey: string;
      /** `null`: no deadline. */
      readonly remainingMs: number | null;
      /** True if the host bound a filesystem. */
      readonly filesystem: boolean;
      /** The trace of a plan node; `null`: too large to send. */
      readonly trace?: readonly TraceEntry[] | null;
    }
  /** The reply to a request; bytes are in the frame's body. */
  | { readonly type: 'reply'; readonly request: number; readonly value: Json }
  | { readonly type: 'refusal'; readonly request: number; readonly error: ThrownMessage }
  | { readonly type: 'ping' };

/** Limits for messages of the tool's process. File contents go into the body. */
export const childLimits: FrameLimits = { maxJsonBytes: 4 * 1024 * 1024, maxBodyBytes: 16 * 1024 * 1024 };

/** The longest trace text that is sent, in characters. */
export const maxTraceLength: number = 8 * 1024 * 1024;

/** Limits for messages of the host. */
export const hostLimits: FrameLimits = { maxJsonBytes: 64 * 1024 * 1024, maxBodyBytes: 256 * 1024 * 1024 };

const maxTextLength = 20_000;

/** Converts any thrown value to a message. Never throws. */
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
    // An error whose properties throw: only its description is known.
    return { name: 'Error', message };
  }
}

/** Restores the error: a HoldfastError if it was one, otherwise an Error with the same text. */
export function fromThrownMessage({ name, message, code, data, stack }: ThrownMessage): Error {
  // Only well-formed codes are kept; a tool could put anything there.
  const known = code !== undefined && /^[a-z][a-z0-9_.-]*$/.test(code);
  const error = known ? new HoldfastError(code, message, { data: data ?? null }) : toError(name, message);
  // The position of the original throw, if known, instead of this one.
  error.stack = stack ?? `${name}: ${message}`;
  return error;
}

function toError(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}
