import { type CutReason, type FinishReason, isHoldfastError, type Json, type ThrownError } from '@holdfast/core';
import { copyJson } from '@holdfast/core/internal';
import { toThrownError } from '../call/ending.ts';
import type { Lifetime } from '../call/execute.ts';
import type { EndOfLife } from '../call/types.ts';
import type { MessageReading } from './read-message.ts';

/** What came of asking a model for its next message. */
export type Asked =
  | (Omit<Extract<MessageReading, { readonly type: 'message' }>, 'reason'> & {
      readonly reason: FinishReason | CutReason;
    })
  | { readonly type: 'ended'; readonly by: EndOfLife; readonly text: string }
  | { readonly type: 'failed'; readonly error: ThrownError; readonly text: string };

/** What a reading that is no message means for its run. */
export function toAsked(reading: Exclude<MessageReading, { readonly type: 'message' }>, lifetime: Lifetime): Asked {
  const { text } = reading;
  const { ended } = lifetime;
  switch (reading.type) {
    case 'ended':
      return { type: 'ended', by: ended ?? 'aborted', text };
    case 'threw':
      if (ended !== undefined) return { type: 'ended', by: ended, text };
      return { type: 'failed', error: toModelError(reading.thrown), text };
    case 'wrong':
      if (reading.calls !== undefined && (text !== '' || reading.calls.length > 0)) return toCutMessage(reading);
      return { type: 'failed', error: { name: 'ModelError', message: reading.problem }, text };
    default:
      return reading satisfies never;
  }
}

/** A message whose stream ended too early: what came of it counts as far as that of any cut one. */
function toCutMessage({ text, calls = [] }: Extract<MessageReading, { readonly type: 'wrong' }>): Asked {
  return { type: 'message', text, calls, reason: 'no-finish', usage: undefined, providerMetadata: undefined };
}

/** What observers are told of what a model threw. */
export function toModelError(thrown: unknown): ThrownError {
  return toThrownError(thrown, isHoldfastError(thrown) ? { code: thrown.code, data: toJson(thrown.data) } : {});
}

// It goes into the log, and the error may be of a copy of the class that takes anything.
function toJson(data: unknown): Json {
  const copied = copyJson(data);
  return copied.ok ? copied.value : null;
}
