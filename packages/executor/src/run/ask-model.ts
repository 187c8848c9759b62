import { type FinishReason, isHoldfastError, type Json } from '@holdfast/core';
import { copyJson } from '@holdfast/core/internal';
import type { CutReason, ThrownError } from '@holdfast/core/types';
import { toThrownError } from '../call/ending.ts';
import type { Lifetime } from '../call/execute.ts';
import type { EndOfLife } from '../call/types.ts';
import type { MessageReading } from './read-message.ts';

/** The result of asking a model for its next message. */
export type Asked =
  | (Omit<Extract<MessageReading, { readonly type: 'message' }>, 'reason'> & {
      readonly reason: FinishReason | CutReason;
    })
  | { readonly type: 'ended'; readonly by: EndOfLife; readonly text: string }
  | { readonly type: 'failed'; readonly error: ThrownError; readonly text: string };

/** Maps an unsuccessful reading to the result for the run. */
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
      // A message whose stream ended early is treated like any cut message.
      if (reading.calls !== undefined && (text !== '' || reading.calls.length > 0)) {
        const nothingKnown = { usage: undefined, providerMetadata: undefined };
        return { type: 'message', text, calls: reading.calls, reason: 'no-finish', ...nothingKnown };
      }
      return { type: 'failed', error: { name: 'ModelError', message: reading.problem }, text };
    default:
      return reading satisfies never;
  }
}

/** A model's error as observers see it. */
export function toModelError(thrown: unknown): ThrownError {
  return toThrownError(thrown, isHoldfastError(thrown) ? { code: thrown.code, data: toJson(thrown.data) } : {});
}

// Copied because it is logged, and the class may be another copy that accepts anything.
function toJson(data: unknown): Json {
  const copied = copyJson(data);
  return copied.ok ? copied.value : null;
}
