import { copyJson, describeThrown, HoldfastError, isHoldfastError } from '@holdfast/core';
import type { ThrownMessage } from './call-messages.ts';

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
