import type { FinishReason, Message, Model, ModelUsage } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { Deadline } from '@holdfast/core/types';
import { readOneMessage } from '@holdfast/executor/internal';

export interface AskForTextOptions {
  readonly messages: readonly Message[];
  readonly signal?: AbortSignal | undefined;
  readonly deadline?: Deadline | undefined;
  /** A longer answer fails and is not read to its end; an event without text counts as one character. Default 1,000,000. */
  readonly maxCharacters?: number;
}

/** The result of asking a model for one text without tools. */
export type AskedText =
  | {
      readonly type: 'text';
      readonly text: string;
      readonly reason: FinishReason;
      /** The number of tool calls that the model made anyway. */
      readonly calls: number;
      readonly usage: ModelUsage | undefined;
    }
  /** `text` is the text received before the failure. */
  | { readonly type: 'failed'; readonly message: string; readonly cause: unknown; readonly text: string };

/**
 * Reads one message of `model`. Failures of the model are returned; only the reason of an aborted `signal` is thrown, and immediately, even
 * if the model ignores the signal.
 */
export async function askForText(
  model: Model,
  { messages, signal: outer, deadline, maxCharacters = 1_000_000 }: AskForTextOptions,
): Promise<AskedText> {
  outer?.throwIfAborted();
  const reading = await readOneMessage(model, { messages, tools: [], deadline }, { signal: outer, maxCharacters });
  outer?.throwIfAborted();
  const { text } = reading;
  switch (reading.type) {
    case 'message':
      return { type: 'text', text, reason: reading.reason, calls: reading.calls.length, usage: reading.usage };
    case 'threw':
      return { type: 'failed', message: describeThrown(reading.thrown), cause: reading.thrown, text };
    case 'wrong':
      return { type: 'failed', message: reading.problem, cause: undefined, text };
    case 'ended':
      throw outer?.reason;
    default:
      return reading satisfies never;
  }
}
